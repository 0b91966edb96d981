"""Parquet with an explicit schema and our own metadata key; every write is atomic."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from keizerframe.columns import Origin
from keizerframe.errors import FileFormatError, RulesError
from keizerframe.io.atomic import replacing
from keizerframe.rules import Rules
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
            facts: dict[str, Any] = {"kind": name}
            if name == "games" and data.rules:
                facts["rules"] = rules_texts(data.rules)
            write_atomically(table_of(getattr(data, name), schema), path / f"{name}.parquet", facts)
        return path
    schema = next((known for known in _KNOWN_SCHEMAS if known.names == list(data.columns)), None)
    path.parent.mkdir(parents=True, exist_ok=True)
    kind = "standings" if schema is STANDINGS_SCHEMA else "frame"
    write_atomically(table_of(data, schema), path, {"kind": kind})
    return path


def rules_texts(rules: Mapping[str, Rules]) -> dict[str, dict[str, Any]]:
    """Return rule sets as JSON values: every field that decides scores, and where the rules come from."""
    return {label: one.written() | {"label": one.label, "source": one.source} for label, one in rules.items()}


def table_of(frame: pd.DataFrame, schema: pa.Schema | None) -> pa.Table:
    """Return a frame as an Arrow table; an all-missing column keeps its type through the schema."""
    if schema is None:
        return pa.Table.from_pandas(frame, preserve_index=False)
    plain = frame.copy(deep=False)
    for name in schema.names:
        # A category is a text like any other outside pandas; dates stay as they were written.
        if isinstance(plain[name].dtype, pd.CategoricalDtype) or name == "date":
            plain[name] = plain[name].astype("str")
    return pa.Table.from_pandas(plain, schema=schema, preserve_index=False)


def creator() -> str:
    """Return the name and version that stand in what we write."""
    return f"keizerframe {metadata.version('keizerframe')}"


def write_atomically(
    content: pa.Table | bytes, path: Path, facts: Mapping[str, Any] | None = None, *, work: Path | None = None
) -> None:
    """Write a table (or bytes) under a temporary name, sync, rename.

    Parameters
    ----------
    content
        A table becomes a parquet file, with `facts` under our metadata key.
    path
        Where it shall appear, whole or not at all.
    work
        The folder of the temporary name, on the same disk; None = beside `path`.
    """
    with replacing(path, work) as stream:
        if isinstance(content, bytes):
            stream.write(content)
        else:
            pq.write_table(_with_facts(content, facts or {}), stream)


def _with_facts(table: pa.Table, facts: Mapping[str, Any]) -> pa.Table:
    own = {"schema_version": SCHEMA_VERSION, "creator": creator(), **facts}
    kept = {key: value for key, value in (table.schema.metadata or {}).items() if key != METADATA_KEY}
    return table.replace_schema_metadata({**kept, METADATA_KEY: json.dumps(own, sort_keys=True).encode()})


#: Whole numbers beside empty cells stay whole: as floats two ids above 2^53 would become one.
_WHOLE = {
    pa.int8(): pd.Int8Dtype(),
    pa.int16(): pd.Int16Dtype(),
    pa.int32(): pd.Int32Dtype(),
    pa.int64(): pd.Int64Dtype(),
    pa.uint8(): pd.UInt8Dtype(),
    pa.uint16(): pd.UInt16Dtype(),
    pa.uint32(): pd.UInt32Dtype(),
    pa.uint64(): pd.UInt64Dtype(),
}


def frame_of(table: pa.Table) -> pd.DataFrame:
    """Return a table as a frame in which whole numbers are whole."""
    frame: pd.DataFrame = table.to_pandas(types_mapper=_WHOLE.get, ignore_metadata=True)
    return frame


def rules_in(schema: pa.Schema, path: object) -> dict[str, Rules]:
    """Return the rule sets under our metadata key.

    Raises
    ------
    FileFormatError
        If the file was written by a newer version, or its rules make no sense.
    """
    own = json.loads((schema.metadata or {}).get(METADATA_KEY, b"{}"))
    if own.get("schema_version", 1) > SCHEMA_VERSION:
        raise FileFormatError(
            f"{path}: written by {own.get('creator')} with schema {own['schema_version']}; "
            f"this version reads up to {SCHEMA_VERSION}: upgrade keizerframe"
        )
    if own.get("kind") != "games":
        return {}
    try:
        return {label: Rules.parse(one) for label, one in own.get("rules", {}).items()}
    except RulesError as fault:
        raise FileFormatError(f"{path}: the rules that came with it: {fault}") from fault


def read_frame(path: Path) -> tuple[pd.DataFrame, Origin, dict[str, Rules]]:
    """Return a parquet file as a frame, where its rows stand, and the rules that came with it.

    Raises
    ------
    FileFormatError
        If it is no parquet file, or was written by a newer version.
    """
    try:
        table = pq.ParquetFile(path).read()
    except pa.ArrowInvalid as fault:
        raise FileFormatError(f"{path}: not a parquet file: {fault}") from fault
    rules = rules_in(table.schema, path)
    return frame_of(table), Origin(path.name, np.arange(table.num_rows)), rules
