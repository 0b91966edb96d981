"""The proofs of batch rescoring that need processes, disks, clusters or other programs.

kill      a run killed at 20 seeded moments ends, when run again, with the bytes of an undisturbed one
disk      a full disk gives a clear error and a folder that can be gone on with (Linux, as root: mounts a tmpfs)
cluster   a LocalCluster of two worker processes writes the same bytes (needs the extra dask)
readers   DuckDB and polars read the standings with the documented types (pip install duckdb polars)
"""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

import keizerframe as kf
from keizerframe.errors import BatchError
from keizerframe.standings import STANDINGS_SCHEMA
from tests.bench.seasons import make_frames

RULES = ["knsb", "freekeizer", "keizerforclubs-2.0"]


def make_source(folder: Path, files: int, seasons: int = 20, *, players: int = 30, rounds: int = 15) -> Path:
    """Write a data set of games and players, the last season of the first file faulty."""
    for number in range(files):
        games, people = make_frames(seasons, players, rounds, seed=number + 1)
        for kind, frame in (("games", games), ("players", people)):
            frame["season"] = f"{number:02d}" + frame["season"]
            if number == 0 and kind == "games":
                frame.loc[frame["season"] == frame["season"].max(), "result"] = "2-0"
            (folder / kind).mkdir(parents=True, exist_ok=True)
            table = pa.Table.from_pandas(frame, preserve_index=False)
            pq.write_table(table, folder / kind / f"part-{number:03d}.parquet")
    return folder


def bytes_of(folder: Path) -> dict[str, str]:
    """Return a hash of every file in a folder, hidden ones too."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def stamps_of(folder: Path) -> dict[str, tuple[int, int]]:
    """Return what would change if a finished part were written again: inode and time of its two files."""
    done: dict[str, tuple[int, int]] = {}
    for record in sorted((folder / "manifest").glob("part-*.json")):
        for path in (record, folder / "standings" / f"{record.stem}.parquet"):
            facts = path.stat()
            done[path.name] = facts.st_ino, facts.st_mtime_ns
    return done


def command(source: Path, out: Path, workers: int) -> list[str]:
    """Return the command line of a run."""
    code = "from keizerframe.cli import run; run()"
    given = ["rescore", str(source), "--rules", *RULES, "--out", str(out), "--workers", str(workers), "--quiet"]
    return [sys.executable, "-c", code, *given]


def killed(source: Path, out: Path, workers: int, parts: int, delay: float) -> bool:
    """Start a run, kill it `delay` seconds after so many parts are done; return whether it was still running."""
    records = out / "manifest"
    with subprocess.Popen(command(source, out, workers), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
        while len(list(records.glob("*.json"))) <= parts and run.poll() is None:
            time.sleep(0.0005)
        time.sleep(delay)
        alive = run.poll() is None
        run.send_signal(signal.SIGKILL)
    return alive


def kill(moments: int = 20, files: int = 24, seed: int = 20261130) -> bool:
    """Kill runs at seeded moments, run again, compare bytes and what was done already."""
    draw = random.Random(seed)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        source = make_source(folder / "source", files)
        whole = folder / "undisturbed"
        kf.rescore(source, RULES, whole)
        expected = bytes_of(whole)
        good = 0
        for number in range(moments):
            workers, out = 1 + number % 2, folder / f"run-{number}"
            # Somewhere in the making of a part: one takes about 30 ms.
            alive = killed(source, out, workers, draw.randrange(files), draw.random() * 0.03)
            before = stamps_of(out)
            again = subprocess.run(command(source, out, workers), capture_output=True, text=True, check=False)
            kept = {name: stamp for name, stamp in stamps_of(out).items() if name in before}
            equal, once = bytes_of(out) == expected, kept == before
            good += equal and once and again.returncode == 1
            print(
                f"{number + 1:2d}: {workers} worker(s), killed{'' if alive else ' (had ended)'} with "
                f"{len(before) // 2:2d} of {files} parts done: bytes {'equal' if equal else 'DIFFER'}, "
                f"finished work {'kept' if once else 'DONE AGAIN'}, exit {again.returncode}"
            )
            shutil.rmtree(out)
    print(f"{good} of {moments} killed runs ended with the bytes of an undisturbed one, nothing done twice")
    return good == moments


def disk() -> bool:
    """Fill a small disk, see the error, make room, go on."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        source = make_source(folder / "source", 12)
        kf.rescore(source, RULES, folder / "undisturbed")
        expected = bytes_of(folder / "undisturbed")
        mount = folder / "small"
        mount.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(mount)], check=True)
        try:
            said = ""
            try:
                kf.rescore(source, RULES, mount / "scores")
            except BatchError as fault:
                said = str(fault)
            done = stamps_of(mount / "scores")
            print(f"error: {said}\n{len(done) // 2} of 12 parts done, left: {sorted(bytes_of(mount / 'scores'))[-2:]}")
            subprocess.run(["mount", "-o", "remount,size=64m", str(mount)], check=True)
            kf.rescore(source, RULES, mount / "scores")
            kept = {name: stamp for name, stamp in stamps_of(mount / "scores").items() if name in done}
            equal = bytes_of(mount / "scores") == expected
        finally:
            subprocess.run(["umount", str(mount)], check=True)
    print(f"with room again: bytes {'equal' if equal else 'DIFFER'}, finished work kept: {kept == done}")
    return equal and kept == done and 0 < len(done) < 24 and "No space left" in said


