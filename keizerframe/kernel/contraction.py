"""What the rows of a batch contribute, contracted to counts.

For each award class a matrix of counts (player against opponent), and for everything that depends on the own
rank alone one small table: a table of scores is then one matrix product and one look-up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from keizerframe.kernel.grid import NOBODY, Coded
from keizerframe.kernel.points import LARGEST, Tariff, round_total
from keizerframe.kernel.tables import PARTS

IntArray = npt.NDArray[np.integer]
BoolArray = npt.NDArray[np.bool_]
#: Integers, or floats that carry integers exactly.
AnyArray = npt.NDArray[Any]

#: Tables of a cycle are summed: so many must fit.
LONGEST_CYCLE = 4096


@dataclass(frozen=True, slots=True)
class Prices:
    """The points tables of a batch, by rule set and roster size.

    Parameters
    ----------
    tariffs
        The rule sets as numbers.
    values
        Value number of each rank in ``tariff.value_unit``, shape [V, sizes, N].
    own
        Units of the own value number added once, after rounds 1, 2, ... (the last holds), shape
        [stages, V, sizes, N].
    table
        Units of every code at every rank, shape [V, sizes, C, N].
    of_opponent
        Whether a code shares the opponent's value number, shape [V, C].
    size
        Which of the sizes each season has, shape [S].
    part
        The part of the score each code belongs to, shape [C].
    """

    tariffs: Sequence[Tariff]
    values: IntArray
    own: IntArray
    table: IntArray
    of_opponent: BoolArray
    size: IntArray
    part: IntArray

    def stage(self, scored: IntArray) -> IntArray:
        """Return the index into `own` after so many rounds."""
        return np.clip(scored, 1, len(self.own)) - 1

    def settle(self, units: IntArray, version: IntArray) -> IntArray:
        """Round totals [rows, N] of the given rule sets; the array itself where none of them rounds."""
        rounding = [v for v, tariff in enumerate(self.tariffs) if tariff.rounds_totals]
        if not rounding:
            return units
        settled = units.copy()
        for v in rounding:
            rows = version == v
            settled[rows] = round_total(units[rows], self.tariffs[v])
        return settled

    def own_term(self, row: tuple[IntArray, IntArray], stage: IntArray, rank: IntArray, start: IntArray) -> IntArray:
        """Return the own value number added once, in units, for rows (season, version) valued by `rank`."""
        season, version = row
        _, versions, sizes, width = self.own.shape
        constant = np.array([tariff.own_start for tariff in self.tariffs])
        if constant.any():
            rank = np.where(constant[version][:, None], start[season], rank)
        at = ((stage * versions + version) * sizes + self.size[season]) * width
        paid: IntArray = self.own.ravel().take(at[:, None] + rank)
        return paid


class Contraction:
    """What the rows of a batch contribute, as counts: tables of scores without walking the rounds."""

    def __init__(self, coded: Coded, prices: Prices, *, growing: bool = False) -> None:
        seasons, depth, width = coded.code.shape
        self.coded, self.growing = coded, growing
        versions = prices.values.shape[0]
        self.shape = seasons, versions, width
        self.prices = prices
        outside = np.arange(width) >= coded.size[:, None]
        # A game paid from the own value number still counts as a game: parts never merge.
        opposed, self.kind, self.weight, _ = _classes(prices.table, prices.of_opponent, np.zeros_like(prices.part))
        own_rows, self.own_kind, self.own_weight, self.own_part_of = _classes(
            prices.table, ~prices.of_opponent, prices.part
        )
        # Totals may be rounded up, to a grain or in their last binary place.
        grain = max(max(tariff.total_grain, tariff.rounds_totals) for tariff in prices.tariffs)
        bound = depth * int(np.abs(prices.table).max(initial=0)) + int(np.abs(prices.own).max(initial=0)) + 1
        bound += max(grain, bound >> 20) if grain else 0
        self.dtype = _carrier(bound, width, 1 if growing else LONGEST_CYCLE)
        self.key_dtype = np.dtype(np.int32 if bound << bits(width) < 2**31 else np.int64)
        #: How often each player met each opponent in each class of award, weighted, shape [S, N * classes, N].
        self.games = np.zeros((seasons, width * len(opposed), width), dtype=self.dtype)
        #: How often each player has each class of award without an opponent, weighted, shape [S, N, classes].
        self.counts = np.zeros((seasons, width, len(own_rows)), dtype=self.dtype)
        #: Units of each class at each rank, shape [V, sizes, N, classes]: what one rank pays stands together.
        self.opponent_price = np.ascontiguousarray(np.moveaxis(opposed, 0, 3)).astype(self.dtype)
        self.own_price = np.ascontiguousarray(np.moveaxis(own_rows, 0, 3)).astype(self.dtype)
        if not growing:
            cell, weight = self._games_of(coded.code, coded.whose)
            self.games = np.bincount(cell, weight, self.games.size).astype(self.dtype).reshape(self.games.shape)
            of_class = np.where(self.own_kind[:, None] == np.arange(len(own_rows)), self.own_weight[:, None], 0)
            self.counts = coded.counts.astype(self.dtype) @ of_class.astype(self.dtype)
            self.own_part = self._own_parts(outside, -bound)

    def _games_of(self, code: IntArray, whose: IntArray) -> tuple[IntArray, IntArray]:
        """Return which cells of `games` the rows [S, ..., N] add to, and how much."""
        width, classes = self.shape[2], self.opponent_price.shape[-1]
        rows = code.size
        at = np.flatnonzero((self.kind >= 0)[code] & (whose != NOBODY))
        code, whose = code.ravel().take(at), whose.ravel().take(at)
        season = at // (rows // self.shape[0])
        cell = ((season * width + whose) * classes + self.kind.take(code)) * width + at % width
        return cell, self.weight.take(code)

    def _own_parts(self, outside: BoolArray, least: int) -> AnyArray:
        """Return the units a player has at each rank of his own, shape [S, N, V, N].

        Who is outside the roster gets `least`, which ranks him behind everybody.
        """
        seasons, versions, width = self.shape
        parts = np.empty((seasons, width, versions, width), dtype=self.dtype)
        prices, coded = self.prices, self.coded
        stages = prices.stage(coded.scored)
        constant = np.flatnonzero([tariff.own_start for tariff in prices.tariffs])
        for size, stage in sorted(set(zip(prices.size.tolist(), stages.tolist(), strict=True))):
            chosen = np.flatnonzero((prices.size == size) & (stages == stage))
            own = prices.own[stage, :, size].astype(self.dtype)
            by_start, own[constant] = own[constant].T, 0
            # The own value number is one more class, which everybody has once.
            by_class = np.concatenate([np.moveaxis(self.own_price[:, size], 2, 0), own[None]])
            once = np.ones_like(self.counts, shape=(len(chosen), width, 1))
            product = np.concatenate([self.counts[chosen], once], axis=2).reshape(-1, len(by_class))
            product = product @ by_class.reshape(len(by_class), versions * width)
            whole = product.reshape(len(chosen), width, versions, width)
            if len(chosen) == seasons:
                parts = whole
            else:
                parts[chosen] = whole
            if len(constant):
                parts[np.ix_(chosen, np.arange(width), constant)] += by_start[coded.start[chosen]][..., None]
        parts[outside] = least
        return parts

    def own_units(self, season: IntArray, version: IntArray, rank: IntArray) -> IntArray:
        """Return what rows (season, version) earn without an opponent, by part, shape [rows, N, parts]."""
        first = (version * self.prices.values.shape[1] + self.prices.size[season])[:, None] * self.shape[2]
        if not self.counts.shape[2]:
            return np.zeros((*rank.shape, len(PARTS)), dtype=np.int64)
        paid = _rows(self.own_price).take(first + rank, axis=0) * self.counts[season]
        of_part = self.own_part_of[:, None] == np.arange(len(PARTS))
        by_part: IntArray = (paid @ of_part.astype(self.dtype)).astype(np.int64)
        return by_part

    def add_round(self, r: int) -> None:
        """Count the rows of one more round."""
        code = self.coded.code[:, r]
        cell, weight = self._games_of(code, self.coded.whose[:, r])
        # A player has one row a round, so no cell stands here twice.
        self.games.ravel()[cell] += weight.astype(self.dtype)
        kind = self.own_kind[code]
        s, p = np.nonzero(kind >= 0)
        self.counts[s, p, kind[s, p]] += self.own_weight[code[s, p]].astype(self.dtype)


def bits(width: int) -> int:
    """Return the bits that hold a column's number."""
    return max(width - 1, 1).bit_length()


