"""A table as somebody printed it: players with scores, ranks or both, and how far the print was rounded."""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from keizerframe.columns import is_missing, read_id
from keizerframe.errors import PublishedTableError, nearest

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.integer]

#: Programs in single precision carry about seven digits: what differs less than that is no difference.
SINGLE_PRECISION = 2e-7
_MOST_DECIMALS = 6
_SHOWN = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class Published:
    """A published table, read.

    Parameters
    ----------
    player
        Position of each player among those of the season, shape [P].
    score
        Points, NaN where none was printed, shape [P].
    rank
        Printed rank, 0 where there is none, shape [P].
    decimals
        Decimals of the scores, None without scores.
    """

    player: IntArray
    score: FloatArray
    rank: IntArray
    decimals: int | None

    @property
    def tolerance(self) -> FloatArray:
        """How far a score may lie from the printed one, points, shape [P]: half of the last decimal."""
        half = 0.0 if self.decimals is None else 0.5 * 10.0**-self.decimals
        return half + SINGLE_PRECISION * np.maximum(np.abs(np.nan_to_num(self.score)), 1)


def read_published(table: Any, players: Iterable[str], decimals: int | None) -> Published:
    """Return a published table; its columns are player, and score or rank or both, others are passed over.

    Parameters
    ----------
    table
        The frame. Scores may be numbers or text (``"12,5"``, ``"12½"``).
    players
        The ids of the season's players.
    decimals
        The decimals of the scores; None = as many as are shown.

    Raises
    ------
    PublishedTableError
        With everything that is wrong.
    """
    if not isinstance(table, pd.DataFrame):
        raise PublishedTableError([f"the published table must be a DataFrame, not a {type(table).__name__}"])
    problems: list[str] = []
    known = {name: number for number, name in enumerate(players)}
    columns = [str(name) for name in table.columns]
    if len(set(columns)) < len(columns):
        twice = sorted({name for name in columns if columns.count(name) > 1})
        raise PublishedTableError([f"column {name!r} stands twice: drop one" for name in twice])
    if "player" not in columns:
        problems.append(f"no column 'player'{_hint('player', columns)}")
    if not {"score", "rank"} & set(columns):
        problems.append(f"no column 'score' or 'rank'{_hint('score', columns) or _hint('rank', columns)}")
    if not len(table):
        problems.append("the published table has no rows")
    if decimals is not None and (
        isinstance(decimals, bool) or not isinstance(decimals, numbers.Integral) or not 0 <= decimals <= 15
    ):
        problems.append(f"decimals = {decimals!r}: must be a whole number from 0 to 15, or None")
    names = table["player"].tolist() if "player" in columns else []
    position = _players(names, known, problems)
    absent = [None] * len(table)
    score, shown = _scores(table["score"].tolist() if "score" in columns else absent, problems)
    rank = _ranks(table["rank"].tolist() if "rank" in columns else absent, problems)
    if not problems and np.isnan(score).all() and not rank.any():
        problems.append("neither 'score' nor 'rank' has a number: the table says nothing")
    if problems:
        raise PublishedTableError(problems)
    kept = ~np.isnan(score) | (rank > 0)
    rounded = shown if decimals is None else int(decimals)
    return Published(
        player=position[kept],
        score=score[kept],
        rank=rank[kept],
        decimals=None if np.isnan(score).all() else rounded,
    )


def _hint(wanted: str, columns: list[str]) -> str:
    close = nearest(wanted, columns, 2)
    have = ", ".join(columns[:8]) or "none"
    return f"; rename {' or '.join(map(repr, close))}" if close else f" (there are: {have})"


def _players(names: list[Any], known: dict[str, int], problems: list[str]) -> IntArray:
    """Return each row's player as a position; unknown and doubled ones become problems."""
    position = np.zeros(len(names), dtype=np.int64)
    unknown: list[str] = []
    rows: dict[str, list[int]] = {}
    for row, name in enumerate(names):
        try:
            text = "" if is_missing(name) else read_id(name)
        except ValueError as fault:
            text = ""
            problems.append(f"row {row}: player {name!r} is {fault.args[0]}; {fault.args[1]}")
            continue
        if not text:
            problems.append(f"row {row}: no player")
        elif text not in known:
            close = nearest(text, known, 1)
            unknown.append(f"{text!r}" + (f" (did you mean {close[0]!r}?)" if close else ""))
        else:
            position[row] = known[text]
            rows.setdefault(text, []).append(row)
    if unknown:
        problems.append(f"not in the season: {_listed(unknown)}")
    twice = [f"{name!r} (rows {', '.join(map(str, at))})" for name, at in rows.items() if len(at) > 1]
    if twice:
        problems.append(f"more than one row for {_listed(twice)}: keep one of each")
    return position


def _listed(items: list[str]) -> str:
    more = f" and {len(items) - _SHOWN} more" if len(items) > _SHOWN else ""
    return ", ".join(items[:_SHOWN]) + more


def _scores(cells: list[Any], problems: list[str]) -> tuple[FloatArray, int]:
    """Return scores and the decimals shown."""
    score = np.full(len(cells), np.nan)
    decimals, bad = 0, []
    for row, cell in enumerate(cells):
        if is_missing(cell):
            continue
        try:
            score[row], shown = _score(cell)
            decimals = max(decimals, shown)
        except (ValueError, TypeError):
            bad.append(f"{cell!r} (row {row})")
    if bad:
        problems.append(f"score is no number: {_listed(bad)}; write 12.5, 12,5 or 12½")
    return score, decimals


def _score(cell: Any) -> tuple[float, int]:
    """Return a number and its decimals."""
    if isinstance(cell, str):
        text = cell.strip().replace(",", ".")
        if text.endswith("½"):
            text = (text[:-1] or "0") + ".5"
        decimals = min(len(text.partition(".")[2]), _MOST_DECIMALS)
        number = float(text)
    elif isinstance(cell, bool | np.bool_):
        raise ValueError
    else:
        number = float(cell)
        noise = SINGLE_PRECISION * max(abs(number), 1)
        decimals = next((d for d in range(_MOST_DECIMALS) if abs(number - round(number, d)) <= noise), _MOST_DECIMALS)
    if not np.isfinite(number):
        raise ValueError
    return number, decimals


def _ranks(cells: list[Any], problems: list[str]) -> IntArray:
    rank = np.zeros(len(cells), dtype=np.int64)
    bad = []
    for row, cell in enumerate(cells):
        if is_missing(cell):
            continue
        try:
            number = float(cell.strip().rstrip(".=")) if isinstance(cell, str) else float(cell)
            if isinstance(cell, bool | np.bool_) or number % 1 or not 1 <= number < 2**31:
                raise ValueError
            rank[row] = int(number)
        except (ValueError, TypeError):
            bad.append(f"{cell!r} (row {row})")
    if bad:
        problems.append(f"rank is no whole number from 1: {_listed(bad)}")
    return rank
