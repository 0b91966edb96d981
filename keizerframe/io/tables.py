"""CSV as clubs write it: comma, semicolon or tab, UTF-8 or Windows, with the line of every row."""

from __future__ import annotations

import codecs
import csv
import io
from pathlib import Path

import numpy as np
import pandas as pd

from keizerframe.columns import Origin
from keizerframe.errors import FileFormatError

#: How a UTF-16 file begins.
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def read_csv(path: Path) -> tuple[pd.DataFrame, Origin]:
    """Return a CSV file as text columns, and where its rows stand.

    Raises
    ------
    FileFormatError
        If the file is empty, or a line has more cells than the header.
    """
    reader = csv.reader(io.StringIO(decoded(path), newline=""), delimiter=delimiter(path))
    header: list[str] = []
    rows: list[list[str | None]] = []
    lines: list[int] = []
    faults: list[str] = []
    before = 0
    for cells in reader:
        line, before = before + 1, reader.line_num
        if not any(cell.strip() for cell in cells):
            continue
        if not header:
            header = [cell.strip().lower() for cell in cells]
        elif len(cells) > len(header) and any(cell.strip() for cell in cells[len(header) :]):
            faults.append(f"line {line} has {len(cells)} cells, the header {len(header)}")
        else:
            cells = cells[: len(header)]
            rows.append([cell.strip() or None for cell in cells] + [None] * (len(header) - len(cells)))
            lines.append(line)
    if faults:
        raise FileFormatError(f"{path}: {'; '.join(faults[:10])}: quote cells that hold the separator")
    if not header:
        raise FileFormatError(f"{path}: the file is empty; its first line names the columns")
    if twice := {name for name in header if name and header.count(name) > 1}:
        raise FileFormatError(f"{path}: the column {sorted(twice)[0]!r} stands twice in the first line")
    kept = [i for i, name in enumerate(header) if name]
    frame = pd.DataFrame({header[i]: pd.Series([row[i] for row in rows], dtype="str") for i in kept})
    return frame, Origin(path.name, np.asarray(lines, dtype=np.int64))


def read_table(path: Path) -> pd.DataFrame:
    """Return a table that is no season, such as a published one: CSV as text, or parquet."""
    return pd.read_parquet(path) if path.suffix.lower() == ".parquet" else read_csv(path)[0]


def read_ids(path: Path) -> list[str]:
    """Return the players a file names: its column ``player``, or one id a line.

    Raises
    ------
    FileFormatError
        If it names nobody.
    """
    lines = [line.strip() for line in decoded(path).splitlines() if line.strip()]
    if lines and "player" in [cell.strip().lower() for cell in lines[0].split(delimiter(path))]:
        lines = read_csv(path)[0]["player"].dropna().tolist()
    if not lines:
        raise FileFormatError(f"{path}: nobody is named; give one player a line, or a column 'player'")
    return lines


def decoded(path: Path) -> str:
    """Return a text file's content: UTF-8, UTF-16 with its mark (spreadsheets' "Unicode text"), else Windows-1252."""
    content = path.read_bytes()
    if content.startswith(UTF_16):
        return content.decode("utf-16")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", errors="replace")


def delimiter(path: Path) -> str:
    """Return the separator that the first line uses most."""
    first = next((line for line in decoded(path).splitlines() if line.strip()), "")
    return max(",;\t", key=first.count)
