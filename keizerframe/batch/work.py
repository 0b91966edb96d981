"""One part: loaded, scored, written. It runs in a worker, and its result depends on the part and the rules alone."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import pandas as pd
import pyarrow as pa

from keizerframe.batch.manifest import Record, Target, record_bytes, record_path
from keizerframe.batch.parts import Part, damaged, labels_in
from keizerframe.errors import FileFormatError, RulesError, ScoreRangeError, SeasonError, gather_warnings
from keizerframe.io.parquet import table_of
from keizerframe.rules import Rules
from keizerframe.scoring import score, unruled
from keizerframe.season import Frames, Season
from keizerframe.standings import STANDINGS_SCHEMA

Rows = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Task:
    """What every part of a run shares.

    Parameters
    ----------
    rules
        The rule sets by label, None = as played.
    texts
        The same as JSON values.
    """

    rules: Mapping[str, Rules | None]
    texts: Mapping[str, Any]
    target: Target


def work(task: Task, index: int, part: Part, digest: str) -> Record:
    """Score one part, write its standings and then its record."""
    try:
        with gather_warnings() as notes:
            labels, table, problems, reported = _outcome(task, part)
    except Exception as fault:
        fault.add_note(f"in {part.name}")
        raise
    file = f"standings/part-{index:05d}.parquet"
    size = task.target.commit(
        table, file, {"kind": "standings", "rules": task.texts, "source": part.name, "source_hash": part.digest}
    )
    record = Record(
        part=part.name,
        digest=digest,
        file=file,
        size=size,
        labels=labels,
        reported=reported,
        rows=table.num_rows,
        problems=problems,
        notes=list(dict.fromkeys(notes)),
    )
    task.target.commit(record_bytes(record), record_path(index))
    return record


def _outcome(task: Task, part: Part) -> tuple[list[str], pa.Table, Rows, int]:
    """Return a part's seasons, its standings, what is wrong with those that have none, and how many those are."""
    try:
        frames = part.load()
    except (FileFormatError, pa.ArrowInvalid, OSError) as fault:
        if not damaged(fault):
            raise
        labels = list(part.labels or [part.name])
        said = f"cannot be read: {fault}" if not isinstance(fault, FileFormatError) else str(fault)
        return labels, _table([]), [_row("", part.name, said, "mend or remove the file")], len(labels)
    labels = list(part.labels) if part.labels is not None else _labels(frames)
    season, problems = _sound(frames, labels)
    bad = {str(row["season"]) for row in problems}
    tables: list[pd.DataFrame] = []
    if season is not None and None in task.rules.values() and (bare := unruled(season)):
        hint = "give the Season rules for it, or leave as-played out"
        problems += [_row(label, part.name, "came without rules, so there are none as played", hint) for label in bare]
        bad |= set(bare)
        kept = [label for label in season.labels if label not in bare]
        season = season.select(kept) if kept else None
    if season is not None:
        tables = _scored(season, task.rules, part.name, problems, bad)
    return labels, _table(tables), problems, len(bad)


def _labels(frames: Frames) -> list[str]:
    """Return the seasons that frames name."""
    named = [labels_in(frame) for frame in frames.named().values()]
    return sorted({label for labels in named for label in labels.unique()} or {""})


def _sound(frames: Frames, labels: list[str]) -> tuple[Season | None, Rows]:
    """Return the seasons without a fault as one Season, and all faults of the others."""
    try:
        return frames.season(), []
    except SeasonError as fault:
        # Validation finds all faults at once, so what it does not name is sound.
        found: Rows = [{str(key): value for key, value in row.items()} for row in fault.problems.to_dict("records")]
    bad = {str(row["season"]) for row in found} & set(labels)
    if any(row["row"] is None and not row["season"] for row in found) or not bad:
        # A fault of the frames themselves: nothing in them can be trusted.
        return None, [row | {"season": label} for label in labels for row in found]
    return (_without(frames, bad).season() if len(bad) < len(labels) else None), found


def _without(frames: Frames, labels: set[str]) -> Frames:
    """Return frames without the rows of some seasons; rounds that hold for every season stay."""
    kept = {
        name: frame if name == "rounds" and "season" not in frame else frame[~labels_in(frame).isin(labels)]
        for name, frame in frames.named().items()
    }
    return Frames(kept["games"], kept.get("players"), kept.get("rounds"), rules=frames.rules)


def _scored(
    season: Season, rules: Mapping[str, Rules | None], file: str, problems: Rows, bad: set[str]
) -> list[pd.DataFrame]:
    """Return the standings; seasons and then rule sets that cannot be scored are found by halves and reported."""
    chosen = {label: "as-played" if one is None else one for label, one in rules.items()}
    try:
        return [score(season, chosen)]
    except (ScoreRangeError, RulesError) as fault:
        if len(season.labels) == len(rules) == 1:
            hint = "use shares with a smaller common denominator" if isinstance(fault, ScoreRangeError) else ""
            problems.append(_row(season.labels[0], file, str(fault), hint))
            bad.add(season.labels[0])
            return []
    if len(season.labels) > 1:
        middle = len(season.labels) // 2
        halves = (season.labels[:middle], season.labels[middle:])
        return [table for half in halves for table in _scored(season.select(half), rules, file, problems, bad)]
    # One rule set that a season cannot satisfy must not cost it the others.
    single = ({label: one} for label, one in rules.items())
    return [table for one in single for table in _scored(season, one, file, problems, bad)]


def _table(frames: list[pd.DataFrame]) -> pa.Table:
    """Return standings with the explicit schema, also where there are none."""
    frames = frames or [_no_standings()]
    return table_of(frames[0] if len(frames) == 1 else pd.concat(frames, ignore_index=True), STANDINGS_SCHEMA)


@cache
def _no_standings() -> pd.DataFrame:
    """Return standings without a row, with the types of any other."""
    return score(Season(pd.DataFrame(columns=["round", "white", "result"])), "knsb")


def _row(season: str, file: str, what: str, hint: str) -> dict[str, Any]:
    """Return a problem of a whole season or file."""
    return {
        "season": season,
        "round": None,
        "file": file,
        "row": None,
        "column": "",
        "value": "",
        "what": what,
        "hint": hint,
    }


def end_with_parent() -> None:
    """Prepare a worker of our own pool: the parent handles interrupts, and its end is the worker's."""
    import multiprocessing
    import signal
    import threading

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:

        def wait() -> None:
            parent.join()
            os._exit(1)

        threading.Thread(target=wait, daemon=True).start()
