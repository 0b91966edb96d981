"""Recalculation: rank, value number and score feed each other until they agree.

All seasons and rule sets of a batch run at once; a row is one season under one rule set. Rows that have
settled drop out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from keizerframe.kernel.contraction import Contraction, Layout
from keizerframe.kernel.points import round_ratio
from keizerframe.kernel.tables import (
    CAP,
    CONVERGED,
    CYCLE,
    Tables,
    ranking,
)
from keizerframe.kernel.tally import Tally

IntArray = npt.NDArray[np.integer]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Policy:
    """What to do when no ranking reproduces itself, by rule set.

    Parameters
    ----------
    limit
        Tables after which to give up, shape [V].
    two_back
        Whether only the table before the last one is looked at for a cycle, shape [V].
    stop
        Whether a cycle is left as it stands, not averaged, shape [V].
    """

    limit: IntArray
    two_back: BoolArray
    stop: BoolArray


def fixed_point(work: Contraction, policy: Policy) -> Tally:
    """Score until a ranking repeats.

    Parameters
    ----------
    work
        The contracted batch.
    policy
        What to do on a cycle, by rule set.

    Returns
    -------
    The tables counted, and the rankings that gave them.
    """
    versions = work.shape[1]
    start = np.repeat(work.coded.start, versions, axis=0).astype(np.intp)
    tally = Tally(work)
    out = tally.tables
    active = np.arange(len(start))
    layout = Layout(work, active)
    step = 0
    rank: IntArray = start
    # Brent: one saved ranking a row, renewed at powers of two; looking two back is renewing it every time.
    saved: IntArray = np.full_like(start, -1)
    saved_at: IntArray = np.zeros(len(start), dtype=np.int64)
    # Tables of a cycle still to be summed; 0 = still searching.
    left: IntArray = np.zeros(len(start), dtype=np.int64)
    seen: dict[int, dict[bytes, int]] = {}
    while len(active):
        raw = layout.image(rank)
        units: IntArray = work.prices.settle(raw, layout.version)
        following = ranking(units)
        step += 1
        cell, version = layout.cell, layout.version[layout.cell]
        summing = left[cell] > 0
        settled = ~summing & (following == rank).all(axis=1)[cell]
        met = ~summing & ~settled & (following == saved).all(axis=1)[cell]
        for i in np.flatnonzero(policy.stop[version] & ~settled):
            # What is printed must be the first repeat, not the table in which the search sees it.
            known = seen.setdefault(int(active[i]), {})
            known[rank[cell[i]].tobytes()] = step
            first = known.get(following[cell[i]].tobytes())
            met[i] = first is not None
            saved_at[cell[i]] = first or 0
        capped = ~summing & ~settled & ~met & (step >= policy.limit[version])
        for ended, how in ((settled, CONVERGED), (met, CYCLE), (capped, CAP)):
            out.outcome[active[ended]] = how
            out.steps[active[ended]] = step
        out.length[active[met]] = step + 1 - saved_at[cell[met]]
        stopped = settled | capped | (met & policy.stop[version])
        counted = stopped | summing
        tally.add(active[counted], rank[cell[counted]], raw[cell[counted]], units[cell[counted]])
        left[cell[summing]] -= 1
        left[cell[met]] = out.length[active[met]]
        finished = stopped | (summing & (left[cell] == 0))
        if step & (step - 1) == 0:
            saved, saved_at = rank, np.full_like(saved_at, step)
        elif policy.two_back.any():
            renewed = policy.two_back[layout.version]
            saved, saved_at = np.where(renewed[:, None], rank, saved), np.where(renewed, step, saved_at)
        rank = following
        if finished.any():
            active, layout.cell = active[~finished], cell[~finished]
            if 2 * len(active) <= len(layout.rows):
                layout, old = layout.compacted(active)
                rank, saved, saved_at, left = rank[old], saved[old], saved_at[old], left[old]
    tally.flush()
    _average(out, policy, versions)
    return tally


def _average(out: Tables, policy: Policy, versions: int) -> None:
    """Rank by the sums over the cycles; round the means where the policy asks for it."""
    out.divisor = out.tables.copy()
    rounded = np.flatnonzero(policy.two_back[np.arange(len(out.units)) % versions] & (out.tables > 1))
    out.units[rounded] = round_ratio(out.units[rounded], out.tables[rounded, None])
    out.parts[rounded] = round_ratio(out.parts[rounded], out.tables[rounded, None, None])
    out.divisor[rounded] = 1
    out.rank = ranking(out.units)
