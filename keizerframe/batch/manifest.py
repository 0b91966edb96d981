"""The folder a batch run writes: its lock, what it shall hold, and what is done.

    standings/part-00000.parquet ...    the data set
    problems.parquet                    what could not be scored, written last
    manifest/run.json                   what the run is: rule sets, version, the parts of the source
    manifest/part-00000.json ...        what is done: written after the part's standings
    .lock, .work-...                    the lock; files that are not finished

A part is done when its record is there. Nothing in the folder depends on time, place or workers.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import uuid
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pandas as pd
import pyarrow as pa

from keizerframe.batch.parts import Part, digest_of
from keizerframe.columns import PROBLEM_COLUMNS
from keizerframe.errors import BatchError
from keizerframe.io.atomic import sync_folder
from keizerframe.io.parquet import SCHEMA_VERSION, creator, rules_texts, write_atomically
from keizerframe.rules import Rules

PROBLEMS_SCHEMA = pa.schema(
    [(name, pa.int64() if name in ("round", "row") else pa.string()) for name in PROBLEM_COLUMNS]
)
_ANEW = "write to another folder, or start this one anew with resume=False (--no-resume)"


@dataclass(frozen=True, slots=True)
class Record:
    """What became of one part.

    Parameters
    ----------
    part
        Its name in the source.
    digest
        The hash of the part, the rule sets and the version.
    file, size
        The standings and their size in bytes.
    labels
        Its seasons.
    reported
        How many of them could not be scored.
    rows
        Rows of standings.
    problems
        What is wrong with those: rows of problems.parquet.
    notes
        Warnings.
    """

    part: str
    digest: str
    file: str
    size: int
    labels: list[str]
    reported: int
    rows: int
    problems: list[dict[str, Any]]
    notes: list[str]


@dataclass(frozen=True, slots=True)
class Target:
    """Where a worker writes; it crosses processes."""

    out: Path
    work: Path

    def commit(self, content: pa.Table | bytes, path: str, facts: dict[str, Any] | None = None) -> int:
        """Write a file of the folder, whole or not at all; return its size."""
        target = self.out / path
        try:
            write_atomically(content, target, facts, work=self.work)
            return target.stat().st_size
        except OSError as fault:
            raise BatchError(
                [
                    f"cannot write {target}: {fault.strerror or fault}; all finished parts are kept: "
                    "make room (or mend it), then run the same command again"
                ]
            ) from fault


class OutFolder:
    """The folder of one run, held by its lock; a killed process leaves no lock behind.

    Parameters
    ----------
    path
        The folder.
    rule_sets
        The rule sets by label, None = as played.
    """

    def __init__(self, path: Path, rule_sets: dict[str, Rules | None]) -> None:
        self.path = path
        texts = {
            label: "as-played" if rules is None else rules_texts({label: rules})[label]
            for label, rules in rule_sets.items()
        }
        # As they come back from the header, to be compared with it.
        self.rules: dict[str, Any] = json.loads(json.dumps(texts))
        self._shared = digest_of(list(self.rules.items()), creator(), SCHEMA_VERSION)
        self._lock = -1
        self.target = Target(path, path / f".work-{uuid.uuid4().hex}")

    def __enter__(self) -> Self:
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(self.path / ".lock", os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as fault:
            raise BatchError([f"cannot write to {self.path}: {fault.strerror or fault}"]) from fault
        try:
            _lock(self._lock)
        except OSError:
            os.close(self._lock)
            raise BatchError(
                [f"another run is writing to {self.path}: wait for it, end it, or write to another folder"]
            ) from None
        # A worker that outlived its run finds its folder gone, and cannot put a file among the new ones.
        for left in self.path.glob(".work-*"):
            shutil.rmtree(left, ignore_errors=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        shutil.rmtree(self.target.work, ignore_errors=True)
        os.close(self._lock)

    # --- beginning

    def begin(self, known: Sequence[Part] | None, resume: bool) -> None:
        """Prepare the folder: go on with what is there, or start anew.

        Raises
        ------
        BatchError
            If the folder holds something else, or the run of another source, rule set or version.
        """
        header = {
            "creator": creator(),
            "schema_version": SCHEMA_VERSION,
            "rules": self.rules,
            "parts": None if known is None else [[part.name, part.digest] for part in known],
        }
        before = self._header()
        if not resume:
            self._clear(before is not None)
            before = None
        if before is not None:
            self._compare(before, header)
        elif any((self.path / name).exists() for name in ("standings", "problems.parquet")):
            raise BatchError([f"{self.path} holds files of something else: write to another folder"])
        try:
            for folder in (self.path / "manifest", self.path / "standings", self.target.work):
                folder.mkdir(exist_ok=True)
        except OSError as fault:
            raise BatchError([f"cannot write to {self.path}: {fault.strerror or fault}"]) from fault
        if before is None:
            text = json.dumps(header, indent=1).encode()
            self.target.commit(text, "manifest/run.json")
            sync_folder(self.path)

    def _header(self) -> dict[str, Any] | None:
        path = self.path / "manifest" / "run.json"
        if not path.exists():
            return None
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            if not isinstance(found, dict) or "rules" not in found:
                raise ValueError("no header of a batch run")
        except ValueError as fault:
            raise BatchError([f"{path} cannot be read ({fault}): write to another folder"]) from fault
        return found

    def _clear(self, ours: bool) -> None:
        """Remove an earlier run; its header goes last, so that a kill meanwhile leaves a folder that is known."""
        if not ours:
            return
        shutil.rmtree(self.path / "standings", ignore_errors=True)
        (self.path / "problems.parquet").unlink(missing_ok=True)
        for record in (self.path / "manifest").glob("part-*.json"):
            record.unlink()
        (self.path / "manifest" / "run.json").unlink()

    def _compare(self, before: dict[str, Any], now: dict[str, Any]) -> None:
        """Raise if the run in the folder is another one."""
        changed = []
        for key, what in (("creator", "version"), ("schema_version", "schema")):
            if before.get(key) != now[key]:
                changed.append(f"the {what} was {before.get(key)}, now it is {now[key]}")
        if list(before["rules"].items()) != list(now["rules"].items()):
            changed.append(_rules_changed(before["rules"], now["rules"]))
        if before.get("parts") != now["parts"]:
            changed.append(_source_changed(before.get("parts"), now["parts"]))
        if changed:
            raise BatchError([f"{self.path} holds another run: {'; '.join(changed)}: {_ANEW}"])

    # --- parts

    def digest(self, part: Part) -> str:
        """Return the hash of a part, the rule sets and the version."""
        return digest_of(part.digest, self._shared)

    def finished(self, index: int, part: Part) -> Record | None:
        """Return the record of a part that is done, None if it is to do.

        Raises
        ------
        BatchError
            If what is done is another part.
        """
        path = self.path / record_path(index)
        try:
            record = Record(**json.loads(path.read_text(encoding="utf-8")))
        except FileNotFoundError:
            return None
        except (ValueError, TypeError) as fault:
            raise BatchError([f"{path} cannot be read ({fault}): delete it, and the part is scored again"]) from fault
        if record.digest != self.digest(part):
            raise BatchError([f"the source has changed: {part.name} is not what {path} says: {_ANEW}"])
        standings = self.path / record.file
        return record if standings.exists() and standings.stat().st_size == record.size else None

    # --- ending

    def finish(self, records: Sequence[Record]) -> None:
        """Write the problems of all parts, in the order of the source.

        Raises
        ------
        BatchError
            If the folder holds parts that the source no longer has.
        """
        expected = {Path(record_path(index)).name for index in range(len(records))}
        found = {path.name for path in (self.path / "manifest").glob("part-*.json")}
        if surplus := found - expected:
            raise BatchError(
                [f"the source has changed: it had {len(found)} parts and has {len(found) - len(surplus)}: {_ANEW}"]
            )
        problems = problems_table([row for record in records for row in record.problems])
        self.target.commit(problems, "problems.parquet", {"kind": "problems", "rules": self.rules})


def record_path(index: int) -> str:
    """Return where the record of a part stands."""
    return f"manifest/part-{index:05d}.json"


def record_bytes(record: Record) -> bytes:
    """Return a record as it is written."""
    return json.dumps(asdict(record), indent=1).encode()


def problems_table(rows: Sequence[dict[str, Any]]) -> pa.Table:
    """Return problems with their explicit schema; pandas gives whole numbers back as such."""
    frame = pd.DataFrame(list(rows), columns=list(PROBLEM_COLUMNS))
    types = {field.name: "Int64" if field.type == pa.int64() else "str" for field in PROBLEMS_SCHEMA}
    return pa.Table.from_pandas(frame.astype(types), schema=PROBLEMS_SCHEMA, preserve_index=False)


def _rules_changed(before: dict[str, Any], now: dict[str, Any]) -> str:
    gone = [label for label in before if label not in now]
    new = [label for label in now if label not in before]
    other = [label for label in now if label in before and now[label] != before[label]]
    said = [
        f"{what} {', '.join(map(repr, labels))}"
        for what, labels in (("without", gone), ("with", new), ("changed", other))
        if labels
    ]
    return f"its rule sets are others ({'; '.join(said) or 'another order'})"


def _source_changed(before: Any, now: Any) -> str:
    if before is None or now is None:
        return "its source was of another kind"
    old, new = dict(before), dict(now)
    said = [
        f"{what} {', '.join(names[:3])}{' ...' if len(names) > 3 else ''}"
        for what, names in (
            ("changed", [name for name in new if name in old and old[name] != new[name]]),
            ("new", [name for name in new if name not in old]),
            ("gone", [name for name in old if name not in new]),
        )
        if names
    ]
    return f"the source has changed ({'; '.join(said) or 'another order'})"


def _lock(number: int) -> None:
    """Lock a file for this process, or raise OSError; the system takes the lock back when the process ends."""
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(number, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
