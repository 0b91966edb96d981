"""What all commands share: the application, its options, reading, printing."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
from cyclopts import App, Parameter
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

from keizerframe.errors import RulesError, UnknownNameError
from keizerframe.io import read
from keizerframe.season import Season

_EPILOGUE = """\
Examples:
  keizerframe score data/waagtoren --rules knsb --season 2023-24 --top 10
  keizerframe compare data/waagtoren --rules knsb freekeizer --out scores
  keizerframe explain club/ --rules knsb --player p7 --since 11 --words
  keizerframe diagnose club/ --rules knsb freekeizer-0.5
  keizerframe identify club/ --table published.csv --through 12
  keizerframe rescore seasons/ --rules knsb freekeizer --out scores --workers 2
  keizerframe pair club/ --rules knsb --round 12 --absent p3 p9 --append
  keizerframe round-robin Anna Bram Carla Dirk --cycles 2 > games.csv
  keizerframe check club/"""

app = App(
    name="keizerframe",
    help="Re-score chess-club seasons under any Keizer rule set.",
    help_epilogue=_EPILOGUE,
    help_format="plaintext",
    result_action="return_value",
    suppress_keyboard_interrupt=False,  # `main` says what became of the work
)
notes = Console(stderr=True)

#: Tables of so few rows are turned on their side where they do not fit the terminal.
_FEW_ROWS = 8
_WIDEST = 10_000

PathArgument = Annotated[
    Path, Parameter(help="A season: a folder with games.csv (players.csv, rounds.csv), or one file")
]
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
PartsOption = Annotated[
    list[str] | None,
    Parameter(
        name="--parts",
        consume_multiple=True,
        negative=(),
        help="The parts of every season by their rounds: 1-15 16-30, or autumn:1-15 spring:16-30",
    ),
]
LangOption = Annotated[str, Parameter(name="--lang", help="en, nl, de or fr")]
StartsOption = Annotated[int, Parameter(name="--starts", help="Random start orders to try")]
PlayersOption = Annotated[list[str] | None, Parameter(consume_multiple=True, negative=())]
OutOption = Annotated[Path | None, Parameter(name="--out", help="Folder for the parquet files")]


def load(path: Path, labels: list[str] | None, parts: list[str] | None = None) -> Season:
    """Read seasons, the chosen ones, divided into parts if asked."""
    data = read(path)
    for label in labels or []:
        if label not in data.labels:
            raise UnknownNameError("season", label, data.labels)
    if labels is not None:
        data = data.select(labels)
    return data if parts is None else data.with_parts(dict(_part(number, one) for number, one in enumerate(parts, 1)))


def ids_of(data: Season, people: list[str] | None) -> list[str] | None:
    """Return people as ids: who is no id, but the name of one player, is that player."""
    if people is None:
        return None
    ids = set(data.players["player"])
    by_name: dict[str, set[str]] = {}
    for name, player in zip(data.players["name"], data.players["player"], strict=True):
        by_name.setdefault(str(name), set()).add(player)
    return [next(iter(by_name[one])) if one not in ids and len(by_name.get(one, ())) == 1 else one for one in people]


def at_least(least: int, **numbers: int | None) -> None:
    """Refuse numbers that are too small; the message names the options."""
    small = {name: number for name, number in numbers.items() if number is not None and number < least}
    if small:
        raise RulesError([f"--{name.replace('_', '-')} {one}: must be {least} or more" for name, one in small.items()])


def _part(number: int, text: str) -> tuple[str, tuple[int, int]]:
    """Return the name of a part, its first and its last round."""
    name, _, rounds = text.rpartition(":")
    first, dash, last = rounds.partition("-")
    if not (dash and first.strip().isdigit() and last.strip().isdigit()):
        raise RulesError([f"--parts {text}: write the first and the last round, as in 1-15 or autumn:1-15"])
    return name or str(number), (int(first), int(last))


def tell(line: str, quiet: bool) -> None:
    """Print a line for people, unless they want quiet."""
    if not quiet:
        notes.print(line, highlight=False, soft_wrap=True)


def print_table(frame: pd.DataFrame, title: str) -> None:
    """Print a frame: a drawn table on a terminal, tab-separated lines into a pipe."""
    print_tables({title: frame}, frame)


def print_tables(tables: Mapping[str, pd.DataFrame], whole: pd.DataFrame) -> None:
    """Print tables with their titles on a terminal; into a pipe all of it as one, with what the titles say."""
    if not sys.stdout.isatty():
        print(whole.to_csv(sep="\t", index=False, lineterminator="\n", float_format="%.10g"), end="")
        return
    console = Console()
    for title, frame in tables.items():
        table = _drawn(frame, title)
        needed = Measurement.get(console, console.options.update(width=_WIDEST), table).minimum
        if needed > console.width and len(frame) <= _FEW_ROWS:
            # Too wide for the terminal: a line a column.
            turned = frame.T.map(_cell).rename(columns=str).reset_index(names="")
            table = _drawn(turned.rename(columns=dict.fromkeys(map(str, frame.index), " ")), title)
        console.print(table)


def _drawn(frame: pd.DataFrame, title: str) -> Table:
    table = Table(title=title, title_justify="left", header_style="bold", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name, dtype in frame.dtypes.items():
        numeric = pd.api.types.is_numeric_dtype(dtype)
        # Long names in two lines: a terminal is not wide.
        table.add_column(str(name).replace("_", "\n"), justify="right" if numeric else "left", no_wrap=numeric)
    for row in frame.itertuples(index=False):
        table.add_row(*(_cell(value) for value in row))
    return table


def print_csv(frame: pd.DataFrame) -> None:
    """Print a frame as CSV."""
    print(frame.to_csv(index=False, lineterminator="\n"), end="")


def _cell(value: Any) -> str:
    if pd.isna(value):
        return ""
    return f"{value:g}" if isinstance(value, float) else str(value)


def print_json(frame: pd.DataFrame) -> None:
    """Print a frame as a JSON list of its rows."""
    print(json.dumps(json.loads(frame.to_json(orient="records")), ensure_ascii=False, indent=1))
