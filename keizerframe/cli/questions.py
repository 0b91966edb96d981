"""Commands that answer questions: replay, explain, diagnose, sweep, what-if, identify."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import pandas as pd
from cyclopts import Parameter

from keizerframe.alternatives import what_if as try_results
from keizerframe.catalog import resolve_rules, value_of
from keizerframe.cli.shell import (
    JsonOption,
    LangOption,
    OutOption,
    PartsOption,
    PathArgument,
    PlayersOption,
    QuietOption,
    RulesOption,
    SeasonOption,
    StartsOption,
    ThroughOption,
    app,
    at_least,
    ids_of,
    load,
    print_json,
    print_table,
    print_tables,
    tell,
)
from keizerframe.diagnosis import diagnose as diagnose_tables
from keizerframe.errors import RulesError, UnknownNameError
from keizerframe.identification import identify as find_rules
from keizerframe.io import to_parquet
from keizerframe.io.tables import read_table
from keizerframe.ledger import explain as explain_points
from keizerframe.scoring import replay as replay_season
from keizerframe.season import Season
from keizerframe.sweeps import sweep as sweep_fields
from keizerframe.telling import sentences

PlayerOption = Annotated[PlayersOption, Parameter(name="--player", help="Only these players")]


@app.command
def replay(
    path: PathArgument,
    *,
    rules: RulesOption,
    season: SeasonOption = None,
    parts: PartsOption = None,
    player: PlayerOption = None,
    top: Annotated[int | None, Parameter(help="Only the first places of each table")] = None,
    out: OutOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Print the standings after every round, with the changes of rank and score.

    Example: keizerframe replay data/waagtoren --rules knsb --season 2023-24 --player W157
    """
    resolve_rules(rules)
    at_least(1, top=top)
    data = load(path, season, parts)
    tables = replay_season(data, rules)
    if out is not None:
        tell(f"wrote {to_parquet(tables, out / 'replay.parquet')} ({len(tables)} rows)", quiet)
    tables = _of_players(tables, ids_of(data, player))
    if top is not None:
        tables = tables[tables["place"] <= top]
    if as_json:
        print_json(tables)
        return 0
    columns = ["round", "place", "rank_change", "player", "value_number", "score", "score_change", "outcome"]
    tables_of = tables.groupby(["season", "rules"], sort=False)
    found = {f"{label} under {name}, round by round".strip(): table[columns] for (label, name), table in tables_of}
    print_tables(found, tables[["season", "rules", *columns]])
    return 0


