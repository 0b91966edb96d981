"""`score`: from a season and rule sets to standings; frames to arrays and back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from keizerframe.catalog import RulesArgument, resolve_rules
from keizerframe.errors import NegativeValueWarning, ScoreRangeError, warn_user
from keizerframe.kernel.contraction import Contraction, Prices
from keizerframe.kernel.grid import Coded, Counting, encode
from keizerframe.kernel.points import LARGEST, Of, Tariff, own_units, points_table
from keizerframe.kernel.recalculate import (
    ABSENCES,
    BYES,
    CLUB,
    DIRECT,
    GAMES,
    PARTS,
    Policy,
    Tables,
    blank_tables,
    fixed_point,
    frozen,
)
from keizerframe.results import OUTCOME_NUMBER, OUTCOMES, base_outcome
from keizerframe.rules import Award, Rules
from keizerframe.season import Season, as_season
from keizerframe.standings import COUNT_COLUMNS, PART_COLUMNS, STANDINGS_SCHEMA, standings_frame

IntArray = npt.NDArray[np.integer]

_OF = {"fixed": Of.FIXED, "opponent": Of.OPPONENT, "own": Of.OWN}
_PART = {"nothing": GAMES, "game": GAMES, "bye": BYES, "absence": ABSENCES, "club": CLUB}
#: Cells of a batch's largest arrays: bounds the memory, and keeps them near the processor.
_BATCH_CELLS = 6_000_000


def score(
    season: Season | pd.DataFrame,
    rules: RulesArgument,
    *,
    through: int | None = None,
    roster_round: int | None = None,
) -> pd.DataFrame:
    """Score seasons under rule sets.

    Parameters
    ----------
    season
        One or many seasons, or a games frame.
    rules
        A preset's name, Rules, a rules file, several of these, or a dict of labels to them.
    through
        Score the rounds up to this one; None = all.
    roster_round
        The round that decides who has joined and who has left; None = the last round scored.

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
        If a rule set does not exist or makes no sense.
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
    rule_sets = resolve_rules(rules)
    batches = list(_batches(data, list(rule_sets.values()), through, roster_round))
    return _frame(data, list(rule_sets), batches)


@dataclass(frozen=True, slots=True)
class Batch:
    """The tables of some seasons under the rule sets of one coding."""

    seasons: IntArray
    rules: Sequence[int]
    coded: Coded
    tables: Tables
    prices: Prices
    per_point: IntArray
    counts: IntArray


