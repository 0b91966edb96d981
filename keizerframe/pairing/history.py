"""Who met whom, with which colours and byes: what pairing has to know of the rounds before."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from keizerframe.results import GAME_CODES, base_outcome
from keizerframe.season import Season

IntArray = npt.NDArray[np.integer]
BoolArray = npt.NDArray[np.bool_]

WHITE, BLACK = 1, -1
#: Games that count as a meeting and give a colour: those at the board, finished or not. A forfeit is neither.
MEETINGS = tuple(code for code in GAME_CODES if not code.endswith("f"))


@dataclass(frozen=True, slots=True)
class History:
    """The rounds before the one to pair; players are numbered as the caller numbered them.

    Parameters
    ----------
    met
        The last round in which two players met, 0 = never, shape [N, N].
    had_white
        Whether the first was White when they last met, shape [N, N].
    colours
        WHITE, BLACK or 0 = no colour, in the order of the rounds, shape [R, N].
    byes
        Pairing-allocated byes so far, shape [N].
    """

    met: IntArray
    had_white: BoolArray
    colours: IntArray
    byes: IntArray

    @property
    def balance(self) -> IntArray:
        """Whites less Blacks, shape [N]."""
        return np.asarray(self.colours.sum(axis=0, dtype=np.int64))

    @property
    def whites(self) -> IntArray:
        """Games with White, shape [N]."""
        return np.asarray(np.count_nonzero(self.colours == WHITE, axis=0))

    def sequence(self, player: int) -> list[int]:
        """Return the colours of one player, first to last."""
        column = self.colours[:, player]
        return [int(colour) for colour in column[column != 0]]


def history_of(season: Season, players: list[str], before: int) -> History:
    """Return what happened before a round.

    Parameters
    ----------
    season
        One season.
    players
        The ids, in the order in which the arrays shall number them; games with others still give a colour.
    before
        The round to pair.
    """
    games = season.games
    games = games[games["round"] < before]
    rounds, row = np.unique(games["round"].to_numpy(), return_inverse=True)
    index, count = pd.Index(players, dtype="str"), len(players)
    white, black = index.get_indexer(pd.Index(games["white"])), index.get_indexer(pd.Index(games["black"]))
    is_meeting = games["result"].isin(MEETINGS).to_numpy()
    colours = np.zeros((len(rounds), count), dtype=np.int8)
    for side, colour in ((white, WHITE), (black, BLACK)):
        known = is_meeting & (side >= 0)
        colours[row[known], side[known]] = colour
    both = np.flatnonzero(is_meeting & (white >= 0) & (black >= 0))
    w, b, when = white[both], black[both], rounds[row[both]]
    met = np.zeros((count, count), dtype=np.int64)
    had_white = np.zeros((count, count), dtype=bool)
    for i, j, first in ((w, b, True), (b, w, False)):
        np.maximum.at(met, (i, j), when)
        latest = met[i, j] == when
        had_white[i[latest], j[latest]] = first
    is_bye = np.array([base_outcome(code) == "bye" for code in games["result"].cat.categories])
    given = (is_bye[games["result"].cat.codes] if len(games) else np.zeros(0, dtype=bool)) & (white >= 0)
    return History(met, had_white, colours, np.bincount(white[given], minlength=count))
