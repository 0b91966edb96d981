"""Commands for the next round: pair, round-robin."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from keizerframe.cli.shell import (
    JsonOption,
    PathArgument,
    PlayersOption,
    QuietOption,
    app,
    ids_of,
    load,
    print_csv,
    print_json,
    print_table,
    tell,
)
from keizerframe.io.append import append_games
from keizerframe.io.tables import read_ids
from keizerframe.pairing.keizer import pair as pair_round
from keizerframe.pairing.options import Bye, Method
from keizerframe.pairing.round_robin import round_robin as build_schedule
from keizerframe.pairing.sheet import for_people

_PAIR_EXAMPLES = """\
Examples:
  keizerframe pair club/ --rules knsb --absent p3 p9
  keizerframe pair club/ --rules knsb --round 12 --present-file tonight.txt --append
  keizerframe pair club/ --rules knsb --fixed p1:p4 --forbidden p2:p3 --rematch-gap 10 --json"""
_SCHEDULE_EXAMPLES = """\
Examples:
  keizerframe round-robin Anna Bram Carla Dirk --cycles 2 > games.csv
  keizerframe round-robin --players-file players.csv --withdrawn Bram:3 --json"""


@app.command(help_epilogue=_PAIR_EXAMPLES)
def pair(
    path: PathArgument,
    *,
    rules: Annotated[str, Parameter(help="A preset or a rules file, either with changes: knsb,loss_fraction=1/6")],
    season: Annotated[str | None, Parameter(help="The season, if there are several")] = None,
    round: Annotated[int | None, Parameter(help="The round to pair; default: after the last")] = None,
    present: Annotated[PlayersOption, Parameter(help="Who is there, by id or name; default: everybody entered")] = None,
    present_file: Annotated[Path | None, Parameter(help="One player a line, or a column player")] = None,
    absent: Annotated[PlayersOption, Parameter(help="Who is not; a row for them (p1:excused) is for --byes")] = None,
    method: Method = "matching",
    rematch_gap: Annotated[str | None, Parameter(help="Rounds before a rematch, or season")] = None,
    bye: Annotated[Bye | None, Parameter(help="Who has the bye of an odd number")] = None,
    byes: Annotated[PlayersOption, Parameter(help="Non-games known before: p1:bye p2:club")] = None,
    fixed: Annotated[PlayersOption, Parameter(help="Pairs that must play: p1:p2 p3:p4")] = None,
    forbidden: Annotated[PlayersOption, Parameter(help="Pairs that may not: p1:p2; p1: = no bye for him")] = None,
    append: Annotated[bool, Parameter(negative=(), help="Append the round to the games file")] = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Pair the next round: a sheet on a terminal, CSV into a pipe.

    There is no chance in it: the same season and wishes give the same pairing.
    """
    data = load(path, None if season is None else [season])
    if present_file is not None:
        present = [*(present or []), *read_ids(present_file)]
    sheet = pair_round(
        data,
        rules,
        round=round,
        present=ids_of(data, present),
        absent=ids_of(data, absent),
        method=method,
        rematch_gap=_gap(rematch_gap),
        bye=bye,
        byes={one: other or "" for one, other in _split(byes)},
        fixed=_split(fixed),
        forbidden=_split(forbidden),
    )
    open_games = data.games[(data.games["result"] == "*") & (data.games["round"] < sheet["round"].min())]
    if len(open_games):
        listed = ", ".join(map(str, sorted(open_games["round"].unique())))
        tell(f"note: {len(open_games)} games of round {listed} have no result yet", quiet)
    if append:
        target = append_games(path, sheet)
        tell(f"appended {len(sheet)} rows to {target}", quiet)
    if as_json:
        print_json(sheet)
    elif sys.stdout.isatty():
        number = int(sheet["round"].iloc[0]) if len(sheet) else round
        print_table(for_people(sheet, data.players), f"{data.labels[0]} round {number} under {rules}".strip())
    else:
        print_csv(sheet)
    return 0


@app.command(name="round-robin", help_epilogue=_SCHEDULE_EXAMPLES)
def round_robin(
    *players: str,
    players_file: Annotated[Path | None, Parameter(help="One player a line, or a column player")] = None,
    cycles: Annotated[int, Parameter(help="How often everybody meets")] = 1,
    color_balance: Annotated[bool, Parameter(help="Reverse the colours in every second cycle")] = True,
    swap_last_two_rounds: Annotated[bool, Parameter(help="Of the first of two cycles")] = True,
    withdrawn: Annotated[PlayersOption, Parameter(help="Who left, and after which round: p3:5")] = None,
    as_json: JsonOption = False,
) -> int:
    """Build a schedule from the Berger tables: a table on a terminal, a games file into a pipe."""
    ids = [*players, *(read_ids(players_file) if players_file is not None else [])]
    left = {one: int(last) if last and last.isdigit() else last for one, last in _split(withdrawn)}
    schedule = build_schedule(
        ids,
        cycles=cycles,
        color_balance=color_balance,
        swap_last_two_rounds=swap_last_two_rounds,
        withdrawn=left,  # type: ignore[arg-type]  # what is no number is named by the door
    ).drop(columns="season")
    if as_json:
        print_json(schedule)
    elif sys.stdout.isatty():
        print_table(schedule.drop(columns="result"), f"{len(ids)} players, {cycles} cycle{'s' * (cycles != 1)}")
    else:
        print_csv(schedule)
    return 0


def _split(values: list[str] | None) -> list[tuple[str, str | None]]:
    """Return ``p1:p2`` as a pair; without a second part it is None."""
    return [(one, other or None) for one, _, other in (value.partition(":") for value in values or [])]


def _gap(value: str | None) -> Any:
    """Return a number as a number; what is none is named by the door."""
    return int(value) if value is not None and value.lstrip("-").isdigit() else value