def _batches(
    data: Season, rule_sets: Sequence[Rules], through: int | None, roster_round: int | None
) -> Iterator[Batch]:
    """Yield the scored batches: rule sets that count and recalculate alike, seasons of a like size."""
    groups: dict[tuple[Counting, str], list[int]] = {}
    for number, rules in enumerate(rule_sets):
        groups.setdefault((counting_of(rules, data.outcomes), rules.recalculation), []).append(number)
    sizes = data.grid.n_players
    by_size = np.argsort(sizes, kind="stable")
    for (counting, mode), members in groups.items():
        chosen = [rule_sets[number] for number in members]
        tariffs = [tariff_of(rules, data.outcomes) for rules in chosen]
        for seasons in _portions(by_size, sizes, len(members)):
            coded = encode(data.grid, seasons, counting, through=through, roster_round=roster_round)
            prices = price(chosen, tariffs, coded, data.outcomes)
            tables = _tables(chosen, mode, coded, prices)
            per_point = np.array([tariff.per_point for tariff in tariffs])
            yield Batch(
                seasons, members, coded, tables, prices, per_point, _game_counts(coded, data.outcomes)
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


def counting_of(rules: Rules, outcomes: Sequence[str]) -> Counting:
    """Return how `rules` turn rows into codes."""
    return Counting(
        counted=tuple(rules.award(name).counts_as_absence for name in outcomes),
        missing=OUTCOME_NUMBER["absent"],
        before_joining=OUTCOME_NUMBER["handicap"],
        present=OUTCOME_NUMBER["unfinished"],
        void=rules.withdrawn == "void",
        lookahead=int(rules.roster == "joined-next"),
    )


def tariff_of(rules: Rules, outcomes: Sequence[str]) -> Tariff:
    """Return `rules` as numbers.

    Raises
    ------
    ScoreRangeError
        If a share has too large a denominator for exact 64-bit scores.
    """
    awards: list[Award] = [rules.award(name) for name in outcomes]
    per_point = 2
    for name, award in zip(outcomes, awards, strict=True):
        if max(abs(award.amount.numerator), award.amount.denominator) * per_point >= LARGEST >> 20:
            raise ScoreRangeError(
                f"the share {award.amount} for {name} is too long for exact scores: shorten it"
            )
    return Tariff(
        of=np.array([_OF[award.of] for award in awards]),
        numerator=np.array([award.amount.numerator for award in awards]),
        denominator=np.array([award.amount.denominator for award in awards]),
        counted=np.array([award.counts_as_absence for award in awards]),
        limit=rules.absence_limit,
        decay=rules.absence_decay,
        floored=rules.decay_rounding == "floor",
        doubles=rules.arithmetic == "float64",
        per_point=per_point,
        own=int(rules.own_value != "none"),
    )


def value_list(rules: Rules, size: int, width: int) -> IntArray:
    """Return the value number of each rank in a roster of `size`, padded to `width`."""
    base = size if rules.value_number_base is None else rules.value_number_base
    values = base - np.arange(width) * rules.value_number_step
    values[size:] = 0
    return values


def price(
    rule_sets: Sequence[Rules], tariffs: Sequence[Tariff], coded: Coded, outcomes: Sequence[str]
) -> Prices:
    """Return the points tables of `rule_sets` for the roster sizes that occur."""
    sizes, size = np.unique(coded.size, return_inverse=True)
    width = coded.column.shape[1]
    values = np.array([[value_list(rules, int(n), width) for n in sizes] for rules in rule_sets])
    for rules, lowest in zip(rule_sets, values.min(axis=(1, 2), initial=0), strict=True):
        if lowest < 0:
            warn_user(
                f"{rules.label or rules}: value numbers go down to {lowest} with {coded.size.max()} players, "
                "and a win over a player below zero costs points; raise value_number_base",
                NegativeValueWarning,
            )
    pairs = list(zip(tariffs, values, strict=True))
    base = [OUTCOMES[OUTCOME_NUMBER[base_outcome(name)]] for name in outcomes]
    part = np.array([_PART[outcome.kind] for outcome in base])
    return Prices(
        values=values,
        own=np.array([own_units(tariff, value) for tariff, value in pairs]),
        table=np.array(
            [points_table(tariff, value, coded.outcome, coded.ordinal) for tariff, value in pairs]
        ),
        of_opponent=np.array([tariff.of[coded.outcome] == Of.OPPONENT for tariff in tariffs]),
        size=size,
        part=part[coded.outcome],
    )


def _tables(rule_sets: Sequence[Rules], mode: str, coded: Coded, prices: Prices) -> Tables:
    """Recalculate one batch."""
    rows, width = len(coded.size) * len(rule_sets), coded.column.shape[1]
    if width == 0:
        return blank_tables(rows, len(PARTS), width)
    start = np.broadcast_to(np.arange(width), (rows, width)).astype(np.intp)
    try:
        if mode == "frozen":
            tables = frozen(coded, prices, start, len(PARTS))
        else:
            policy = Policy(
                limit=np.array([rules.iterations_allowed for rules in rule_sets]),
                two_back=np.array([rules.on_cycle == "average-two" for rules in rule_sets]),
                stop=np.array([rules.on_cycle == "stop" for rules in rule_sets]),
            )
            tables = fixed_point(Contraction(coded, prices), policy, start, len(PARTS))
    except OverflowError as fault:
        names = ", ".join(rules.label or repr(rules) for rules in rule_sets)
        raise ScoreRangeError(
            f"scores under {names} reach {fault}, too many for exact 64-bit arithmetic"
        ) from None
    _clear_unplayed(tables, coded, prices, len(rule_sets))
    return tables


def _clear_unplayed(tables: Tables, coded: Coded, prices: Prices, versions: int) -> None:
    """Without a round scored there is no score yet: everybody at 0 in the start order."""
    rows = np.flatnonzero(np.repeat(coded.scored == 0, versions))
    if not len(rows):
        return
    tables.units[rows], tables.parts[rows], tables.steps[rows] = 0, 0, 0
    tables.outcome[rows], tables.length[rows] = DIRECT, 1
    tables.tables[rows], tables.divisor[rows] = 1, 1
    tables.values[rows] = prices.values[rows % versions, prices.size[rows // versions]]
    tables.rank[rows] = np.arange(tables.rank.shape[1])


def _game_counts(coded: Coded, outcomes: Sequence[str]) -> IntArray:
    """Return games played, won, ... and half game points of each player, shape [S, N, 7]."""
    base = [OUTCOMES[OUTCOME_NUMBER[base_outcome(outcomes[number])]] for number in coded.outcome]
    weights = np.array([[*(name in o.counts for name in COUNT_COLUMNS), o.half_points] for o in base])
    return coded.counts @ weights.astype(np.int64)


def _frame(data: Season, labels: list[str], batches: Sequence[Batch]) -> pd.DataFrame:
    """Lay the tables of all batches into one frame: by season, rule set, place."""
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
        _place(columns, batch, data, offset[:-1].reshape(size.shape))
    return standings_frame(columns, data.labels, labels, data.players, data.categories)


def _place(columns: dict[str, npt.NDArray[Any]], batch: Batch, data: Season, offset: IntArray) -> None:
    """Write one batch into the columns."""
    seasons, versions = len(batch.seasons), len(batch.rules)
    width = batch.coded.column.shape[1]
    shape = seasons, versions, width
    inside = np.broadcast_to((np.arange(width) < batch.coded.size[:, None])[:, None], shape)
    tables, coded, prices = batch.tables, batch.coded, batch.prices
    rank = tables.rank.reshape(shape)
    into = (offset[np.ix_(batch.seasons, np.asarray(batch.rules))][:, :, None] + rank)[inside]
    averaged = tables.tables.reshape(seasons, versions, 1)
    parts = np.moveaxis(tables.parts, 1, 0).reshape(len(PARTS), *shape)
    next_values = np.take_along_axis(prices.values[:, prices.size].swapaxes(0, 1), rank, axis=2)

    def put(name: str, value: npt.ArrayLike) -> None:
        columns[name][into] = np.broadcast_to(value, shape)[inside]

    put("season", batch.seasons[:, None, None])
    put("rules", np.asarray(batch.rules)[:, None])
    put("rank", rank + 1)
    put("place", rank + 1)
    put("player", (data.grid.players[batch.seasons][:, None] + coded.column)[:, None])
    put("units", tables.units.reshape(shape))
    put("per_point", batch.per_point[:, None] * tables.divisor.reshape(averaged.shape))
    put("value_number", tables.values.reshape(shape) / averaged)
    put("next_value_number", next_values)
    put("withdrawn", coded.withdrawn[:, None])
    put("outcome", tables.outcome.reshape(seasons, versions, 1))
    put("iterations", tables.steps.reshape(seasons, versions, 1))
    put("cycle_length", tables.length.reshape(seasons, versions, 1))
    for name, part in zip(PART_COLUMNS, parts, strict=True):
        put(name, part)
    for number, name in enumerate(COUNT_COLUMNS):
        put(name, batch.counts[:, None, :, number])
    put("game_points", batch.counts[:, None, :, -1] / 2)
