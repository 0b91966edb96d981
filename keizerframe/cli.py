"""The command line: parses, calls a door, prints. Results go to stdout, everything else to stderr."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import pandas as pd
from cyclopts import App, CycloptsError, Parameter
from rich.console import Console
from rich.progress import track
from rich.table import Table

from keizerframe.catalog import get_rules, resolve_rules
from keizerframe.catalog import presets as list_presets
from keizerframe.comparison import compare as compare_rules
from keizerframe.errors import (
    KeizerError,
    KeizerWarning,
    PairingError,
    RulesError,
    SeasonError,
    UnknownNameError,
)
from keizerframe.io import read, to_parquet
from keizerframe.io.append import append_games
from keizerframe.io.tables import read_ids
from keizerframe.pairing.keizer import pair as pair_round
from keizerframe.pairing.options import Bye, Method
from keizerframe.pairing.round_robin import round_robin as build_schedule
from keizerframe.pairing.sheet import for_people
from keizerframe.scoring import score as score_season
from keizerframe.season import Season

_EPILOGUE = """\
Examples:
  keizerframe score data/waagtoren --rules knsb --season 2023-24 --top 10
  keizerframe compare data/waagtoren --rules knsb freekeizer --out scores
  keizerframe compare club/ --rules knsb knsb,loss_fraction=1/6 --json | jq .
  keizerframe pair club/ --rules knsb --round 12 --absent p3 p9 --append
  keizerframe round-robin Anna Bram Carla Dirk --cycles 2 > games.csv
  keizerframe check club/"""
_PAIR_EXAMPLES = """\
Examples:
  keizerframe pair club/ --rules knsb --absent p3 p9
  keizerframe pair club/ --rules knsb --round 12 --present-file tonight.txt --append
  keizerframe pair club/ --rules knsb --fixed p1:p4 --forbidden p2:p3 --rematch-gap 10 --json"""
_SCHEDULE_EXAMPLES = """\
Examples:
  keizerframe round-robin Anna Bram Carla Dirk --cycles 2 > games.csv
  keizerframe round-robin --players-file players.csv --withdrawn Bram:3 --json"""

app = App(
    name="keizerframe",
    help="Re-score chess-club seasons under any Keizer rule set.",
    help_epilogue=_EPILOGUE,
    help_format="plaintext",
    result_action="return_value",
)
notes = Console(stderr=True)

RulesOption = Annotated[
    list[str],
    Parameter(
        name="--rules",
        consume_multiple=True,
        negative=(),
        help="Presets, rules files, or either with changes: knsb,loss_fraction=1/6",
    ),
]
JsonOption = Annotated[bool, Parameter(name="--json", negative=(), help="Print JSON in place of a table")]
QuietOption = Annotated[bool, Parameter(name=["--quiet", "-q"], negative=(), help="Print results and errors only")]
ThroughOption = Annotated[int | None, Parameter(name="--through", help="Score the rounds up to this one")]
SeasonOption = Annotated[
    list[str] | None,
    Parameter(name="--season", consume_multiple=True, negative=(), help="Only these seasons"),
]
PlayersOption = Annotated[list[str] | None, Parameter(consume_multiple=True, negative=())]
OutOption = Annotated[Path | None, Parameter(name="--out", help="Folder for the parquet files")]


@app.command
def score(
    path: Path,
    *,
    rules: RulesOption,
    season: SeasonOption = None,
    through: ThroughOption = None,
    by: Annotated[Literal["part"] | None, Parameter(name="--by", help="A table for each part of the season")] = None,
    fresh_parts: Annotated[
        bool, Parameter(name="--fresh-parts", negative=(), help="Each part starts from the ratings, not the last order")
    ] = False,
    min_games: Annotated[int, Parameter(name="--min-games", help="Fewer games: placed behind all others")] = 0,
    top: Annotated[int | None, Parameter(name="--top", help="Only the first places")] = None,
    out: OutOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Print the standings of a season folder or file.

    Example: keizerframe score data/waagtoren --rules knsb --season 2023-24 --top 10
    """
    resolve_rules(rules)
    standings = score_season(
        _load(path, season), rules, through=through, by=by, carry_over=not fresh_parts, min_games=min_games
    )
    if out is not None:
        _tell(f"wrote {to_parquet(standings, out / 'standings.parquet')}", quiet)
    shown = standings if top is None else standings[standings["place"] <= top]
    if as_json:
        _print_json(shown)
        return 0
    titled = ["season", "rules", *(["part"] if by else [])]
    for (label, name, *part), table in shown.groupby(titled, sort=False):
        first = table.iloc[0]
        settled = f"{first['outcome']} after {first['iterations']} tables"
        columns = [
            "place",
            "player",
            "name",
            "value_number",
            "score",
            "played",
            "wins",
            "draws",
            "losses",
            "absences",
        ]
        if table["name"].isna().all():
            columns.remove("name")
        _print_table(table[columns], f"{' '.join(map(str, [label, *part]))} under {name} ({settled})".strip())
    return 0


