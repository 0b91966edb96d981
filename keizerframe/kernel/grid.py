"""A season as arrays: who earns what from whom, and the numbering of absences.

A `Grid` holds what the games say, ragged over the seasons. `encode` turns a few of its seasons into dense
codes: an outcome together with its ordinal among the player's absences. Rule sets that count absences alike
share one coding.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.integer]
BoolArray = npt.NDArray[np.bool_]

NEVER = np.iinfo(np.int32).max
NOBODY = -1


@dataclass(frozen=True, slots=True)
class Grid:
    """Seasons as arrays; season s owns players[s]:players[s+1] and so on.

    Parameters
    ----------
    players, rounds, cells
        Where each season starts in the arrays below, shape [S + 1].
    joined, left
        First round and last round of each player (0 and NEVER if not given), shape [players].
    numbers
        The numbers of the rounds, ascending within a season, shape [rounds].
    whose
        Opponent as position among the season's players, NOBODY without one; per season [R, N], flattened.
    outcome
        Outcome number, 0 where the player has no row; the same shape.
    """

    players: IntArray
    rounds: IntArray
    cells: IntArray
    joined: IntArray
    left: IntArray
    numbers: IntArray
    whose: IntArray
    outcome: IntArray

    @property
    def n_players(self) -> IntArray:
        """Players of each season, shape [S]."""
        return np.diff(self.players)

    @property
    def n_rounds(self) -> IntArray:
        """Rounds of each season, shape [S]."""
        return np.diff(self.rounds)

    def last_rounds(self, through: int | None) -> IntArray:
        """Return the number of the last round scored in each season (0 without rounds), shape [S]."""
        last = np.zeros(len(self.players) - 1, dtype=np.int64)
        for s in np.flatnonzero(self.n_rounds):
            numbers = self.numbers[self.rounds[s] : self.rounds[s + 1]]
            scored = numbers if through is None else numbers[numbers <= through]
            last[s] = scored[-1] if len(scored) else 0
        return last


@dataclass(frozen=True, slots=True)
class Counting:
    """How rows become codes: everything that rule sets of one coding share.

    Parameters
    ----------
    counted
        For each outcome number, whether it uses up the absence limit.
    missing
        The outcome of a player without a row.
    before_joining
        The outcome of a round before the player joined.
    present
        The outcome of a game against somebody outside the roster: there, but unpaid.
    void
        Whether players who left are outside the roster.
    lookahead
        Rounds after the last one that the roster looks ahead, unless a roster round is given.
    """

    counted: tuple[bool, ...]
    missing: int
    before_joining: int
    present: int
    void: bool
    lookahead: int


@dataclass(frozen=True, slots=True)
class Coded:
    """Some seasons as dense codes; columns 0 .. n-1 are the roster, equal scores fall to the lower column.

    Parameters
    ----------
    column
        The player (position in his season) of each column, shape [S, N].
    size
        Players in the roster, shape [S].
    code
        Which award each player claims, shape [S, R, N]; 0 = nothing.
    whose
        The opponent's column, NOBODY without one; the same shape.
    outcome, ordinal
        What each code means, shape [C].
    counts
        How often each player has each code, shape [S, N, C].
    scored
        Rounds that are scored, shape [S].
    withdrawn
        Players who left before the roster round, shape [S, N].
    """

    column: IntArray
    size: IntArray
    code: IntArray
    whose: IntArray
    outcome: IntArray
    ordinal: IntArray
    counts: IntArray
    scored: IntArray
    withdrawn: BoolArray


def dense(grid: Grid, seasons: IntArray) -> tuple[IntArray, IntArray, IntArray, IntArray, IntArray]:
    """Return numbers [S, R] (0 = padding), joined and left [S, N], whose and outcome [S, R, N]."""
    n_rounds, n_players = grid.n_rounds[seasons], grid.n_players[seasons]
    depth, width = int(n_rounds.max(initial=0)), int(n_players.max(initial=0))
    count = len(seasons)
    if count and (n_rounds == depth).all() and (n_players == width).all() and (np.diff(seasons) == 1).all():
        first, last = seasons[0], seasons[-1] + 1
        cells = slice(grid.cells[first], grid.cells[last])
        players = slice(grid.players[first], grid.players[last])
        return (
            grid.numbers[grid.rounds[first] : grid.rounds[last]].reshape(count, depth),
            grid.joined[players].reshape(count, width),
            grid.left[players].reshape(count, width),
            grid.whose[cells].reshape(count, depth, width),
            grid.outcome[cells].reshape(count, depth, width),
        )
    numbers = np.zeros((count, depth), dtype=np.int32)
    joined = np.full((count, width), NEVER, dtype=np.int32)
    left = np.full((count, width), NEVER, dtype=np.int32)
    whose = np.full((count, depth, width), NOBODY, dtype=np.int16)
    outcome = np.zeros((count, depth, width), dtype=np.int16)
    for i, s in enumerate(seasons):
        r, n = n_rounds[i], n_players[i]
        numbers[i, :r] = grid.numbers[grid.rounds[s] : grid.rounds[s + 1]]
        joined[i, :n] = grid.joined[grid.players[s] : grid.players[s + 1]]
        left[i, :n] = grid.left[grid.players[s] : grid.players[s + 1]]
        cells = slice(grid.cells[s], grid.cells[s + 1])
        whose[i, :r, :n] = grid.whose[cells].reshape(r, n)
        outcome[i, :r, :n] = grid.outcome[cells].reshape(r, n)
    return numbers, joined, left, whose, outcome


def encode(
    grid: Grid, seasons: IntArray, counting: Counting, *, through: int | None, roster_round: int | None
) -> Coded:
    """Return the codes of `seasons` under one way of counting.

    Parameters
    ----------
    grid
        All seasons.
    seasons
        Which of them, shape [S].
    counting
        How rows become codes.
    through
        The last round to score; None = all.
    roster_round
        The round that decides who is in the roster; None = the last scored (plus ``counting.lookahead``).
    """
    numbers, joined, left, whose, outcome = dense(grid, seasons)
    played = numbers > 0
    if through is not None:
        played = played & (numbers <= through)
    last = np.where(played, numbers, 0).max(axis=1, initial=0)
    decisive = last + counting.lookahead if roster_round is None else np.full(len(seasons), roster_round)
    here = np.arange(joined.shape[1]) < grid.n_players[seasons][:, None]
    withdrawn = here & (left < decisive[:, None])
    roster = here & (joined <= decisive[:, None])
    if counting.void:
        roster &= ~withdrawn
    outcome = _claims(outcome, whose, numbers, joined, left, roster, played, counting)
    column = np.argsort(~roster, axis=1, kind="stable")
    if not (column == np.arange(column.shape[1])).all():
        place = np.argsort(column, axis=1)
        outcome = np.take_along_axis(outcome, column[:, None, :], axis=2)
        whose = np.take_along_axis(whose, column[:, None, :], axis=2)
        opponent = np.take_along_axis(place[:, None, :], np.maximum(whose, 0).astype(np.intp), axis=2)
        whose = np.where(whose == NOBODY, NOBODY, opponent).astype(np.int16)
        withdrawn = np.take_along_axis(withdrawn, column, axis=1)
    code, outcomes, ordinals = _codes(outcome, np.asarray(counting.counted))
    return Coded(
        column=column,
        size=roster.sum(axis=1),
        code=code,
        whose=whose,
        outcome=outcomes,
        ordinal=ordinals,
        counts=_counts(code, len(outcomes)),
        scored=played.sum(axis=1),
        withdrawn=withdrawn,
    )


def _claims(
    outcome: IntArray,
    whose: IntArray,
    numbers: IntArray,
    joined: IntArray,
    left: IntArray,
    roster: BoolArray,
    played: BoolArray,
    counting: Counting,
) -> IntArray:
    """Return the outcome each roster player claims in each round, missing rows included."""
    number = numbers[:, :, None]
    empty = outcome == 0
    early = (joined[:, None, :] > 1) & (number < joined[:, None, :])
    claims = np.where(empty, np.where(early, counting.before_joining, counting.missing), outcome)
    if not roster.all():
        opponent = np.take_along_axis(roster[:, None, :], np.maximum(whose, 0).astype(np.intp), axis=2)
        claims = np.where((whose != NOBODY) & ~opponent, counting.present, claims)
    if not counting.void and (left < NEVER).any():
        # Who has left claims nothing more, but his games stand.
        claims = np.where((number > left[:, None, :]) & (whose == NOBODY), 0, claims)
    claims[~(roster[:, None, :] & played[:, :, None])] = 0
    return claims.astype(np.int16)


def _codes(outcome: IntArray, counted: BoolArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return codes numbered from 0 (= nothing), and outcome and ordinal of each code."""
    counts = counted[outcome]
    ordinal = np.cumsum(counts, axis=1, dtype=np.int32) * counts
    key = ordinal * len(counted) + outcome
    used = np.bincount(key.ravel(), minlength=1) > 0
    used[0] = True
    keys = np.flatnonzero(used)
    number = np.cumsum(used, dtype=np.int16) - np.int16(1)
    return number[key], keys % len(counted), keys // len(counted)


def _counts(code: IntArray, codes: int) -> IntArray:
    """Return how often each player has each code, shape [S, N, C]."""
    seasons, _, width = code.shape
    player = np.arange(seasons)[:, None, None] * width + np.arange(width)
    counts = np.bincount((player * codes + code).ravel(), minlength=seasons * width * codes)
    return counts.reshape(seasons, width, codes)
