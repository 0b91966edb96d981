"""The pairing of least cost: an exact minimum-cost perfect matching in whole numbers.

A pair at positions i < j of those to be paired costs ``10 (j - i - 1)^2``; one million more if it is a repeat
(more still where all other costs together could reach that, so that a repeat is the last resort); and what
the better of the two colourings leaves as the sum of both players' absolute Whites less Blacks. Of pairings that
cost the same the one with the older meetings is taken, and then what a fixed pattern of the places says.

The algorithm is Edmonds' ("Paths, trees, and flowers", Canadian Journal of Mathematics 17, 1965), from rustworkx.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.integer]
BoolArray = npt.NDArray[np.bool_]

REPEAT = 1_000_000
#: Bits of the cost's last part, a fixed pattern of the places: no two pairings cost the same.
_PATTERN_BITS, _SUM_BITS = 48, 64


@dataclass(frozen=True, slots=True)
class Field:
    """Those to be paired, in the order of the ranking.

    Parameters
    ----------
    blocked
        Whether two players met so lately that they should not meet, shape [n, n].
    met
        The last round in which they met, 0 = never, shape [n, n].
    balance
        Whites less Blacks, shape [n].
    allowed
        Whether two players may be paired at all, shape [n, n].
    """

    blocked: BoolArray
    met: IntArray
    balance: IntArray
    allowed: BoolArray

    def without(self, player: int | None) -> Field:
        """Return the field without one player."""
        if player is None:
            return self
        rest = np.flatnonzero(np.arange(len(self.balance)) != player)
        square = np.ix_(rest, rest)
        return Field(self.blocked[square], self.met[square], self.balance[rest], self.allowed[square])


@dataclass(frozen=True, slots=True)
class Matching:
    """A pairing: pairs of positions in the field, the bye, and who found no opponent."""

    pairs: list[tuple[int, int]]
    bye: int | None
    alone: list[int]


def match(field: Field, candidates: Sequence[int]) -> Matching:
    """Return the cheapest pairing.

    Parameters
    ----------
    field
        The players.
    candidates
        Who may have the bye, the first choice first; empty = an even number of players, no bye.

    Returns
    -------
    Matching
        With the fewest repeats; then the earliest candidate for the bye; then the lowest cost.
        If ``alone`` is not empty, there is no pairing that the field allows.
    """
    first = candidates[0] if candidates else None
    pairs, alone = _cheapest(field, first)
    repeats = any(field.blocked[pair] for pair in pairs)
    if not candidates or not (repeats or alone):
        return Matching(pairs, first, alone)
    chosen, alone = _bye(field, candidates)
    if alone or chosen == first:
        return Matching(pairs, chosen, alone)
    return Matching(*_cheapest(field, chosen)[:1], chosen, [])


def costs(field: Field) -> IntArray:
    """Return the cost of every pair, shape [n, n]."""
    n = len(field.balance)
    place = np.arange(n, dtype=np.int64)
    distance = np.abs(place[:, None] - place) - 1
    mine, other = field.balance[:, None], field.balance[None, :]
    colour = np.minimum(np.abs(mine + 1) + np.abs(other - 1), np.abs(mine - 1) + np.abs(other + 1))
    # The dearest pairing without a repeat: the first against the last, and so on inwards.
    dearest = 10 * sum((n - 2 - 2 * k) ** 2 for k in range(n // 2)) + int(np.sum(np.abs(field.balance) + 1))
    return np.asarray(10 * distance**2 + colour + max(REPEAT, dearest + 1) * field.blocked)


def _cheapest(field: Field, bye: int | None) -> tuple[list[tuple[int, int]], list[int]]:
    """Return the pairs of everybody but the bye, and who found none; positions are those of the whole field."""
    rest = field.without(bye)
    # Of equal costs the older meetings; of equal ones still, what a fixed pattern of the places says.
    upper = costs(rest)
    low = _pattern(len(rest.balance))
    age_bits = int(rest.met.sum()).bit_length() + 1
    weight = [
        (int(cost) << age_bits | int(met)) << _SUM_BITS | int(tie)
        for cost, met, tie in zip(*(m[np.triu_indices(len(m), 1)] for m in (upper, rest.met, low)), strict=True)
    ]
    pairs, alone = _solve(len(rest.balance), rest.allowed, weight)

    def whole(player: int) -> int:
        return player + (bye is not None and player >= bye)

    return [(whole(i), whole(j)) for i, j in pairs], [whole(i) for i in alone]


def _bye(field: Field, candidates: Sequence[int]) -> tuple[int | None, list[int]]:
    """Return the first candidate whose bye leaves the fewest repeats, and who is without an opponent anyhow."""
    n = len(field.balance)
    allowed = np.zeros((n + 1, n + 1), dtype=bool)
    allowed[:n, :n] = field.allowed
    allowed[list(candidates), n] = True
    cost = np.zeros((n + 1, n + 1), dtype=np.int64)
    cost[:n, :n] = field.blocked * (len(candidates) + 1)
    cost[list(candidates), n] = np.arange(len(candidates))
    pairs, alone = _solve(n + 1, allowed, [int(one) for one in cost[np.triu_indices(n + 1, 1)]])
    return next((i for i, j in pairs if j == n), None), [i for i in alone if i < n]


def _solve(n: int, allowed: BoolArray, weight: Sequence[int]) -> tuple[list[tuple[int, int]], list[int]]:
    """Return the cheapest of the matchings with most pairs, and who is left over; weights row by row, i < j."""
    # Loaded when a round is paired: importing keizerframe must stay light.
    import rustworkx

    largest = max(weight, default=0) + 1
    rows, columns = np.triu_indices(n, 1)
    possible = allowed[rows, columns]
    graph = rustworkx.PyGraph(multigraph=False)
    graph.add_nodes_from(range(n))
    graph.add_edges_from(
        [
            (i, j, largest - cost)
            for i, j, cost, ok in zip(rows.tolist(), columns.tolist(), weight, possible.tolist(), strict=True)
            if ok
        ]
    )
    found = rustworkx.max_weight_matching(graph, max_cardinality=True, weight_fn=int)
    pairs = sorted((min(pair), max(pair)) for pair in found)
    inside = {player for pair in pairs for player in pair}
    return pairs, [player for player in range(n) if player not in inside]


def _pattern(n: int) -> npt.NDArray[np.uint64]:
    """Return a number below 2^48 for every two places, so scattered that no two sums of them agree."""
    place = np.arange(n, dtype=np.uint64)
    mixed = place[:, None] * np.uint64(65_537) + place[None, :] + np.uint64(1)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 0x9E3779B97F4A7C15)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return mixed >> np.uint64(64 - _PATTERN_BITS)
