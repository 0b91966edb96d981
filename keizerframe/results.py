"""The table of result codes: the one place that knows what a row of games can mean.

A row has one result code; each player at the board has an *outcome* of his own (``1-0`` is a win and a
loss). Award tables are keyed by outcome.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

from keizerframe.errors import nearest

Kind = Literal["nothing", "game", "bye", "absence", "club"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What one player took from one round.

    Parameters
    ----------
    name
        The outcome's name, the key of award tables.
    kind
        The component of the score it belongs to.
    fallback
        The outcome it is treated as by rule sets that do not know it.
    counts
        The columns of the standings it counts for.
    half_points
        Game points, times two.
    """

    name: str
    kind: Kind
    fallback: str | None = None
    counts: tuple[str, ...] = ()
    half_points: int = 0


#: All outcomes; the position is the number the kernel's grids hold. Number 0 is a round without any claim.
OUTCOMES: tuple[Outcome, ...] = (
    Outcome(name="nothing", kind="nothing"),
    Outcome(name="win", kind="game", counts=("played", "wins"), half_points=2),
    Outcome(name="draw", kind="game", counts=("played", "draws"), half_points=1),
    Outcome(name="loss", kind="game", counts=("played", "losses")),
    Outcome(name="unfinished", kind="game"),
    Outcome(name="adjourned", kind="game", fallback="unfinished"),
    Outcome(name="forfeit-win", kind="game", counts=("wins",), half_points=2),
    Outcome(name="forfeit-loss", kind="game", counts=("losses",)),
    Outcome(name="double-forfeit", kind="game", counts=("losses",)),
    Outcome(name="bye", kind="bye", counts=("byes",)),
    Outcome(name="half-bye", kind="bye", fallback="bye", counts=("byes",)),
    Outcome(name="full-bye", kind="bye", fallback="bye", counts=("byes",)),
    Outcome(name="zero-bye", kind="bye", counts=("byes",)),
    Outcome(name="absent", kind="absence", counts=("absences",)),
    Outcome(name="excused", kind="absence", fallback="absent", counts=("absences",)),
    Outcome(name="club", kind="club", fallback="excused"),
    Outcome(name="club-win", kind="club", fallback="club"),
    Outcome(name="club-draw", kind="club", fallback="club"),
    Outcome(name="club-loss", kind="club", fallback="club"),
    Outcome(name="late-start", kind="absence", fallback="handicap"),
    Outcome(name="handicap", kind="absence"),
    # Claims that no row spells: rule sets make them of others.
    Outcome(name="outside", kind="game"),
    Outcome(name="unpaid-absence", kind="absence", counts=("absences",)),
    Outcome(name="left-win", kind="game", counts=("played", "wins"), half_points=2),
    Outcome(name="left-draw", kind="game", counts=("played", "draws"), half_points=1),
    Outcome(name="left-other", kind="game"),
)
#: Those that a rule set cannot pay for by name.
DERIVED = ("nothing", "outside", "unpaid-absence", "left-win", "left-draw", "left-other")
OUTCOME_NUMBER: dict[str, int] = {outcome.name: number for number, outcome in enumerate(OUTCOMES)}

#: Game codes: outcome of White, outcome of Black.
GAME_CODES: dict[str, tuple[str, str]] = {
    "1-0": ("win", "loss"),
    "0-1": ("loss", "win"),
    "1/2-1/2": ("draw", "draw"),
    "*": ("unfinished", "unfinished"),
    "adjourned": ("adjourned", "adjourned"),
    "1-0f": ("forfeit-win", "forfeit-loss"),
    "0-1f": ("forfeit-loss", "forfeit-win"),
    "0-0f": ("double-forfeit", "double-forfeit"),
}
#: Codes of rows without an opponent; each is also the name of its outcome.
NON_GAME_CODES: tuple[str, ...] = (
    "bye",
    "half-bye",
    "full-bye",
    "zero-bye",
    "excused",
    "absent",
    "club",
    "club-win",
    "club-draw",
    "club-loss",
    "late-start",
)
CODES: tuple[str, ...] = (*GAME_CODES, *NON_GAME_CODES)

