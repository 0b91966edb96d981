"""What is wished for a round: who is there, who must, may not, or shall not play; all that cannot be met at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from keizerframe.columns import is_missing, read_id
from keizerframe.errors import nearest
from keizerframe.pairing.options import Bye, Method
from keizerframe.results import NON_GAME_CODES, base_outcome, parse_result, suggest_result

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Entrants:
    """Who could play the round.

    Parameters
    ----------
    able
        The ids of those who can, in the order of the ranking.
    outside
        Those who have left or not yet joined: id -> why they cannot.
    busy
        Those who have a row in this round already: id -> why they cannot.
    """

    able: Sequence[str]
    outside: Mapping[str, str]
    busy: Mapping[str, str]

    @property
    def unable(self) -> dict[str, str]:
        """Everybody who cannot play, and why not."""
        return {**self.outside, **self.busy}

    @property
    def known(self) -> set[str]:
        """Everybody of the season."""
        return {*self.able, *self.outside, *self.busy}


@dataclass(slots=True)
class Wishes:
    """The wishes, read and checked; ``problems`` holds what cannot be met.

    Parameters
    ----------
    free
        Those to be paired, in the order of the ranking: present, without a fixed pair or a bye given before.
    fixed
        The pairs that must play.
    apart
        The pairs that may not.
    no_bye
        Players who may not have the bye.
    byes
        Byes and other non-games given before: id -> result code.
    outside
        Those who have left or not yet joined, and why they cannot play.
    problems
        One sentence per wish that cannot be met.
    """

    outside: Mapping[str, str]
    free: list[str] = field(default_factory=list)
    fixed: list[Pair] = field(default_factory=list)
    apart: set[frozenset[str]] = field(default_factory=set)
    no_bye: set[str] = field(default_factory=set)
    byes: dict[str, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def check(self, method: Method, bye: Bye) -> None:
        """Note what the method and the choice of the bye leave no room for."""
        if method == "top-down" and (self.fixed or self.apart or self.no_bye):
            self.problems.append(
                "fixed and forbidden: method 'top-down' has no room for such wishes: use method 'matching'"
            )
        if len(self.free) % 2 == 0:
            return
        count = f"{len(self.free)} player{'s are' if len(self.free) > 1 else ' is'} left to pair"
        if bye == "none":
            self.problems.append(
                f"bye = 'none', but {count}, an odd number: allow a bye, or let one more come or one less"
            )
        elif self.no_bye.issuperset(self.free):
            names = ", ".join(repr(player) for player in self.free[:8])
            self.problems.append(f"forbidden: {count}, and none of them may have the bye ({names}): allow one of them")


def read_wishes(
    entrants: Entrants,
    present: Iterable[Any] | None,
    absent: Iterable[Any] | None,
    byes: Mapping[Any, str],
    fixed: Iterable[Any],
    forbidden: Iterable[Any],
) -> Wishes:
    """Return the wishes; nothing is raised, so that all problems can be named at once."""
    wishes = Wishes(entrants.outside)
    here = _attendance(wishes, entrants, present, absent)
    _given_byes(wishes, entrants, byes)
    _fixed(wishes, entrants, fixed, here)
    _forbidden(wishes, entrants, forbidden)
    # Whoever is named in a fixed pair is spoken for, also if that pair cannot be.
    paired = {player for pair in wishes.fixed for player in pair}
    wishes.free = [player for player in entrants.able if player in here - paired - set(wishes.byes)]
    return wishes


def _ids(wishes: Wishes, entrants: Entrants, what: str, values: Iterable[Any] | None) -> list[str]:
    """Return ids that exist, each once; the others are problems."""
    if values is None:
        return []
    found: list[str] = []
    for value in [values] if isinstance(values, str) else values:
        try:
            player = read_id(value)
        except ValueError as fault:
            wishes.problems.append(f"{what}: {value!r} is {fault.args[0]}: {fault.args[1]}")
            continue
        if player in entrants.known:
            found.append(player)
        else:
            close = nearest(player, entrants.known)
            hint = f"did you mean {' or '.join(close)}?" if close else "add the player to the players"
            wishes.problems.append(f"{what}: unknown player {player!r}; {hint}")
    for player, times in Counter(found).items():
        if times > 1:
            wishes.problems.append(f"{what}: {player!r} is named {times} times: once will do")
    return list(dict.fromkeys(found))


def _attendance(
    wishes: Wishes, entrants: Entrants, present: Iterable[Any] | None, absent: Iterable[Any] | None
) -> set[str]:
    """Return who is there."""
    there, away = _ids(wishes, entrants, "present", present), _ids(wishes, entrants, "absent", absent)
    for player in there:
        if player in away:
            wishes.problems.append(f"present and absent: {player!r} is both: take him out of one of them")
        elif player in entrants.unable:
            wishes.problems.append(f"present: {player!r} {entrants.unable[player]}")
    if present is None:
        there = list(entrants.able)
        if entrants.busy and not there:
            wishes.problems.append("nobody is left to pair: all have a row in this round already; pair another one")
    return {player for player in there if player not in entrants.unable} - set(away)


def _given_byes(wishes: Wishes, entrants: Entrants, byes: Mapping[Any, str]) -> None:
    # Who has left or not yet joined may have a row, as in a games frame: it changes nothing.
    for player in _ids(wishes, entrants, "byes", list(byes)):
        if player in entrants.busy:
            wishes.problems.append(f"byes: {player!r} {entrants.busy[player]}")
    for key, value in byes.items():
        code = parse_result(value) if isinstance(value, str) else None
        if code is None or base_outcome(code) not in NON_GAME_CODES:
            hint = suggest_result(str(value)) if code is None else f"use one of {', '.join(NON_GAME_CODES)}"
            wishes.problems.append(f"byes: {value!r} for {key!r} is no code of a non-game; {hint}")
        elif str(key) in entrants.known and str(key) not in entrants.busy:
            wishes.byes[str(key)] = code


def _pairs(wishes: Wishes, what: str, values: Iterable[Any], *, alone: bool) -> list[tuple[Any, Any]]:
    """Return the pairs of ids as given; `alone` allows (player, None)."""
    pairs: list[tuple[Any, Any]] = []
    for value in values:
        members = [] if isinstance(value, str) or not isinstance(value, Iterable) else list(value)
        if len(members) != 2 or is_missing(members[0]) or (is_missing(members[1]) and not alone):
            wishes.problems.append(f"{what}: {value!r} is no pair: give a list of pairs of players")
        else:
            pairs.append((members[0], members[1]))
    return pairs


def _fixed(wishes: Wishes, entrants: Entrants, fixed: Iterable[Any], here: set[str]) -> None:
    taken: dict[str, frozenset[str]] = {}
    for one, other in _pairs(wishes, "fixed", fixed, alone=False):
        known = _ids(wishes, entrants, "fixed", [one, other])
        if len(known) < 2:
            continue
        pair = known[0], known[1]
        for player, opponent in (pair, pair[::-1]):
            why = None
            if player in wishes.byes:
                why = f"has {wishes.byes[player]!r} among the byes: take back one of the two"
            elif player in entrants.unable:
                why = entrants.unable[player]
            elif player not in here:
                why = "is not present"
            elif player in taken and taken[player] != frozenset(pair):
                why = f"is to play {next(iter(taken[player] - {player}))!r} as well: take back one of the two"
            if why is not None:
                wishes.problems.append(f"fixed: {player!r}, who is to play {opponent!r}, {why}")
        if frozenset(pair) not in taken.values():
            wishes.fixed.append(pair)
        taken |= {player: frozenset(pair) for player in pair if player not in taken}


def _forbidden(wishes: Wishes, entrants: Entrants, forbidden: Iterable[Any]) -> None:
    for one, other in _pairs(wishes, "forbidden", forbidden, alone=True):
        if is_missing(other):
            wishes.no_bye.update(_ids(wishes, entrants, "forbidden", [one]))
            continue
        known = _ids(wishes, entrants, "forbidden", [one, other])
        if len(known) == 2:
            wishes.apart.add(frozenset(known))
    for pair in wishes.fixed:
        if frozenset(pair) in wishes.apart:
            wishes.problems.append(f"fixed and forbidden: {pair[0]!r} against {pair[1]!r} is both: take back one")
