"""Speed of pairing: ``OPENBLAS_NUM_THREADS=1 pytest tests/bench/bench_pair.py --benchmark-only``.

The same figures in a table: ``OPENBLAS_NUM_THREADS=1 python -m tests.bench.bench_pair``.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import pandas as pd
import pytest

import keizerframe as kf
from tests.bench.seasons import make_frames


def season_of(players: int, rounds: int) -> kf.Season:
    return kf.Season(*make_frames(1, players, rounds, seed=3))


def everybody_met(players: int) -> kf.Season:
    """Return a season after which a round has nothing but repeats, whoever has the bye."""
    schedule = kf.round_robin(range(players))
    games = schedule.assign(result=["bye" if code == "bye" else "1/2-1/2" for code in schedule["result"]])
    return kf.Season(games, pd.DataFrame({"player": range(players), "rating": range(1000, 1000 + players)}))


def works() -> dict[str, Callable[[], object]]:
    """Return what is timed; the seasons are ready before."""
    small, large, known = season_of(100, 30), season_of(300, 40), everybody_met(299)
    some = [f"P{i:03d}" for i in range(299)]
    return {
        "100 players after 30 rounds": lambda: kf.pair(small, "knsb"),
        "300 players after 40 rounds": lambda: kf.pair(large, "knsb"),
        "299 players after 40 rounds, one has a bye": lambda: kf.pair(large, "knsb", present=some),
        "299 players who have all met": lambda: kf.pair(known, "knsb"),
        "300 players from the top down": lambda: kf.pair(large, "knsb", method="top-down"),
        "schedule of 24 players, two cycles": lambda: kf.round_robin(range(24), cycles=2),
    }


WORKS = tuple(works())


@pytest.fixture(scope="module")
def work() -> dict[str, Callable[[], object]]:
    return works()


@pytest.mark.parametrize("name", WORKS)
def test_speed(benchmark, work, name):
    benchmark.pedantic(work[name], rounds=10, warmup_rounds=1)


def main() -> None:
    """Print the median and the slowest of ten runs of each."""
    for name, call in works().items():
        call()
        times = []
        for _ in range(10):
            begin = time.perf_counter()
            call()
            times.append(time.perf_counter() - begin)
        print(f"{name:56s} median {1e3 * statistics.median(times):7.1f} ms, slowest {1e3 * max(times):7.1f} ms")


if __name__ == "__main__":
    main()
