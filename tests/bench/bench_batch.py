"""Speed and memory of batch rescoring: ``python -m tests.bench.bench_batch [SEASONS ...] [--keep FOLDER]``.

Makes seeded seasons of 40 players and 30 rounds, 1,000 to a file, and scores them under eight rule sets, parquet
to parquet; by default 1,000, 10,000 and as many as the disk takes, 100,000 at most. Each run is a process of its own,
held to one core (two for two workers), so that its peak of memory is its own.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

import keizerframe as kf
from tests.bench.bench_score import RULES, peak
from tests.bench.seasons import make_frames

PER_FILE = 1000
#: Bytes of source and results of one season, rounded up, and how much of the free disk may be used.
BYTES, SHARE = 12_000, 0.5


def make_file(folder: Path, number: int, seasons: int) -> None:
    """Write one file of games and one of players; the labels go on from file to file."""
    frames = make_frames(seasons, 40, 30, seed=number + 1)
    for kind, frame in zip(("games", "players"), frames, strict=True):
        frame["season"] = f"{number:03d}-" + frame["season"]
        (folder / kind).mkdir(parents=True, exist_ok=True)
        table = pa.Table.from_pandas(frame, preserve_index=False)
        pq.write_table(table, folder / kind / f"part-{number:03d}.parquet")


def make_source(folder: Path, seasons: int) -> None:
    """Write a source of so many seasons, on all cores."""
    sizes = [PER_FILE] * (seasons // PER_FILE) + ([seasons % PER_FILE] if seasons % PER_FILE else [])
    with ProcessPoolExecutor() as pool:
        for job in [pool.submit(make_file, folder, number, size) for number, size in enumerate(sizes)]:
            job.result()


def fitting(folder: Path) -> int:
    """Return the number of seasons that the disk takes."""
    room = int(shutil.disk_usage(folder).free * SHARE / BYTES)
    return min(100_000, room // PER_FILE * PER_FILE)


def measure(source: Path, out: Path, workers: int) -> None:
    """Run once and print the figures as JSON."""
    cores = sorted(os.sched_getaffinity(0))[:workers]
    os.sched_setaffinity(0, cores)
    pa.set_cpu_count(len(cores))
    start = time.perf_counter()
    done = kf.rescore(source, RULES, out, workers=workers, resume=False)
    seconds = time.perf_counter() - start
    facts = {
        "seasons": done.seasons,
        "rows": done.rows,
        "seconds": seconds,
        # Of this process and its children: what a machine shared with others cannot stretch.
        "processor": sum(os.times()[:4]),
        "peak": peak(),
        "worker": peak(children=True),
    }
    print(json.dumps(facts))


def report(source: Path, out: Path, workers: int) -> None:
    """Measure in a process of its own and print a line."""
    command = [sys.executable, "-m", "tests.bench.bench_batch", "--measure", str(source), str(out), str(workers)]
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    # A single file is done within a second: five runs, and the middle one.
    runs = [
        json.loads(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)
        for _ in range(5 if source.name == f"seasons-{PER_FILE}" else 1)
    ]
    facts = sorted(runs, key=lambda run: run["seconds"])[len(runs) // 2]
    workers_peak = f" and {facts['worker']:,.0f} MB a worker" if workers > 1 else ""
    rate = facts["seasons"] * len(RULES) / facts["seconds"]
    each = facts["seconds"] / facts["seasons"] * 1e3
    print(
        f"{facts['seasons']:8,d} seasons x {len(RULES)}, {workers} worker(s): {facts['seconds']:7.2f} s "
        f"(processor {facts['processor']:.1f} s), "
        f"{rate:8,.0f} season-rules/s, {each:6.3f} ms a season, peak {facts['peak']:6,.0f} MB"
        f"{workers_peak}, "
        f"{facts['rows']:,d} rows",
        flush=True,
    )


def main() -> None:
    """Make the sources and measure each size."""
    if sys.argv[1:2] == ["--measure"]:
        measure(Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]))
        return
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("seasons", nargs="*", type=int)
    options.add_argument("--keep", type=Path, help="a folder for the sources and results, which stay there")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = chosen.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for seasons in chosen.seasons or sorted({1000, 10_000, fitting(folder)}):
            source = folder / f"seasons-{seasons}"
            if not source.exists():
                make_source(source, seasons)
            for workers in (1, 2):
                report(source, folder / f"scores-{seasons}-{workers}", workers)
                if workers == 1:
                    rows = len(pd.read_parquet(folder / f"scores-{seasons}-1" / "standings", columns=["rank"]))
                    assert rows == seasons * 40 * len(RULES), rows
            if chosen.keep is None:
                shutil.rmtree(folder)
                folder.mkdir()


if __name__ == "__main__":
    main()