def cluster() -> bool:
    """Score on a cluster of two worker processes, and compare with a run in this process."""
    from dask.distributed import Client, LocalCluster

    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        source = make_source(folder / "source", 12)
        kf.rescore(source, RULES, folder / "here")
        with (
            LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as local,
            Client(local) as client,
        ):
            pids = set(client.run(os.getpid).values())
            done = kf.rescore(source, RULES, folder / "there", executor=client.get_executor())
        equal = bytes_of(folder / "here") == bytes_of(folder / "there")
    print(f"{done!r}\nworkers: {len(pids - {os.getpid()})} processes; bytes {'equal' if equal else 'DIFFER'}")
    return equal and len(pids - {os.getpid()}) == 2


#: Arrow type of a standings column -> the type DuckDB and polars give it.
TYPES = {
    pa.string(): ("VARCHAR", "String"),
    pa.int32(): ("INTEGER", "Int32"),
    pa.int64(): ("BIGINT", "Int64"),
    pa.float64(): ("DOUBLE", "Float64"),
    pa.bool_(): ("BOOLEAN", "Boolean"),
}


def readers() -> bool:
    """Read the standings with DuckDB and polars: types, rows and sums as pandas has them."""
    import duckdb
    import polars

    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        done = kf.rescore(make_source(folder / "source", 3), RULES, folder / "scores")
        files = f"{done.standings}/*.parquet"
        said = duckdb.sql(f"describe select * from '{files}'").fetchall()
        duck = {str(row[0]): str(row[1]) for row in said}
        other = polars.scan_parquet(files)
        polar = {name: str(kind) for name, kind in other.collect_schema().items()}
        frame = pd.read_parquet(done.standings)
        sums = [
            (len(frame), int(frame["units"].sum())),
            duckdb.sql(f"select count(*), sum(units)::bigint from '{files}'").fetchall()[0],
            other.select(polars.len(), polars.col("units").sum()).collect().row(0),
        ]
    expected = [{field.name: TYPES[field.type][i] for field in STANDINGS_SCHEMA} for i in (0, 1)]
    same = duck == expected[0], polar == expected[1], len(set(sums)) == 1
    print(f"types of {len(duck)} columns: DuckDB {duckdb.__version__} {'as documented' if same[0] else duck},")
    print(f"polars {polars.__version__} {'as documented' if same[1] else polar}; rows and sum of units: {sums}")
    return all(same)


PROOFS = {"kill": kill, "disk": disk, "cluster": cluster, "readers": readers}