def _carrier(bound: int, width: int, tables: int) -> np.dtype[np.generic]:
    """Return the fastest type that carries integers up to `bound` exactly; sums of `tables` must fit too."""
    if bound * tables >= LARGEST >> bits(width):
        raise OverflowError(f"{bound} units")
    if bound < 2**24:
        return np.dtype(np.float32)
    return np.dtype(np.float64 if bound < 2**53 else np.int64)


def _classes(table: IntArray, wanted: BoolArray, part: IntArray) -> tuple[IntArray, ...]:
    """Merge codes of one part that pay alike, or a multiple of one another: a win is two draws.

    Returns the distinct rows [K, V, sizes, N], the row of each code (-1 = pays nothing) and how often it counts,
    each row's part.
    """
    kept = np.where(wanted[:, None, :, None], table, 0)
    flat = np.moveaxis(kept, 2, 0).reshape(kept.shape[2], -1)
    weight = np.gcd.reduce(flat, axis=1)
    flat = flat // np.maximum(weight, 1)[:, None]
    number: dict[tuple[int, bytes], int] = {}
    row = np.full(len(flat), -1)
    for code in np.flatnonzero(weight):
        row[code] = number.setdefault((int(part[code]), flat[code].tobytes()), len(number))
    first = [int(np.argmax(row == k)) for k in range(len(number))]
    versions, sizes, _, width = kept.shape
    return flat[first].reshape(len(first), versions, sizes, width), row, weight, part[first]


