"""A season as arrays: who earns what from whom, and the numbering of absences.

A `Grid` holds what the games say, ragged over the seasons. `encode` turns a few of its seasons into dense
codes: an outcome together with its ordinal among the player's absences. Rule sets that count absences alike
share one coding.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.integer]
BoolArray = npt.NDArray[np.bool_]

NEVER = np.iinfo(np.int32).max
NOBODY = -1
#: A part that no round belongs to: rounds without one have -1.
NO_PART = -2
#: The tie key that stands for the start order, whatever that is.
START = -1


@dataclass(frozen=True, slots=True)
class Grid:
    """Seasons as arrays; season s owns players[s]:players[s+1] and so on.

    Parameters
    ----------
    players, rounds, cells
        Where each season starts in the arrays below, shape [S + 1].
    joined, left
        First round and last round of each player (0 and NEVER if not given), shape [players].
    keys
        For each tie key the players' place by it, the first first: rating, name, id, given start rank; shape
        [4, players].
    numbers, parts
        The numbers of the rounds, ascending within a season, and the part each belongs to, shape [rounds].
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
    keys: IntArray
    numbers: IntArray
    parts: IntArray
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


@dataclass(frozen=True, slots=True)
class Counting:
    """How rows become codes: everything that rule sets of one coding share.

    Parameters
    ----------
    counted, capped
        For each outcome number, whether it uses up the absence limit, and whether it has a cap of its own
        (0 none, 1 per season, 2 per part).
    by_part
        Whether absences are counted anew in each part.
    epochs
        The rounds from which other awards hold, the first being 1.
    missing
        The outcome of a player without a row.
    before_joining
        The outcome of a round before the player joined.
    present
        The outcome of a game against somebody outside the roster: there, but unpaid.
    unpaid
        The outcome of a counted absence before the first game, 0 if that is paid as any other.
    game
        For each outcome number, whether it is a game over the board.
    of_left
        For each outcome number, what it becomes against a player who left; empty = it stays.
    void
        Whether players who left are outside the roster.
    everybody
        Whether the roster is everybody, whenever they join.
    start, ties
        The keys that order the start ranking, and those that decide equal scores, the most important first; START
        stands for the start order itself.
    lookahead
        Rounds after the last one that the roster looks ahead, unless a roster round is given.
    """

    counted: tuple[bool, ...]
    capped: tuple[int, ...]
    by_part: bool
    epochs: tuple[int, ...]
    missing: int
    before_joining: int
    present: int
    unpaid: int
    game: tuple[bool, ...]
    of_left: tuple[int, ...]
    void: bool
    everybody: bool
    start: tuple[int, ...]
    ties: tuple[int, ...]
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
    start
        Rank of each column in the start order, from 0, shape [S, N].
    code
        Which award each player claims, shape [S, R, N]; 0 = nothing.
    whose
        The opponent's column, NOBODY without one; the same shape.
    outcome, ordinal, nth, epoch
        What each code means: the outcome, its number among the absences, its number among its kind (0 where
        nothing depends on it), and which of the epochs it falls in, shape [C].
    counts
        How often each player has each code, shape [S, N, C].
    scored
        Rounds that are scored, shape [S].
    withdrawn
        Players who left before the roster round, shape [S, N].
    """

    column: IntArray
    size: IntArray
    start: IntArray
    code: IntArray
    whose: IntArray
    outcome: IntArray
    ordinal: IntArray
    nth: IntArray
    epoch: IntArray
    counts: IntArray
    scored: IntArray
    withdrawn: BoolArray


def dense(grid: Grid, seasons: IntArray) -> tuple[IntArray, ...]:
    """Return numbers (0 = padding) and parts [S, R], joined and left [S, N], whose and outcome [S, R, N]."""
    n_rounds, n_players = grid.n_rounds[seasons], grid.n_players[seasons]
    depth, width = int(n_rounds.max(initial=0)), int(n_players.max(initial=0))
    # Array, where each season starts in it, its axes (0 = rounds, 1 = players), and what stands for nothing.
    sources = (
        (grid.numbers, grid.rounds, (0,), 0),
        (grid.parts, grid.rounds, (0,), -1),
        (grid.joined, grid.players, (1,), NEVER),
        (grid.left, grid.players, (1,), NEVER),
        (grid.whose, grid.cells, (0, 1), NOBODY),
        (grid.outcome, grid.cells, (0, 1), 0),
    )
    count, extent = len(seasons), (depth, width)
    shapes = [(count, *(extent[axis] for axis in axes)) for _, _, axes, _ in sources]
    if count > 1 and (seasons == seasons[0]).all():
        once = dense(grid, seasons[:1])
        return tuple(np.broadcast_to(one, shape) for one, shape in zip(once, shapes, strict=True))
    if count and (n_rounds == depth).all() and (n_players == width).all() and (np.diff(seasons) == 1).all():
        first, last = seasons[0], seasons[-1] + 1
        return tuple(
            flat[at[first] : at[last]].reshape(shape) for (flat, at, _, _), shape in zip(sources, shapes, strict=True)
        )
    padded = tuple(
        np.full(shape, nothing, dtype=flat.dtype) for (flat, _, _, nothing), shape in zip(sources, shapes, strict=True)
    )
    for i, s in enumerate(seasons):
        own = (n_rounds[i], n_players[i])
        for target, (flat, at, axes, _) in zip(padded, sources, strict=True):
            mine = tuple(own[axis] for axis in axes)
            target[i][tuple(map(slice, mine))] = flat[at[s] : at[s + 1]].reshape(mine)
    return padded


@dataclass(frozen=True, slots=True)
class Scope:
    """Which tables to make: whatever is not given is as the season and the rules have it.

    Parameters
    ----------
    seasons
        The season of each table, shape [E]; None = every season once.
    through
        The last round to score, one for all or one a table.
    roster_round
        The round that decides who is in the roster, one for all or one a table; None = the last scored, plus
        ``Counting.lookahead``.
    part
        The only part to score, one for all or one a table; NO_PART = nothing.
    start
        Start places of the players (position in their season) in place of the start order, shape [E, N].
    edits
        Table, round (position), player (position) and the outcome that stands there instead, shape [4, edits].
    """

    seasons: IntArray | None = None
    through: int | IntArray | None = None
    roster_round: int | IntArray | None = None
    part: int | IntArray | None = None
    start: IntArray | None = None
    edits: IntArray | None = None

    def all_seasons(self, grid: Grid) -> IntArray:
        """Return the season of each table."""
        return np.arange(len(grid.n_players)) if self.seasons is None else self.seasons

    def select(self, tables: IntArray, grid: Grid) -> Scope:
        """Return the scope of some of the tables (ascending)."""
        edits = self.edits
        if edits is not None:
            edits = edits[:, np.isin(edits[0], tables)]
            edits = np.concatenate([np.searchsorted(tables, edits[:1]), edits[1:]])

        def chosen(one: int | IntArray | None) -> int | IntArray | None:
            return one[tables] if isinstance(one, np.ndarray) else one

        return replace(
            self,
            seasons=self.all_seasons(grid)[tables],
            through=chosen(self.through),
            roster_round=chosen(self.roster_round),
            part=chosen(self.part),
            start=None if self.start is None else self.start[tables],
            edits=edits,
        )


def encode(grid: Grid, counting: Counting, scope: Scope) -> Coded:
    """Return the codes of the tables in `scope` under one way of counting."""
    seasons = scope.all_seasons(grid)
    count = len(seasons)
    numbers, parts, joined, left, whose, outcome = dense(grid, seasons)
    if scope.edits is not None:
        table, r, player, told = scope.edits
        outcome = outcome.copy()
        outcome[table, r, player] = told
    played = numbers > 0
    if scope.through is not None:
        played = played & (numbers <= np.broadcast_to(scope.through, count)[:, None])
    last = np.where(played, numbers, 0).max(axis=1, initial=0)
    if scope.part is not None:
        played = played & (parts == np.broadcast_to(scope.part, count)[:, None])
    if (np.diff(played, axis=1, append=False) & ~played).any():
        # Rounds that are not scored come last, so that ranking r is the one after the r-th round scored.
        order = np.argsort(~played, axis=1, kind="stable")
        numbers, parts = np.take_along_axis(numbers, order, axis=1), np.take_along_axis(parts, order, axis=1)
        played = np.take_along_axis(played, order, axis=1)
        whose = np.take_along_axis(whose, order[:, :, None], axis=1)
        outcome = np.take_along_axis(outcome, order[:, :, None], axis=1)
    decisive = last + counting.lookahead
    if scope.roster_round is not None:
        decisive = np.broadcast_to(scope.roster_round, count)
    here = np.arange(joined.shape[1]) < grid.n_players[seasons][:, None]
    withdrawn = here & (left < decisive[:, None])
    roster = here & (counting.everybody | (joined <= decisive[:, None]))
    if counting.void:
        roster &= ~withdrawn
    outcome = _claims(outcome, whose, numbers, joined, left, roster, withdrawn, played, counting)
    place = _places(grid, seasons, joined.shape[1])
    first = [place[key] for key in counting.start]
    if scope.start is not None:
        first = [scope.start[:, : joined.shape[1]]]
    order = np.argsort(np.lexsort((*reversed(first), ~roster), axis=1), axis=1)
    ties = [key for one in counting.ties for key in (first if one == START else [place[one]])]
    column = np.lexsort((*reversed(ties), ~roster), axis=1)
    if not (column == np.arange(column.shape[1])).all():
        where = np.argsort(column, axis=1)
        outcome = np.take_along_axis(outcome, column[:, None, :], axis=2)
        whose = np.take_along_axis(whose, column[:, None, :], axis=2)
        opponent = np.take_along_axis(where[:, None, :], np.maximum(whose, 0).astype(np.intp), axis=2)
        whose = np.where(whose == NOBODY, NOBODY, opponent).astype(np.int16)
        withdrawn = np.take_along_axis(withdrawn, column, axis=1)
        order = np.take_along_axis(order, column, axis=1)
    start_rank = _inside_first(order, roster.sum(axis=1))
    code, (outcomes, ordinals, nth, epochs) = _codes(outcome, numbers, parts, counting)
    return Coded(
        column=column,
        size=roster.sum(axis=1),
        start=start_rank,
        code=code,
        whose=whose,
        outcome=outcomes,
        ordinal=ordinals,
        nth=nth,
        epoch=epochs,
        counts=_counts(code, len(outcomes)),
        scored=played.sum(axis=1),
        withdrawn=withdrawn,
    )


def _inside_first(order: IntArray, size: IntArray) -> IntArray:
    """Return start ranks in which whoever is outside stands in column order, as later rankings leave him."""
    number = np.arange(order.shape[1])
    return np.where(number < size[:, None], order, number)


def _places(grid: Grid, seasons: IntArray, width: int) -> IntArray:
    """Return the players' places by each tie key, shape [keys, S, N]."""
    return np.array([_padded(key, grid, seasons, width) for key in grid.keys])


