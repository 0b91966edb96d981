"""Collecting the tables that count and summing them, part by part."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from keizerframe.kernel.contraction import Contraction
from keizerframe.kernel.tables import GAMES, OWN_VALUE, PARTS, blank_tables

IntArray = npt.NDArray[np.integer]


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
        own = prices.own_term(
            (season, version), prices.stage(self.work.coded.scored)[season], rank, self.work.coded.start
        )
        total(tables.parts[:, OWN_VALUE], own)
        paid = self.work.own_units(season, version, rank)
        for part in PARTS:
            if part not in (GAMES, OWN_VALUE):
                total(tables.parts[:, part], paid[..., part])
        # What is left was shared from opponents' value numbers.
        total(tables.parts[:, GAMES], raw - own - paid.sum(axis=2) + paid[..., GAMES])


def _at_rank(by_rank: IntArray, rank: IntArray) -> IntArray:
    return np.take_along_axis(by_rank, rank, axis=1)