# Spellings after folding: lower case, all dashes and colons one hyphen, no blanks.
_SPELLINGS: dict[str, str] = {
    **{code: code for code in CODES},
    **dict.fromkeys(
        ("½-½", "0.5-0.5", "0,5-0,5", ".5-.5", "1/2", "½", "=", "=-=", "draw", "remise", "remis", "nulle"),
        "1/2-1/2",
    ),
    **dict.fromkeys(("+-", "+--", "+/-", "1-0ff", "1-0fft", "1-0(f)", "1-0r"), "1-0f"),
    **dict.fromkeys(("-+", "--+", "-/+", "0-1ff", "0-1fft", "0-1(f)", "0-1r"), "0-1f"),
    **dict.fromkeys(("--", "---", "-/-", "0-0", "0-0ff", "0-0(f)"), "0-0f"),
    **dict.fromkeys(("unfinished", "notplayed", "?", "nognietgespeeld", "offen"), "*"),
    **dict.fromkeys(("afgebroken", "hängepartie", "ajournée"), "adjourned"),
    **dict.fromkeys(("pab", "vrij", "vrijgeloot", "oneven", "freilos", "spielfrei", "exempt"), "bye"),
    **dict.fromkeys(("afgemeld", "afwezigmetbericht", "afm", "entschuldigt", "excusé", "excusée"), "excused"),
    **dict.fromkeys(
        ("afwezig", "afwezigzonderbericht", "unexcused", "noshow", "unentschuldigt", "nietafgemeld"), "absent"
    ),
    **dict.fromkeys(("extern", "external", "externe", "club-duty", "clubduty", "team"), "club"),
}
_DASHES = re.compile("[‐‑‒–—−:]")


def parse_result(text: str) -> str | None:
    """Return the result code that `text` spells, or None if nobody writes it so.

    Parameters
    ----------
    text
        Any usual spelling; a refinement ``base:suffix`` of a non-game code keeps its suffix.

    Examples
    --------
    >>> parse_result("½–½"), parse_result("1-0F"), parse_result("excused:late"), parse_result("2-0")
    ('1/2-1/2', '1-0f', 'excused:late', None)
    """
    stripped = text.strip().casefold()
    base, _, suffix = (part.strip() for part in stripped.partition(":"))
    if suffix and base in NON_GAME_CODES:
        return f"{base}:{suffix}"
    # Unicode normalisation (NFKC) writes ½ with a fraction slash.
    folded = "".join(_DASHES.sub("-", stripped).replace("\N{FRACTION SLASH}", "/").split())
    return _SPELLINGS.get(folded)


def suggest_result(text: str) -> str:
    """Return a hint naming the codes most like `text`."""
    close = nearest(text.strip(), CODES, 2) or nearest(text.strip(), _SPELLINGS, 2)
    codes = list(dict.fromkeys(_SPELLINGS.get(code, code) for code in close))
    if codes:
        return f"did you mean {' or '.join(codes)}?"
    return f"use one of {', '.join(CODES)}"


def base_outcome(name: str) -> str:
    """Return the outcome that a refinement ``base:suffix`` refines; other names are their own base.

    Examples
    --------
    >>> base_outcome("excused:late")
    'excused'
    """
    return name.partition(":")[0]


@cache
def fallback_chain(name: str) -> tuple[str, ...]:
    """Return the outcomes a rule set is asked for in turn: the outcome itself, then its fallbacks.

    Examples
    --------
    >>> fallback_chain("club-win:away")
    ('club-win:away', 'club-win', 'club', 'excused', 'absent')
    """
    chain = [name]
    if ":" in name:
        chain.append(base_outcome(name))
    while (following := OUTCOMES[OUTCOME_NUMBER[chain[-1]]].fallback) is not None:
        chain.append(following)
    return tuple(chain)
