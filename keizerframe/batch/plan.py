"""The plan: which parts a source has. It depends on the source alone."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq

from keizerframe.batch.parts import (
    FaultyPart,
    Part,
    Piece,
    SeasonPart,
    TablePart,
    TextPart,
    damaged,
    digest_of,
    distinct_labels,
    season_parts,
    texts_of,
)
from keizerframe.errors import BatchError, FileFormatError
from keizerframe.io import TEXTS
from keizerframe.io.parquet import rules_in
from keizerframe.season import Season

Source = str | Path | Season | Iterable[Season]

#: Seasons without a single game that share a part.
_GAMELESS = 1000
_NO_PARTITION = "__HIVE_DEFAULT_PARTITION__"
REGROUP = (
    "a season must lie in one file and one row group; regroup with "
    'pq.write_to_dataset(pq.read_table("games"), "new/games", partition_cols=["season"]), put the players beside it '
    "(new/players.parquet), and score new; or give seasons that are not the same a label of their own"
)


@dataclass(frozen=True)
class Plan:
    """The parts of a source.

    Parameters
    ----------
    parts
        In the order of the source; a list, or what an iterable of Seasons gives as it comes.
    notes
        What was passed over, and why.
    root
        The source's folder or file on this machine, None if it is elsewhere.
    """

    parts: Iterable[Part]
    notes: tuple[str, ...] = ()
    root: Path | None = None

    @property
    def known(self) -> Sequence[Part] | None:
        """The parts, if they are known beforehand."""
        return self.parts if isinstance(self.parts, list) else None

    @property
    def seasons(self) -> int | None:
        """How many seasons there are, if that is known beforehand."""
        labels = [part.labels for part in self.known or ()]
        if self.known is None or None in labels:
            return None
        return sum(len(found) for found in labels if found is not None)


class Claims:
    """Which part holds which season: a season in two parts is refused."""

    def __init__(self) -> None:
        self._holder: dict[str, str] = {}
        self._split: dict[str, list[str]] = {}

    def add(self, labels: Iterable[str], part: str) -> None:
        """Note the seasons of a part."""
        for label in labels:
            # Rows without a season belong to none; each part reports its own.
            if label and (holder := self._holder.setdefault(label, part)) != part:
                self._split.setdefault(label, [holder]).append(part)

    def check(self) -> None:
        """Raise if a season has more than one part."""
        if self._split:
            lines = [f"season {label!r} lies in {_shortly(parts)}" for label, parts in self._split.items()]
            raise BatchError([*lines[: BatchError.shown - 1], *_rest(lines), REGROUP])


def _shortly(parts: Sequence[str]) -> str:
    return " and ".join([*parts[:3], *([f"{len(parts) - 3} more"] if len(parts) > 3 else [])])


def _rest(lines: Sequence[str]) -> list[str]:
    hidden = len(lines) - BatchError.shown + 1
    return [f"... and {hidden} more seasons"] if hidden > 0 else []


def plan_of(source: Source, filesystem: pafs.FileSystem | None = None) -> Plan:
    """Return the plan of a source.

    Raises
    ------
    FileNotFoundError
        If there is no such path.
    BatchError
        If a season is split, some files lack the key that names their season, or there is nothing to score.
    """
    if isinstance(source, Season):
        source = [source]
    if not isinstance(source, str | Path):
        if not isinstance(source, Iterable) or hasattr(source, "columns"):
            raise TypeError(f"the source is a {type(source).__name__}: give a path, a Season or an iterable of Seasons")
        return Plan(season_parts(source))
    survey = _Survey(*_opened(source, filesystem))
    survey.look(survey.base, None)
    survey.raise_problems()
    claims = Claims()
    for part in survey.parts:
        claims.add(part.labels or (), part.name)
    claims.check()
    if not survey.parts:
        passed = f" ({'; '.join(survey.notes[:3])})" if survey.notes else ""
        raise BatchError([f"{source}: holds no season{passed}"])
    return Plan(survey.parts, tuple(survey.notes), Path(survey.base) if survey.local else None)


def _opened(source: str | Path, filesystem: pafs.FileSystem | None) -> tuple[pafs.FileSystem, str]:
    """Return a file system and the source's path in it."""
    if filesystem is not None:
        return filesystem, str(source).rstrip("/")
    if isinstance(source, str) and "://" in source:
        found, path = pafs.FileSystem.from_uri(source)
        return found, path.rstrip("/")
    return pafs.LocalFileSystem(), Path(source).resolve().as_posix()


