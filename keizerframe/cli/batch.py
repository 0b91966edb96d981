"""The command for many seasons: rescore."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import pandas as pd
import pyarrow.parquet as pq
from cyclopts import Parameter

from keizerframe.batch import Rescored
from keizerframe.batch import rescore as rescore_seasons
from keizerframe.cli.shell import JsonOption, QuietOption, RulesOption, app, notes, print_table
from keizerframe.errors import RulesError, SeasonError, describe_problem

_RESCORE_EPILOGUE = """\
Examples:
  keizerframe rescore seasons/ --rules knsb freekeizer --out scores --workers 2
  keizerframe rescore data/waagtoren --rules knsb,loss_fraction=1/6 --out scores --quiet --json
  keizerframe rescore s3://bucket/games --rules as-played knsb --out scores --no-resume"""


@app.command(help_epilogue=_RESCORE_EPILOGUE)
def rescore(
    source: str,
    *,
    rules: RulesOption,
    out: Annotated[Path, Parameter(name="--out", help="Folder for the standings and the problems")],
    workers: Annotated[int, Parameter(name="--workers", help="Processes that score at a time")] = 1,
    resume: Annotated[
        bool,
        Parameter(name="--resume", negative="--no-resume", help="Go on where a run stopped; --no-resume begins anew"),
    ] = True,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Score a data set of any size to parquet: files, folders of files, row groups, s3:// and the like.

    SOURCE is a parquet file of games, a folder with games, players and rounds (each a parquet file or a
    folder of them), or a folder of such folders or of what the other commands read. The standings are a
    parquet data set, OUT/standings. A run that was stopped goes on when the same command is given again. A season
    that cannot be scored is listed in OUT/problems.parquet; the exit status is then 1.
    """
    if workers < 1:
        raise RulesError([f"--workers {workers}: give 1 or more"])
    try:
        done = rescore_seasons(source, rules, out, workers=workers, resume=resume, progress=not quiet)
    except KeyboardInterrupt:
        notes.print("keizerframe: what is finished is kept, the same command goes on with it", soft_wrap=True)
        raise
    facts = {name: getattr(done, name) for name in ("seasons", "scored", "reported", "rows", "parts")}
    facts |= {"seconds": round(done.seconds, 2), "out": str(done.out)}
    if as_json:
        print(json.dumps(facts, ensure_ascii=False, indent=1))
    else:
        print_table(pd.DataFrame([facts]), "rescored")
    _tell_problems(done, quiet)
    return int(done.reported > 0)


def _tell_problems(done: Rescored, quiet: bool) -> None:
    """Say what could not be scored, and what else there is to say."""
    if not quiet:
        for note in done.notes[:10]:
            notes.print(f"note: {note}", highlight=False, markup=False, soft_wrap=True)
        if len(done.notes) > 10:
            notes.print(f"note: ... and {len(done.notes) - 10} more")
    if not done.reported:
        return
    path = done.out / "problems.parquet"
    lines = [
        f"keizerframe: {done.reported} of {done.seasons} seasons could not be scored; all problems are in {path}:",
        *(describe_problem(row) for row in pq.read_table(path).slice(0, SeasonError.shown).to_pylist()),
    ]
    notes.print("\n  ".join(lines), highlight=False, markup=False, soft_wrap=True)
