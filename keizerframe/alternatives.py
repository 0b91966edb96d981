"""`what_if`: what another result would have changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from keizerframe.catalog import RulesArgument, resolve_rules
from keizerframe.columns import read_id, text_array
from keizerframe.entries import AnyArray, Batch, gathered
from keizerframe.errors import RulesError
from keizerframe.kernel.grid import Scope
from keizerframe.results import GAME_CODES, parse_result, suggest_result
from keizerframe.scoring import check_parts
from keizerframe.season import Season, as_season

IntArray = npt.NDArray[np.integer]

#: The results that a game could have had.
_RESULTS = ("1-0", "1/2-1/2", "0-1")


def what_if(
    season: Season | pd.DataFrame,
    rules: RulesArgument,
    *,
    edits: pd.DataFrame | None = None,
    through: int | None = None,
) -> pd.DataFrame:
    """Return for every game what each other result would have changed.

    Parameters
    ----------
    season
        One or many seasons, or a games frame.
    rules
        As in `score`.
    edits
        The results to try instead of all: a frame with round, white, result (and season, black where they are
        needed to tell which row is meant); each row is tried on its own. None = for every game of the rounds
        scored the two of win, draw and loss that it did not have.
    through
        As in `score`.

    Returns
    -------
    pandas.DataFrame
        One row per rule set, game and other result (``instead``): the ``champion`` there would be and whether he is
        the ``same_champion``; how many players would change place (``moved``), the ``largest_move`` and who makes
        it; place and change of the score (points) of both sides. Ordered by season, rule set, round, board.

    Raises
    ------
    RulesError
        If an edit names no row, several rows, or no result that its row can have; all such edits are listed.
    SeasonError, UnknownNameError, ScoreRangeError
        As `score`.

    References
    ----------
    Each other result is one more table in which two cells of the grid differ.

    Examples
    --------
    >>> import keizerframe as kf
    >>> season = kf.load_dataset("waagtoren").select("2018-19")
    >>> found = kf.what_if(season, "keizerforclubs-2.0")
    >>> len(found), int((~found["same_champion"]).sum())
    (1140, 3)
    """
    data, rule_sets = as_season(season), resolve_rules(rules)
    check_parts(data, rule_sets)
    games, results = _all_games(data, through) if edits is None else _given(data, edits)
    codes = [*GAME_CODES, *data.outcomes]
    pairs = [GAME_CODES.get(code, (code, code)) for code in codes]
    number = {name: i for i, name in enumerate(data.outcomes)}
    outcome = np.array([[number.get(name, 0) for name in pair] for pair in pairs])
    place_of = {code: i for i, code in enumerate(codes)}
    told = outcome[[place_of[result] for result in results]] if results else np.zeros((0, 2), dtype=np.int64)
    seasons, cells = _where(data, games)
    count = len(data.labels)
    edited = [
        np.stack([np.flatnonzero(cells[side, 0] >= 0) + count, *cells[side][:, cells[side, 0] >= 0]]) for side in (0, 1)
    ]
    for side, table in enumerate(edited):
        edited[side] = np.concatenate([table, told[table[0] - count, side][None]])
    scope = Scope(
        seasons=np.concatenate([np.arange(count), seasons]), through=through, edits=np.concatenate(edited, axis=1)
    )
    tables = gathered(data, list(rule_sets.values()), scope, _READS)
    rows = [_changes(data, tables, v, label, games, seasons, cells, results) for v, label in enumerate(rule_sets)]
    frame = pd.concat(rows, ignore_index=True)
    order = np.lexsort(
        (np.tile(games, len(rows)), np.repeat(np.arange(len(rows)), len(games)), np.tile(seasons, len(rows)))
    )
    return frame.iloc[order].reset_index(drop=True)


def _all_games(data: Season, through: int | None) -> tuple[IntArray, list[str]]:
    """Return the rows that are games, each as often as there are other results, and those results."""
    games = data.games
    result = games["result"].astype("str").to_numpy()
    is_game = np.isin(result, list(GAME_CODES)) & (data.cells >= 0).all(axis=0)
    if through is not None:
        is_game &= (games["round"] <= through).to_numpy()
    pairs = [(row, other) for row in np.flatnonzero(is_game) for other in _RESULTS if other != result[row]]
    return np.array([row for row, _ in pairs], dtype=np.int64), [other for _, other in pairs]


def _given(data: Season, edits: pd.DataFrame) -> tuple[IntArray, list[str]]:
    """Return the row of the games that each edit means, and its result; or one error with all that is wrong."""
    if lacking := [name for name in ("round", "white", "result") if name not in edits]:
        raise RulesError([f"edits have no column {', '.join(lacking)}: give round, white and result"])
    keys = [name for name in ("season", "round", "white", "black") if name in edits]
    games = data.games.astype(dict.fromkeys(keys, "str"))
    problems, rows, results = [], [], []
    for i, edit in enumerate(edits.to_dict("records")):
        fitting = np.ones(len(games), dtype=bool)
        for name in keys:
            if not pd.isna(edit[name]):
                # Ids as the door reads them: 7.0 out of a spreadsheet is the player 7, and the round too.
                fitting &= (games[name] == read_id(edit[name])).to_numpy()
        where = f"edit {i} ({', '.join(f'{name} {edit[name]}' for name in keys)})"
        found = np.flatnonzero(fitting)
        result = parse_result(str(edit["result"]))
        if len(found) != 1:
            what = "no such row" if len(found) == 0 else f"{len(found)} rows: say season and black too"
            problems.append(f"{where}: {what}")
        elif result is None or (result not in GAME_CODES and result not in data.outcomes):
            problems.append(f"{where}: unknown result {edit['result']!r}; {suggest_result(str(edit['result']))}")
        elif (result in GAME_CODES) != isinstance(data.games["black"].iloc[found[0]], str):
            problems.append(
                f"{where}: {result} is for rows {'with' if result in GAME_CODES else 'without'} an opponent"
            )
        else:
            rows.append(int(found[0]))
            results.append(result)
    if problems:
        raise RulesError(problems)
    return np.array(rows, dtype=np.int64), results


def _where(data: Season, games: IntArray) -> tuple[IntArray, IntArray]:
    """Return the season of each row, and round and player (positions) of White and Black, shape [2, 2, rows]."""
    cells = data.cells[:, games]
    seasons = np.searchsorted(data.grid.cells, cells.max(axis=0), side="right") - 1
    inside = cells - data.grid.cells[seasons]
    found = np.stack(np.divmod(inside, np.maximum(data.grid.n_players[seasons], 1)), axis=1)
    return seasons, np.where(cells[:, None] >= 0, found, -1)


#: The place of who is outside the table: behind everybody.
_NOWHERE = int(np.iinfo(np.int16).max)
#: What is told of every table: places from 0 (far behind outside the roster), and points.
_READS: dict[str, tuple[Callable[[Batch], AnyArray], int | float]] = {
    "place": (lambda batch: batch.place, _NOWHERE),
    "points": (lambda batch: _points(batch), np.nan),
}


def _points(batch: Batch) -> AnyArray:
    per_point = np.tile(batch.per_point, len(batch.entries)) * batch.tables.divisor
    return np.asarray(batch.tables.units / per_point[:, None])


def _changes(
    data: Season,
    tables: dict[str, AnyArray],
    v: int,
    label: str,
    games: IntArray,
    seasons: IntArray,
    cells: IntArray,
    results: list[str],
) -> pd.DataFrame:
    """Return what each alternative changes under one rule set."""
    count = len(data.labels)
    place, points = tables["place"][:, v], tables["points"][:, v]
    before, after = place[:count][seasons], place[count:]
    gained = points[count:] - points[:count][seasons]
    moves = before - after
    largest = np.abs(moves).max(axis=1, initial=0)
    first = data.grid.players[seasons]
    winner = first + after.argmin(axis=1) if after.size else first
    ids = data.players["player"].tolist()
    rows = data.games.iloc[games].reset_index(drop=True)
    columns: dict[str, Any] = {
        "season": rows["season"],
        "rules": pd.Series(label, index=rows.index, dtype="str"),
        "round": rows["round"],
        "white": rows["white"],
        "black": rows["black"],
        "result": rows["result"].astype("str"),
        "instead": pd.Series(results, dtype="str"),
        "champion": text_array(ids, winner),
        "same_champion": before.argmin(axis=1) == after.argmin(axis=1) if after.size else np.zeros(0, dtype=bool),
        "moved": (moves != 0).sum(axis=1),
        "largest_move": largest,
        "largest_mover": text_array(ids, np.where(largest > 0, first + np.abs(moves).argmax(axis=1), -1))
        if after.size
        else text_array(ids, first),
    }
    every = np.arange(len(games))
    for side, colour in enumerate(("white", "black")):
        player = cells[side, 1]
        some = (player >= 0) & (after[every, player] < _NOWHERE)
        place = np.where(some, after[every, player] + 1, 0)
        columns[f"{colour}_place"] = pd.arrays.IntegerArray(place, ~some)
        columns[f"{colour}_place_change"] = pd.arrays.IntegerArray(np.where(some, moves[every, player], 0), ~some)
        columns[f"{colour}_score_change"] = np.where(some, gained[every, player], np.nan)
    return pd.DataFrame(columns)
