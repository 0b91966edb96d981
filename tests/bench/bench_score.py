"""Speed of scoring: ``OPENBLAS_NUM_THREADS=1 pytest tests/bench/bench_score.py --benchmark-only``.

The same figures with the peak of memory: ``OPENBLAS_NUM_THREADS=1 python -m tests.bench.bench_score``.
"""

from __future__ import annotations

import resource
import statistics
import sys
import time
from collections.abc import Callable

import pytest

import keizerframe as kf
from keizerframe import scoring
from keizerframe.catalog import resolve_rules
from keizerframe.entries import Batch, scored_batches
from keizerframe.kernel.grid import Scope
from tests.bench.seasons import make_frames

RULES = resolve_rules(
    [
        "keizerforclubs",
        "knsb",
        "freekeizer",
        "no-self-victory",
        "fixed-absences",
        "decaying-absences",
        "knsb,loss_fraction=1/12",
        "keizerforclubs,value_number_base=100",
    ]
)
#: The same eight in mode previous.
PREVIOUS = {label: rules.replace(recalculation="previous") for label, rules in RULES.items()}


class Work:
    """The large batch in its stages, and single seasons."""

    def __init__(self) -> None:
        self.frames = make_frames(1000, 60, 30)
        self.season = kf.Season(*self.frames)
        self.batches = self.kernel()
        self.one = kf.Season(*make_frames(1, 60, 30, seed=2))
        self.large = kf.Season(*make_frames(1, 300, 40, seed=3))

    def ingest(self) -> kf.Season:
        return kf.Season(*self.frames)

    def kernel(self) -> list[Batch]:
        return list(scored_batches(self.season, list(RULES.values()), Scope()))

    def previous(self) -> list[Batch]:
        return list(scored_batches(self.season, list(PREVIOUS.values()), Scope()))

    def output(self) -> object:
        return scoring._frame(self.season, RULES, self.batches, Scope(), 0)

    def whole(self) -> object:
        return kf.score(kf.Season(*self.frames), RULES)

    def one_season(self) -> object:
        return kf.score(self.one, "knsb")

    def large_season(self) -> object:
        return kf.score(self.large, "knsb")


STAGES = ("ingest", "kernel", "previous", "output", "whole", "one_season", "large_season")


@pytest.fixture(scope="module")
def work() -> Work:
    return Work()


@pytest.mark.parametrize("stage", STAGES)
def test_speed(benchmark, work, stage):
    benchmark.pedantic(getattr(work, stage), rounds=20 if "season" in stage else 5, warmup_rounds=2)


def median(call: Callable[[], object], rounds: int = 5) -> float:
    """Return the median of several runs in seconds, after one that does not count."""
    call()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def peak(*, children: bool = False) -> float:
    """Return the peak memory of this process so far, or of the largest child that ended, in MB."""
    # Linux counts in KiB, macOS in bytes.
    unit = 1 if sys.platform == "darwin" else 1024
    who = resource.RUSAGE_CHILDREN if children else resource.RUSAGE_SELF
    return resource.getrusage(who).ru_maxrss * unit / 1e6


if __name__ == "__main__":
    # Memory first: the peak never falls, and what the stages keep would count as the call's.
    print(f"{'imported':14s}{peak():10.0f} MB peak")
    plain = make_frames(1000, 60, 30)
    print(f"{'plain frames':14s}{peak():10.0f} MB peak, {len(plain[0])} rows of games")
    scored = kf.score(kf.Season(*plain), RULES)
    print(f"{'whole':14s}{peak():10.0f} MB peak, {len(scored)} rows of standings")
    del plain, scored
    ready = Work()
    for stage in STAGES:
        seconds = median(getattr(ready, stage), 50 if "season" in stage else 5)
        each = f"{seconds / 8000 * 1e6:8.1f} us a season and rule set" if "season" not in stage else ""
        print(f"{stage:14s}{seconds * 1000:10.2f} ms {each}")
    print(f"{'all stages':14s}{peak():10.0f} MB peak")
