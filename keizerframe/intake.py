"""Reading the frames of a season: every column read once, everything checked, the grid laid out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from keizerframe.columns import (
    Coded,
    Origin,
    Problems,
    alphabetical,
    dense_places,
    id_key,
    is_missing,
    join_ids,
    nullable,
    read_column,
    read_id,
    text_array,
    whole_number,
)
from keizerframe.errors import SeasonError, nearest
from keizerframe.kernel.grid import NEVER, NOBODY, Grid
from keizerframe.results import (
    GAME_CODES,
    OUTCOME_NUMBER,
    OUTCOMES,
    base_outcome,
    parse_result,
    suggest_result,
)

IntArray = npt.NDArray[np.integer]

GAME_COLUMNS = ("season", "round", "board", "white", "black", "result")
PLAYER_COLUMNS = (
    "season",
    "player",
    "name",
    "rating",
    "joined_round",
    "withdrawn_after",
    "start_rank",
    "category",
)
ROUND_COLUMNS = ("season", "round", "part", "date")
_LARGEST_ROUND = 32767


class Intake:
    """One pass over the given frames: read every column, check everything, lay out the grid."""

    def __init__(
        self,
        games: pd.DataFrame,
        players: pd.DataFrame | None,
        rounds: pd.DataFrame | Iterable[int] | None,
        origins: dict[str, Origin],
    ) -> None:
        self.problems = Problems()
        self.notes: list[str] = []
        self.origins = {name: origins.get(name, Origin()) for name in ("games", "players", "rounds")}
        listed, everywhere = _round_list(rounds)
        self._check_columns(games, players, listed)
        self._read_games(games)
        self.given = players is not None
        self._read_players(players)
        self._read_rounds(listed)
        self._number_seasons(everywhere)
        self._number_players()
        self._number_rounds(everywhere)
        self._check_rows()
        self._check_twice()
        self._raise()
        self._place_players()
        self._build_grid()

    def _raise(self) -> None:
        if self.problems.rows:
            raise SeasonError(self.problems.frame())

    # --- columns

    def _check_columns(self, games: pd.DataFrame, players: pd.DataFrame | None, rounds: pd.DataFrame) -> None:
        needed = {"games": ("round", "white", "result"), "players": ("player",), "rounds": ("round",)}
        known = {"games": GAME_COLUMNS, "players": PLAYER_COLUMNS, "rounds": ROUND_COLUMNS}
        for name, frame in (("games", games), ("players", players), ("rounds", rounds)):
            if frame is None:
                continue
            columns = [str(column) for column in frame.columns]
            for column in sorted({column for column in columns if columns.count(column) > 1}):
                self.problems.add(
                    f"{name} has the column {column!r} twice",
                    hint="drop or rename one of them",
                    origin=self.origins[name],
                    column=column,
                )
            extra = [column for column in columns if column not in known[name]]
            for column in needed[name]:
                if column not in columns:
                    close = nearest(column, extra)
                    hint = f"rename {close[0]!r} to {column!r}" if close else f"add a column {column!r}"
                    self.problems.add(
                        f"{name} lacks the column {column!r}",
                        hint=hint,
                        origin=self.origins[name],
                        column=column,
                    )
            if extra:
                self.notes.append(f"{name}: columns not used: {', '.join(extra)}")
        self._raise()

    def _column(self, frame: pd.DataFrame, name: str, column: str, read: Any) -> Coded:
        def note(position: int, value: Any, what: str, hint: str = "") -> None:
            self._note(name, position, what, hint, column=column, value=value)

        return read_column(frame.get(column), len(frame), read, note)

    def _note(self, name: str, position: int, what: str, hint: str = "", **where: Any) -> None:
        """Note a problem of one row, with its season and round as far as they could be read."""
        table = getattr(self, {"games": "games", "players": "people", "rounds": "listed"}[name], {})
        for key in ("season", "round"):
            if key in table and where.get(key) is None:
                where[key] = table[key].at(position)
        where["season"] = where.get("season") or ""
        self.problems.add(what, hint=hint, origin=self.origins[name], position=position, **where)

    def _read_games(self, frame: pd.DataFrame) -> None:
        read: dict[str, Any] = {
            "season": read_id,
            "round": whole_number(1, _LARGEST_ROUND, "round"),
            "board": whole_number(0, _LARGEST_ROUND, "board"),
            "white": read_id,
            "black": read_id,
            "result": _read_result,
        }
        self.games: dict[str, Coded] = {}
        bad_before: dict[str, set[int]] = {}
        for column, reader in read.items():
            known = len(self.problems.rows)
            self.games[column] = self._column(frame, "games", column, reader)
            rows = self.problems.rows[known:]
            bad_before[column] = {row["row"] for row in rows}
        needed = [column for column in ("season", "round", "white", "result") if column in frame]
        if not self.games["season"].values and "season" in needed:
            # One season labelled '': an all-empty column is no column.
            needed.remove("season")
        for column in needed:
            for position in np.flatnonzero(self.games[column].codes < 0):
                if self.origins["games"].row(int(position)) not in bad_before[column]:
                    hint = "* is an unfinished game" if column == "result" else "fill it in, or delete the row"
                    what = "missing player id" if column == "white" else f"missing {column}"
                    self._note("games", int(position), what, hint, column=column)

    def _read_players(self, frame: pd.DataFrame | None) -> None:
        if frame is None:
            frame = self._everybody()
        read: dict[str, Any] = {
            "season": read_id,
            "player": read_id,
            "name": read_id,
            "rating": whole_number(0, 10**6, "rating"),
            "joined_round": whole_number(0, _LARGEST_ROUND, "joined_round"),
            "withdrawn_after": whole_number(0, _LARGEST_ROUND, "withdrawn_after"),
            "start_rank": whole_number(0, 10**6, "start_rank"),
            "category": read_id,
        }
        self.people: dict[str, Coded] = {}
        for column, reader in read.items():
            self.people[column] = self._column(frame, "players", column, reader)
        self._note_empty("players", frame, self.people, {"player": "missing player id"})

    def _note_empty(self, name: str, frame: pd.DataFrame, table: dict[str, Coded], needed: dict[str, str]) -> None:
        """Note empty cells of columns that must be full; season must be if any of its cells is."""
        if table["season"].values:
            needed = needed | {"season": "missing season"}
        for column, what in needed.items():
            for position in np.flatnonzero(table[column].codes < 0):
                if is_missing(frame[column].iloc[int(position)]):
                    self._note(name, int(position), what, "fill it in, or delete the row", column=column)

    def _everybody(self) -> pd.DataFrame:
        """Return a players frame of everybody who has a row."""
        ids, (white, black) = join_ids([self.games["white"], self.games["black"]])
        season = self.games["season"]
        known = white >= 0
        pairs = np.concatenate(
            [
                season.codes[known] * len(ids) + white[known],
                season.codes[black >= 0] * len(ids) + black[black >= 0],
            ]
        )
        found = np.unique(pairs)
        # A missing season has code -1, and so has its quotient here.
        labels = text_array([*season.values], found // max(len(ids), 1))
        frame = pd.DataFrame({"player": text_array(ids, found % max(len(ids), 1))})
        return frame.assign(season=labels) if season.values else frame

    def _read_rounds(self, frame: pd.DataFrame) -> None:
        self.listed: dict[str, Coded] = {}
        readers = {"season": read_id, "round": whole_number(1, _LARGEST_ROUND, "round"), "part": read_id}
        for column, reader in readers.items():
            self.listed[column] = self._column(frame, "rounds", column, reader)
        self._note_empty("rounds", frame, self.listed, {"round": "missing round"})
        dates = frame["date"] if "date" in frame else pd.Series([None] * len(frame))
        # Dates stay text as they were written; a date type becomes year-month-day.
        if pd.api.types.is_datetime64_any_dtype(dates):
            dates = dates.dt.strftime("%Y-%m-%d")
        self.dates = pd.concat([dates, pd.Series([None], dtype="object")], ignore_index=True).astype("str")

    # --- numbering

    def _number_seasons(self, everywhere: bool) -> None:
        tables = (self.games, self.people, self.listed)
        named = [set(table["season"].values) for table in tables]
        names = set().union(*named)
        self.labels = sorted(names) or [""]
        number = {label: i for i, label in enumerate(self.labels)}
        codes = []
        for name, table, own in zip(("games", "players", "rounds"), tables, named, strict=True):
            season = table["season"]
            if not own and len(self.labels) > 1 and len(season.codes) and not (name == "rounds" and everywhere):
                self.problems.add(
                    f"{name} has no column season, but there are {len(self.labels)} seasons",
                    hint="add the column season",
                    origin=self.origins[name],
                    column="season",
                )
            table_codes = np.array([number[value] for value in season.values] + [-1])[season.codes]
            if not own and len(self.labels) == 1:
                table_codes = np.zeros(len(season.codes), dtype=np.int64)
                table["season"] = Coded(table_codes, self.labels)
            codes.append(table_codes)
        self._raise_if_unnumbered()
        self.game_season, self.player_season, self.round_season = codes

    def _raise_if_unnumbered(self) -> None:
        if any(row["column"] == "season" and row["row"] is None for row in self.problems.rows):
            self._raise()

    def _number_players(self) -> None:
        """Find everybody's row among the players."""
        self.ids, (white, black, player) = join_ids([self.games["white"], self.games["black"], self.people["player"]])
        count = max(len(self.ids), 1)
        key = self.player_season * count + player
        valid = (player >= 0) & (self.player_season >= 0)
        first: dict[int, int] = {}
        positions = np.flatnonzero(valid)
        repeated = pd.Series(key[valid]).duplicated().to_numpy()
        if repeated.any():
            first = dict(zip(key[valid][~repeated].tolist(), positions[~repeated].tolist(), strict=True))
        for position in positions[repeated]:
            row = self.origins["players"].row(first[int(key[position])])
            self._note(
                "players",
                int(position),
                "duplicate player",
                f"he is already in row {row}: keep one",
                column="player",
                value=self.ids[player[position]],
            )
        index = pd.Index(key[valid][~repeated])
        place = np.append(positions[~repeated], -1)
        self.side = {}
        for column, codes in (("white", white), ("black", black)):
            wanted = np.where((codes >= 0) & (self.game_season >= 0), self.game_season * count + codes, -1)
            self.side[column] = place[index.get_indexer(pd.Index(wanted))]
            self._check_known(column, codes, self.side[column])

    def _check_known(self, column: str, codes: IntArray, found: IntArray) -> None:
        unknown = np.flatnonzero((codes >= 0) & (found < 0) & (self.game_season >= 0))
        like: dict[tuple[int, int], list[str]] = {}
        for position in unknown:
            season, name = int(self.game_season[position]), self.ids[codes[position]]
            # Each name is compared with all players once, however many rows it has.
            if (key := (season, int(codes[position]))) not in like:
                known = [self.people["player"].at(int(p)) for p in np.flatnonzero(self.player_season == season)]
                like[key] = nearest(name, [one for one in known if one])
            close = like[key]
            hint = f"did you mean {' or '.join(close)}?" if close else "add the player to the players"
            self._note("games", int(position), "unknown player", hint, column=column, value=name)

    def _number_rounds(self, everywhere: bool) -> None:
        """List the rounds of every season; `self.cell_round` is each row's place among them."""
        numbers = sorted({*self.games["round"].values, *self.listed["round"].values})
        column = {number: i for i, number in enumerate(numbers)}
        width, count = len(numbers), len(self.labels)
        table = [np.array([column[v] for v in t["round"].values] + [-1]) for t in (self.games, self.listed)]
        row_round = table[0][self.games["round"].codes]
        list_round = table[1][self.listed["round"].codes]
        present = np.zeros((count, max(width, 1)), dtype=bool)
        source = np.full(present.shape, -1)
        valid = (row_round >= 0) & (self.game_season >= 0)
        present[self.game_season[valid], row_round[valid]] = True
        ok = np.flatnonzero((list_round >= 0) & (everywhere | (self.round_season >= 0)))
        for position in ok:
            where = slice(None) if everywhere else self.round_season[position]
            if np.any(source[where, list_round[position]] >= 0):
                self._note("rounds", int(position), "round listed twice", "keep one", column="round")
            source[where, list_round[position]] = position
            present[where, list_round[position]] = True
        place = np.cumsum(present, axis=1) - 1
        self.cell_round = np.where(valid, place[self.game_season, row_round], -1)
        self.round_of_season, which = np.nonzero(present)
        self.numbers = np.asarray(numbers, dtype=np.int32)[which] if width else np.zeros(0, dtype=np.int32)
        listing = source[self.round_of_season, which] if width else np.zeros(0, dtype=np.int64)
        part = self.listed["part"]
        #: The part of each round as a number; rounds without one are together.
        self.parts = np.append(part.codes, -1)[listing]
        self.part_names = part.values
        self.round_frame = pd.DataFrame(
            {
                "season": text_array(self.labels, self.round_of_season),
                "round": self.numbers.astype(np.int16),
                "part": text_array(part.values, np.append(part.codes, -1)[listing]),
                "date": self.dates.array.take(listing),
            }
        )

    # --- rows

    def _check_rows(self) -> None:
        """Check what a row's columns say of each other."""
        result = self.games["result"]
        is_game = np.array([code in GAME_CODES for code in result.values] + [False])[result.codes]
        known = result.codes >= 0
        white, black = self.games["white"], self.games["black"]
        alone = black.codes < 0
        spelled = {row["row"] for row in self.problems.rows if row["column"] == "black"}
        checks = (
            (
                is_game & alone,
                "a game without an opponent",
                "name the opponent, or use a non-game code such as bye",
                "black",
            ),
            (
                known & ~is_game & ~alone,
                "a game on a non-game code",
                "leave black empty, or use a game code such as 1-0",
                "result",
            ),
            (self._same_player(), "a player against himself", "leave black empty for a non-game", "black"),
        )
        for mask, what, hint, column in checks:
            for position in np.flatnonzero(mask):
                if column != "black" or self.origins["games"].row(int(position)) not in spelled:
                    value = {"black": black, "white": white, "result": result}[column].at(int(position))
                    self._note("games", int(position), what, hint, column=column, value=value)
        self._check_joined(is_game)

    def _same_player(self) -> npt.NDArray[np.bool_]:
        _, (white, black) = join_ids([self.games["white"], self.games["black"]])
        return np.asarray((white == black) & (white >= 0))

    def _check_joined(self, is_game: npt.NDArray[np.bool_]) -> None:
        joined = np.append(self.people["joined_round"].filled(0), 0)
        number = self.games["round"].filled(0)
        for column, found in self.side.items():
            early = is_game & (found >= 0) & (number > 0) & (number < joined[found])
            for position in np.flatnonzero(early):
                entry = joined[found[position]]
                self._note(
                    "games",
                    int(position),
                    f"a game in round {number[position]} before the player joined in round {entry}",
                    "correct joined_round, or the round",
                    column=column,
                    value=self.games[column].at(int(position)),
                )

    # --- layout

    def _place_players(self) -> None:
        """Order the players of each season by rating, name and id: the order ties fall in."""
        people, length = self.people, len(self.player_season)
        ids = np.asarray(people["player"].values, dtype=object)[people["player"].codes]
        names = np.asarray([*people["name"].values, ""], dtype=object)[people["name"].codes]
        names = np.where(people["name"].codes < 0, ids, names)
        rating = people["rating"].filled(0)
        by_id = alphabetical(ids, key=id_key)
        order = np.lexsort((by_id, alphabetical(names), -rating, self.player_season))
        given = people["start_rank"].filled(NEVER)
        self.keys = np.array([dense_places(-rating), alphabetical(names), by_id, given])[:, order]
        #: The place of each given player row.
        self.place = np.empty(length + 1, dtype=np.int64)
        self.place[order] = np.arange(length)
        self.place[-1] = -1
        people = {name: Coded(column.codes[order], column.values) for name, column in people.items()}
        self.player_season = self.player_season[order]
        self.player_frame = pd.DataFrame(
            {
                "season": text_array(self.labels, self.player_season),
                "player": text_array(people["player"].values, people["player"].codes),
                "name": text_array(people["name"].values, people["name"].codes),
                "rating": nullable(people["rating"], "Int32"),
                "joined_round": nullable(people["joined_round"], "Int32"),
                "withdrawn_after": nullable(people["withdrawn_after"], "Int32"),
                "start_rank": nullable(people["start_rank"], "Int32"),
                "category": text_array(people["category"].values, people["category"].codes),
            }
        )
        rated = np.bincount(self.player_season[people["rating"].codes >= 0], minlength=len(self.labels)) > 0
        populated = np.bincount(self.player_season, minlength=len(self.labels)) > 1
        self.unrated = [self.labels[s] for s in np.flatnonzero(populated & ~rated)]
        self.people = people

    def _build_grid(self) -> None:
        seasons = len(self.labels)
        n_players = np.bincount(self.player_season, minlength=seasons)
        n_rounds = np.bincount(self.round_of_season, minlength=seasons)
        starts = [np.concatenate([[0], np.cumsum(n)]) for n in (n_players, n_rounds, n_players * n_rounds)]
        players, rounds, cells = starts
        white, black = (self.place[self.side[column]] for column in ("white", "black"))
        base = cells[self.game_season] + self.cell_round * n_players[self.game_season] - players[self.game_season]
        code = self.games["result"].codes
        self.outcomes, numbers = _outcome_numbers(self.games["result"].values)
        outcome = np.zeros(cells[-1], dtype=np.int16)
        whose = np.full(cells[-1], NOBODY, dtype=np.int16)
        #: Which cell of the grid White's and Black's row of the games stands in, -1 without one, shape [2, rows].
        self.cells = np.where(np.array([white, black]) >= 0, base + np.array([white, black]), -1)
        sides = ((white, black, base + white, code, 0), (black, white, base + black, code, 1))
        for me, other, cell, result, side in sides:
            mine = me >= 0
            outcome[cell[mine]] = numbers[result[mine], side]
            paired = mine & (other >= 0)
            whose[cell[paired]] = (other - players[self.game_season])[paired]
        self.grid = Grid(
            players=players,
            rounds=rounds,
            cells=cells,
            joined=self.people["joined_round"].filled(0).astype(np.int32),
            left=self.people["withdrawn_after"].filled(NEVER).astype(np.int32),
            keys=self.keys,
            numbers=self.numbers,
            parts=self.parts,
            whose=whose,
            outcome=outcome,
        )

    def _check_twice(self) -> None:
        """Check that no player has two rows in a round."""
        width = int(self.cell_round.max(initial=0)) + 1
        # Who and when, for every White and then every Black whose player and round could be read.
        key = np.concatenate([self.side[column] * width + self.cell_round for column in ("white", "black")])
        known = np.concatenate([(self.side[column] >= 0) & (self.cell_round >= 0) for column in ("white", "black")])
        place = np.flatnonzero(known)
        if len(place) == 0 or np.bincount(key[known]).max() < 2:
            return
        length = len(self.game_season)
        place = place[np.lexsort((place, place % length))]
        first: dict[int, int] = {}
        for who, position in zip(key[place].tolist(), place.tolist(), strict=True):
            here, there = position % length, first.setdefault(who, position) % length
            if here == there:
                continue
            column = "white" if position < length else "black"
            self._note(
                "games",
                here,
                "a player twice in a round",
                f"he also has row {self.origins['games'].row(there)}: delete one of them",
                column=column,
                value=self.games[column].at(here),
            )


