"""`round_robin`: a whole schedule from the Berger tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from keizerframe.columns import read_id
from keizerframe.errors import PairingError, nearest
from keizerframe.results import CODES

_LAST_ROUND = 32767


def round_robin(
    players: Iterable[Any] | pd.DataFrame,
    *,
    cycles: int = 1,
    color_balance: bool = True,
    swap_last_two_rounds: bool = True,
    withdrawn: Mapping[Any, int] | None = None,
) -> pd.DataFrame:
    """Build the schedule of an all-play-all competition.

    Parameters
    ----------
    players
        The ids in the order of their numbers, or a players frame.
    cycles
        How often everybody meets.
    color_balance
        Reverse the colours in every second cycle.
    swap_last_two_rounds
        With exactly two cycles, exchange the last two rounds of the first, so that nobody has the same colour
        three times in a row.
    withdrawn
        Player -> the last round he plays. The opponents of his later games have a bye; the schedule stays.

    Returns
    -------
    pandas.DataFrame
        A games frame: season, round, board, white, black (missing = bye) and result (``*`` until played).

    Raises
    ------
    PairingError
        Naming everything that is wrong with the players, the cycles and the withdrawals.

    References
    ----------
    FIDE Handbook C.05, Annex 1, "Details of Berger Table".

    Examples
    --------
    >>> round_robin(["a", "b", "c"])[["round", "board", "white", "black", "result"]]
       round  board white black result
    0      1      1     b     c      *
    1      1   <NA>     a   NaN    bye
    2      2      1     a     b      *
    3      2   <NA>     c   NaN    bye
    4      3      1     c     a      *
    5      3   <NA>     b   NaN    bye
    """
    ids, left = _read(players, cycles, withdrawn or {})
    rows: list[tuple[int, int | None, str, str | None, str]] = []
    order = _order(len(ids), cycles, swap_last_two_rounds)
    for number, (cycle, round_of_cycle) in enumerate(order, start=1):
        playing = [player for player in ids if left.get(player, number) >= number]
        present, board, byes = set(playing), 0, []
        for i, j in berger(len(ids), round_of_cycle):
            white, black = (ids[k] if k < len(ids) and ids[k] in present else None for k in (i, j))
            if color_balance and cycle % 2:
                white, black = black, white
            if white and black:
                board += 1
                rows.append((number, board, white, black, "*"))
            elif alone := white or black:
                byes.append((number, None, alone, None, "bye"))
        rows += byes
    columns = list(zip(*rows, strict=True)) or [()] * 5
    return pd.DataFrame(
        {
            "season": pd.Series([""] * len(rows), dtype="str"),
            "round": pd.Series(columns[0], dtype="int16"),
            "board": pd.array(list(columns[1]), dtype="Int16"),
            "white": pd.Series(columns[2], dtype="str"),
            "black": pd.Series(columns[3], dtype="str"),
            "result": pd.Categorical(columns[4], categories=CODES),
        }
    )


def berger(players: int, round_of_cycle: int) -> Iterator[tuple[int, int]]:
    """Yield the pairs of one round as numbers from 0, White first.

    Parameters
    ----------
    players
        How many; with an odd number the last number paired is nobody's.
    round_of_cycle
        The round, from 0.

    Examples
    --------
    >>> list(berger(4, 1))
    [(3, 2), (0, 1)]
    """
    n = players + players % 2
    rounds = n - 1
    at = [(place - round_of_cycle * (n // 2 - 1)) % rounds for place in range(rounds)] + [rounds]
    for place in range(n // 2):
        pair = at[place], at[n - 1 - place]
        yield pair[::-1] if place == 0 and round_of_cycle % 2 else pair


def _order(players: int, cycles: int, swap: bool) -> list[tuple[int, int]]:
    """Return cycle and round of the cycle, from 0, of every round of the schedule."""
    rounds = players + players % 2 - 1
    order = [(cycle, one) for cycle in range(cycles) for one in range(rounds)]
    if swap and cycles == 2 and rounds > 1:
        order[rounds - 2], order[rounds - 1] = order[rounds - 1], order[rounds - 2]
    return order


def _read(
    players: Iterable[Any] | pd.DataFrame, cycles: Any, withdrawn: Mapping[Any, int]
) -> tuple[list[str], dict[str, int]]:
    """Return the ids, and the last round of those who leave.

    Raises
    ------
    PairingError
        Naming everything that is wrong.
    """
    problems: list[str] = []
    if isinstance(players, pd.DataFrame):
        if "player" not in players:
            raise PairingError(["players: the frame has no column 'player'"])
        players = players["player"]
    ids: list[str] = []
    for value in [players] if isinstance(players, str) else players:
        try:
            player = read_id(value)
            if not player.strip():
                raise ValueError("empty", "name the player")
        except ValueError as fault:
            problems.append(f"players: {value!r} is {fault.args[0]}: {fault.args[1]}")
            continue
        if player in ids:
            problems.append(f"players: {player!r} is named twice: once will do")
        else:
            ids.append(player)
    whole = isinstance(cycles, int | np.integer) and not isinstance(cycles, bool)
    if not whole or cycles < 1:
        problems.append(f"cycles = {cycles!r}: give a whole number from 1")
    elif (rounds := cycles * (len(ids) + len(ids) % 2 - 1)) > _LAST_ROUND:
        problems.append(f"cycles = {cycles!r}: {rounds} rounds, but the last there can be is {_LAST_ROUND}")
    left: dict[str, int] = {}
    for key, last in withdrawn.items():
        if str(key) not in ids:
            close = nearest(str(key), ids)
            hint = f"did you mean {' or '.join(close)}?" if close else "name one of the players"
            problems.append(f"withdrawn: unknown player {key!r}; {hint}")
        if not isinstance(last, int | np.integer) or isinstance(last, bool) or last < 0:
            problems.append(f"withdrawn: {last!r} for {key!r}: give the last round played, from 0")
        left[str(key)] = last
    if problems:
        raise PairingError(problems)
    return ids, left
