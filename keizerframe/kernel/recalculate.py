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
    GAMES,
    OWN_VALUE,
    PARTS,
    Tables,
    blank_tables,
    ranking,
)

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


class Tally:
    """Collects the tables that count: one per settled row, all tables of a cycle."""

    def __init__(self, work: Contraction) -> None:
        seasons, versions, width = work.shape
        self.work = work
        self.tables = blank_tables(seasons * versions, len(PARTS), width)
        self.waiting: list[tuple[IntArray, IntArray, IntArray, IntArray]] = []
        #: The rankings whose tables were counted, for lists that take their values from this one.
        self.used: list[tuple[IntArray, IntArray]] = []
        self.held = 0
        self.most = 4 * seasons * versions + 1000

    def add(self, rows: IntArray, rank: IntArray, raw: IntArray, units: IntArray) -> None:
        """Count the table of each of `rows`: the units that the ranking gave, before and after rounding."""
        if len(rows):
            self.waiting.append((rows, rank, raw, units))
            self.used.append((rows, rank.astype(np.int16)))
            self.held += len(rows)
        if self.held > self.most:
            self.flush()

    def flush(self) -> None:
        """Sum what waits."""
        if not self.waiting:
            return
        rows, rank, raw, units = (np.concatenate(column) for column in zip(*self.waiting, strict=True))
        self.waiting, self.held = [], 0
        order = np.argsort(rows, kind="stable")
        rows, rank = rows[order], rank[order]
        raw, units = raw[order].astype(np.int64), units[order].astype(np.int64)
        fresh = np.diff(rows, prepend=-1) != 0
        first, again = np.flatnonzero(fresh), np.flatnonzero(~fresh)
        into, tables = rows[first], self.tables

        def total(sums: IntArray, addends: IntArray) -> None:
            sums[into] += addends[first]
            np.add.at(sums, rows[again], addends[again])

        prices, versions = self.work.prices, self.work.shape[1]
        season, version = np.divmod(rows, versions)
        at = version, prices.size[season]
        total(tables.units, units)
        total(tables.tables, np.ones_like(rows))
        total(tables.values, _at_rank(prices.values[at], rank))
        own = prices.own_term((season, version), prices.stage(self.work.coded.scored)[season], rank, self.work.coded.start)
        total(tables.parts[:, OWN_VALUE], own)
        games = raw - own
        for k, part in enumerate(self.work.own_part_of):
            paid = _at_rank(self.work.own_price[*at, k], rank) * self.work.counts[k, season]
            games -= paid
            total(tables.parts[:, part], paid)
        # What is left was shared from opponents' value numbers.
        total(tables.parts[:, GAMES], games)


def _at_rank(by_rank: IntArray, rank: IntArray) -> IntArray:
    return np.take_along_axis(by_rank, rank, axis=1)


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
    seasons, versions, _ = work.shape
    start = np.repeat(work.coded.start, versions, axis=0).astype(np.intp)
    tally = Tally(work)
    out = tally.tables
    active = np.arange(len(start))
    layout = Layout(work, active)
    rank, step = start, 0
    # Brent: one saved ranking a row, renewed at powers of two; looking two back is renewing it every time.
    saved, saved_at = np.full_like(start, -1), np.zeros(len(start), dtype=np.int64)
    # Tables of a cycle still to be summed; 0 = still searching.
    left = np.zeros(len(start), dtype=np.int64)
    while len(active):
        raw = layout.image(rank)
        units = work.prices.settle(raw, layout.version)
        following = ranking(units)
        step += 1
        cell, version = layout.cell, layout.version[layout.cell]
        summing = left[cell] > 0
        settled = ~summing & (following == rank).all(axis=1)[cell]
        met = ~summing & ~settled & (following == saved).all(axis=1)[cell]
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
