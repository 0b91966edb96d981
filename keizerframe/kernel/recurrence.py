"""Recalculation in one pass: rankings 1, 2, ... in order, each valued by earlier ones.

A mode says which ranking values which rows; everything else is the same for all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from keizerframe.kernel.contraction import Contraction, Layout, Prices
from keizerframe.kernel.grid import NOBODY, Coded
from keizerframe.kernel.tables import OWN_VALUE, PARTS, Tables, blank_tables, ranking
from keizerframe.kernel.tally import Tally

IntArray = npt.NDArray[np.integer]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Ages:
    """How old the value numbers of a table are.

    Parameters
    ----------
    newest
        Table R values the rows of round R by ranking R - `newest`; None = by ranking 0.
    earlier
        It values the rows before by ranking R - `earlier`; None = as the table in which they were the newest.
    own_at_end
        Whether the own value number is added to the last table only, by its own ranking.
    freeze_after
        The ranking after which no new one values anything; None = never.
    """

    newest: int | None = 1
    earlier: int | None = 1
    own_at_end: bool = False
    freeze_after: int | None = None

    def of_newest(self, table: int) -> int:
        """Return the ranking that values the rows of round `table` in that table."""
        source = 0 if self.newest is None else table - self.newest
        return source if self.freeze_after is None else min(source, self.freeze_after)

    def of_earlier(self, table: int) -> int | None:
        """Return the ranking that values the rows before; None = they keep what they had."""
        if self.earlier is None or (self.freeze_after is not None and table - 1 > self.freeze_after):
            return None
        return max(table - self.earlier, 0)

    def sources(self, table: int) -> list[int]:
        """Return for each round up to `table` the ranking that values its rows in that table."""
        found: list[int] = []
        for number in range(1, table + 1):
            earlier = self.of_earlier(number)
            if earlier is not None:
                found = [earlier] * len(found)
            found.append(self.of_newest(number))
        return found

    def of_own(self, table: int) -> int:
        """Return the ranking that values the own value number in the last table."""
        return table if self.own_at_end else self.of_newest(table)


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a batch: which season and which rule set each is."""

    season: IntArray
    version: IntArray

    @classmethod
    def all(cls, seasons: int, versions: int) -> Rows:
        """Return every season under every rule set, rule sets together."""
        return cls(*np.divmod(np.arange(seasons * versions), versions))


def items(coded: Coded, prices: Prices, rows: Rows, r: int, rank: IntArray) -> tuple[IntArray, IntArray]:
    """Return what each player earns in the r-th round [rows, N] if `rank` values it, and the codes.

    This is the ledger's ``T[code, rank[whose]]``.
    """
    code, whose = coded.code[rows.season, r], coded.whose[rows.season, r]
    count, width = rank.shape
    _, sizes, codes, _ = prices.table.shape
    of_opponent = prices.of_opponent.ravel().take((rows.version * codes)[:, None] + code)
    unpaid = of_opponent & (whose == NOBODY)
    valued = np.where(of_opponent & ~unpaid, whose, np.arange(width))
    valued = rank.ravel().take((np.arange(count) * width)[:, None] + valued)
    at = ((rows.version * sizes + prices.size[rows.season]) * codes)[:, None] + code
    paid = prices.table.ravel().take(at * width + valued)
    if unpaid.any():
        paid[unpaid] = 0
    return paid, code


def rankings(coded: Coded, prices: Prices, ages: Ages) -> tuple[IntArray, Contraction | None]:
    """Return the rankings after 0, 1, ... rounds, shape [rounds + 1, rows, N], and all rows contracted.

    The contraction is there only for modes that value all rows of a table alike.
    """
    seasons, depth, width = coded.code.shape
    versions = len(prices.values)
    rows = Rows.all(seasons, versions)
    every = (rows.season, rows.version)
    history = np.empty((depth + 1, len(rows.season), width), dtype=np.int16)
    history[0] = coded.start[rows.season]
    growing = Contraction(coded, prices, growing=True) if ages.earlier is not None else None
    layout = None if growing is None else Layout(growing, np.arange(len(rows.season)))
    total: IntArray = np.zeros((len(rows.season), width), dtype=np.int64)
    for r in range(depth):
        table = r + 1
        earlier, newest = ages.of_earlier(table), ages.of_newest(table)
        rank = history[newest].astype(np.intp)
        if growing is not None and layout is not None and earlier == newest:
            growing.add_round(r)
            total = layout.image(rank)
        else:
            if layout is not None and earlier is not None:
                total = layout.image(history[earlier].astype(np.intp))
            total = total + items(coded, prices, rows, r, rank)[0]
            if growing is not None:
                growing.add_round(r)
        score = total
        if not ages.own_at_end:
            stage = prices.stage(np.full(len(rows.season), table))
            # The contraction's type has room for the own value number too.
            score = total + prices.own_term(every, stage, rank, coded.start).astype(total.dtype)
        following = ranking(_behind(prices.settle(score, rows.version), coded, rows))
        live = table <= coded.scored[rows.season]
        history[table] = following if live.all() else np.where(live[:, None], following, history[r])
    alike = ages.earlier == ages.newest and ages.freeze_after is None
    return history, growing if alike else None


