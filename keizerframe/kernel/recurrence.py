"""Recalculation in one pass: rankings 1, 2, ... in order, each valued by earlier ones.

A mode says which ranking values which rows; everything else is the same for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from keizerframe.kernel.contraction import Contraction, Layout, Prices, bits
from keizerframe.kernel.grid import NOBODY, Coded
from keizerframe.kernel.points import LARGEST
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


@dataclass(frozen=True, slots=True)
class Valuation:
    """Which rankings value the rows of the tables that count.

    Parameters
    ----------
    row
        The row of the batch each table belongs to (all tables of a cycle belong to one row), shape [M].
    ranks
        Rankings 0 .. K-1 of each table, shape [K, M, N].
    source
        Which of them values the rows of each round, the last entry the own value number, shape [M, R + 1].
    """

    row: IntArray
    ranks: IntArray
    source: IntArray

    def portions(self, size: int) -> Iterator[Valuation]:
        """Yield the tables in portions."""
        for start in range(0, len(self.row), size):
            some = slice(start, start + size)
            yield Valuation(self.row[some], self.ranks[:, some], self.source[some])

    def of(self, r: int) -> IntArray:
        """Return the ranking that values the r-th round of each table (-1: the own value number), shape [M, N]."""
        return self.ranks[self.source[:, r], np.arange(len(self.row))].astype(np.intp)


def valued(coded: Coded, prices: Prices, rows: Rows, r: int, rank: IntArray) -> tuple[IntArray, BoolArray, IntArray]:
    """Return the rank that values each player's r-th row [rows, N], whether there is nobody to value it; the codes."""
    code, whose = coded.code[rows.season, r], coded.whose[rows.season, r]
    count, width = rank.shape
    codes = prices.of_opponent.shape[1]
    of_opponent = prices.of_opponent.ravel().take((rows.version * codes)[:, None] + code)
    nobody = of_opponent & (whose == NOBODY)
    where = np.where(of_opponent & ~nobody, whose, np.arange(width))
    return rank.ravel().take((np.arange(count) * width)[:, None] + where), nobody, code


def items(coded: Coded, prices: Prices, rows: Rows, r: int, rank: IntArray) -> tuple[IntArray, IntArray]:
    """Return what each player earns in the r-th round [rows, N] if `rank` values it, and the codes.

    This is the ledger's ``T[code, rank[whose]]``.
    """
    by, nobody, code = valued(coded, prices, rows, r, rank)
    _, sizes, codes, width = prices.table.shape
    at = ((rows.version * sizes + prices.size[rows.season]) * codes)[:, None] + code
    paid = prices.table.ravel().take(at * width + by)
    if nobody.any():
        paid[nobody] = 0
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


def last_tables(coded: Coded, prices: Prices, ages: Ages) -> tuple[Tables, Valuation]:
    """Return the last table of each row, recalculated round after round, and what valued it."""
    history, whole = rankings(coded, prices, ages)
    valuation = valuation_by(history, coded, ages, len(prices.values))
    if whole is None:
        return evaluate(coded, prices, valuation), valuation
    every = np.arange(history.shape[1])
    rows = Rows.all(len(coded.size), len(prices.values))
    rank = valuation.of(-1)
    own = prices.own_term((rows.season, rows.version), prices.stage(coded.scored)[rows.season], rank, coded.start)
    raw = Layout(whole, every).image(rank).astype(np.int64) + own
    tally = Tally(whole)
    tally.add(every, rank, raw, prices.settle(raw, rows.version))
    tally.flush()
    tally.tables.rank = ranking(_behind(tally.tables.units, coded, rows))
    return tally.tables, valuation


def valuation_by(history: IntArray, coded: Coded, ages: Ages, versions: int) -> Valuation:
    """Return how the rankings of `history` value the last table of each row."""
    depth = coded.code.shape[1]
    last = coded.scored[Rows.all(len(coded.size), versions).season]
    source = np.zeros((int(last.max(initial=0)) + 1, depth + 1), dtype=np.intp)
    for table in np.unique(last[last > 0]):
        source[table, :table], source[table, -1] = ages.sources(int(table)), ages.of_own(int(table))
    return Valuation(np.arange(len(last)), history, source[last])


def valuation_of(used: Sequence[tuple[IntArray, IntArray]], depth: int) -> Valuation:
    """Return a valuation by one ranking a table: (rows, rankings) as the fixed point used them."""
    row, rank = (np.concatenate(column) for column in zip(*used, strict=True))
    return Valuation(row, rank[None], np.zeros((len(row), depth + 1), dtype=np.intp))


def _behind(units: IntArray, coded: Coded, rows: Rows) -> IntArray:
    """Return the units with everybody outside the roster below all others."""
    width = units.shape[1]
    if (coded.size == width).all():
        return units
    outside = np.arange(width) >= coded.size[rows.season][:, None]
    return np.where(outside, units.min(initial=0) - 1, units)


#: Tables valued at a time: bounds the memory of long cycles.
_AT_ONCE = 4096


def evaluate(coded: Coded, prices: Prices, valuation: Valuation) -> Tables:
    """Return the sums of the tables of each row, valued round by round and told by part."""
    seasons, depth, width = coded.code.shape
    versions = len(prices.values)
    out = blank_tables(seasons * versions, len(PARTS), width)
    longest = int(np.bincount(valuation.row).max(initial=0))
    for some in valuation.portions(_AT_ONCE):
        rows = Rows(*np.divmod(some.row, versions))
        parts = np.zeros((len(some.row), len(PARTS), width), dtype=np.int64)
        for r in range(depth):
            paid, code = items(coded, prices, rows, r, some.of(r))
            for number in PARTS:
                parts[:, number] += np.where(prices.part[code] == number, paid, 0)
        rank = some.of(-1)
        stage = prices.stage(coded.scored)[rows.season]
        parts[:, OWN_VALUE] += prices.own_term((rows.season, rows.version), stage, rank, coded.start)
        values = np.take_along_axis(prices.values[rows.version, prices.size[rows.season]], rank, axis=1)
        if int(np.abs(parts).sum(axis=1).max(initial=0)) * longest >= LARGEST >> bits(width):
            raise OverflowError("the sum over a cycle of tables")
        for sums, addends in (
            (out.parts, parts),
            (out.units, prices.settle(parts.sum(axis=1), rows.version)),
            (out.values, values),
            (out.tables, 1),
        ):
            np.add.at(sums, some.row, addends)
    out.divisor = out.tables.copy()
    out.rank = ranking(_behind(out.units, coded, Rows.all(seasons, versions)))
    return out


def shared_out(coded: Coded, prices: Prices, valuation: Valuation) -> tuple[IntArray, IntArray]:
    """Return what each round's row pays, and the value number it shares (in the value unit), summed over tables.

    Both have the shape [rows, R, N].
    """
    seasons, depth, width = coded.code.shape
    versions = len(prices.values)
    units, values = (np.zeros((seasons * versions, depth, width), dtype=np.int64) for _ in range(2))
    for some in valuation.portions(_AT_ONCE):
        rows = Rows(*np.divmod(some.row, versions))
        by_rank = prices.values[rows.version, prices.size[rows.season]]
        for r in range(depth):
            rank = some.of(r)
            np.add.at(units[:, r], some.row, items(coded, prices, rows, r, rank)[0])
            by, _, _ = valued(coded, prices, rows, r, rank)
            np.add.at(values[:, r], some.row, np.take_along_axis(by_rank, by, axis=1))
    return units, values
