"""The command line: parses, calls a door, prints. Results go to stdout, everything else to stderr."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import pyarrow.parquet as pq
from cyclopts import App, CycloptsError, Parameter
from rich.console import Console
from rich.progress import track
from rich.table import Table

from keizerframe.batch import Rescored
from keizerframe.batch import rescore as rescore_seasons
from keizerframe.catalog import presets as list_presets
from keizerframe.catalog import resolve_rules, resolve_with_played
from keizerframe.comparison import compare as compare_rules
from keizerframe.errors import (
    KeizerError,
    KeizerWarning,
    RulesError,
    SeasonError,
    UnknownNameError,
    describe_problem,
)
from keizerframe.io import read, to_parquet
from keizerframe.scoring import score as score_season
from keizerframe.season import Season

_EPILOGUE = """\
Examples:
  keizerframe score data/waagtoren --rules knsb --season 2023-24 --top 10
  keizerframe compare data/waagtoren --rules knsb freekeizer --out scores
  keizerframe compare club/ --rules knsb knsb,loss_fraction=1/6 --json | jq .
  keizerframe rescore seasons/ --rules knsb freekeizer --out scores --workers 2
  keizerframe check club/"""
_RESCORE_EPILOGUE = """\
Examples:
  keizerframe rescore seasons/ --rules knsb freekeizer --out scores --workers 2
  keizerframe rescore data/waagtoren --rules knsb,loss_fraction=1/6 --out scores --quiet --json
  keizerframe rescore s3://bucket/games --rules as-played knsb --out scores --no-resume"""

app = App(
    name="keizerframe",
    help="Re-score chess-club seasons under any Keizer rule set.",
    help_epilogue=_EPILOGUE,
    help_format="plaintext",
    result_action="return_value",
    suppress_keyboard_interrupt=False,  # `main` says what became of the work
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
OutOption = Annotated[Path | None, Parameter(name="--out", help="Folder for the parquet files")]


@app.command
def score(
    path: Path,
    *,
    rules: RulesOption,
    season: SeasonOption = None,
    through: ThroughOption = None,
    top: Annotated[int | None, Parameter(name="--top", help="Only the first places")] = None,
    out: OutOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Print the standings of a season folder or file.

    Example: keizerframe score data/waagtoren --rules knsb --season 2023-24 --top 10
    """
    resolve_with_played(rules)
    standings = score_season(_load(path, season), rules, through=through)
    if out is not None:
        _tell(f"wrote {to_parquet(standings, out / 'standings.parquet')}", quiet)
    shown = standings if top is None else standings[standings["place"] <= top]
    if as_json:
        _print_json(shown)
        return 0
    for (label, name), table in shown.groupby(["season", "rules"], sort=False):
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
        _print_table(table[columns], f"{label} under {name} ({settled})".strip())
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


@app.command(help_epilogue=_RESCORE_EPILOGUE)
def rescore(
    source: str,
    *,
    rules: RulesOption,
    out: Annotated[Path, Parameter(name="--out", help="Folder for the standings and the problems")],
    workers: Annotated[int, Parameter(name="--workers", help="Processes that score at a time")] = 1,
    resume: Annotated[
        bool,
        Parameter(name="--resume", negative="--no-resume", help="Go on where a run stopped; --no-resume begins anew"),
    ] = True,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Score a data set of any size to parquet: files, folders of files, row groups, s3:// and the like.

    SOURCE is a parquet file of games, a folder with games, players and rounds (each a parquet file or a
    folder of them), or a folder of such folders or of what the other commands read. The standings are a
    parquet data set, OUT/standings. A run that was stopped goes on when the same command is given again. A season
    that cannot be scored is listed in OUT/problems.parquet; the exit status is then 1.
    """
    if workers < 1:
        raise RulesError([f"--workers {workers}: give 1 or more"])
    try:
        done = rescore_seasons(source, rules, out, workers=workers, resume=resume, progress=not quiet)
    except KeyboardInterrupt:
        notes.print("keizerframe: what is finished is kept, the same command goes on with it", soft_wrap=True)
        raise
    facts = {name: getattr(done, name) for name in ("seasons", "scored", "reported", "rows", "parts")}
    facts |= {"seconds": round(done.seconds, 2), "out": str(done.out)}
    if as_json:
        print(json.dumps(facts, ensure_ascii=False, indent=1))
    else:
        _print_table(pd.DataFrame([facts]), "rescored")
    _tell_problems(done, quiet)
    return int(done.reported > 0)


def _tell_problems(done: Rescored, quiet: bool) -> None:
    """Say what could not be scored, and what else there is to say."""
    if not quiet:
        for note in done.notes[:10]:
            notes.print(f"note: {note}", highlight=False, markup=False, soft_wrap=True)
        if len(done.notes) > 10:
            notes.print(f"note: ... and {len(done.notes) - 10} more")
    if not done.reported:
        return
    path = done.out / "problems.parquet"
    lines = [
        f"keizerframe: {done.reported} of {done.seasons} seasons could not be scored; all problems are in {path}:",
        *(describe_problem(row) for row in pq.read_table(path).slice(0, SeasonError.shown).to_pylist()),
    ]
    notes.print("\n  ".join(lines), highlight=False, markup=False, soft_wrap=True)


@app.command
def presets(*, kind: str | None = None, as_json: JsonOption = False) -> int:
    """List the named rule sets with their sources.

    Example: keizerframe presets --kind variant
    """
    if kind not in (None, "variant", "program", "club"):
        raise UnknownNameError("kind of preset", str(kind), ("variant", "program", "club"))
    table = list_presets(kind=kind)  # type: ignore[arg-type]  # checked above
    if as_json:
        _print_json(table)
    else:
        _print_table(table[["name", "kind", "title", "settings", "source", "proof"]], "presets")
        for note in table["assumptions"][table["assumptions"] != ""].unique():
            notes.print(f"note: {note}")
    return 0


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


def _cell(value: Any) -> str:
    if pd.isna(value):
        return ""
    return f"{value:g}" if isinstance(value, float) else str(value)


def _print_json(frame: pd.DataFrame) -> None:
    print(json.dumps(json.loads(frame.to_json(orient="records")), ensure_ascii=False, indent=1))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status.

    0 = done, 1 = the data are faulty, 2 = the command is (unknown preset, option or value), 130 = interrupted.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", KeizerWarning)
            warnings.showwarning = _show_warning
            return int(app(arguments, exit_on_error=False, print_error=True, error_console=notes) or 0)
    except CycloptsError:
        return 2
    except (UnknownNameError, RulesError) as fault:
        notes.print(f"keizerframe: {fault}", style="red", highlight=False, markup=False, soft_wrap=True)
        return 2
    except SeasonError as fault:
        notes.print(f"keizerframe: {fault}", highlight=False, markup=False, soft_wrap=True)
        return 1
    except (KeizerError, OSError) as fault:
        notes.print(f"keizerframe: {fault}", highlight=False, markup=False, soft_wrap=True)
        return 1

    except KeyboardInterrupt:
        notes.print("keizerframe: interrupted")
        return 130


def _show_warning(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    notes.print(f"warning: {message}", style="yellow", highlight=False, markup=False, soft_wrap=True)


def run() -> None:
    """Entry point of the console script."""
    sys.exit(main())