def _read_result(value: Any) -> str:
    code = parse_result(value) if isinstance(value, str) else None
    if code is None:
        raise ValueError("unknown result", suggest_result(str(value)))
    return code


def _round_list(rounds: pd.DataFrame | Iterable[int] | None) -> tuple[pd.DataFrame, bool]:
    """Return the listed rounds as a frame, and whether they hold for every season."""
    if rounds is None:
        return pd.DataFrame({"round": pd.Series(dtype="int16")}), False
    if isinstance(rounds, pd.DataFrame):
        return rounds, "season" not in rounds
    return pd.DataFrame({"round": pd.Series(list(rounds), dtype="object")}), True


def _outcome_numbers(results: Sequence[str]) -> tuple[list[str], IntArray]:
    """Return the names of the outcomes, and for each result the numbers of White's and Black's."""
    names = [outcome.name for outcome in OUTCOMES]
    number = dict(OUTCOME_NUMBER)
    table = np.zeros((len(results) + 1, 2), dtype=np.int16)
    for i, result in enumerate(results):
        for side, outcome in enumerate(GAME_CODES.get(result, (result, result))):
            if outcome not in number and base_outcome(outcome) in number:
                number[outcome] = len(names)
                names.append(outcome)
            table[i, side] = number[outcome]
    return names, table
