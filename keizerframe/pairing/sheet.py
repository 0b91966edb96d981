"""The pairing sheet: the ranking a round is paired from, and the rows that come of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from keizerframe.pairing.history import History
from keizerframe.pairing.options import Bye

_TEXT_COLUMNS = ("season", "white", "black", "result", "note")
_WHOLE_COLUMNS = {
    "round": "int16",
    "board": "Int16",
    "white_rank": "Int32",
    "black_rank": "Int32",
    "last_meeting": "Int16",
    "white_balance": "Int16",
    "black_balance": "Int16",
}
PAIR_COLUMNS = (
    "season",
    "round",
    "board",
    "white",
    "black",
    "result",
    "white_rank",
    "black_rank",
    "white_value_number",
    "black_value_number",
    "last_meeting",
    "white_balance",
    "black_balance",
    "note",
)


@dataclass(frozen=True, slots=True)
class Table:
    """The ranking a round is paired from; players are numbered by their place in it."""

    label: str
    round: int
    first_board: int
    ids: Sequence[str]
    values: Sequence[float]
    place: Mapping[str, int]
    history: History
    gap: int

    def name(self, player: int) -> str:
        """Return the id of a player."""
        return self.ids[player]

    def blocked(self, one: int, other: int) -> bool:
        """Return whether two players met so lately that they should not meet."""
        met = int(self.history.met[one, other])
        return met > 0 and self.round - met <= self.gap

    def candidates(self, players: Sequence[int], bye: Bye) -> list[int]:
        """Return the players in the order in which the bye falls to them."""
        byes = self.history.byes if bye == "fewest" else np.zeros(len(self.place), dtype=np.int64)
        return sorted(players, key=lambda player: (byes[player], -player))

    def board(self, board: int, white: int, black: int, note: str) -> dict[str, Any]:
        """Return the row of a game."""
        return {
            **self._row(board, self.name(white), "*", note),
            **self._side("black", self.name(black)),
            "last_meeting": int(self.history.met[white, black]) or None,
        }

    def bye(self, player: str, code: str, note: str) -> dict[str, Any]:
        """Return the row of a non-game."""
        return self._row(None, player, code, note)

    def _row(self, board: int | None, white: str, result: str, note: str) -> dict[str, Any]:
        facts = {"season": self.label, "round": self.round, "board": board, "result": result, "note": note}
        return {**facts, **self._side("white", white)}

    def _side(self, side: str, player: str) -> dict[str, Any]:
        place = self.place.get(player)
        row: dict[str, Any] = {side: player}
        if place is not None:
            row[f"{side}_rank"] = place + 1
            row[f"{side}_value_number"] = self.values[place]
            row[f"{side}_balance"] = int(self.history.balance[place])
        return row


def sheet_frame(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return the rows as a frame with the documented columns."""
    columns: dict[str, Any] = {}
    for name in PAIR_COLUMNS:
        values = [row.get(name) for row in rows]
        dtype: Any = "str" if name in _TEXT_COLUMNS else _WHOLE_COLUMNS.get(name, "float64")
        columns[name] = pd.Series(values, dtype=dtype)
    return pd.DataFrame(columns, columns=list(PAIR_COLUMNS), index=pd.RangeIndex(len(rows)))


def for_people(sheet: pd.DataFrame, players: pd.DataFrame) -> pd.DataFrame:
    """Return a sheet as it hangs on the wall: names where they are known, and one column for both ranks.

    Parameters
    ----------
    sheet
        What `pair` returned.
    players
        The players frame of the season.
    """
    known = players.dropna(subset=["name"])
    names = {player: f"{name} ({player})" for player, name in zip(known["player"], known["name"], strict=True)}

    def who(ids: pd.Series[Any]) -> pd.Series[Any]:
        return pd.Series([names.get(player, player) for player in ids], dtype="str")

    whole = {side: sheet[f"{side}_rank"].astype("str").fillna("") for side in ("white", "black")}
    games = sheet["black"].notna()
    return pd.DataFrame(
        {
            "board": sheet["board"],
            "white": who(sheet["white"]),
            "black": who(sheet["black"]).where(games, sheet["result"]),
            "ranks": (whole["white"] + " - " + whole["black"]).where(games, whole["white"]),
            "last met": sheet["last_meeting"],
            "note": sheet["note"],
        }
    )