class Layout:
    """Rows (season x rule set) laid out so that one matrix product scores them all.

    Rows of one season share its counts, so they stand side by side in groups of `slots`; a group with fewer
    rows repeats its first one.

    Attributes
    ----------
    rows, version
        Which row stands in each cell, and its rule set.
    cell
        Where each active row stands.
    """

    def __init__(self, work: Contraction, active: IntArray) -> None:
        seasons, versions, width = work.shape
        self.work = work
        season = active // versions
        position = np.arange(len(active)) - np.searchsorted(season, season)
        of_seasons = max(1, int(np.count_nonzero(position == 0)))
        self.slots = max(1, round(len(active) / of_seasons))
        slot = position % self.slots
        group = np.cumsum(slot == 0) - 1
        grid = np.repeat(active[slot == 0], self.slots).reshape(-1, self.slots)
        grid[group, slot] = active
        self.cell = group * self.slots + slot
        self.rows = grid.ravel()
        of_season, self.version = np.divmod(self.rows, versions)
        whole = len(grid) == seasons and self.slots == versions
        self.games = work.games if whole else work.games[of_season[:: self.slots]]
        #: Where the first rank of each cell's prices stands, and of each player's own units.
        self.price_at = (self.version * work.prices.values.shape[1] + work.prices.size[of_season])[:, None] * width
        self.own_at = ((of_season[:, None] * width + np.arange(width)) * versions + self.version[:, None]) * width

    def compacted(self, active: IntArray) -> tuple[Layout, IntArray]:
        """Return the layout of the rows still active, and for each of its cells the cell it comes from."""
        layout = Layout(self.work, active)
        return layout, self.cell[np.searchsorted(active, layout.rows)]

    def image(self, rank: IntArray) -> IntArray:
        """Return the units [cells, N] that the ranking gives."""
        work, width = self.work, self.work.shape[2]
        units: AnyArray = np.zeros((len(self.games), self.slots, width), dtype=work.dtype)
        # Products over no class at all are left out: numpy has returned what was in memory for them.
        if self.games.shape[1]:
            price = _rows(work.opponent_price).take(self.price_at + rank, axis=0)
            units = np.matmul(price.reshape(len(self.games), self.slots, -1), self.games)
        if work.growing and work.counts.shape[2]:
            # All rows stand in the layout then, the rule sets of a season together.
            price = _rows(work.own_price).take(self.price_at + rank, axis=0)
            units += np.einsum("svnk,snk->svn", price.reshape(*units.shape, -1), work.counts)
        units = units.reshape(-1, width)
        if not work.growing:
            units += work.own_part.ravel().take(self.own_at + rank)
        with np.errstate(invalid="raise"):
            whole: IntArray = units.astype(work.key_dtype)
        return whole


def _rows(prices: AnyArray) -> AnyArray:
    """Return prices with everything one rank of one rule set pays as a row."""
    return prices.reshape(math.prod(prices.shape[:-1]), prices.shape[-1])
