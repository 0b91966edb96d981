"""`diagnose`: whether a table has settled, and which tables other start orders lead to."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from keizerframe.catalog import RulesArgument, resolve_rules
from keizerframe.entries import AnyArray, Batch, gathered
from keizerframe.errors import RulesError
from keizerframe.kernel.grid import Scope
from keizerframe.scoring import check_parts
from keizerframe.season import Season, as_season
from keizerframe.standings import OUTCOME_NAMES

IntArray = npt.NDArray[np.integer]
NOBODY = -1


@dataclass(frozen=True, kw_only=True, slots=True)
class Diagnosis:
    """Whether tables settle, and what other start orders make of them.

    Parameters
    ----------
    summary
        One row per season and rule set: how the table ended (``outcome``, ``iterations``, ``cycle_length``, players
        whose place changes ``in_cycle``); and of ``starts`` random start orders how many ``settled``, how many
        different final ``tables`` they reach, how many different ``champions``, and in how many the champion is
        the same (``champion_kept``).
    players
        One row per player: ``place``; the ``best`` and ``worst`` place over all start orders; how often he is
        champion (``first``); whether his place changes ``in_cycle``.
    tables
        One row per different final table: how many start orders reach it (``count``), its champion and how it
        ended; ``actual`` marks the table of the real start order.
    """

    summary: pd.DataFrame
    players: pd.DataFrame
    tables: pd.DataFrame

    def __repr__(self) -> str:
        return self.summary.to_string(index=False)

    def _repr_html_(self) -> str:
        return str(self.summary.to_html(index=False))


def diagnose(
    season: Season | pd.DataFrame,
    rules: RulesArgument,
    *,
    starts: int = 200,
    seed: int = 0,
    through: int | None = None,
    roster_round: int | None = None,
) -> Diagnosis:
    """Say whether the tables settled, and which tables other start orders reach.

    The start order is an input of every Keizer table: ratings, last season's standing, or lots. A fixed point need
    not be the only one, and a cycle has no fixed point at all.

    Parameters
    ----------
    season
        One or many seasons, or a games frame.
    rules
        As in `score`.
    starts
        Random start orders to try.
    seed
        Of the random start orders; those of a season do not depend on which other seasons are diagnosed.
    through, roster_round
        As in `score`.

    Raises
    ------
    SeasonError, UnknownNameError, RulesError, ScoreRangeError
        As `score`; also if `starts` is negative.

    References
    ----------
    R. P. Brent, "An improved Monte Carlo factorization algorithm", BIT 20 (1980): finding a cycle with one saved
    state.

    Examples
    --------
    Three players, each of whom beats the next one and misses one of three rounds: a cycle of six tables.

    >>> import pandas as pd
    >>> games = pd.DataFrame({"round": [1, 2, 3], "white": list("abc"), "black": list("bca"), "result": ["1-0"] * 3})
    >>> players = pd.DataFrame({"player": list("abc"), "rating": [3, 2, 1]})
    >>> found = diagnose(Season(games, players), "keizerforclubs", starts=50)
    >>> found.summary[["outcome", "cycle_length", "in_cycle", "tables", "champions", "champion_kept"]]
      outcome  cycle_length  in_cycle  tables  champions  champion_kept
    0   cycle             6         3       1          1             50
    """
    data, rule_sets = as_season(season), resolve_rules(rules)
    check_parts(data, rule_sets)
    if starts < 0:
        raise RulesError([f"starts = {starts}: must be 0 or more"])
    listed = list(rule_sets.values())
    actual = gathered(data, listed, Scope(through=through, roster_round=roster_round), _READS)
    orders = [_start_orders(data, s, starts, seed) for s in range(len(data.labels))]
    start = np.concatenate(orders) if orders else np.zeros((0, 0), dtype=np.int64)
    others = Scope(
        seasons=np.repeat(np.arange(len(orders)), starts), through=through, roster_round=roster_round, start=start
    )
    tried = gathered(data, listed, others, _READS) if starts else {name: told[:0] for name, told in actual.items()}
    found = [
        {"season": label, "rules": name} | _told(data, s, _some(actual, s, 1, v), _some(tried, s * starts, starts, v))
        for s, label in enumerate(data.labels)
        for v, name in enumerate(rule_sets)
    ]
    return Diagnosis(
        summary=pd.DataFrame([{key: one[key] for key in _SUMMARY} for one in found], columns=list(_SUMMARY)).astype(
            dict.fromkeys(("season", "rules", "outcome", "champion"), "str")
        ),
        players=_stacked(found, "by_player"),
        tables=_stacked(found, "by_table"),
    )


_SUMMARY = (
    *("season", "rules", "outcome", "iterations", "cycle_length", "in_cycle", "starts", "settled", "tables"),
    *("champion", "champions", "champion_kept"),
)


#: What is told of every table: the places from 0 (NOBODY = not in it), who moves within a cycle, how it came about.
_READS: dict[str, tuple[Callable[[Batch], AnyArray], int]] = {
    "place": (lambda batch: batch.place.astype(np.int16), NOBODY),
    "moving": (lambda batch: _moving(batch), 0),
    "outcome": (lambda batch: batch.tables.outcome, 0),
    "steps": (lambda batch: batch.tables.steps, 0),
    "length": (lambda batch: batch.tables.length, 1),
}


def _some(tables: dict[str, AnyArray], first: int, count: int, v: int) -> dict[str, AnyArray]:
    """Return the tables of some entries under one rule set."""
    return {name: told[first : first + count, v] for name, told in tables.items()}


def _moving(batch: Batch) -> IntArray:
    """Return whether each column's rank differs between the tables of a cycle."""
    moving = np.zeros(batch.place.shape, dtype=np.int64)
    cycles = np.isin(batch.valuation.row, np.flatnonzero(batch.tables.length > 1))
    rows, ranks = batch.valuation.row[cycles], batch.valuation.ranks[0, cycles]
    first = np.zeros_like(moving)
    first[rows] = ranks
    np.maximum.at(moving, rows, (ranks != first[rows]).astype(np.int64))
    return moving


