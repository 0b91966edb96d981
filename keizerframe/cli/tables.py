"""Commands that make tables: score, compare, presets, describe, check."""

from __future__ import annotations

import sys
from typing import Annotated, Literal

import pandas as pd
from cyclopts import Parameter
from rich.progress import track

from keizerframe.catalog import get_rules, resolve_rules, resolve_with_played
from keizerframe.catalog import presets as list_presets
from keizerframe.cli.shell import (
    JsonOption,
    LangOption,
    OutOption,
    PartsOption,
    PathArgument,
    QuietOption,
    RulesOption,
    SeasonOption,
    StartsOption,
    ThroughOption,
    app,
    at_least,
    load,
    notes,
    print_json,
    print_table,
    print_tables,
    tell,
)
from keizerframe.comparison import compare as compare_rules
from keizerframe.errors import RulesError, SeasonError, describe_problem
from keizerframe.io import to_parquet
from keizerframe.scoring import score as score_season


@app.command
def score(
    path: PathArgument,
    *,
    rules: RulesOption,
    season: SeasonOption = None,
    parts: PartsOption = None,
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
    resolve_with_played(rules)
    at_least(1, top=top)
    at_least(0, through=through, min_games=min_games)
    standings = score_season(
        load(path, season, parts), rules, through=through, by=by, carry_over=not fresh_parts, min_games=min_games
    )
    if out is not None:
        tell(f"wrote {to_parquet(standings, out / 'standings.parquet')}", quiet)
    shown = standings if top is None else standings[standings["place"] <= top]
    if as_json:
        print_json(shown)
        return 0
    titled = ["season", "rules", *(["part"] if by else [])]
    columns = ["place", "player", "name", "value_number", "score", "played", "wins", "draws", "losses", "absences"]
    if shown["name"].isna().all():
        columns.remove("name")
    found = {}
    for key, table in shown.groupby(titled, sort=False):
        label, name, *part = map(str, key)
        first = table.iloc[0]
        settled = f"{first['outcome']} after {first['iterations']} tables"
        found[f"{' '.join([label, *part])} under {name} ({settled})".strip()] = table[columns]
    print_tables(found, shown[[*titled, *columns]])
    return 0


@app.command
def compare(
    path: PathArgument,
    *,
    rules: RulesOption,
    season: SeasonOption = None,
    parts: PartsOption = None,
    through: ThroughOption = None,
    words: Annotated[bool, Parameter(name="--words", negative=(), help="A sentence a season instead")] = False,
    starts: StartsOption = 200,
    lang: LangOption = "en",
    out: OutOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Hold the first rule set against each other one: a line a season.

    Examples: keizerframe compare data/waagtoren --rules knsb freekeizer --out scores
    keizerframe compare data/waagtoren --rules knsb keizerforclubs-2.0 --words --lang nl
    """
    if len(resolve_rules(rules)) < 2:
        raise RulesError(["compare needs two rule sets or more: --rules knsb freekeizer"])
    data = load(path, season, parts)
    found = [
        compare_rules(data.select(labels) if len(labels) < len(data) else data, rules, through=through)
        for labels in track(
            portions(data.labels), "seasons", console=notes, transient=True, disable=quiet or not notes.is_terminal
        )
    ]
    summary = pd.concat([one.summary for one in found], ignore_index=True)
    if out is not None:
        frames = {
            "standings": pd.concat([one.standings for one in found], ignore_index=True),
            "comparison": summary,
            "players": pd.concat([one.players for one in found], ignore_index=True),
        }
        for name, frame in frames.items():
            tell(f"wrote {to_parquet(frame, out / f'{name}.parquet')} ({len(frame)} rows)", quiet)
    if words:
        told = pd.concat([one.sentences(lang, starts=starts) for one in found], ignore_index=True)
        if as_json:
            print_json(told)
            return 0
        for season_label, first, other, sentence in told.itertuples(index=False):
            print(f"{season_label} {first} | {other}: {sentence}".strip())
        return 0
    if as_json:
        print_json(summary)
        return 0
    for (first, other), table in summary.groupby(["rules", "against"], sort=False):
        print_table(_readable(table), f"{first} against {other}")
    if not quiet:
        print_table(found[0].fields, "fields that differ")
    return 0


@app.command
def presets(
    *, kind: Annotated[str | None, Parameter(help="variant, program or club")] = None, as_json: JsonOption = False
) -> int:
    """List the named rule sets: what they are, and what proves them.

    Examples: keizerframe presets --kind club; keizerframe describe knsb --lang nl
    """
    table = list_presets(kind=kind)  # type: ignore[arg-type]  # it refuses what is no kind
    if as_json:
        print_json(table)
    elif sys.stdout.isatty():
        print_table(table[["name", "kind", "title", "proof"]], "presets")
        notes.print("keizerframe describe NAME tells a rule set in sentences, with its source and assumptions")
    else:
        print_table(table, "presets")
    return 0


@app.command
def describe(
    name: Annotated[str, Parameter(help="A preset or a rules file, either with changes")],
    *,
    lang: LangOption = "en",
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
                tell(f"{about}: {preset[about]}", quiet)
    return 0


@app.command
def check(path: PathArgument, *, quiet: QuietOption = False) -> int:
    """Read a season and say everything that is wrong with it, or that nothing is.

    Example: keizerframe check club/
    """
    try:
        data = load(path, None)
    except SeasonError as fault:
        print("\n".join(describe_problem(row) for row in fault.problems.to_dict("records")))
        tell(f"{path}: {len(fault.problems)} problems", quiet)
        return 1
    tell(f"{path}: {data!r} is fine", quiet)
    for note in data.notes:
        tell(f"note: {note}", quiet)
    return 0


def portions(labels: list[str]) -> list[list[str]]:
    """Return the seasons in portions, so that long work shows its progress."""
    return [labels[i : i + 200] for i in range(0, len(labels), 200)] or [[]]


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
