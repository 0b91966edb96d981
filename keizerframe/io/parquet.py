"""Parquet with an explicit schema and our own metadata key; every write is atomic."""

from __future__ import annotations

import json
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from keizerframe.columns import Origin
from keizerframe.errors import FileFormatError
from keizerframe.io.atomic import replacing
from keizerframe.season import Season
from keizerframe.standings import STANDINGS_SCHEMA

METADATA_KEY = b"keizerframe"
SCHEMA_VERSION = 1

GAMES_SCHEMA = pa.schema(
    [
        ("season", pa.string()),
        ("round", pa.int16()),
        ("board", pa.int16()),
        ("white", pa.string()),
        ("black", pa.string()),
        ("result", pa.string()),
    ]
)
PLAYERS_SCHEMA = pa.schema(
    [
        ("season", pa.string()),
        ("player", pa.string()),
        ("name", pa.string()),
        ("rating", pa.int32()),
        ("joined_round", pa.int32()),
        ("withdrawn_after", pa.int32()),
        ("start_rank", pa.int32()),
        ("category", pa.string()),
    ]
)
ROUNDS_SCHEMA = pa.schema(
    [("season", pa.string()), ("round", pa.int16()), ("part", pa.string()), ("date", pa.string())]
)
SEASON_SCHEMAS = {"games": GAMES_SCHEMA, "players": PLAYERS_SCHEMA, "rounds": ROUNDS_SCHEMA}
_KNOWN_SCHEMAS = [STANDINGS_SCHEMA, *SEASON_SCHEMAS.values()]


def to_parquet(data: pd.DataFrame | Season, path: str | Path) -> Path:
    """Write results to a parquet file, or a Season to a folder of three.

    Parameters
    ----------
    data
        Standings or another frame: one file. A Season: a folder with games, players and rounds, which
        `read` opens again.
    path
        Where to write. The file appears whole or not at all.

    Returns
    -------
    pathlib.Path
        What was written.

    Examples
    --------
    >>> import keizerframe as kf, tempfile, pathlib
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "standings.parquet"
    >>> season = kf.load_dataset("waagtoren")
    >>> kf.to_parquet(kf.score(season, "knsb"), target).name
    'standings.parquet'
    """
    path = Path(path)
    if isinstance(data, Season):
        path.mkdir(parents=True, exist_ok=True)
        for name, schema in SEASON_SCHEMAS.items():
            _write(_table(getattr(data, name), schema), path / f"{name}.parquet", {"kind": name})
        return path
    schema = next((known for known in _KNOWN_SCHEMAS if known.names == list(data.columns)), None)
    path.parent.mkdir(parents=True, exist_ok=True)
    kind = "standings" if schema is STANDINGS_SCHEMA else "frame"
    _write(_table(data, schema), path, {"kind": kind})
    return path


def _table(frame: pd.DataFrame, schema: pa.Schema | None) -> pa.Table:
    """Return a frame as an Arrow table; an all-missing column keeps its type through the schema."""
    if schema is None:
        return pa.Table.from_pandas(frame, preserve_index=False)
    plain = frame.copy(deep=False)
    for name in schema.names:
        # A category is a text like any other outside pandas; dates stay as they were written.
        if isinstance(plain[name].dtype, pd.CategoricalDtype) or name == "date":
            plain[name] = plain[name].astype("str")
    return pa.Table.from_pandas(plain, schema=schema, preserve_index=False)


def _write(table: pa.Table, path: Path, facts: dict[str, Any]) -> None:
    """Write a table with our own facts in its metadata."""
    own = {
        "schema_version": SCHEMA_VERSION,
        "creator": f"keizerframe {metadata.version('keizerframe')}",
        **facts,
    }
    kept = {key: value for key, value in (table.schema.metadata or {}).items() if key != METADATA_KEY}
    table = table.replace_schema_metadata({**kept, METADATA_KEY: json.dumps(own, sort_keys=True).encode()})
    with replacing(path) as stream:
        pq.write_table(table, stream)


def read_frame(path: Path) -> tuple[pd.DataFrame, Origin]:
    """Return a parquet file as a frame.

    Raises
    ------
    FileFormatError
        If it is no parquet file, or was written by a newer version.
    """
    try:
        table = pq.ParquetFile(path).read()
    except pa.ArrowInvalid as fault:
        raise FileFormatError(f"{path}: not a parquet file: {fault}") from fault
    own = json.loads((table.schema.metadata or {}).get(METADATA_KEY, b"{}"))
    if own.get("schema_version", 1) > SCHEMA_VERSION:
        raise FileFormatError(
            f"{path}: written by {own.get('creator')} with schema {own['schema_version']}; "
            f"this version reads up to {SCHEMA_VERSION}: upgrade keizerframe"
        )
    return table.to_pandas(), Origin(path.name, np.arange(table.num_rows))