def _start_orders(data: Season, s: int, starts: int, seed: int) -> IntArray:
    """Return random start places of the players of season `s`, as wide as the largest season."""
    size, width = int(data.grid.n_players[s]), int(data.grid.n_players.max())
    chance = np.random.default_rng([seed, zlib.crc32(data.labels[s].encode())])
    orders = np.tile(np.arange(width), (starts, 1))
    orders[:, :size] = chance.permuted(orders[:, :size], axis=1)
    return orders


def _told(data: Season, s: int, actual: dict[str, AnyArray], tried: dict[str, AnyArray]) -> dict[str, Any]:
    """Return what is to say of one season under one rule set."""
    ids = data.players["player"].to_numpy()[data.grid.players[s] : data.grid.players[s + 1]]
    inside = np.flatnonzero(actual["place"][0, : len(ids)] >= 0)
    people, own, moving = ids[inside], actual["place"][0, inside], actual["moving"][0, inside] > 0
    places = tried["place"][:, inside]
    winners = places.argmin(axis=1) if len(people) else np.zeros(0, dtype=np.intp)
    champion = int(own.argmin()) if len(people) else NOBODY
    kinds, first, count = np.unique(places, axis=0, return_index=True, return_counts=True)
    ranked = np.argsort(-count, kind="stable")
    settled = [OUTCOME_NAMES.index(name) for name in ("converged", "direct")]
    order = np.argsort(own)
    both = np.concatenate([places, own[None]])
    return {
        "outcome": OUTCOME_NAMES[actual["outcome"][0]],
        "iterations": int(actual["steps"][0]),
        "cycle_length": int(actual["length"][0]),
        "in_cycle": int(moving.sum()),
        "starts": len(places),
        "settled": int(np.isin(tried["outcome"], settled).sum()),
        "tables": len(kinds),
        "champion": people[champion] if len(people) else None,
        "champions": len(np.unique(winners)),
        "champion_kept": int((winners == champion).sum()),
        "by_player": {
            "player": people[order],
            "place": own[order] + 1,
            "best": both.min(axis=0)[order] + 1,
            "worst": both.max(axis=0)[order] + 1,
            "first": (places == 0).sum(axis=0)[order],
            "in_cycle": moving[order],
        },
        "by_table": {
            "table": np.arange(1, len(kinds) + 1),
            "count": count[ranked],
            "champion": people[winners[first[ranked]]] if len(people) else [None] * len(kinds),
            "outcome": np.asarray(OUTCOME_NAMES)[tried["outcome"][first[ranked]]],
            "actual": (kinds[ranked] == own).all(axis=1),
        },
    }


def _stacked(found: list[dict[str, Any]], name: str) -> pd.DataFrame:
    frames = [pd.DataFrame({key: one[key] for key in ("season", "rules")} | one[name]) for one in found]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()