def _padded(values: IntArray, grid: Grid, seasons: IntArray, width: int) -> IntArray:
    """Return something of all players as [S, N], the largest number where there is nobody."""
    index = grid.players[seasons][:, None] + np.arange(width)
    inside = index < grid.players[seasons + 1][:, None]
    return np.where(inside, np.append(values, NEVER)[np.where(inside, index, -1)], NEVER)


def _claims(
    outcome: IntArray,
    whose: IntArray,
    numbers: IntArray,
    joined: IntArray,
    left: IntArray,
    roster: BoolArray,
    withdrawn: BoolArray,
    played: BoolArray,
    counting: Counting,
) -> IntArray:
    """Return the outcome each roster player claims in each round, missing rows included."""
    number = numbers[:, :, None]
    early = (joined[:, None, :] > 1) & (number < joined[:, None, :])
    claims = np.where(outcome == 0, np.where(early, counting.before_joining, counting.missing), outcome)
    paired = whose != NOBODY
    opponent = np.maximum(whose, 0).astype(np.intp)
    if not roster.all():
        outside = paired & ~np.take_along_axis(roster[:, None, :], opponent, axis=2)
        if counting.of_left:
            gone = paired & np.take_along_axis(withdrawn[:, None, :], opponent, axis=2)
            claims = np.where(gone, np.asarray(counting.of_left)[claims], claims)
            outside &= ~gone
        claims = np.where(outside, counting.present, claims)
    if not counting.void and (left < NEVER).any():
        # Who has left claims nothing more, but his games stand.
        claims = np.where((number > left[:, None, :]) & ~paired, 0, claims)
    if counting.unpaid:
        begun = np.cumsum(np.asarray(counting.game)[claims], axis=1) > 0
        claims = np.where(np.asarray(counting.counted)[claims] & ~begun, counting.unpaid, claims)
    claims[~(roster[:, None, :] & played[:, :, None])] = 0
    return claims.astype(np.int16)


