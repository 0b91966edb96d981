"""`rescore`: any number of seasons under any rule sets, to a parquet data set."""

from __future__ import annotations

import contextlib
import logging
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue

import pandas as pd
import pyarrow.fs as pafs
import pyarrow.parquet as pq

from keizerframe.batch.manifest import OutFolder, Record
from keizerframe.batch.plan import Claims, Plan, Source, plan_of
from keizerframe.batch.work import Task, end_with_parent, work
from keizerframe.catalog import RulesArgument, resolve_with_played
from keizerframe.errors import BatchError
from keizerframe.io.parquet import frame_of

log = logging.getLogger(__name__)

#: Parts handed out ahead of the results, for each worker, where the parts carry their seasons with them.
_AHEAD = 2


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is.

    Parameters
    ----------
    seasons, total
        Seasons done, and how many there are (None = not known).
    seconds
        Since the run began.
    """

    seasons: int
    total: int | None
    seconds: float


@dataclass(frozen=True, slots=True)
class Rescored:
    """The result of `rescore`.

    Parameters
    ----------
    seasons, scored, reported
        Seasons in the source; how many have standings, and how many stand in the problems.
    rows, parts
        Rows of standings, and files they are in.
    seconds
        Of this run.
    out
        The folder.
    notes
        Warnings, and what was passed over.
    """

    seasons: int
    scored: int
    reported: int
    rows: int
    parts: int
    seconds: float
    out: Path
    notes: tuple[str, ...] = field(default=(), repr=False)

    @property
    def standings(self) -> Path:
        """The folder of the standings: a parquet data set."""
        return self.out / "standings"

    @property
    def problems(self) -> pd.DataFrame:
        """What could not be scored: season, round, file, row, column, value, what, hint."""
        return frame_of(pq.read_table(self.out / "problems.parquet"))


def rescore(
    source: Source,
    rules: RulesArgument,
    out: str | Path,
    *,
    executor: Executor | None = None,
    workers: int = 1,
    resume: bool = True,
    progress: Callable[[Progress], None] | bool = False,
    filesystem: pafs.FileSystem | None = None,
) -> Rescored:
    """Score a source of any size under rule sets, to a parquet data set.

    A run that was ended in any way goes on where it stopped when it is called again, and ends with the same
    bytes, whatever the workers. A part bounds the memory: a row group, a file that `read` knows, a Season.

    Parameters
    ----------
    source
        A parquet file of games; a folder with ``games`` (and ``players``, ``rounds``), each a parquet file or a
        folder of them, partitioned by ``season=`` or not; a folder of such folders or of whatever `read` knows;
        a Season, or an iterable of Seasons.
    rules
        As for `score`; ``"as-played"`` = the rules that came with each season.
    out
        A folder on this machine (for a cluster: on a disk that all workers share): ``standings/`` is the data
        set, ``problems.parquet`` says what could not be scored.
    executor
        Any `concurrent.futures.Executor`, as ``dask.distributed.Client(...).get_executor()``; it is left running.
    workers
        Processes of a pool of our own; with an executor and an iterable of Seasons: how many work at a time.
        A script that asks for more than one needs the usual ``if __name__ == "__main__":``.
    resume
        False = begin anew, whatever of ours the folder holds.
    progress
        True = a bar on stderr; a function is given `Progress` after every part.
    filesystem
        Where a source lies that is not on this machine; URIs such as ``s3://bucket/seasons`` need none.

    Returns
    -------
    Rescored
        Counts and the folder. A season that cannot be scored does not stop the others: see ``.problems``. A season
        that some of the rule sets cannot score is reported too, and scored under the others.

    Raises
    ------
    BatchError
        If a season lies in more than one part, or the folder is in use, full, or of another run.
    UnknownNameError, RulesError, FileNotFoundError
        If there is no such rule set or source.

    Examples
    --------
    >>> import keizerframe as kf, pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> source = kf.to_parquet(kf.load_dataset("waagtoren"), folder / "seasons")
    >>> kf.rescore(source, ["knsb", "freekeizer"], folder / "scores").rows
    1102
    >>> pd.read_parquet(folder / "scores" / "standings")[["season", "rules", "place", "player", "score"]].head(2)
        season rules  place player   score
    0  2018-19  knsb      1   W134  1089.0
    1  2018-19  knsb      2   W022  1020.5
    """
    if not isinstance(workers, int) or isinstance(workers, bool) or workers < 1:
        raise ValueError(f"workers = {workers!r}: give the number of processes, 1 or more")
    start = time.perf_counter()
    rule_sets = resolve_with_played(rules)
    plan = plan_of(source, filesystem)
    path = _out_of(out, plan)
    with OutFolder(path, rule_sets) as folder:
        folder.begin(plan.known, resume)
        task = Task(rule_sets, folder.rules, folder.target)
        with _reporter(progress, plan.seasons) as report:
            records = _Run(plan, folder, task, report, start).records(executor, workers)
        folder.finish(records)
    result = _result(records, plan.notes, path, time.perf_counter() - start)
    log.info("%s: %d seasons, %d rows in %.1f s", path, result.seasons, result.rows, result.seconds)
    return result


def _result(records: list[Record], notes: tuple[str, ...], out: Path, seconds: float) -> Rescored:
    seasons, reported = sum(len(record.labels) for record in records), sum(record.reported for record in records)
    return Rescored(
        seasons=seasons,
        scored=seasons - reported,
        reported=reported,
        rows=sum(record.rows for record in records),
        parts=len(records),
        seconds=seconds,
        out=out,
        notes=(*notes, *(note for record in records for note in record.notes)),
    )


def _out_of(out: str | Path, plan: Plan) -> Path:
    """Return the folder to write, which must not lie in the source or hold it."""
    if isinstance(out, str) and "://" in out:
        raise BatchError([f"out = {out!r}: the result is written to a folder of this machine; copy it from there"])
    path = Path(out).resolve()
    if path.exists() and not path.is_dir():
        raise BatchError([f"{path} is a file: name a folder"])
    if plan.root is not None and (path == plan.root or plan.root in path.parents):
        raise BatchError([f"{path} lies in the source {plan.root}: write to a folder beside it"])
    return path


class _Run:
    """The parts of one run, handed out and taken back."""

    def __init__(
        self, plan: Plan, folder: OutFolder, task: Task, report: Callable[[Progress], None], start: float
    ) -> None:
        self.plan, self.folder, self.task, self.report, self.start = plan, folder, task, report, start
        self.found: dict[int, Record] = {}
        self.claims = Claims()
        self.seasons, self.total = 0, plan.seasons
        self.waiting: dict[Future[Record], int] = {}
        self.arrived: SimpleQueue[Future[Record]] = SimpleQueue()

    def records(self, executor: Executor | None, workers: int) -> list[Record]:
        """Return the records of all parts, in the order of the source."""
        ahead = _AHEAD * workers if self.plan.known is None else None
        with _executor(executor, workers) as pool:
            try:
                for index, part in enumerate(self.plan.parts):
                    done = self.folder.finished(index, part)
                    if done is not None:
                        self._take(index, done)
                        continue
                    while ahead is not None and len(self.waiting) >= ahead:
                        self._receive(self.arrived.get())
                    with _unheard():
                        future = pool.submit(work, self.task, index, part, self.folder.digest(part))
                    self.waiting[future] = index
                    future.add_done_callback(self.arrived.put)
                    with contextlib.suppress(Empty):
                        while True:
                            self._receive(self.arrived.get_nowait())
                while self.waiting:
                    self._receive(self.arrived.get())
            except BrokenExecutor as fault:
                raise BatchError(
                    [
                        "a worker died (out of memory, or a script without if __name__ == '__main__'); all finished "
                        "parts are kept: run again, with fewer workers or smaller parts"
                    ]
                ) from fault
            finally:
                # What runs already is waited for: nothing writes once the lock is gone.
                wait([future for future in self.waiting if not future.cancel()])
        records = [self.found[index] for index in range(len(self.found))]
        self._check(records)
        return records

    def _receive(self, future: Future[Record]) -> None:
        self._take(self.waiting.pop(future), future.result())

    def _take(self, index: int, record: Record) -> None:
        self.found[index] = record
        self.claims.add(record.labels, record.part)
        self.claims.check()
        self.seasons += len(record.labels)
        log.debug("%s: %d seasons, %d reported", record.part, len(record.labels), record.reported)
        self.report(Progress(self.seasons, self.total, time.perf_counter() - self.start))

    def _check(self, records: list[Record]) -> None:
        """Check that every input was scored or reported."""
        if not records:
            raise BatchError(["the source holds no season"])
        missing = [
            f"{part.name}: season {label!r} was neither scored nor reported"
            for part, record in zip(self.plan.known or (), records, strict=False)
            for label in sorted(set(part.labels or ()) - set(record.labels))
        ]
        if missing:
            raise BatchError([*missing, "this is a fault of keizerframe: please report it"])


@contextmanager
def _unheard() -> Iterator[None]:
    """Hold back an interrupt: processes started meanwhile never hear one, ours hears it afterwards."""
    if not hasattr(signal, "pthread_sigmask") or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _Inline(Executor):
    """Work done here and now."""

    def submit(self, function, /, *arguments, **named):  # type: ignore[no-untyped-def]  # as the base class declares it
        """Do the work and return a future that is done."""
        future: Future[Record] = Future()
        try:
            future.set_result(function(*arguments, **named))
        except Exception as fault:
            future.set_exception(fault)
        return future


@contextmanager
def _executor(given: Executor | None, workers: int) -> Iterator[Executor]:
    """Give the executor to work with; a pool of our own ends with the run."""
    if given is not None:
        yield given
        return
    if workers == 1:
        yield _Inline()
        return
    import multiprocessing

    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=end_with_parent)
    try:
        yield pool
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _reporter(progress: Callable[[Progress], None] | bool, total: int | None) -> Iterator[Callable[[Progress], None]]:
    """Give the function that is told of the progress."""
    if callable(progress):
        yield progress
    elif not progress:
        yield lambda _: None
    else:
        from keizerframe.batch.bar import bar

        with bar(total) as shown:
            yield lambda state: shown(state.seasons)