@dataclass(frozen=True)
class _Index:
    """What a parquet file holds: the seasons of each row group that has rows."""

    path: str
    name: str
    digest: str
    groups: Mapping[int, tuple[str, ...]]
    label: str | None
    has_column: bool


@dataclass
class _Survey:
    """One walk over the source."""

    filesystem: pafs.FileSystem
    base: str
    parts: list[Part] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def local(self) -> bool:
        return isinstance(self.filesystem, pafs.LocalFileSystem)

    def raise_problems(self) -> None:
        if self.problems:
            raise BatchError(self.problems)

    def _name(self, path: str) -> str:
        return path[len(self.base) :].lstrip("/") or path.rpartition("/")[2]

    def look(self, path: str, label: str | None) -> None:
        """Find the parts in a file or folder; `label` is the season that the folders above it name."""
        info = self.filesystem.get_file_info(path)
        if info.type == pafs.FileType.NotFound:
            raise FileNotFoundError(f"{path}: no such file or folder")
        if info.type == pafs.FileType.File:
            self._mixed([info], label)
            return
        label = _key(path, label)
        entries = self._entries(path)
        names = {entry.base_name: entry for entry in entries}
        frames = {
            kind: entry
            for kind in ("games", "players", "rounds")
            if (entry := names.get(f"{kind}.parquet") or self._folder(names.get(kind))) is not None
        }
        text_frames = {"games.csv", "players.csv", "rounds.csv"} & set(names)
        if "games" in frames and not text_frames:
            files = {kind: self._files(entry.path) for kind, entry in frames.items()}
            alone = frames["games"].base_name == "games.parquet"
            self._tables(files, label, path.rpartition("/")[2] if alone else None)
            self._pass_over(entry for entry in entries if entry not in frames.values())
        elif "games.csv" in text_frames or ("games" in frames and text_frames):
            self._text(path, label)
        else:
            self._mixed(entries, label)

    def _mixed(self, entries: Sequence[pafs.FileInfo], label: str | None) -> None:
        """Look at a folder that is no season itself: parquet files belong together, all else is on its own."""
        tables: list[str] = []
        for entry in entries:
            if entry.type == pafs.FileType.File and _is_parquet(entry.path):
                tables.append(entry.path)
            elif entry.type == pafs.FileType.Directory and "=" in entry.base_name and self._only_tables(entry.path):
                tables += self._files(entry.path)
            elif entry.type == pafs.FileType.Directory:
                self.look(entry.path, label)
            elif _is_text(entry.path):
                self._text(entry.path, label)
            else:
                self._pass_over([entry])
        if tables:
            self._tables({"games": sorted(tables)}, label, None)

    def _pass_over(self, entries: Iterable[pafs.FileInfo]) -> None:
        self.notes += [f"not read: {self._name(entry.path)}" for entry in entries]

    def _entries(self, path: str) -> list[pafs.FileInfo]:
        found = self.filesystem.get_file_info(pafs.FileSelector(path))
        kept = [entry for entry in found if not entry.base_name.startswith((".", "_"))]
        return sorted(kept, key=lambda entry: str(entry.path))

    def _folder(self, entry: pafs.FileInfo | None) -> pafs.FileInfo | None:
        return entry if entry is not None and entry.type == pafs.FileType.Directory else None

    def _files(self, path: str) -> list[str]:
        """Return the parquet files in a folder and all below it; a file is itself."""
        if self.filesystem.get_file_info(path).type == pafs.FileType.File:
            return [path]
        files: list[str] = []
        for entry in self._entries(path):
            if entry.type == pafs.FileType.Directory or _is_parquet(entry.path):
                files += self._files(entry.path)
            else:
                self._pass_over([entry])
        return files

    def _only_tables(self, path: str) -> bool:
        """Return whether a key=value folder is one of a partitioned set, not a season folder of its own."""
        below = self.filesystem.get_file_info(pafs.FileSelector(path, recursive=True))
        names = {entry.base_name for entry in below}
        return not names & {"games", "games.parquet", "games.csv"}

    def _digest(self, path: str) -> str:
        found = hashlib.sha256()
        with self.filesystem.open_input_stream(path) as stream:
            while block := stream.read(1 << 20):
                found.update(block)
        return found.hexdigest()

    # --- text

    def _text(self, path: str, label: str | None) -> None:
        if not self.local:
            self.problems.append(f"{self._name(path)}: only parquet is read from elsewhere: copy it to this machine")
            return
        here = Path(path)
        files = sorted(file for file in here.iterdir() if file.is_file()) if here.is_dir() else [here]
        digest = digest_of(label, [(file.name, self._digest(file.as_posix())) for file in files])
        name = self._name(path)
        prefix = f"{name}/" if here.is_dir() else f"{name.rpartition('/')[0]}/" if "/" in name else ""
        self.parts.append(TextPart(name, digest, here, label, "" if path == self.base else prefix))

    # --- parquet

    def _tables(self, files: dict[str, list[str]], label: str | None, folder: str | None) -> None:
        """Add the parts of one set of frames; `folder` names a season that nothing else names."""
        indexes: dict[str, list[_Index]] = {}
        for kind, paths in files.items():
            indexes[kind] = []
            for path in paths:
                try:
                    indexes[kind].append(self._index(path, label))
                except (FileFormatError, pa.ArrowInvalid, OSError) as fault:
                    if not damaged(fault):
                        raise
                    name = self._name(path)
                    if kind == "games":
                        self.parts.append(FaultyPart(name, self._digest(path), f"{name}: cannot be read: {fault}"))
                    else:
                        self.problems.append(f"{name}: cannot be read, and every season needs it: {fault}")
        games = self._labelled(indexes["games"], folder)
        seasons = {label for index in games for labels in index.groups.values() for label in labels}
        beside = {kind: self._beside(kind, found, seasons) for kind, found in indexes.items() if kind != "games"}
        self._add_parts(games, seasons, beside)

    def _index(self, path: str, above: str | None) -> _Index:
        name = self._name(path)
        label = _key(path[len(self.base) :].rpartition("/")[0], above)
        if label == _NO_PARTITION:
            self.problems.append(f"{name}: its folder names no season: move it to a folder season=NAME")
        with self.filesystem.open_input_file(path) as stream:
            file = pq.ParquetFile(stream, read_dictionary=texts_of(pq.read_schema(stream)))
            rules_in(file.schema_arrow, name)
            column = "season" in file.schema_arrow.names
            filled = [g for g in range(file.num_row_groups) if file.metadata.row_group(g).num_rows]
            groups = {g: distinct_labels(file, g) if column else () for g in filled}
            # A column without a single value is no column.
            column = any(groups.values())
        if not filled:
            self.notes.append(f"empty: {name}")
        if label is not None:
            others = {one for labels in groups.values() for one in labels} - {label}
            if column and others:
                self.problems.append(
                    f"{name}: its folder says season {label!r}, its column {sorted(others)[0]!r}: mend one of them"
                )
            groups = dict.fromkeys(groups, (label,))
        return _Index(path, name, self._digest(path), groups, label, column)

    def _labelled(self, games: list[_Index], folder: str | None) -> list[_Index]:
        """Return the games files with a season for each; some with and some without one are refused."""
        bare = [index for index in games if index.label is None and not index.has_column and index.groups]
        if not bare:
            return games
        if len(bare) < sum(1 for index in games if index.groups):
            self.problems += [
                f"{index.name}: no column season, and no folder season=NAME as other files have: give it one"
                for index in bare
            ]
        named = []
        for index in games:
            if index in bare:
                label = folder or index.name.rpartition("/")[2].rpartition(".")[0]
                groups = dict.fromkeys(index.groups, (label,))
                named.append(_Index(index.path, index.name, index.digest, groups, label, False))
            else:
                named.append(index)
        return named

    def _beside(self, kind: str, found: list[_Index], seasons: set[str]) -> list[_Index]:
        """Return the files of players or rounds; without a season they belong to the only one there is."""
        result = []
        for index in found:
            if index.label is not None or index.has_column or not index.groups:
                result.append(index)
                if any("" in labels for labels in index.groups.values()):
                    said = f"{index.name}: rows without a season: fill in the column season"
                    self.parts.append(FaultyPart(f"{index.name}, rows without a season", index.digest, said))
            elif len(seasons) == 1:
                only = next(iter(seasons))
                groups = dict.fromkeys(index.groups, (only,))
                result.append(_Index(index.path, index.name, index.digest, groups, only, False))
            elif kind == "rounds" and len(found) == 1:
                result.append(index)
            else:
                self.problems.append(f"{index.name}: no column season, but there are {len(seasons)} seasons: add it")
        return result

    def _add_parts(self, games: list[_Index], seasons: set[str], beside: dict[str, list[_Index]]) -> None:
        """Add a part for each row group, and for each file that is one season."""
        everywhere = any(not labels for index in beside.get("rounds", ()) for labels in index.groups.values())
        where: dict[str, dict[str, list[tuple[_Index, int]]]] = {kind: {} for kind in beside}
        for kind, indexes in beside.items():
            for index in indexes:
                for group, labels in index.groups.items():
                    for label in labels or ("",):
                        where[kind].setdefault(label, []).append((index, group))

        def add(name: str, labels: Sequence[str], own: list[tuple[_Index, int]]) -> None:
            chosen: dict[str, Any] = {"games": _pieces(own)}
            digests: list[Any] = [(index.digest, group, index.label) for index, group in own]
            for kind, found in where.items():
                keys = {*labels, ""} if kind == "rounds" and everywhere else labels
                near = {(index.path, group): (index, group) for label in keys for index, group in found.get(label, ())}
                chosen[kind] = _pieces([near[key] for key in sorted(near)])
                digests.append([kind, *((near[key][0].digest, key[1]) for key in sorted(near))])
            digest = digest_of(name, list(labels), digests)
            self.parts.append(TablePart(name, digest, tuple(labels), self.filesystem, everywhere=everywhere, **chosen))

        for index in games:
            if index.label is not None:
                if index.groups:
                    add(index.name, [index.label], [(index, group) for group in index.groups])
                continue
            for group, labels in index.groups.items():
                name = index.name if len(index.groups) == 1 else f"{index.name}, row group {group}"
                add(name, labels, [(index, group)])
        gameless = sorted({label for found in where.values() for label in found} - seasons - {""})
        for start in range(0, len(gameless), _GAMELESS):
            add(f"seasons without games {start // _GAMELESS}", gameless[start : start + _GAMELESS], [])


def _pieces(chosen: Sequence[tuple[_Index, int]]) -> tuple[Piece, ...]:
    """Return one piece for each file, with its row groups."""
    groups: dict[str, list[int]] = {}
    files: dict[str, _Index] = {}
    for index, group in chosen:
        groups.setdefault(index.path, []).append(group)
        files[index.path] = index
    return tuple(
        Piece(path, files[path].name, tuple(sorted(found)), files[path].label) for path, found in groups.items()
    )


def _is_parquet(path: str) -> bool:
    return path.lower().endswith(".parquet")


def _is_text(path: str) -> bool:
    return path.lower().endswith(TEXTS)


def _key(path: str, above: str | None) -> str | None:
    """Return the season that the folders of a path name: the last season=NAME, or what those above say."""
    for folder in reversed(path.split("/")):
        key, equals, value = folder.partition("=")
        if equals and key == "season":
            return unquote(value)
    return above


__all__ = ["Claims", "Plan", "SeasonPart", "Source", "plan_of"]
