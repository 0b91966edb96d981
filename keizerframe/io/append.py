"""Appending the rows of a round to the games file of a season; what is there stays as it is, byte for byte."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from keizerframe.errors import FileFormatError, PairingError
from keizerframe.io import games_file, read
from keizerframe.io.atomic import replacing
from keizerframe.io.tables import UTF_16, decoded, delimiter

#: Columns of a games file; the first two may be missing in it.
_COLUMNS = ("season", "board", "round", "white", "black", "result")


def append_games(path: Path, rows: pd.DataFrame) -> Path:
    """Append rows to the games of a season folder or file.

    Parameters
    ----------
    path
        What `read` opens.
    rows
        A games frame of one round: season, round, board, white, black, result.

    Returns
    -------
    pathlib.Path
        The file that has grown. It is replaced as a whole, or not at all.

    Raises
    ------
    PairingError
        If one of the players has a row in that round already.
    FileFormatError
        If the file has no column for something that must be written.
    """
    target = games_file(path)
    _refuse_second_rows(path, rows)
    write = _append_parquet if target.suffix.lower() == ".parquet" else _append_csv
    write(target, rows)
    return target


def _refuse_second_rows(path: Path, rows: pd.DataFrame) -> None:
    """Compare with the file as it is now: somebody may have written since the round was paired."""
    there = read(path).games
    keys = {
        (season, number, player)
        for side in ("white", "black")
        for season, number, player in zip(there["season"], there["round"], there[side], strict=True)
    }
    twice = [
        (player, number)
        for side in ("white", "black")
        for season, number, player in zip(rows["season"], rows["round"], rows[side], strict=True)
        if isinstance(player, str) and (season, number, player) in keys
    ]
    if twice:
        raise PairingError(
            [f"append: {player!r} has a row in round {number} already: delete it first" for player, number in twice]
        )


def _needed(target: Path, rows: pd.DataFrame, columns: list[str]) -> None:
    for name in _COLUMNS[2:]:
        if name not in columns and rows[name].notna().any():
            raise FileFormatError(f"{target}: no column {name!r}, so the round cannot be appended: add the column")


def _append_csv(target: Path, rows: pd.DataFrame) -> None:
    content, text = target.read_bytes(), decoded(target)
    if content.startswith(UTF_16):
        raise FileFormatError(f"{target}: a UTF-16 file is read but not written: save it as UTF-8 CSV")
    mark = delimiter(target)
    header = next(cells for cells in csv.reader(io.StringIO(text, newline=""), delimiter=mark) if any(cells))
    columns = [cell.strip().lower() for cell in header]
    _needed(target, rows, columns)
    end = "\r\n" if b"\r\n" in content else "\n"
    lines = io.StringIO(newline="")
    writer = csv.writer(lines, delimiter=mark, lineterminator=end)
    for row in rows.to_dict("records"):
        writer.writerow([_text(row.get(name)) if name in _COLUMNS else "" for name in columns])
    try:
        content.decode("utf-8")
        added = lines.getvalue().encode("utf-8")
    except UnicodeDecodeError:
        # The file is Windows-1252, and stays it.
        try:
            added = lines.getvalue().encode("cp1252")
        except UnicodeEncodeError as fault:
            raise FileFormatError(f"{target}: {fault}: save the file as UTF-8") from fault
    with replacing(target) as stream:
        stream.write(content)
        if not content.endswith((b"\n", b"\r")):
            stream.write(end.encode())
        stream.write(added)


def _text(value: Any) -> str:
    return "" if pd.isna(value) else str(value)


def _append_parquet(target: Path, rows: pd.DataFrame) -> None:
    table = pq.ParquetFile(target).read()
    _needed(target, rows, table.schema.names)
    new = []
    for column in table.schema:
        values: list[str | None] = [None] * len(rows)
        if column.name in _COLUMNS:
            values = [None if pd.isna(value) else str(value) for value in rows[column.name]]
        try:
            new.append(pa.array(values, pa.string()).cast(column.type))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as fault:
            raise FileFormatError(f"{target}: column {column.name!r} cannot hold the round: {fault}") from fault
    with replacing(target) as stream:
        pq.write_table(pa.concat_tables([table, pa.table(new, schema=table.schema)]), stream)