@app.command
def explain(
    path: PathArgument,
    *,
    rules: RulesOption,
    player: PlayerOption = None,
    season: SeasonOption = None,
    parts: PartsOption = None,
    through: ThroughOption = None,
    since: Annotated[int | None, Parameter(help="Explain the change since the table after this round")] = None,
    words: Annotated[bool, Parameter(negative=(), help="Say it in a sentence a player")] = False,
    lang: LangOption = "en",
    out: OutOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Print the ledger: the rows that a score is the sum of.

    Examples: keizerframe explain data/waagtoren --rules knsb --season 2018-19 --player W047 --through 8
    keizerframe explain data/waagtoren --rules knsb --season 2018-19 --player W047 --through 8 --since 7 --words
    """
    resolve_rules(rules)
    at_least(0, through=through, since=since)
    data = load(path, season, parts)
    last = int(data.rounds["round"].max()) if len(data.rounds) else 0
    if since is not None and since >= min(last, through or last):
        raise RulesError([f"--since {since}: there is no later round to explain; the last one is {through or last}"])
    ledger = explain_points(data, rules, player=ids_of(data, player), through=through, since=since)
    if out is not None:
        tell(f"wrote {to_parquet(ledger, out / 'ledger.parquet')} ({len(ledger)} rows)", quiet)
    if words:
        ledger = sentences(ledger, lang)
    if as_json:
        print_json(ledger)
        return 0
    if words:
        for *key, sentence in ledger.itertuples(index=False):
            print(f"{' '.join(map(str, key)).strip()}: {sentence}")
        return 0
    shown = ["round", "kind", "result", "colour", "opponent", "value_number", "share", "fixed", "points", "note"]
    if since is not None:
        shown.insert(0, "cause")
        shown.insert(shown.index("value_number"), "value_number_before")
    found = {}
    for (label, name, who), rows in ledger.groupby(["season", "rules", "player"], sort=False):
        title = f"{who}, {label} under {name}: {rows['points'].sum():g} points"
        found[title] = rows[shown].dropna(axis="columns", how="all")
    print_tables(found, ledger[["season", "rules", "player", *shown]])
    return 0


@app.command
def diagnose(
    path: PathArgument,
    *,
    rules: RulesOption,
    season: SeasonOption = None,
    parts: PartsOption = None,
    through: ThroughOption = None,
    starts: StartsOption = 200,
    seed: Annotated[int, Parameter(help="Of the random start orders")] = 0,
    players: Annotated[bool, Parameter(negative=(), help="The range of places of every player instead")] = False,
    as_json: JsonOption = False,
) -> int:
    """Say whether the tables settled, and which tables other start orders reach.

    Example: keizerframe diagnose data/waagtoren --rules knsb freekeizer-0.5 --starts 500
    """
    resolve_rules(rules)
    found = diagnose_tables(load(path, season, parts), rules, through=through, starts=starts, seed=seed)
    frame = found.players if players else found.summary
    if as_json:
        print_json(frame)
    else:
        print_table(frame, f"{starts} random start orders, seed {seed}")
    return 0


@app.command
def sweep(
    path: PathArgument,
    *,
    rules: Annotated[str, Parameter(help="The rule set to vary")],
    vary: Annotated[
        list[str],
        Parameter(consume_multiple=True, negative=(), help="Fields and their values: loss_fraction=0,1/12,1/6"),
    ],
    season: SeasonOption = None,
    parts: PartsOption = None,
    through: ThroughOption = None,
    break_evens: Annotated[bool, Parameter(negative=(), help="Where the champion changes, instead")] = False,
    staying_away: Annotated[bool, Parameter(negative=(), help="What staying away pays, instead")] = False,
    as_json: JsonOption = False,
) -> int:
    """Score under every combination of values of some fields.

    Examples: keizerframe sweep club/ --rules knsb --vary loss_fraction=0,1/12,1/6 absence_limit=3,5
    keizerframe sweep club/ --rules knsb --vary loss_fraction=0,1 --break-evens
    """
    varied: dict[str, Any] = _varied(vary)
    found = sweep_fields(load(path, season, parts), rules, through=through, **varied)
    frame = found.break_evens if break_evens else found.staying_away if staying_away else found.summary
    if as_json:
        print_json(frame)
    else:
        print_table(frame, f"{rules}, varied")
    return 0


@app.command(name="what-if")
def what_if(
    path: PathArgument,
    *,
    rules: RulesOption,
    season: SeasonOption = None,
    parts: PartsOption = None,
    through: ThroughOption = None,
    edits: Annotated[Path | None, Parameter(help="A table with round, white, result: try these only")] = None,
    champion: Annotated[bool, Parameter(negative=(), help="Only what makes another champion")] = False,
    as_json: JsonOption = False,
) -> int:
    """Say for every game what each other result would have changed.

    Examples: keizerframe what-if data/waagtoren --rules knsb --season 2018-19 --champion
    keizerframe what-if club/ --rules knsb --edits corrections.csv
    """
    resolve_rules(rules)
    changed = None if edits is None else read_table(edits)
    found = try_results(load(path, season, parts), rules, edits=changed, through=through)
    if champion:
        found = found[~found["same_champion"]]
    if as_json:
        print_json(found)
    else:
        print_table(found, "other results")
    return 0


@app.command
def identify(
    path: PathArgument,
    *,
    table: Annotated[Path, Parameter(help="The published table: player with score or rank or both")],
    season: Annotated[str | None, Parameter(help="The season, if there are several")] = None,
    parts: PartsOption = None,
    through: ThroughOption = None,
    candidates: Annotated[
        list[str] | None, Parameter(consume_multiple=True, negative=(), help="programs, all, or names of rule sets")
    ] = None,
    top_value: Annotated[int | None, Parameter(help="Value number of rank 1, if it is known")] = None,
    players: Annotated[bool, Parameter(negative=(), help="The residual of every player instead")] = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Find the rule sets that reproduce a published table.

    Example: keizerframe identify club/ --table published.csv --through 12
    """
    wanted = candidates or ["programs"]
    data = load(path, None if season is None else [season], parts)
    if len(data) > 1:
        raise RulesError([f"{len(data)} seasons, but the table is of one: --season {data.labels[0]} or another"])
    found = find_rules(
        data,
        _by_id(data, read_table(table)),
        candidates=wanted[0] if wanted[0] in ("programs", "all") else wanted,
        through=through,
        top=top_value,
    )
    frame = found.residuals if players else found.candidates
    if as_json:
        print_json(frame)
        return 0
    print_table(frame, "residuals" if players else "candidates, best first")
    tell(found.sentence, quiet)
    return 0


def _by_id(data: Season, table: pd.DataFrame) -> pd.DataFrame:
    """Return a published table with ids in place of names."""
    if "player" not in table:
        return table
    return table.assign(player=ids_of(data, [str(one) for one in table["player"]]))


def _of_players(frame: pd.DataFrame, players: list[str] | None) -> pd.DataFrame:
    """Return the rows of some players; a name that nobody bears is refused."""
    if players is None:
        return frame
    known = set(frame["player"])
    for one in players:
        if one not in known:
            raise UnknownNameError("player", one, known)
    return frame[frame["player"].isin(players)]


def _varied(vary: list[str]) -> dict[str, list[object]]:
    """Return ``field=value,value`` as fields and their values."""
    found: dict[str, list[object]] = {}
    for text in vary:
        field, equals, values = text.partition("=")
        if not equals or not values:
            raise RulesError([f"--vary {text}: write field=value,value, as in loss_fraction=0,1/12,1/6"])
        found[field.strip()] = [value_of(field.strip(), one) for one in values.split(",")]
    return found
