"""Seasons under rule sets as batches of arrays: what stands between the frames and the kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from keizerframe.errors import ScoreRangeError
from keizerframe.kernel.contraction import Contraction, Prices
from keizerframe.kernel.grid import Coded, Scope, encode
from keizerframe.kernel.recalculate import Policy, fixed_point
from keizerframe.kernel.recurrence import Valuation, evaluate, last_tables, valuation_of
from keizerframe.kernel.tables import DIRECT, OWN_VALUE, PARTS, Tables, blank_tables
from keizerframe.results import OUTCOME_NUMBER, OUTCOMES, base_outcome
from keizerframe.rules import Rules
from keizerframe.season import Season
from keizerframe.standings import COUNT_COLUMNS
from keizerframe.tariffs import TIE_KEYS, ages_of, counting_of, price, tariff_of

IntArray = npt.NDArray[np.integer]
AnyArray = npt.NDArray[Any]

#: Cells of a batch's largest arrays: bounds the memory, and keeps them near the processor.
_BATCH_CELLS = 6_000_000


@dataclass(frozen=True, slots=True)
class Batch:
    """Some of the tables asked for, under the rule sets of one coding.

    Parameters
    ----------
    entries, seasons
        Which of the tables these are, and the season of each, shape [S].
    rules
        Positions of the rule sets, V of them.
    coded, prices, tables
        What the kernel made of them; rows are table x rule set.
    ranks
        The final ranks on the value list, which the value numbers come from, shape [S * V, N].
    valuation
        Which rankings valued which rows.
    per_point
        Units in a point, shape [V].
    counts
        Games played, won, ... and half game points, shape [S, N, 7].
    place
        The printed order from 0, shape [S * V, N].
    """

    entries: IntArray
    seasons: IntArray
    rules: Sequence[int]
    coded: Coded
    tables: Tables
    ranks: IntArray
    prices: Prices
    valuation: Valuation
    per_point: IntArray
    counts: IntArray
    place: IntArray


def scored_batches(data: Season, rule_sets: Sequence[Rules], scope: Scope) -> Iterator[Batch]:
    """Yield the tables of `scope`: rule sets that count and recalculate alike, seasons of a like size."""
    groups: dict[Any, list[int]] = {}
    for number, rules in enumerate(rule_sets):
        key = (counting_of(rules, data.outcomes), ages_of(rules), rules.values_from)
        groups.setdefault(key, []).append(number)
    sizes = data.grid.n_players[scope.all_seasons(data.grid)]
    by_size = np.argsort(sizes, kind="stable")
    for (counting, _, source), members in groups.items():
        chosen = [rule_sets[number] for number in members]
        tariffs = [tariff_of(rules, data.outcomes, source or rules) for rules in chosen]
        for entries in _portions(by_size, sizes, len(members)):
            some = scope.select(entries, data.grid)
            coded = encode(data.grid, counting, some)
            prices = price(chosen, tariffs, coded, data.outcomes, source)
            yield _batch(data, entries, members, chosen, coded, prices, some)


def _batch(
    data: Season,
    entries: IntArray,
    members: list[int],
    rule_sets: list[Rules],
    coded: Coded,
    prices: Prices,
    scope: Scope,
) -> Batch:
    source = rule_sets[0].values_from
    if source is None:
        tables, valuation = _tables(rule_sets, coded, prices)
        ranks = tables.rank
    else:
        tables, valuation, ranks = _shadow(data, source, coded, prices, scope)
    _empty_seasons(tables, ranks, coded, prices, rule_sets)
    counts = _game_counts(coded, data.outcomes)
    seasons = scope.all_seasons(data.grid)
    return Batch(
        entries=entries,
        seasons=seasons,
        rules=members,
        coded=coded,
        tables=tables,
        ranks=ranks,
        prices=prices,
        valuation=valuation,
        per_point=np.array([tariff.per_point for tariff in prices.tariffs]),
        counts=counts,
        place=_places(data, seasons, rule_sets, coded, tables, counts),
    )


def _portions(by_size: IntArray, sizes: IntArray, rule_sets: int) -> Iterator[IntArray]:
    """Yield portions of the seasons whose arrays stay within bounds."""
    start = 0
    while start < len(by_size):
        stop = start + 1
        while stop < len(by_size):
            width = int(sizes[by_size[stop]])
            if (stop - start + 1) * (rule_sets + 4) * width * width > _BATCH_CELLS:
                break
            stop += 1
        yield np.sort(by_size[start:stop])
        start = stop


def _tables(rule_sets: Sequence[Rules], coded: Coded, prices: Prices) -> tuple[Tables, Valuation]:
    """Recalculate one batch."""
    if coded.column.shape[1] == 0:
        return _no_players(len(coded.size) * len(rule_sets), coded)
    ages = ages_of(rule_sets[0])
    try:
        if ages is not None:
            return last_tables(coded, prices, ages)
        tally = fixed_point(Contraction(coded, prices), _policy(rule_sets))
        return tally.tables, valuation_of(tally.used, coded.code.shape[1])
    except OverflowError as fault:
        names = ", ".join(rules.label or repr(rules) for rules in rule_sets)
        raise ScoreRangeError(f"scores under {names} reach {fault}, too many for exact 64-bit arithmetic") from None


def _no_players(rows: int, coded: Coded) -> tuple[Tables, Valuation]:
    depth, width = coded.code.shape[1:]
    every = np.arange(rows)
    nothing = Valuation(every, np.zeros((1, rows, width), dtype=np.intp), np.zeros((rows, depth + 1), dtype=np.intp))
    return blank_tables(rows, len(PARTS), width), nothing


def _policy(rule_sets: Sequence[Rules]) -> Policy:
    return Policy(
        limit=np.array([rules.iterations_allowed for rules in rule_sets]),
        two_back=np.array([rules.on_cycle == "average-two" for rules in rule_sets]),
        stop=np.array([rules.on_cycle == "stop" for rules in rule_sets]),
    )


def _shadow(
    data: Season, source: Rules, coded: Coded, prices: Prices, scope: Scope
) -> tuple[Tables, Valuation, IntArray]:
    """Score with the value numbers of another list: the rankings that list used, in its own mode."""
    theirs = encode(data.grid, counting_of(source, data.outcomes), scope)
    value_prices = price([source], [tariff_of(source, data.outcomes, source)], theirs, data.outcomes)
    versions, width = len(prices.tariffs), coded.column.shape[1]
    value_tables, used = _tables([source], theirs, value_prices)
    # The other list may hold the players in other columns; its tables value every version here.
    column = np.take_along_axis(np.argsort(theirs.column, axis=1), coded.column, axis=1)
    ranks = np.take_along_axis(used.ranks, column[used.row][None], axis=2)
    valuation = Valuation(
        row=(used.row[:, None] * versions + np.arange(versions)).ravel(),
        ranks=np.repeat(ranks, versions, axis=1),
        source=np.repeat(used.source, versions, axis=0),
    )
    tables = evaluate(coded, prices, valuation) if width else blank_tables(len(valuation.row), len(PARTS), width)
    for name in ("outcome", "steps", "length"):
        setattr(tables, name, np.repeat(getattr(value_tables, name), versions))
    final = np.take_along_axis(value_tables.rank, column, axis=1)
    return tables, valuation, np.repeat(final, versions, axis=0)


def _empty_seasons(tables: Tables, ranks: IntArray, coded: Coded, prices: Prices, rule_sets: Sequence[Rules]) -> None:
    """Before the first round the start order stands, with the own value numbers or nothing."""
    versions = len(rule_sets)
    rows = np.flatnonzero(np.repeat(coded.scored == 0, versions))
    if not len(rows):
        return
    season, version = np.divmod(rows, versions)
    rank = coded.start[season]
    own = prices.own_term((season, version), np.zeros_like(season), rank, coded.start)
    scored = np.array([rules.empty_season == "own" for rules in rule_sets])[version]
    tables.parts[rows] = 0
    tables.parts[rows, OWN_VALUE] = np.where(scored[:, None], own, 0)
    tables.units[rows] = tables.parts[rows, OWN_VALUE]
    tables.outcome[rows], tables.length[rows], tables.steps[rows] = DIRECT, 1, 0
    tables.tables[rows], tables.divisor[rows] = 1, 1
    tables.values[rows] = np.take_along_axis(prices.values[version, prices.size[season]], rank, axis=1)
    tables.rank[rows] = rank
    ranks[rows] = rank


def _places(
    data: Season,
    seasons: IntArray,
    rule_sets: Sequence[Rules],
    coded: Coded,
    tables: Tables,
    counts: IntArray,
) -> IntArray:
    """Return the printed order of each row from 0: by score, then by `place_ties`."""
    versions = len(rule_sets)
    places = tables.rank.copy()
    for v, rules in enumerate(rule_sets):
        if rules.place_ties is None:
            continue
        rows = np.arange(len(seasons)) * versions + v
        index = np.minimum(data.grid.players[seasons][:, None] + coded.column, len(data.players) - 1)
        keys: list[IntArray] = []
        for name in rules.place_ties:
            if name == "game_points":
                keys.append(-counts[:, :, -1])
            elif name == "start":
                keys.append(coded.start)
            else:
                keys.append(data.grid.keys[TIE_KEYS[name]][index])
        keys.append(data.grid.keys[2][index])
        outside = np.arange(coded.column.shape[1]) >= coded.size[:, None]
        order = np.lexsort((*reversed(keys), -tables.units[rows], outside), axis=1)
        places[rows] = np.argsort(order, axis=1)
    return places


def _game_counts(coded: Coded, outcomes: Sequence[str]) -> IntArray:
    """Return games played, won, ... and half game points of each player, shape [S, N, 7]."""
    base = [OUTCOMES[OUTCOME_NUMBER[base_outcome(outcomes[number])]] for number in coded.outcome]
    weights = np.array([[*(name in o.counts for name in COUNT_COLUMNS), o.half_points] for o in base])
    return coded.counts @ weights.astype(np.int64)


def gathered(
    data: Season,
    rule_sets: Sequence[Rules],
    scope: Scope,
    reads: Mapping[str, tuple[Callable[[Batch], AnyArray], int | float]],
) -> dict[str, AnyArray]:
    """Return something of all tables of `scope`.

    Parameters
    ----------
    data, rule_sets, scope
        Which tables.
    reads
        Name -> what to read of a batch, for every row [S * V] or every cell [S * V, N], and what stands for a player
        who is not in a table.

    Returns
    -------
    dict
        Name -> an array [E, V], or by player (position in his season) [E, V, N].
    """
    shape = len(scope.all_seasons(data.grid)), len(rule_sets)
    width = int(data.grid.n_players.max(initial=0))
    found: dict[str, AnyArray] = {}
    for batch in scored_batches(data, rule_sets, scope):
        at = np.ix_(batch.entries, np.asarray(batch.rules))
        for name, (read, nothing) in reads.items():
            rows = read(batch)
            told = (
                rows.reshape(len(batch.entries), len(batch.rules))
                if rows.ndim == 1
                else _by_player(batch, rows, nothing)
            )
            if name not in found:
                found[name] = np.full((*shape, width)[: told.ndim], nothing, dtype=told.dtype)
            if told.ndim == 2:
                found[name][at] = told
            else:
                found[name][:, :, : told.shape[2]][at] = told
    for name, (_, nothing) in reads.items():
        found.setdefault(name, np.full((*shape, width), nothing))
    return found


def _by_player(batch: Batch, cells: AnyArray, nothing: int | float) -> AnyArray:
    """Return something of every cell [S * V, N] by player, shape [S, V, N]."""
    column, size = batch.coded.column, batch.coded.size
    tables, width = column.shape
    told = np.where(np.arange(width) < size[:, None, None], cells.reshape(tables, len(batch.rules), width), nothing)
    spread: AnyArray = np.empty_like(told)
    np.put_along_axis(spread, np.broadcast_to(column[:, None], told.shape), told, axis=2)
    return spread