def last_tables(coded: Coded, prices: Prices, ages: Ages) -> Tables:
    """Return the last table of each row, recalculated round after round."""
    history, whole = rankings(coded, prices, ages)
    if whole is None:
        return evaluate(coded, prices, ages, history)
    every = np.arange(history.shape[1])
    rows = Rows.all(len(coded.size), len(prices.values))
    last = coded.scored[rows.season]
    rank = history[np.maximum(last - ages.earlier, 0) if ages.earlier else last, every].astype(np.intp)
    own = prices.own_term((rows.season, rows.version), prices.stage(last), rank, coded.start)
    raw = Layout(whole, every).image(rank).astype(np.int64) + own
    tally = Tally(whole)
    tally.add(every, rank, raw, prices.settle(raw, rows.version))
    tally.flush()
    tally.tables.rank = ranking(_behind(tally.tables.units, coded, rows))
    return tally.tables


def _behind(units: IntArray, coded: Coded, rows: Rows) -> IntArray:
    """Return the units with everybody outside the roster below all others."""
    width = units.shape[1]
    if (coded.size == width).all():
        return units
    outside = np.arange(width) >= coded.size[rows.season][:, None]
    return np.where(outside, units.min(initial=0) - 1, units)


def evaluate(coded: Coded, prices: Prices, ages: Ages, history: IntArray) -> Tables:
    """Return the last table of each row, valued by the rankings of `history`, round by round and by part."""
    seasons, depth, width = coded.code.shape
    versions = len(prices.values)
    rows = Rows.all(seasons, versions)
    out = blank_tables(len(rows.season), len(PARTS), width)
    which = np.arange(len(rows.season))
    last = coded.scored[rows.season]
    sources = np.zeros((int(last.max(initial=0)) + 1, depth), dtype=np.int64)
    for table in np.unique(last):
        sources[table, :table] = ages.sources(int(table))
    for r in range(depth):
        paid, code = items(coded, prices, rows, r, history[sources[last, r], which].astype(np.intp))
        part = prices.part[code]
        for number in PARTS:
            out.parts[:, number] += np.where(part == number, paid, 0)
    own_source = np.array([ages.of_own(table) if table else 0 for table in range(int(last.max(initial=0)) + 1)])
    rank = history[own_source[last], which].astype(np.intp)
    out.parts[:, OWN_VALUE] += prices.own_term((rows.season, rows.version), prices.stage(last), rank, coded.start)
    out.units = prices.settle(out.parts.sum(axis=1), rows.version)
    out.values = np.take_along_axis(prices.values[rows.version, prices.size[rows.season]], rank, axis=1)
    out.tables[:] = 1
    out.rank = ranking(_behind(out.units, coded, rows))
    return out


def sums_at(coded: Coded, prices: Prices, used: Sequence[tuple[IntArray, IntArray]]) -> Tables:
    """Return the sums of the tables that rankings (seasons, ranks) of another list give, part by part."""
    seasons, depth, width = coded.code.shape
    versions = len(prices.values)
    out = blank_tables(seasons * versions, len(PARTS), width)
    out.divisor[:] = 0
    for season, ranks in used:
        rows = Rows(np.repeat(season, versions), np.tile(np.arange(versions), len(season)))
        into = rows.season * versions + rows.version
        rank = np.repeat(ranks, versions, axis=0).astype(np.intp)
        parts = np.zeros((len(into), len(PARTS), width), dtype=np.int64)
        for r in range(depth):
            paid, code = items(coded, prices, rows, r, rank)
            for number in PARTS:
                parts[:, number] += np.where(prices.part[code] == number, paid, 0)
        stage = prices.stage(coded.scored)[rows.season]
        parts[:, OWN_VALUE] += prices.own_term((rows.season, rows.version), stage, rank, coded.start)
        values = np.take_along_axis(prices.values[rows.version, prices.size[rows.season]], rank, axis=1)
        # Seasons stand once in each of the portions, so nothing is added twice here.
        out.parts[into] += parts
        out.units[into] += prices.settle(parts.sum(axis=1), rows.version)
        out.values[into] += values
        out.tables[into] += 1
        out.divisor[into] += 1
    out.rank = ranking(_behind(out.units, coded, Rows.all(seasons, versions)))
    return out
