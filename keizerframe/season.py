"""`Season`: games, players and rounds of one or many seasons, validated once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from keizerframe.columns import Origin, nullable, text_array
from keizerframe.errors import NoRatingsWarning, RulesError, UnknownNameError, warn_user
from keizerframe.intake import Intake, IntArray
from keizerframe.kernel.grid import Grid
from keizerframe.results import CODES
from keizerframe.rules import Rules


class Season:
    """The games, players and rounds of one or many seasons.

    Parameters
    ----------
    games
        One row per game, or per non-game of a player: round, white, black (missing for a non-game) and
        result; season and board if there are any. A round is numbered from 1.
    players
        One row per player (and season): player; name, rating, joined_round, withdrawn_after, start_rank and
        category if known. None = everybody who has a row.
    rounds
        The rounds played, as numbers or as a frame with round, part and date. Rounds that have rows are
        always rounds; an evening without a single row is one only if it is listed.
    notes
        What a reader inferred.
    rules
        Rule sets that came with the data, by label.
    origins
        For readers: where the rows of each frame stand in their files.

    Attributes
    ----------
    games, players, rounds : pandas.DataFrame
        The three frames with documented columns and dtypes.
    labels : list of str
        The seasons, sorted.

    Raises
    ------
    SeasonError
        With every problem found in ``.problems``.

    Examples
    --------
    >>> import pandas as pd
    >>> games = pd.DataFrame({"round": [1, 1], "white": ["a", "c"], "black": ["b", None],
    ...                       "result": ["1-0", "bye"]})
    >>> players = pd.DataFrame({"player": ["a", "b", "c"], "rating": [1900, 1800, None]})
    >>> Season(games, players)
    <Season: 1 season, 3 players, 1 round, 2 rows>
    """

    def __init__(
        self,
        games: pd.DataFrame,
        players: pd.DataFrame | None = None,
        rounds: pd.DataFrame | Iterable[int] | None = None,
        *,
        notes: Iterable[str] = (),
        rules: Mapping[str, Rules] | None = None,
        origins: Mapping[str, Origin] | None = None,
    ) -> None:
        self.notes = list(notes)
        self.rules = dict(rules or {})
        intake = Intake(games, players, rounds, dict(origins or {}))
        self.notes += intake.notes
        self._games = intake.games
        self.players = intake.player_frame
        self.rounds = intake.round_frame
        self.labels: list[str] = intake.labels
        self.grid: Grid = intake.grid
        #: Which cell of the grid each row of the games fills for White and for Black (-1 = none), shape [2, rows].
        self.cells: IntArray = intake.cells
        #: The names of the parts, in the order of the grid's numbers.
        self.parts: list[str] = intake.part_names
        #: Each player's category as a number, -1 without one.
        self.categories: IntArray = intake.people["category"].codes
        #: Names of the outcomes that the grid's numbers stand for.
        self.outcomes: list[str] = intake.outcomes
        if intake.unrated:
            shown = ", ".join(repr(label) for label in intake.unrated[:3])
            more = ", ..." if len(intake.unrated) > 3 else ""
            warn_user(
                f"no player of season {shown}{more} has a rating: the names' order decides the start order",
                NoRatingsWarning,
            )

    @cached_property
    def games(self) -> pd.DataFrame:
        """The games: season, round, board, white, black, result."""
        coded, length = self._games, len(self._games["round"].codes)
        result = coded["result"]
        known = list(dict.fromkeys([*CODES, *result.values]))
        place = np.array([known.index(value) for value in result.values] + [-1])
        columns: dict[str, Any] = {
            "season": text_array(coded["season"].values, coded["season"].codes),
            "round": pd.Series(coded["round"].filled(0).astype(np.int16)),
            "board": nullable(coded["board"], "Int16"),
            "white": text_array(coded["white"].values, coded["white"].codes),
            "black": text_array(coded["black"].values, coded["black"].codes),
            "result": pd.Series(pd.Categorical.from_codes(place[result.codes], categories=pd.Index(known))),
        }
        return pd.DataFrame(columns, index=pd.RangeIndex(length))

    def select(self, label: str | int | Iterable[str | int]) -> Season:
        """Return the season called `label` (or the seasons, for several labels).

        Raises
        ------
        UnknownNameError
            If there is no such season; the message names those there are.
        """
        # Labels are text, also those given as integers to the constructor.
        wanted = [str(one) for one in ([label] if isinstance(label, str | int) else label)]
        if unknown := [one for one in wanted if one not in self.labels]:
            raise UnknownNameError("season", unknown[0], self.labels)
        frames = [frame[frame["season"].isin(wanted)] for frame in (self.games, self.players, self.rounds)]
        return Season(*frames, notes=self.notes, rules=self.rules)

    def with_parts(self, parts: Mapping[str, tuple[int, int]]) -> Season:
        """Return the season with its rounds divided into parts.

        Parameters
        ----------
        parts
            Name of a part -> its first and last round, the same in all seasons. Rounds in none of them have no
            part.

        Raises
        ------
        RulesError
            If a part has no rounds, or two parts share one.

        Examples
        --------
        >>> import keizerframe as kf
        >>> season = kf.load_dataset("waagtoren").select("2018-19")
        >>> halves = season.with_parts({"autumn": (1, 15), "spring": (16, 30)})
        >>> halves.rounds["part"].value_counts(sort=False).to_dict()
        {'autumn': 15, 'spring': 15}
        """
        named: dict[int, str] = {}
        problems = [f"part {name!r}: rounds {a} to {b} are none" for name, (a, b) in parts.items() if not 1 <= a <= b]
        for name, (first, last) in parts.items():
            if twice := [number for number in range(first, last + 1) if number in named]:
                problems.append(f"part {name!r}: round {twice[0]} belongs to part {named[twice[0]]!r} already")
            named |= dict.fromkeys(range(first, last + 1), name)
        if problems:
            raise RulesError(problems)
        rounds = self.rounds.assign(part=self.rounds["round"].map(named))
        return Season(self.games, self.players, rounds, notes=self.notes, rules=self.rules)

    def __len__(self) -> int:
        """Return the number of seasons."""
        return len(self.labels)

    def __repr__(self) -> str:
        counts = [
            (len(self.labels), "season"),
            (len(self.players), "player"),
            (len(self.rounds), "round"),
            (len(self._games["round"].codes), "row"),
        ]
        return "<Season: " + ", ".join(f"{n} {word}{'s' * (n != 1)}" for n, word in counts) + ">"


@dataclass(frozen=True, slots=True)
class Frames:
    """What a reader found, before anything of it is checked; the parameters are those of `Season`."""

    games: pd.DataFrame
    players: pd.DataFrame | None = None
    rounds: pd.DataFrame | None = None
    origins: Mapping[str, Origin] = field(default_factory=dict)
    rules: Mapping[str, Rules] = field(default_factory=dict)

    def season(self) -> Season:
        """Return the checked Season."""
        return Season(self.games, self.players, self.rounds, rules=self.rules, origins=self.origins)

    def named(self) -> dict[str, pd.DataFrame]:
        """Return the frames there are, by name."""
        frames = {"games": self.games, "players": self.players, "rounds": self.rounds}
        return {name: frame for name, frame in frames.items() if frame is not None}


def as_season(data: Season | pd.DataFrame) -> Season:
    """Return a Season as it is, a games frame as a Season."""
    return data if isinstance(data, Season) else Season(data)


def concat(seasons: Iterable[Season]) -> Season:
    """Return several seasons as one object.

    Raises
    ------
    SeasonError
        If two of them hold the same player under the same season label.

    Examples
    --------
    >>> import keizerframe as kf
    >>> both = kf.load_dataset("waagtoren")
    >>> kf.concat([both.select("2018-19"), both.select("2023-24")]).labels
    ['2018-19', '2023-24']
    """
    parts = list(seasons)
    frames = [pd.concat([getattr(part, name) for part in parts]) for name in ("games", "players", "rounds")]
    notes = list(dict.fromkeys(note for part in parts for note in part.notes))
    rules: dict[str, Rules] = {}
    for part in parts:
        rules |= part.rules
    return Season(*frames, notes=notes, rules=rules)