def _codes(
    outcome: IntArray, numbers: IntArray, parts: IntArray, counting: Counting
) -> tuple[IntArray, tuple[IntArray, ...]]:
    """Return codes numbered from 0 (= nothing), and outcome, ordinal, nth and epoch of each code."""
    counted, capped = np.asarray(counting.counted), np.asarray(counting.capped)
    counts = counted[outcome]
    ordinal = _ordinals(counts, parts if counting.by_part else None)
    nth = np.zeros_like(ordinal)
    for number in np.flatnonzero(capped):
        nth += _ordinals(outcome == number, parts if capped[number] == 2 else None)
    epoch = np.searchsorted(np.asarray(counting.epochs), numbers, side="right") - 1
    epoch = np.where(outcome > 0, np.maximum(epoch, 0)[:, :, None], 0)
    shape = (*(int(one.max(initial=0)) + 1 for one in (epoch, nth, ordinal)), len(counted))
    key = ((epoch * shape[1] + nth) * shape[2] + ordinal) * shape[3] + outcome
    used = np.bincount(key.ravel(), minlength=1) > 0
    used[0] = True
    number_of = np.cumsum(used, dtype=np.int16) - np.int16(1)
    epochs, nths, ordinals, outcomes = np.unravel_index(np.flatnonzero(used), shape)
    return number_of[key], (outcomes, ordinals, nths, epochs)


def _ordinals(counts: BoolArray, parts: IntArray | None) -> IntArray:
    """Return the True cells of each player numbered along the rounds, in each part anew if given; 0 elsewhere."""
    if parts is None:
        return np.cumsum(counts, axis=1, dtype=np.int32) * counts
    # A part may be left and come back: its counter goes on where it was.
    ordinal = np.zeros(counts.shape, dtype=np.int32)
    for part in np.unique(parts):
        inside = counts & (parts == part)[:, :, None]
        ordinal += np.cumsum(inside, axis=1, dtype=np.int32) * inside
    return ordinal


def _counts(code: IntArray, codes: int) -> IntArray:
    """Return how often each player has each code, shape [S, N, C]."""
    seasons, _, width = code.shape
    player = np.arange(seasons)[:, None, None] * width + np.arange(width)
    counts = np.bincount((player * codes + code).ravel(), minlength=seasons * width * codes)
    return counts.reshape(seasons, width, codes)
