"""Reading columns: ids, whole numbers and results of any spelling, and the list of what is wrong with them.

Every column is factorised first, so that each distinct value is read once however long the frame is.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
from pandas.arrays import ArrowStringArray

IntArray = npt.NDArray[np.integer]

_TEXT = pd.StringDtype("pyarrow", na_value=np.nan)
PROBLEM_COLUMNS = ("season", "round", "file", "row", "column", "value", "what", "hint")


@dataclass
class Origin:
    """Where the rows of a frame stand in a file.

    Parameters
    ----------
    file
        The file's name.
    lines
        The line of each row; None = the row's position counts.
    more
        For frames from several files: (first row, file) of each further file.
    """

    file: str = ""
    lines: IntArray | None = None
    more: tuple[tuple[int, str], ...] = ()

    def row(self, position: int) -> int:
        """Return the line (or the position) of a row."""
        return int(position if self.lines is None else self.lines[position])

    def file_of(self, position: int | None) -> str:
        """Return the file of a row."""
        later = [name for first, name in self.more if position is not None and position >= first]
        return later[-1] if later else self.file


@dataclass
class Problems:
    """All that is wrong with a season, gathered."""

    rows: list[dict[str, Any]] = field(default_factory=list)

    def add(
        self,
        what: str,
        *,
        hint: str = "",
        origin: Origin | None = None,
        position: int | None = None,
        **where: Any,
    ) -> None:
        """Note one problem; `where` may hold season, round, column and value."""
        self.rows.append(
            {
                "season": where.get("season", ""),
                "round": where.get("round"),
                "file": origin.file_of(position) if origin else "",
                "row": origin.row(position) if origin and position is not None else position,
                "column": where.get("column", ""),
                "value": "" if where.get("value") is None else str(where["value"]),
                "what": what,
                "hint": hint,
            }
        )

    def frame(self) -> pd.DataFrame:
        """Return the problems, one row each, in the order of the file."""
        # Objects, so that a round beside an empty one stays a whole number.
        frame = pd.DataFrame(self.rows, columns=list(PROBLEM_COLUMNS), dtype=object)
        order = sorted(range(len(frame)), key=lambda i: (self.rows[i]["file"], self.rows[i]["row"] or 0, i))
        return frame.iloc[order].reset_index(drop=True)


@dataclass(frozen=True)
class Coded:
    """A column as codes into its distinct values; -1 = missing."""

    codes: IntArray
    values: list[Any]

    def at(self, position: int) -> Any:
        """Return the value of a row, None if missing."""
        code = self.codes[position]
        return None if code < 0 else self.values[code]

    def filled(self, missing: int) -> IntArray:
        """Return whole numbers, `missing` where there is none."""
        return np.asarray([*self.values, missing], dtype=np.int64)[self.codes]


def is_missing(value: Any) -> bool:
    """Return whether a cell is empty: None, NaN, NA, or blank text."""
    return value is None or value is pd.NA or value != value or (isinstance(value, str) and not value.strip())


def read_column(
    column: pd.Series[Any] | None,
    length: int,
    read: Callable[[Any], Any],
    note: Callable[[int, Any, str], None],
) -> Coded:
    """Return a column with every distinct value read; what cannot be read is noted and missing.

    Parameters
    ----------
    column
        The column, or None for a column that is not there.
    length
        Rows of the frame.
    read
        Returns the meaning of a value, or raises ValueError saying what is wrong and how to mend it
        (two arguments: what, hint).
    note
        Called with position, value and the ValueError's arguments for each bad row.
    """
    if column is None:
        return Coded(np.full(length, -1), [])
    codes, uniques = pd.factorize(column, use_na_sentinel=True)
    values: dict[Any, int] = {}
    renumber = np.full(len(uniques) + 1, -1)
    for number, value in enumerate(uniques):
        if is_missing(value):
            continue
        try:
            renumber[number] = values.setdefault(read(value), len(values))
        except ValueError as fault:
            for position in np.flatnonzero(codes == number):
                note(int(position), value, *fault.args)
    return Coded(renumber[codes], list(values))


def read_id(value: Any) -> str:
    """Return an id as text: text stays, whole numbers become decimal text (Excel's 7.0 is 7)."""
    if isinstance(value, str):
        return value
    # Integers never pass through a float: above 2^53 two ids would become one.
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        return str(int(value))
    if isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_) and float(value) % 1 == 0:
        return str(int(float(value)))
    raise ValueError("not an id", "use text or whole numbers")


def whole_number(least: int, most: int, what: str) -> Callable[[Any], int]:
    """Return a reader of whole numbers between two bounds."""

    def read(value: Any) -> int:
        try:
            number = float(value) if isinstance(value, str) else value
            if isinstance(number, bool | np.bool_) or number != number // 1:
                raise ValueError
            number = int(number)
        except (ValueError, TypeError, OverflowError):
            raise ValueError(f"{what} is no whole number", "write digits only, or leave it empty") from None
        if number < least:
            raise ValueError(f"{what} below {least}", f"the least is {least}")
        if number > most:
            raise ValueError(f"{what} above {most}", f"the largest is {most}")
        return number

    return read


def text_array(values: Sequence[Any], codes: IntArray) -> ArrowStringArray:
    """Return a text column from codes; -1 = missing."""
    codes = np.asarray(codes)
    taken = pa.array(values, pa.large_string()).take(pa.array(codes, pa.int64(), mask=codes < 0))
    return ArrowStringArray(taken, dtype=_TEXT)  # type: ignore[call-arg]  # the stubs lack it


def nullable(coded: Coded, dtype: str) -> pd.arrays.IntegerArray:
    """Return whole numbers as a nullable column."""
    return pd.arrays.IntegerArray(coded.filled(0).astype(dtype.lower()), coded.codes < 0)


def join_ids(columns: Iterable[Coded]) -> tuple[list[str], list[IntArray]]:
    """Return one list of ids for several columns, and each column's codes into it."""
    number: dict[str, int] = {}
    joined: list[IntArray] = []
    for column in columns:
        table = np.array([number.setdefault(value, len(number)) for value in column.values] + [-1], dtype=np.int64)
        joined.append(table[column.codes])
    return list(number), joined


def id_key(text: str) -> tuple[int, int, str]:
    """Order ids that are numbers by their value, before all others."""
    return (0, int(text), text) if text.isascii() and text.isdigit() else (1, 0, text)


def dense_places(values: IntArray) -> IntArray:
    """Return the place of each number among the distinct ones."""
    return np.unique(values, return_inverse=True)[1]


def alphabetical(values: npt.NDArray[np.object_], key: Callable[[Any], Any] = str) -> IntArray:
    """Return for each text its place in the order of code points, or by `key`."""
    codes, uniques = pd.factorize(values)
    place = np.empty(len(uniques), dtype=np.int64)
    place[sorted(range(len(uniques)), key=lambda i: key(uniques[i]))] = np.arange(len(uniques))
    return place[codes] if len(uniques) else np.zeros(0, dtype=np.int64)
