"""The parts of a source: what one worker loads at a time."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow.fs import FileSystem

from keizerframe.columns import Origin, is_missing, read_id, text_array
from keizerframe.errors import FileFormatError
from keizerframe.intake import GAME_COLUMNS, PLAYER_COLUMNS, ROUND_COLUMNS
from keizerframe.io import read_frames
from keizerframe.io.parquet import frame_of, rules_in, rules_texts
from keizerframe.rules import Rules
from keizerframe.season import Frames, Season

COLUMNS = {"games": GAME_COLUMNS, "players": PLAYER_COLUMNS, "rounds": ROUND_COLUMNS}
_NEEDED = {"games": {"round", "white", "result"}, "players": {"player"}, "rounds": {"round"}}


class Part(Protocol):
    """One piece of work: some seasons that are loaded, scored and written together."""

    @property
    def name(self) -> str:
        """Where it lies in the source."""

    @property
    def digest(self) -> str:
        """A hash of all it holds."""

    @property
    def labels(self) -> tuple[str, ...] | None:
        """The seasons in it; None = known only once it is loaded."""

    def load(self) -> Frames:
        """Return its frames, unchecked."""


def digest_of(*facts: Any) -> str:
    """Return the hash of JSON values."""
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def damaged(fault: Exception) -> bool:
    """Return whether a file is at fault: an error of the system (a network, a disk) has a number."""
    return not isinstance(fault, OSError) or fault.errno is None


def label_of(value: Any) -> str:
    """Return the label a cell of the column season stands for; '' if it is none."""
    try:
        return "" if is_missing(value) else read_id(value)
    except ValueError:
        return ""


def labels_in(frame: pd.DataFrame) -> pd.Series[str]:
    """Return the season of every row, '' where it has none."""
    if "season" not in frame:
        return pd.Series("", index=frame.index, dtype="str")
    codes, uniques = pd.factorize(frame["season"], use_na_sentinel=True)
    names = np.array([*(label_of(value) for value in uniques), ""], dtype=object)
    return pd.Series(names[codes], index=frame.index, dtype="str")


@dataclass(frozen=True, slots=True)
class Piece:
    """Some row groups of a parquet file.

    Parameters
    ----------
    path, name
        Where the file is in its file system, and in the source.
    groups
        The numbers of the row groups.
    label
        The season, where the file has no column for it; None = the column says it.
    """

    path: str
    name: str
    groups: tuple[int, ...]
    label: str | None = None

    def read(self, filesystem: FileSystem, kind: str) -> tuple[pd.DataFrame, np.ndarray[Any, Any], dict[str, Rules]]:
        """Return the rows as a frame, their places in the file, and the rules that came with them."""
        with filesystem.open_input_file(self.path) as stream:
            file = pq.ParquetFile(stream, read_dictionary=texts_of(pq.read_schema(stream)))
            present = file.schema_arrow.names
            # Columns that nobody needs are not read, unless they help to say what a faulty file lacks.
            known = [name for name in present if name in COLUMNS[kind]] if _NEEDED[kind] <= set(present) else None
            table = file.read_row_groups(list(self.groups), columns=known)
            rules = rules_in(file.schema_arrow, self.name)
            sizes = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
        first = np.concatenate([[0], np.cumsum(sizes)])
        rows = np.concatenate([np.arange(first[g], first[g + 1]) for g in self.groups]) if self.groups else first[:0]
        frame = frame_of(table.unify_dictionaries())
        if self.label is not None:
            frame["season"] = text_array([self.label], np.zeros(len(frame), dtype=np.int8))
        return frame, rows, rules


def texts_of(schema: pa.Schema) -> list[str]:
    """Return the columns that hold text: these are read as codes into their distinct values."""
    tests = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    return [field.name for field in schema if any(test(field.type) for test in tests)]


@dataclass(frozen=True, slots=True)
class TablePart:
    """Seasons in parquet files: some row groups of games, and the rows of players and rounds that belong to them.

    Parameters
    ----------
    everywhere
        Whether the rounds hold for every season.
    """

    name: str
    digest: str
    labels: tuple[str, ...]
    filesystem: FileSystem
    games: tuple[Piece, ...]
    players: tuple[Piece, ...] | None = None
    rounds: tuple[Piece, ...] | None = None
    everywhere: bool = False

    def load(self) -> Frames:
        """Return the frames of these seasons."""
        frames: dict[str, pd.DataFrame] = {}
        origins: dict[str, Origin] = {}
        rules: dict[str, Rules] = {}
        for kind in ("games", "players", "rounds"):
            pieces: tuple[Piece, ...] | None = getattr(self, kind)
            if pieces is not None:
                # Rows without a season are reported by a part of their own (see the plan).
                wanted = None if kind == "games" or (kind == "rounds" and self.everywhere) else {*self.labels} - {""}
                frames[kind], origins[kind], own = self._gather(kind, pieces, wanted)
                rules |= own
        rules = {label: rules[label] for label in self.labels if label in rules}
        return Frames(frames["games"], frames.get("players"), frames.get("rounds"), origins, rules)

    def _gather(
        self, kind: str, pieces: Sequence[Piece], wanted: set[str] | None
    ) -> tuple[pd.DataFrame, Origin, dict[str, Rules]]:
        """Return the rows of several pieces as one frame."""
        found: list[tuple[pd.DataFrame, np.ndarray[Any, Any], str]] = []
        rules: dict[str, Rules] = {}
        for piece in pieces:
            frame, rows, own = piece.read(self.filesystem, kind)
            rules |= own
            if wanted is not None:
                here = labels_in(frame).isin(wanted).to_numpy()
                if not here.all():
                    frame, rows = frame[here].reset_index(drop=True), rows[here]
            found.append((frame, rows, piece.name))
        if not found:
            return pd.DataFrame(columns=["season", *sorted(_NEEDED[kind])]), Origin(), rules
        starts = np.cumsum([0, *(len(frame) for frame, _, _ in found)])
        more = tuple((int(start), name) for start, (_, _, name) in zip(starts[1:-1], found[1:], strict=True))
        lines = np.concatenate([rows for _, rows, _ in found])
        return stacked([frame for frame, _, _ in found]), Origin(found[0][2], lines, more), rules


def stacked(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return frames one below the other; a column of several types keeps every value as it is."""
    if len(frames) == 1:
        return frames[0]
    names = list(dict.fromkeys(name for frame in frames for name in frame.columns))
    mixed = {name for name in names if len({str(frame.dtypes.get(name)) for frame in frames}) > 1}
    mixed |= {name for name in names if any(isinstance(f.dtypes.get(name), pd.CategoricalDtype) for f in frames)}
    same = [frame.astype({name: object for name in mixed if name in frame}) for frame in frames]
    return pd.concat(same, ignore_index=True)


