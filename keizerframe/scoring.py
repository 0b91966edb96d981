"""`score` and `replay`: from a season and rule sets to standings."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from keizerframe.catalog import RulesArgument, resolve_rules, resolve_with_played
from keizerframe.entries import Batch, scored_batches
from keizerframe.errors import RulesError
from keizerframe.kernel.grid import NO_PART, Scope
from keizerframe.kernel.tables import PARTS
from keizerframe.rules import Rules
from keizerframe.season import Season, as_season
from keizerframe.standings import COUNT_COLUMNS, PART_COLUMNS, STANDINGS_SCHEMA, standings_frame
from keizerframe.tariffs import counted_by_part

IntArray = npt.NDArray[np.integer]


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
        If a rule set does not exist or makes no sense, here or for these seasons, or a season came without rules
        as played.
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
        named = resolve_with_played(rules)
        return _frame(data, named, _scored(data, named, scope), scope, min_games)
    rule_sets = resolve_rules(rules)
    check_parts(data, rule_sets)
    return _by_part(data, rule_sets, scope, carry_over, min_games)


def _scored(data: Season, rule_sets: Mapping[str, Rules | None], scope: Scope) -> list[Batch]:
    """Score under all rule sets; None = as played: the seasons of each rule set they came with."""
    common = {label: rules for label, rules in rule_sets.items() if rules is not None}
    check_parts(data, common)
    number = {label: v for v, label in enumerate(rule_sets)}
    every = np.arange(len(data.labels))
    runs = [([number[label] for label in common], list(common.values()), every)] if common else []
    for label, rules in rule_sets.items():
        if rules is None:
            for played, seasons in _as_played(data).items():
                check_parts(data, {label: played}, [data.labels[s] for s in seasons])
                runs.append(([number[label]], [played], np.array(seasons)))
    return [
        replace(batch, entries=seasons[batch.entries], rules=[numbers[v] for v in batch.rules])
        for numbers, chosen, seasons in runs
        for batch in scored_batches(data, chosen, replace(scope, seasons=seasons))
    ]


def _as_played(data: Season) -> dict[Rules, list[int]]:
    """Return the rule sets that came with the seasons, and the seasons of each."""
    if bare := unruled(data):
        shown = ", ".join(repr(label) for label in bare[:5]) + (", ..." if len(bare) > 5 else "")
        raise RulesError([f"as-played: no rules came with season {shown}: give Season(rules={{season: rules}})"])
    seasons: dict[Rules, list[int]] = {}
    for number, label in enumerate(data.labels):
        seasons.setdefault(data.rules[label], []).append(number)
    return seasons


def unruled(data: Season) -> list[str]:
    """Return the seasons that came without rules."""
    return [label for label in data.labels if label not in data.rules]


def replay(season: Season | pd.DataFrame, rules: RulesArgument) -> pd.DataFrame:
    """Return the standings after every round.

    Parameters
    ----------
    season
        One or many seasons, or a games frame.
    rules
        As in `score`.

    Returns
    -------
    pandas.DataFrame
        Standings with the column ``round``: the table after round r is that of ``score(through=r)``, with r as the
        roster round. ``rank_change`` (above 0 = a rise) and ``score_change`` (points) compare with the table
        before; they are missing in a player's first table.

    Raises
    ------
    SeasonError, UnknownNameError, RulesError, ScoreRangeError
        As `score`.

    References
    ----------
    Which ranking values which round in each table: the modes of `Rules.recalculation`.

    Examples
    --------
    >>> import keizerframe as kf
    >>> tables = kf.replay(kf.load_dataset("waagtoren").select("2018-19"), "keizerforclubs-2.0")
    >>> tables.query("round == 30")[["place", "player", "score", "rank_change"]].head(2)
          place player        score  rank_change
    1943      1   W022  1894.400024            0
    1944      2   W134  1709.199951            0
    """
    data, rule_sets = as_season(season), resolve_rules(rules)
    rounds = data.grid.numbers
    of_season = np.repeat(np.arange(len(data.labels)), data.grid.n_rounds)
    scope = Scope(seasons=of_season, through=rounds, roster_round=rounds)
    check_parts(data, rule_sets)
    columns = _columns(data, rule_sets, list(scored_batches(data, list(rule_sets.values()), scope)), scope, 0)
    frame = standings_frame(columns, data.labels, list(rule_sets), data.players, data.categories)
    frame.insert(2, "round", columns["round"].astype(np.int16))
    return _with_changes(frame, columns)


def _with_changes(tables: pd.DataFrame, columns: dict[str, npt.NDArray[Any]]) -> pd.DataFrame:
    """Add how rank and score differ from the table before."""
    # A player belongs to one season: whose table it is, then which.
    whose = columns["player"] * (int(columns["rules"].max(initial=0)) + 1) + columns["rules"]
    order = np.lexsort((columns["round"], whose))
    again = np.diff(whose[order], prepend=-1) == 0
    later, before = order[again], order[np.flatnonzero(again) - 1]
    rank, score = tables["rank"].to_numpy(), tables["score"].to_numpy()
    risen, gained = np.zeros(len(order), dtype=np.int32), np.full(len(order), np.nan)
    first = np.ones(len(order), dtype=bool)
    risen[later] = rank[before] - rank[later]
    gained[later] = score[later] - score[before]
    first[later] = False
    return tables.assign(rank_change=pd.arrays.IntegerArray(risen, first), score_change=gained)


def check_parts(data: Season, rule_sets: Mapping[str, Rules], labels: Sequence[str] | None = None) -> None:
    """Refuse rules that count by part where no round has one: the whole season would pass for one part."""
    wanting = {label: fields for label, rules in rule_sets.items() if (fields := counted_by_part(rules))}
    if not wanting:
        return
    rounds = data.rounds
    if labels is not None:
        rounds = rounds[rounds["season"].isin(labels)]
    without = [label for label, part in rounds.groupby("season")["part"] if part.isna().all()]
    if without:
        shown = ", ".join(map(repr, without[:3])) + (", ..." if len(without) > 3 else "")
        raise RulesError(
            [
                f"{label}: {field} = 'part', but season {shown} has no parts: give its rounds a column part "
                f"(Season.with_parts), or set {field} = 'season'"
                for label, fields in wanting.items()
                for field in fields
            ]
        )


def _by_part(data: Season, rule_sets: dict[str, Rules], scope: Scope, carry_over: bool, min_games: int) -> pd.DataFrame:
    """Score part after part, each from the order in which the one before ended."""
    if not data.parts:
        raise RulesError(["by = 'part', but no round has a part: give rounds with a column part"])
    frames = []
    for label, rules in rule_sets.items():
        start: IntArray | None = None
        for part in _part_orders(data):
            some = replace(scope, part=part, start=start)
            batches = list(scored_batches(data, [rules], some))
            played = sorted({int(s) for b in batches for s in b.seasons[b.coded.scored > 0]})
            names = {data.labels[s]: data.parts[part[s]] for s in played}
            frame = _frame(data, {label: rules}, batches, some, min_games)
            frame = frame[frame["season"].isin(list(names))]
            frame.insert(2, "part", frame["season"].map(names).astype("str"))
            frames.append(frame)
            if carry_over:
                start = _final_places(data, batches, start)
    # Stable: within a season and rule set the tables stand part after part already.
    whole = pd.concat(frames, ignore_index=True)
    rank = {label: number for number, label in enumerate(rule_sets)}
    seasons = pd.factorize(whole["season"], sort=True)[0]
    return whole.iloc[np.lexsort((whole["rules"].map(rank), seasons))].reset_index(drop=True)


def _part_orders(data: Season) -> Iterator[IntArray]:
    """Yield the first part of every season by its rounds, the second, and so on; NO_PART where none is left."""
    own = [
        list(dict.fromkeys(part for part in data.grid.parts[first:last].tolist() if part >= 0))
        for first, last in itertools.pairwise(data.grid.rounds.tolist())
    ]
    for k in range(max(map(len, own), default=0)):
        yield np.array([parts[k] if k < len(parts) else NO_PART for parts in own])


def _final_places(data: Season, batches: Sequence[Batch], before: IntArray | None) -> IntArray:
    """Return the place of every player in the tables of one rule set; who has none keeps his place behind."""
    width = int(data.grid.n_players.max(initial=0))
    places = np.tile(np.arange(width), (len(data.labels), 1)) if before is None else before + width
    places = places + width
    for batch in batches:
        inside = np.arange(batch.coded.column.shape[1]) < batch.coded.size[:, None]
        at = np.nonzero(inside)
        places[batch.seasons[at[0]], batch.coded.column[at]] = batch.tables.rank[at]
    return places


def _frame(
    data: Season, rule_sets: Mapping[str, Any], batches: Sequence[Batch], scope: Scope, min_games: int
) -> pd.DataFrame:
    columns = _columns(data, rule_sets, batches, scope, min_games)
    return standings_frame(columns, data.labels, list(rule_sets), data.players, data.categories)


def _columns(
    data: Season, rule_sets: Mapping[str, Any], batches: Sequence[Batch], scope: Scope, min_games: int
) -> dict[str, npt.NDArray[Any]]:
    """Lay the tables of all batches into columns: by season, rule set, round (0 = the last), place."""
    seasons = scope.all_seasons(data.grid)
    size = np.zeros((len(seasons), len(rule_sets)), dtype=np.int64)
    for batch in batches:
        size[np.ix_(batch.entries, np.asarray(batch.rules))] = batch.coded.size[:, None]
    rounds = np.zeros(len(seasons), dtype=np.int64)
    if scope.seasons is not None:
        rounds = np.broadcast_to(np.asarray(scope.through, dtype=np.int64), rounds.shape)
    entry, version = np.divmod(np.arange(size.size), len(rule_sets))
    order = np.lexsort((rounds[entry], version, seasons[entry]))
    length = size.ravel()[order]
    offset = np.zeros(size.size, dtype=np.int64)
    offset[order] = np.cumsum(length) - length
    derived = {"score", "score_x2", "rounding", "name", "rating", "category", "place_in_category"}
    names = [name for name in STANDINGS_SCHEMA.names if name not in derived]
    columns: dict[str, npt.NDArray[Any]] = {name: np.zeros(size.sum(), dtype=np.int64) for name in names}
    for name in ("value_number", "next_value_number", "game_points"):
        columns[name] = np.zeros(size.sum())
    columns["round"] = np.repeat(rounds[entry[order]], length)
    for batch in batches:
        _place(columns, batch, data, offset.reshape(size.shape), min_games)
    return columns


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
    into = (offset[np.ix_(batch.entries, np.asarray(batch.rules))][:, :, None] + place)[inside]
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
