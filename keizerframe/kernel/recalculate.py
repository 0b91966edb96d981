"""Recalculation: rank, value number and score feed each other until they agree.

All seasons and rule sets of a batch run at once; a row is one season under one rule set. Rows that have
settled drop out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from keizerframe.kernel.contraction import Contraction, Layout, Prices
from keizerframe.kernel.grid import NOBODY, Coded
from keizerframe.kernel.points import round_half_away

IntArray = npt.NDArray[np.integer]
BoolArray = npt.NDArray[np.bool_]

CONVERGED, CYCLE, CAP, DIRECT = range(4)
#: Parts of a score; games are what the other parts leave.
OWN_VALUE, GAMES, BYES, ABSENCES, CLUB = PARTS = range(5)


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


def ranking(units: IntArray) -> IntArray:
    """Return the rank (from 0) of each column, equal units to the lower column; last axis = columns.

    Examples
    --------
    >>> ranking(np.array([[3, 8, 8]]))
    array([[2, 0, 1]])
    """
    width = units.shape[-1]
    bits = max(width - 1, 1).bit_length()
    # Score and column packed into one integer: sorting them is the whole ranking.
    key = np.multiply(units, -(1 << bits), dtype=units.dtype)
    key += np.arange(width, dtype=key.dtype)
    key.sort(axis=-1)
    order = (key & ((1 << bits) - 1)).astype(np.intp)
    rank = np.empty(units.shape, dtype=np.intp)
    np.put_along_axis(rank, order, np.arange(width).reshape((1,) * (units.ndim - 1) + (width,)), axis=-1)
    return rank


@dataclass(slots=True)
class Tables:
    """The final tables of a batch; rows are season x rule set, columns as in `Coded`.

    Parameters
    ----------
    units
        Score of each player, shape [rows, N]; divide by ``per_point * divisor`` for points.
    parts
        The same by part of the score, shape [rows, parts, N].
    values
        Value numbers used, summed over `tables`, shape [rows, N].
    rank
        Final rank from 0, shape [rows, N].
    outcome, steps, length
        How the row ended, after how many tables, and the length of its cycle, shape [rows].
    tables
        How many tables were summed, shape [rows].
    divisor
        How many tables the units are still a sum of (1 where the mean was rounded), shape [rows].
    """

    units: IntArray
    parts: IntArray
    values: IntArray
    rank: IntArray
    outcome: IntArray
    steps: IntArray
    length: IntArray
    tables: IntArray
    divisor: IntArray


def blank_tables(rows: int, n_parts: int, width: int) -> Tables:
    """Return tables in which nothing has been counted."""
    return Tables(
        units=np.zeros((rows, width), dtype=np.int64),
        parts=np.zeros((rows, n_parts, width), dtype=np.int64),
        values=np.zeros((rows, width), dtype=np.int64),
        rank=np.zeros((rows, width), dtype=np.intp),
        outcome=np.full(rows, DIRECT),
        steps=np.ones(rows, dtype=np.int64),
        length=np.ones(rows, dtype=np.int64),
        tables=np.zeros(rows, dtype=np.int64),
        divisor=np.ones(rows, dtype=np.int64),
    )


class Tally:
    """Collects the tables that count: one per settled row, all tables of a cycle."""

    def __init__(self, work: Contraction, n_parts: int) -> None:
        seasons, versions, width = work.shape
        self.work = work
        self.tables = blank_tables(seasons * versions, n_parts, width)
        self.waiting: list[tuple[IntArray, IntArray, IntArray]] = []
        self.held = 0
        self.most = 4 * seasons * versions + 1000

    def add(self, rows: IntArray, rank: IntArray, units: IntArray) -> None:
        """Count the table of each of `rows`: the units that the ranking gave."""
        if len(rows):
            self.waiting.append((rows, rank, units))
            self.held += len(rows)
        if self.held > self.most:
            self.flush()

    def flush(self) -> None:
        """Sum what waits."""
        if not self.waiting:
            return
        rows, rank, units = (np.concatenate(column) for column in zip(*self.waiting, strict=True))
        self.waiting, self.held = [], 0
        order = np.argsort(rows, kind="stable")
        rows, rank, units = rows[order], rank[order], units[order].astype(np.int64)
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
        total(tables.parts[:, OWN_VALUE], _at_rank(prices.own[at], rank))
        for k, part in enumerate(self.work.own_part_of):
            paid = _at_rank(self.work.own_price[*at, k], rank) * self.work.counts[k, season]
            total(tables.parts[:, part], paid)


def _at_rank(by_rank: IntArray, rank: IntArray) -> IntArray:
    return np.take_along_axis(by_rank, rank, axis=1)


def fixed_point(work: Contraction, policy: Policy, start: IntArray, n_parts: int) -> Tables:
    """Score until a ranking repeats.

    Parameters
    ----------
    work
        The contracted batch.
    policy
        What to do on a cycle, by rule set.
    start
        First ranking, shape [rows, N].
    n_parts
        How many parts a score has.
    """
    tally = Tally(work, n_parts)
    out = tally.tables
    active = np.arange(len(start))
    layout = Layout(work, active)
    rank, step = start, 0
    # Brent: one saved ranking a row, renewed at powers of two; looking two back is renewing it every time.
    saved, saved_at = np.full_like(start, -1), np.zeros(len(start), dtype=np.int64)
    # Tables of a cycle still to be summed; 0 = still searching.
    left = np.zeros(len(start), dtype=np.int64)
    while len(active):
        units = layout.image(rank)
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
        tally.add(active[counted], rank[cell[counted]], units[cell[counted]])
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
    return _averaged(out, policy, work.shape[1])


def _averaged(out: Tables, policy: Policy, versions: int) -> Tables:
    """Rank by the sums over the cycles; round the means where the policy asks for it."""
    out.parts[:, GAMES] = out.units - (out.parts.sum(axis=1) - out.parts[:, GAMES])
    out.divisor = out.tables.copy()
    rounded = np.flatnonzero(policy.two_back[np.arange(len(out.units)) % versions] & (out.tables > 1))
    out.units[rounded] = round_half_away(out.units[rounded], out.tables[rounded, None])
    out.parts[rounded] = round_half_away(out.parts[rounded], out.tables[rounded, None, None])
    out.divisor[rounded] = 1
    out.rank = ranking(out.units)
    return out


def frozen(coded: Coded, prices: Prices, start: IntArray, n_parts: int) -> Tables:
    """Score each round once, by the ranking before it; the own value number by the last ranking.

    Parameters as in `fixed_point`.
    """
    seasons, depth, width = coded.code.shape
    versions = len(prices.values)
    out = blank_tables(seasons * versions, n_parts, width)
    season, version = np.divmod(np.arange(seasons * versions), versions)
    size = prices.size[season]
    column = np.broadcast_to(np.arange(width), (len(season), width))
    outside = column >= coded.size[season][:, None]
    rank = start
    for r in range(depth):
        code = coded.code[season, r]
        whose = coded.whose[season, r]
        of_opponent = prices.of_opponent[version[:, None], code]
        unpaid = of_opponent & (whose == NOBODY)
        rank_of = np.take_along_axis(rank, np.where(of_opponent & ~unpaid, whose, column), axis=1)
        paid = prices.table[version[:, None], size[:, None], code, rank_of]
        paid[unpaid] = 0
        out.units += paid
        part = prices.part[code]
        for number in range(n_parts):
            out.parts[:, number] += np.where(part == number, paid, 0)
        rank = _ranked_inside(out.units, outside)
    own = _at_rank(prices.own[version, size], rank)
    out.units += own
    out.parts[:, OWN_VALUE] += own
    out.values[:] = _at_rank(prices.values[version, size], rank)
    out.tables[:] = 1
    out.rank = _ranked_inside(out.units, outside)
    return out


def _ranked_inside(units: IntArray, outside: BoolArray) -> IntArray:
    """Return the ranking with everybody outside the roster last."""
    return ranking(np.where(outside, units.min(initial=0) - 1, units))