@dataclass(frozen=True, slots=True)
class TextPart:
    """A folder or a file that `read` knows.

    Parameters
    ----------
    label
        The season the path names; None = the file's or folder's name, where the file has no column season.
    prefix
        What leads from the source to its files.
    """

    name: str
    digest: str
    path: Path
    label: str | None = None
    prefix: str = ""

    @property
    def labels(self) -> None:
        """Known only once it is read."""
        return None

    def load(self) -> Frames:
        """Return the frames, their origins named from the source on."""
        found = read_frames(self.path, self.label)
        origins = {kind: replace(origin, file=self.prefix + origin.file) for kind, origin in found.origins.items()}
        return replace(found, origins=origins)


@dataclass(frozen=True, slots=True)
class FaultyPart:
    """A file that cannot be read: an input that is reported."""

    name: str
    digest: str
    fault: str

    @property
    def labels(self) -> tuple[str, ...]:
        """One input, whatever it was meant to hold."""
        return (self.name,)

    def load(self) -> Frames:
        """Say what is wrong."""
        raise FileFormatError(self.fault)


@dataclass(frozen=True, slots=True)
class SeasonPart:
    """A Season of an iterable; it travels to the worker."""

    name: str
    digest: str
    season: Season

    @property
    def labels(self) -> tuple[str, ...]:
        """The seasons in it."""
        return tuple(self.season.labels)

    def load(self) -> Frames:
        """Return the frames of the Season."""
        season = self.season
        return Frames(season.games, season.players, season.rounds, rules=season.rules)


def season_parts(seasons: Iterable[Season]) -> Iterable[SeasonPart]:
    """Yield a part for each Season."""
    for number, season in enumerate(seasons):
        if not isinstance(season, Season):
            raise TypeError(f"item {number} of the source is a {type(season).__name__}, not a Season")
        facts: list[Any] = [season.labels, rules_texts(season.rules)]
        for frame in (season.games, season.players, season.rounds):
            hashes = pd.util.hash_pandas_object(frame, index=False).to_numpy()
            facts += [list(frame.columns), hashlib.sha256(hashes.tobytes()).hexdigest()]
        yield SeasonPart(f"season object {number}", digest_of(facts), season)


def distinct_labels(file: pq.ParquetFile, group: int) -> tuple[str, ...]:
    """Return the seasons of a row group, '' among them if a row has none; nothing if no row has one."""
    column = file.read_row_group(group, columns=["season"]).column(0)
    if column.null_count == len(column):
        return ()
    values = pc.unique(column.combine_chunks()) if column.num_chunks else column
    return tuple(sorted({label_of(value) for value in frame_of(pa.table({"season": values}))["season"].tolist()}))
