"""`score`: from a season and rule sets to standings; frames to arrays and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from keizerframe.catalog import RulesArgument, resolve_rules, resolve_with_played
from keizerframe.errors import RulesError, ScoreRangeError
from keizerframe.kernel.contraction import Contraction, Prices
from keizerframe.kernel.grid import Coded, Counting, encode
from keizerframe.kernel.recalculate import Policy, fixed_point
from keizerframe.kernel.recurrence import evaluate, last_tables, rankings, sums_at
from keizerframe.kernel.tables import DIRECT, OWN_VALUE, PARTS, Tables, blank_tables
from keizerframe.results import OUTCOME_NUMBER, OUTCOMES, base_outcome
from keizerframe.rules import Rules
from keizerframe.season import Season, as_season
from keizerframe.standings import COUNT_COLUMNS, PART_COLUMNS, STANDINGS_SCHEMA, standings_frame
from keizerframe.tariffs import ages_of, counting_of, price, tariff_of, tie_keys

IntArray = npt.NDArray[np.integer]

#: Cells of a batch's largest arrays: bounds the memory, and keeps them near the processor.
_BATCH_CELLS = 6_000_000


def score(
    season: Season | pd.DataFrame,
    rules: RulesArgument,
    *,
    through: int | None = None,
    roster_round: int | None = None,
    by: Literal["part"] | None = None,
    carry_over: bool = True,
    min_games: int = 0,
) -> pd.DataFrame:
    """Score seasons under rule sets.

    Parameters
    ----------
    season
        One or many seasons, or a games frame.
    rules
        A preset's name, Rules, a rules file, several of these, or a dict of labels to them; ``"as-played"`` =
        the rules that came with each season.
    through
        Score the rounds up to this one; None = all.
    roster_round
        The round that decides who has joined and who has left; None = the last round scored.

    by
        ``"part"``: a table for each part of the season (column ``part`` of the rounds), with a column part.
    carry_over
        With `by`: each part starts from the order in which the last one ended.
    min_games
        Players with fewer games over the board are placed behind all others; ranks and value numbers stay.

    Returns
    -------
    pandas.DataFrame
        Standings: one row per season, rule set and player, in printed order. ``score`` is in points,
        ``score_x2`` in half points, ``units`` and the ``from_`` columns in 1/``per_point`` points.

    Raises
    ------
    SeasonError
        If the games frame is faulty.
    UnknownNameError, RulesError
        If a rule set does not exist or makes no sense, or a season came without rules as played.
    ScoreRangeError
        If exact scores would not fit 64 bits.

    References
    ----------
    The general form and the modes are those of the Keizer system; the fixed point is that of the Go library
    chesspairing, with its cap of 20 tables replaced by the exact mean over any cycle.

    Examples
    --------
    >>> import pandas as pd
    >>> games = pd.DataFrame({"round": [1, 1], "white": ["a", "b"], "black": ["c", None],
    ...                       "result": ["1-0", "bye"]})
    >>> players = pd.DataFrame({"player": ["a", "b", "c"], "rating": [1500, 1900, 1700]})
    >>> score(Season(games, players), "knsb")[["rank", "player", "value_number", "score"]]
       rank player  value_number  score
    0     1      b           3.0    5.0
    1     2      a           2.0    3.0
    2     3      c           1.0    1.0
    """
    data = as_season(season)
    scope = Scope(through=through, roster_round=roster_round)
    if by is None:
        rule_sets = resolve_with_played(rules)
        return _frame(data, rule_sets, _scored(data, rule_sets, scope), min_games)
    return _by_part(data, resolve_rules(rules), scope, carry_over, min_games)


@dataclass(frozen=True, slots=True)
class Scope:
    """Which rounds and seasons count, who is in the roster, from which order it starts (None = the rules' own)."""

    through: int | None = None
    roster_round: int | None = None
    part: int | None = None
    start: IntArray | None = None
    seasons: IntArray | None = None


def _scored(data: Season, rule_sets: Mapping[str, Rules | None], scope: Scope) -> list[Batch]:
    """Score under all rule sets; None = as played: the seasons of each rule set they came with."""
    common = {number: rules for number, rules in enumerate(rule_sets.values()) if rules is not None}
    runs = [(list(common), list(common.values()), scope)] if common else []
    for number, rules in enumerate(rule_sets.values()):
        if rules is None:
            own = _as_played(data)
            runs += [([number], [played], replace(scope, seasons=seasons)) for played, seasons in own]
    return [
        replace(batch, rules=[numbers[i] for i in batch.rules])
        for numbers, chosen, within in runs
        for batch in _batches(data, chosen, within)
    ]


def _as_played(data: Season) -> list[tuple[Rules, IntArray]]:
    """Return the rule sets that came with the seasons, and the seasons of each."""
    if bare := unruled(data):
        shown = ", ".join(repr(label) for label in bare[:5]) + (", ..." if len(bare) > 5 else "")
        raise RulesError([f"as-played: no rules came with season {shown}: give Season(rules={{season: rules}})"])
    seasons: dict[Rules, list[int]] = {}
    for number, label in enumerate(data.labels):
        seasons.setdefault(data.rules[label], []).append(number)
    return [(rules, np.array(numbers)) for rules, numbers in seasons.items()]


def unruled(data: Season) -> list[str]:
    """Return the seasons that came without rules."""
    return [label for label in data.labels if label not in data.rules]


def _by_part(data: Season, rule_sets: dict[str, Rules], scope: Scope, carry_over: bool, min_games: int) -> pd.DataFrame:
    """Score part after part, each from the order in which the one before ended."""
    if not data.parts:
        raise RulesError(["by = 'part', but no round has a part: give rounds with a column part"])
    frames = []
    for label, rules in rule_sets.items():
        start: IntArray | None = None
        for number, name in enumerate(data.parts):
            batches = list(_batches(data, [rules], replace(scope, part=number, start=start)))
            played = {int(s) for b in batches for s in b.seasons[b.coded.scored > 0]}
            frame = _frame(data, {label: rules}, batches, min_games)
            frame.insert(2, "part", pd.Series(name, index=frame.index, dtype="str"))
            frames.append(frame[frame["season"].isin([data.labels[s] for s in played])])
            if carry_over:
                start = _final_places(data, batches, start)
    order = {label: number for number, label in enumerate(rule_sets)}
    whole = pd.concat(frames, ignore_index=True)
    keys = (
        whole["place"],
        whole["part"].map({n: i for i, n in enumerate(data.parts)}),
        whole["rules"].map(order),
    )
    return whole.iloc[np.lexsort((*keys, pd.factorize(whole["season"], sort=True)[0]))].reset_index(drop=True)


def _final_places(data: Season, batches: Sequence[Batch], before: IntArray | None) -> IntArray:
    """Return the place of every player in the tables of one rule set; who has none keeps his place behind."""
    places = np.arange(len(data.players)) if before is None else before + len(data.players)
    places = places + len(data.players)
    for batch in batches:
        width = batch.coded.column.shape[1]
        inside = np.arange(width) < batch.coded.size[:, None]
        player = data.grid.players[batch.seasons][:, None] + batch.coded.column
        places[player[inside]] = batch.tables.rank[inside]
    return places


@dataclass(frozen=True, slots=True)
class Batch:
    """The tables of some seasons under the rule sets of one coding; ranks are those of the value list."""

    seasons: IntArray
    rules: Sequence[int]
    coded: Coded
    tables: Tables
    ranks: IntArray
    prices: Prices
    per_point: IntArray
    counts: IntArray
    place: IntArray


def _batches(data: Season, rule_sets: Sequence[Rules], scope: Scope) -> Iterator[Batch]:
    """Yield the scored batches: rule sets that count and recalculate alike, seasons of a like size."""
    groups: dict[Any, list[int]] = {}
    for number, rules in enumerate(rule_sets):
        key = (counting_of(rules, data.outcomes), ages_of(rules), rules.values_from)
        groups.setdefault(key, []).append(number)
    sizes = data.grid.n_players
    by_size = np.argsort(sizes, kind="stable")
    if scope.seasons is not None:
        by_size = by_size[np.isin(by_size, scope.seasons)]
    for (counting, _, source), members in groups.items():
        chosen = [rule_sets[number] for number in members]
        tariffs = [tariff_of(rules, data.outcomes, source or rules) for rules in chosen]
        for seasons in _portions(by_size, sizes, len(members)):
            coded = _encode(data, seasons, counting, scope)
            prices = price(chosen, tariffs, coded, data.outcomes, source)
            yield _batch(data, seasons, members, chosen, coded, prices, scope)


def _batch(
    data: Season,
    seasons: IntArray,
    members: list[int],
    rule_sets: list[Rules],
    coded: Coded,
    prices: Prices,
    scope: Scope,
) -> Batch:
    source = rule_sets[0].values_from
    if source is None:
        tables = _tables(rule_sets, coded, prices)
        ranks = tables.rank
    else:
        tables, ranks = _shadow(data, seasons, source, coded, prices, scope)
    _empty_seasons(tables, coded, prices, rule_sets)
    counts = _game_counts(coded, data.outcomes)
    return Batch(
        seasons=seasons,
        rules=members,
        coded=coded,
        tables=tables,
        ranks=ranks,
        prices=prices,
        per_point=np.array([tariff.per_point for tariff in prices.tariffs]),
        counts=counts,
        place=_places(data, seasons, rule_sets, coded, tables, counts),
    )


def _encode(data: Season, seasons: IntArray, counting: Counting, scope: Scope) -> Coded:
    return encode(
        data.grid,
        seasons,
        counting,
        through=scope.through,
        roster_round=scope.roster_round,
        part=scope.part,
        start=scope.start,
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


def _tables(rule_sets: Sequence[Rules], coded: Coded, prices: Prices) -> Tables:
    """Recalculate one batch."""
    rows, width = len(coded.size) * len(rule_sets), coded.column.shape[1]
    if width == 0:
        return blank_tables(rows, len(PARTS), width)
    ages = ages_of(rule_sets[0])
    try:
        if ages is not None:
            return last_tables(coded, prices, ages)
        return fixed_point(Contraction(coded, prices), _policy(rule_sets)).tables
    except OverflowError as fault:
        names = ", ".join(rules.label or repr(rules) for rules in rule_sets)
        raise ScoreRangeError(f"scores under {names} reach {fault}, too many for exact 64-bit arithmetic") from None


def _policy(rule_sets: Sequence[Rules]) -> Policy:
    return Policy(
        limit=np.array([rules.iterations_allowed for rules in rule_sets]),
        two_back=np.array([rules.on_cycle == "average-two" for rules in rule_sets]),
        stop=np.array([rules.on_cycle == "stop" for rules in rule_sets]),
    )


def _shadow(
    data: Season, seasons: IntArray, source: Rules, coded: Coded, prices: Prices, scope: Scope
) -> tuple[Tables, IntArray]:
    """Score with the value numbers of another list: the rankings that list used, in its own mode."""
    theirs = _encode(data, seasons, counting_of(source, data.outcomes), scope)
    value_prices = price([source], [tariff_of(source, data.outcomes, source)], theirs, data.outcomes)
    versions, width = len(prices.tariffs), coded.column.shape[1]
    if width == 0:
        return blank_tables(len(seasons) * versions, len(PARTS), width), np.zeros((0, 0), dtype=np.intp)
    # The other list may hold the players in other columns.
    where = np.argsort(theirs.column, axis=1)
    column = np.take_along_axis(where, coded.column, axis=1)
    ages = ages_of(source)
    if ages is not None:
        history, _ = rankings(theirs, value_prices, ages)
        moved = np.take_along_axis(history, column[None], axis=2)
        tables = evaluate(coded, prices, ages, np.repeat(moved, versions, axis=1))
        final = evaluate(theirs, value_prices, ages, history).rank
    else:
        tally = fixed_point(Contraction(theirs, value_prices), _policy([source]))
        tables = sums_at(coded, prices, [(s, np.take_along_axis(r, column[s], axis=1)) for s, r in tally.used])
        for name in ("outcome", "steps", "length"):
            setattr(tables, name, np.repeat(getattr(tally.tables, name), versions))
        final = tally.tables.rank
    return tables, np.repeat(np.take_along_axis(final, column, axis=1), versions, axis=0)


def _empty_seasons(tables: Tables, coded: Coded, prices: Prices, rule_sets: Sequence[Rules]) -> None:
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
            else:
                keys += [
                    data.grid.keys[key][index] for key in tie_keys(rules, [name])[: None if name == "start" else 1]
                ]
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


def _frame(data: Season, rule_sets: Mapping[str, Any], batches: Sequence[Batch], min_games: int) -> pd.DataFrame:
    """Lay the tables of all batches into one frame: by season, rule set, place."""
    labels = list(rule_sets)
    size = np.zeros((len(data.labels), len(labels)), dtype=np.int64)
    for batch in batches:
        size[np.ix_(batch.seasons, np.asarray(batch.rules))] = batch.coded.size[:, None]
    offset = np.concatenate([[0], np.cumsum(size)])
    derived = {"score", "score_x2", "rounding", "name", "rating", "category", "place_in_category"}
    names = [name for name in STANDINGS_SCHEMA.names if name not in derived]
    columns: dict[str, npt.NDArray[Any]] = {name: np.zeros(offset[-1], dtype=np.int64) for name in names}
    for name in ("value_number", "next_value_number", "game_points"):
        columns[name] = np.zeros(offset[-1])
    for batch in batches:
        _place(columns, batch, data, offset[:-1].reshape(size.shape), min_games)
    return standings_frame(columns, data.labels, labels, data.players, data.categories)


def _place(columns: dict[str, npt.NDArray[Any]], batch: Batch, data: Season, offset: IntArray, min_games: int) -> None:
    """Write one batch into the columns."""
    seasons, versions = len(batch.seasons), len(batch.rules)
    width = batch.coded.column.shape[1]
    shape = seasons, versions, width
    inside = np.broadcast_to((np.arange(width) < batch.coded.size[:, None])[:, None], shape)
    tables, coded, prices = batch.tables, batch.coded, batch.prices
    rank, place = batch.ranks.reshape(shape), batch.place.reshape(shape)
    if min_games:
        few = (batch.counts[:, :, 0] < min_games)[:, None] | ~inside
        place = np.argsort(np.argsort(place + width * few + width * ~inside, axis=2), axis=2)
    into = (offset[np.ix_(batch.seasons, np.asarray(batch.rules))][:, :, None] + place)[inside]
    averaged = tables.tables.reshape(seasons, versions, 1)
    parts = np.moveaxis(tables.parts, 1, 0).reshape(len(PARTS), *shape)
    next_values = np.take_along_axis(prices.values[:, prices.size].swapaxes(0, 1), rank, axis=2)
    value_unit = np.array([tariff.value_unit for tariff in prices.tariffs])[:, None]

    def put(name: str, value: npt.ArrayLike) -> None:
        columns[name][into] = np.broadcast_to(value, shape)[inside]

    put("season", batch.seasons[:, None, None])
    put("rules", np.asarray(batch.rules)[:, None])
    put("rank", rank + 1)
    put("place", place + 1)
    put("player", (data.grid.players[batch.seasons][:, None] + coded.column)[:, None])
    put("units", tables.units.reshape(shape))
    put("per_point", batch.per_point[:, None] * tables.divisor.reshape(averaged.shape))
    put("value_number", tables.values.reshape(shape) / (averaged * value_unit))
    put("next_value_number", next_values / value_unit)
    put("withdrawn", coded.withdrawn[:, None])
    put("outcome", tables.outcome.reshape(seasons, versions, 1))
    put("iterations", tables.steps.reshape(seasons, versions, 1))
    put("cycle_length", tables.length.reshape(seasons, versions, 1))
    for name, part in zip(PART_COLUMNS, parts, strict=True):
        put(name, part)
    for number, name in enumerate(COUNT_COLUMNS):
        put(name, batch.counts[:, None, :, number])
    put("game_points", batch.counts[:, None, :, -1] / 2)