@app.command
def compare(
    path: Path,
    *,
    rules: RulesOption,
    season: SeasonOption = None,
    through: ThroughOption = None,
    out: OutOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Hold the first rule set against each other one: a line a season.

    Example: keizerframe compare data/waagtoren --rules knsb freekeizer --out scores
    """
    if len(resolve_rules(rules)) < 2:
        raise RulesError(["compare needs two rule sets or more: --rules knsb freekeizer"])
    data = _load(path, season)
    parts = [
        compare_rules(data.select(labels) if len(labels) < len(data) else data, rules, through=through)
        for labels in track(_portions(data.labels), "seasons", console=notes, transient=True, disable=quiet)
    ]
    summary = pd.concat([part.summary for part in parts], ignore_index=True)
    if out is not None:
        frames = {
            "standings": pd.concat([part.standings for part in parts], ignore_index=True),
            "comparison": summary,
            "players": pd.concat([part.players for part in parts], ignore_index=True),
        }
        for name, frame in frames.items():
            _tell(f"wrote {to_parquet(frame, out / f'{name}.parquet')} ({len(frame)} rows)", quiet)
    if as_json:
        _print_json(summary)
        return 0
    for (first, other), table in summary.groupby(["rules", "against"], sort=False):
        _print_table(_readable(table), f"{first} against {other}")
    if not quiet:
        _print_table(parts[0].fields, "fields that differ")
    return 0


@app.command
def presets(*, kind: str | None = None, as_json: JsonOption = False) -> int:
    """List the named rule sets: what they are, and what proves them.

    Examples: keizerframe presets --kind club; keizerframe describe knsb --lang nl
    """
    table = list_presets(kind=kind)  # type: ignore[arg-type]  # it refuses what is no kind
    if as_json:
        _print_json(table)
    elif sys.stdout.isatty():
        _print_table(table[["name", "kind", "title", "proof"]], "presets")
        notes.print("keizerframe describe NAME tells a rule set in sentences, with its source and assumptions")
    else:
        _print_table(table, "presets")
    return 0


@app.command
def describe(
    name: str,
    *,
    lang: Annotated[str, Parameter(name="--lang", help="en, nl, de or fr")] = "en",
    quiet: QuietOption = False,
) -> int:
    """Tell a rule set in plain sentences, with what proves it and what it assumes.

    Example: keizerframe describe knsb,loss_fraction=1/6 --lang nl
    """
    print(get_rules(name).describe(lang))
    table = list_presets()
    for preset in table[table["name"] == name].to_dict("records"):
        for about in ("kind", "proof", "assumptions", "expressed", "unsaid"):
            if preset[about]:
                _tell(f"{about}: {preset[about]}", quiet)
    return 0


@app.command(help_epilogue=_PAIR_EXAMPLES)
def pair(
    path: Path,
    *,
    rules: Annotated[str, Parameter(help="A preset or a rules file, either with changes: knsb,loss_fraction=1/6")],
    season: Annotated[str | None, Parameter(help="The season, if there are several")] = None,
    round: Annotated[int | None, Parameter(help="The round to pair; default: after the last")] = None,
    present: PlayersOption = None,
    present_file: Annotated[Path | None, Parameter(help="One player a line, or a column player")] = None,
    absent: PlayersOption = None,
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
    data = _load(path, None if season is None else [season])
    if present_file is not None:
        present = [*(present or []), *read_ids(present_file)]
    sheet = pair_round(
        data,
        rules,
        round=round,
        present=present,
        absent=absent,
        method=method,
        rematch_gap=_gap(rematch_gap),
        bye=bye,
        byes={one: other or "" for one, other in _split(byes)},
        fixed=_split(fixed),
        forbidden=_split(forbidden),
    )
    if append:
        target = append_games(path, sheet)
        _tell(f"appended {len(sheet)} rows to {target}", quiet)
    if as_json:
        _print_json(sheet)
    elif sys.stdout.isatty():
        number = int(sheet["round"].iloc[0]) if len(sheet) else round
        _print_table(for_people(sheet, data.players), f"{data.labels[0]} round {number} under {rules}".strip())
    else:
        _print_csv(sheet)
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
        _print_json(schedule)
    elif sys.stdout.isatty():
        _print_table(schedule.drop(columns="result"), f"{len(ids)} players, {cycles} cycle{'s' * (cycles != 1)}")
    else:
        _print_csv(schedule)
    return 0


def _split(values: list[str] | None) -> list[tuple[str, str | None]]:
    """Return ``p1:p2`` as a pair; without a second part it is None."""
    return [(one, other or None) for one, _, other in (value.partition(":") for value in values or [])]


def _gap(value: str | None) -> Any:
    """Return a number as a number; what is none is named by the door."""
    return int(value) if value is not None and value.lstrip("-").isdigit() else value


@app.command
def check(path: Path, *, quiet: QuietOption = False) -> int:
    """Read a season and say what is wrong with it, or that nothing is.

    Example: keizerframe check club/
    """
    data = _load(path, None)
    _tell(f"{path}: {data!r} is fine", quiet)
    if not quiet:
        for note in data.notes:
            notes.print(f"note: {note}")
    return 0


def _load(path: Path, labels: list[str] | None) -> Season:
    data = read(path)
    if labels is None:
        return data
    for label in labels:
        if label not in data.labels:
            raise UnknownNameError("season", label, data.labels)
    return data.select(labels)


def _portions(labels: list[str]) -> list[list[str]]:
    """Return the seasons in portions, so that long work shows its progress."""
    return [labels[i : i + 200] for i in range(0, len(labels), 200)] or [[]]


def _tell(line: str, quiet: bool) -> None:
    if not quiet:
        notes.print(line, highlight=False, soft_wrap=True)


def _readable(summary: pd.DataFrame) -> pd.DataFrame:
    """Return the summary as a person reads it."""
    if summary.empty:
        return summary
    settled = summary["outcome"].where(
        summary["outcome"] == summary["outcome_against"],
        summary["outcome"] + " / " + summary["outcome_against"],
    )
    moves = summary["largest_move"].astype("str") + " (" + summary["largest_mover"].fillna("nobody") + ")"
    return pd.DataFrame(
        {
            "season": summary["season"],
            f"champion under {summary['rules'].iloc[0]}": summary["champion"],
            f"under {summary['against'].iloc[0]}": summary["champion_against"],
            "change place": summary["moved"].astype("str") + " of " + summary["players"].astype("str"),
            "largest move": moves,
            "tau-b": summary["tau_b"].map("{:.3f}".format),
            "settled": settled,
        }
    )


def _print_table(frame: pd.DataFrame, title: str) -> None:
    """Print a frame: a drawn table on a terminal, tab-separated lines into a pipe."""
    if not sys.stdout.isatty():
        print(frame.to_csv(sep="\t", index=False, lineterminator="\n"), end="")
        return
    table = Table(title=title, title_justify="left", header_style="bold")
    for name, dtype in frame.dtypes.items():
        table.add_column(str(name), justify="right" if pd.api.types.is_numeric_dtype(dtype) else "left")
    for row in frame.itertuples(index=False):
        table.add_row(*(_cell(value) for value in row))
    Console().print(table)


def _print_csv(frame: pd.DataFrame) -> None:
    print(frame.to_csv(index=False, lineterminator="\n"), end="")


def _cell(value: Any) -> str:
    if pd.isna(value):
        return ""
    return f"{value:g}" if isinstance(value, float) else str(value)


def _print_json(frame: pd.DataFrame) -> None:
    print(json.dumps(json.loads(frame.to_json(orient="records")), ensure_ascii=False, indent=1))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status.

    0 = done, 1 = the data are faulty, 2 = the command is (unknown preset, option or value, a wish that cannot be met).
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", KeizerWarning)
            warnings.showwarning = _show_warning
            return int(app(arguments, exit_on_error=False, print_error=True, error_console=notes) or 0)
    except CycloptsError:
        return 2
    except (UnknownNameError, RulesError, PairingError) as fault:
        notes.print(f"keizerframe: {fault}", style="red", highlight=False, markup=False, soft_wrap=True)
        return 2
    except SeasonError as fault:
        notes.print(f"keizerframe: {fault}", highlight=False, markup=False, soft_wrap=True)
        return 1
    except (KeizerError, OSError) as fault:
        notes.print(f"keizerframe: {fault}", highlight=False, markup=False, soft_wrap=True)
        return 1


def _show_warning(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    notes.print(f"warning: {message}", style="yellow", highlight=False, markup=False, soft_wrap=True)


def run() -> None:
    """Entry point of the console script."""
    sys.exit(main())
