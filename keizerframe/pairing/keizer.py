"""`pair`: the next round of a Keizer competition."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from keizerframe.catalog import RulesLike, get_rules
from keizerframe.errors import PairingError, nearest
from keizerframe.pairing.history import BoolArray, History, history_of
from keizerframe.pairing.matching import Field, Matching, match
from keizerframe.pairing.options import Bye, Method
from keizerframe.pairing.sheet import Table, sheet_frame
from keizerframe.pairing.top_down import pairs_from_the_top, white_first
from keizerframe.pairing.wishes import Entrants, Wishes, read_wishes
from keizerframe.rules import Rules
from keizerframe.scoring import score
from keizerframe.season import Season, as_season

#: What a method does unless told otherwise: who has the bye, and how long two players stay apart.
_BYE: dict[Method, Bye] = {"matching": "fewest", "top-down": "lowest"}
_GAP: dict[Method, int | Literal["season"]] = {"matching": "season", "top-down": 2}


def pair(
    season: Season | pd.DataFrame,
    rules: RulesLike,
    *,
    round: int | None = None,
    roster_round: int | None = None,
    present: Iterable[Any] | None = None,
    absent: Iterable[Any] | None = None,
    method: Method = "matching",
    rematch_gap: int | Literal["season"] | None = None,
    bye: Bye | None = None,
    byes: Mapping[Any, str] | None = None,
    fixed: Iterable[tuple[Any, Any]] = (),
    forbidden: Iterable[tuple[Any, Any]] = (),
) -> pd.DataFrame:
    """Pair the next round of one season.

    Parameters
    ----------
    season, rules
        The season, and the rule set whose ranking pairs: that of the value list where there is one.
    round, roster_round
        The round to pair (None = the one after the last; only rounds before it count), and the round that
        decides who has joined and who has left (None = the same).
    present, absent
        Who is there (None = everybody who has joined, has not left and has no row in this round); who is not.
    method
        ``"matching"``: the pairing of least cost, as `keizerframe.pairing.matching` counts it. White is who
        had fewer Whites, then who was Black when they last met, then the lower-placed.
        ``"top-down"``: neighbours from the top; who may not meet his neighbour gets the first later player
        he may meet. Boards, colours, byes and notes of the Go library chesspairing.
    rematch_gap
        Two players stay apart while round - last meeting <= this, or all ``"season"``; a repeat that cannot
        be avoided is made and noted. None = ``"season"`` for ``"matching"``, 2 for ``"top-down"``.
    bye
        Of an odd number the lowest-placed has the bye: of those with the ``"fewest"`` pairing-allocated byes, or
        the ``"lowest"`` of all; ``"none"`` forbids it. ``"matching"`` goes on to the next to avoid a repeat.
        None = ``"fewest"`` for ``"matching"``, ``"lowest"`` for ``"top-down"``.
    byes
        Non-games of this round known before: player -> result code, such as ``{"p1": "bye", "p2": "club"}``.
    fixed, forbidden
        Pairs that must play, and pairs that may not; ``(player, None)`` may not have the bye.

    Returns
    -------
    pandas.DataFrame
        A row per board, then the byes: season, round, board, white, black (missing = none) and result, as in a
        games frame; rank, value number and Whites less Blacks of both; the last meeting (a round), a note.

    Raises
    ------
    PairingError
        Naming every wish that cannot be met.
    SeasonError, UnknownNameError, RulesError
        As `score`.

    Examples
    --------
    >>> import pandas as pd
    >>> games = pd.DataFrame({"round": [1, 1], "white": ["a", "c"], "black": ["b", "d"], "result": ["1-0", "1-0"]})
    >>> players = pd.DataFrame({"player": list("abcde"), "rating": [1900, 1800, 1700, 1600, 1500]})
    >>> pair(Season(games, players), "knsb", absent=["e"])[["board", "white", "black", "white_rank", "black_rank"]]
       board white black  white_rank  black_rank
    0      1     c     a           2           1
    1      2     d     b           4           3
    """
    data = as_season(season)
    if problems := _check(data, round, roster_round, method, rematch_gap, bye):
        raise PairingError(problems)
    choice, gap = bye or _BYE[method], _GAP[method] if rematch_gap is None else rematch_gap
    table, entrants = _table(data, get_rules(rules), round, roster_round, gap)
    wishes = read_wishes(entrants, present, absent, byes or {}, fixed, forbidden)
    wishes.check(method, choice)
    rows = (_matched if method == "matching" else _from_the_top)(table, wishes, choice)
    if wishes.problems:
        raise PairingError(wishes.problems)
    return sheet_frame(rows)


def _table(
    data: Season, rules: Rules, round: int | None, roster_round: int | None, gap: int | str
) -> tuple[Table, Entrants]:
    """Return the ranking to pair from, and who could play."""
    last = int(data.rounds["round"].max()) if len(data.rounds) else 0
    number = last + 1 if round is None else int(round)
    roster_round = roster_round or number
    standings = score(data, rules, through=number - 1, roster_round=roster_round)
    standings = standings.sort_values("rank", ignore_index=True)
    ids = standings["player"].tolist()
    boards = data.games["board"][data.games["round"] == number].dropna()
    table = Table(
        label=data.labels[0],
        round=number,
        # Those paired in this round already keep their boards.
        first_board=int(boards.max()) + 1 if len(boards) else 1,
        ids=ids,
        values=standings["next_value_number"].tolist(),
        place={player: place for place, player in enumerate(ids)},
        history=history_of(data, ids, number),
        gap=number if gap == "season" else int(gap),
    )
    return table, _entrants(data, ids, number, roster_round)


def _check(data: Season, round: Any, roster_round: Any, method: Any, gap: Any, bye: Any) -> list[str]:
    """Return what is wrong with the settings themselves."""
    problems = []
    if len(data) != 1:
        problems.append(
            f"{len(data)} seasons, but one is paired at a time: select one of {', '.join(data.labels[:12])}"
        )
    for name, value in (("round", round), ("roster_round", roster_round)):
        if value is not None and not (_is_whole(value) and 1 <= value <= 32767):
            problems.append(f"{name} = {value!r}: give a whole number from 1")
    if gap not in (None, "season") and not _is_whole(gap):
        problems.append(f"rematch_gap = {gap!r}: give a whole number of rounds, or 'season'")
    for name, value, allowed in (("method", method, get_args(Method)), ("bye", bye, (None, *get_args(Bye)))):
        if value not in allowed:
            names = [one for one in allowed if one]
            close = nearest(str(value), names)
            hint = f"did you mean {close[0]!r}?" if close else f"use one of {', '.join(names)}"
            problems.append(f"{name} = {value!r}: {hint}")
    return problems


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _entrants(data: Season, ids: Sequence[str], number: int, roster_round: int) -> Entrants:
    """Return who can play the round, and why the others cannot."""
    games = data.games
    games = games[games["round"] == number]
    busy: dict[str, str] = {}
    for column in ("white", "black"):
        for player, code in zip(games[column], games["result"], strict=True):
            if isinstance(player, str):
                busy[player] = f"has a row in round {number} already ({code})"
    outside: dict[str, str] = {}
    for player, joined, left in zip(
        data.players["player"],
        data.players["joined_round"].fillna(0),
        data.players["withdrawn_after"].fillna(roster_round),
        strict=True,
    ):
        if joined > roster_round:
            outside[player] = f"joins in round {joined}"
        elif left < roster_round:
            outside[player] = f"left after round {left}"
    able = [player for player in ids if player not in outside and player not in busy]
    return Entrants(able, outside, busy)


def _given(table: Table, wishes: Wishes) -> list[dict[str, Any]]:
    return [table.bye(player, code, wishes.outside.get(player, "")) for player, code in wishes.byes.items()]


def _from_the_top(table: Table, wishes: Wishes, bye: Bye) -> list[dict[str, Any]]:
    """Pair from the top down; without a problem so far, every round can be paired so."""
    if wishes.problems:
        return []
    order = [table.place[player] for player in wishes.free]
    rows, byes = [], _given(table, wishes)
    if len(order) % 2:
        chosen = table.candidates(order, bye)[0]
        byes.append(table.bye(table.name(chosen), "bye", _bye_note(table, chosen, chosen, len(order), bye)))
        order.remove(chosen)
    boards = pairs_from_the_top(order, lambda one, other: not table.blocked(one, other))
    for board, (top, partner, swapped, forced) in enumerate(boards, start=table.first_board):
        note = ""
        if swapped is not None:
            note = f"Swapped {table.name(partner)} for {table.name(swapped)} to avoid repeat pairing "
            note += f"with {table.name(top)}"
        elif forced:
            note = f"Could not avoid repeat pairing: {table.name(top)} vs {table.name(partner)}"
        higher, lower = min(top, partner), max(top, partner)
        first = white_first(table.history, board, higher, lower)
        rows.append(table.board(board, *((higher, lower) if first else (lower, higher)), note))
    return rows + byes


def _matched(table: Table, wishes: Wishes, bye: Bye) -> list[dict[str, Any]]:
    """Pair at least cost; that there is no pairing joins the problems."""
    order = np.array([table.place[player] for player in wishes.free], dtype=np.intp)
    met = table.history.met[np.ix_(order, order)]
    field = Field(
        blocked=(met > 0) & (table.round - met <= table.gap),
        met=met,
        balance=table.history.balance[order],
        allowed=_allowed(wishes),
    )
    position = {int(player): i for i, player in enumerate(order)}
    candidates: list[int] = []
    if len(order) % 2 and bye != "none":
        may = [table.place[player] for player in wishes.free if player not in wishes.no_bye]
        candidates = [position[player] for player in table.candidates(may, bye)]
    if len(order) % 2 and not candidates:
        return []
    found = match(field, candidates)
    _name_lonely(wishes, field, found)
    if wishes.problems:
        return []
    pairs = [(int(order[i]), int(order[j]), False) for i, j in found.pairs]
    for one, other in wishes.fixed:
        i, j = sorted((table.place[one], table.place[other]))
        pairs.append((i, j, True))
    rows = [
        table.board(board, *_colours(table.history, i, j), _pair_note(table, i, j, fixed))
        for board, (i, j, fixed) in enumerate(sorted(pairs), start=table.first_board)
    ]
    rows += _given(table, wishes)
    if found.bye is not None:
        chosen, first = int(order[found.bye]), int(order[candidates[0]])
        rows.append(table.bye(table.name(chosen), "bye", _bye_note(table, chosen, first, len(order), bye)))
    return rows


def _allowed(wishes: Wishes) -> BoolArray:
    """Return which of those to be paired may play each other, shape [n, n]."""
    position = {player: i for i, player in enumerate(wishes.free)}
    allowed = np.ones((len(position), len(position)), dtype=bool)
    for pair_apart in wishes.apart:
        i, j = (position.get(player) for player in pair_apart)
        if i is not None and j is not None:
            allowed[i, j] = allowed[j, i] = False
    return allowed


def _name_lonely(wishes: Wishes, field: Field, found: Matching) -> None:
    """Note who has no opponent left."""
    if not found.alone:
        return
    lonely = [i for i in range(len(wishes.free)) if field.allowed[i].sum() <= 1] or found.alone
    names = ", ".join(repr(wishes.free[i]) for i in lonely[:8]) + (", ..." if len(lonely) > 8 else "")
    wishes.problems.append(
        f"forbidden: {len(found.alone)} of {len(wishes.free)} players stay without an opponent however the others "
        f"are paired ({names}): take back some of the forbidden pairs"
    )


def _colours(history: History, higher: int, lower: int) -> tuple[int, int]:
    """Return two players, White first."""
    whites = history.whites
    if whites[higher] != whites[lower]:
        higher_first = bool(whites[higher] < whites[lower])
    else:
        higher_first = history.met[higher, lower] > 0 and not history.had_white[higher, lower]
    return (higher, lower) if higher_first else (lower, higher)


def _pair_note(table: Table, i: int, j: int, fixed: bool) -> str:
    notes = ["fixed pair"] if fixed else []
    if table.blocked(i, j):
        what = "repeat" if fixed else "repeat that could not be avoided"
        notes.append(f"{what}: met in round {table.history.met[i, j]}")
    return "; ".join(notes)


def _bye_note(table: Table, chosen: int, first: int, count: int, bye: Bye) -> str:
    if count == 1:
        why = "only player"
    elif chosen != first:
        why = f"not {table.name(first)}, so that more can meet somebody new"
    else:
        why = "lowest ranked" + (" of those with the fewest byes" if bye == "fewest" else "")
    return f"{table.name(chosen)} receives a bye ({why})"
