"""Every error and warning of keizerframe.

All errors derive from `KeizerError`, so one ``except`` clause catches whatever the toolkit refuses.
"""

from __future__ import annotations

import difflib
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


class KeizerError(Exception):
    """Base of every error raised by keizerframe."""


class SeasonError(KeizerError, ValueError):
    """A season cannot be used as it stands.

    Parameters
    ----------
    problems
        One row per fault: season, round, file, row, column, value, what, hint.
        ``row`` is the position in the given frame (from 0), or the line of ``file``
        when the season was read from a file.

    Attributes
    ----------
    problems : pandas.DataFrame
        All faults found, never only the first.

    Examples
    --------
    >>> import pandas as pd, keizerframe as kf
    >>> games = pd.DataFrame({"round": [1], "white": ["a"], "black": ["a"], "result": ["1-O"]})
    >>> try:
    ...     kf.Season(games)
    ... except kf.SeasonError as error:
    ...     print(error.problems[["row", "column", "value", "what"]].to_string(index=False))
     row column value                     what
       0 result   1-O           unknown result
       0  black     a a player against himself
    """

    #: How many problems the message itself spells out.
    shown = 10

    def __init__(self, problems: pd.DataFrame) -> None:
        self.problems = problems
        super().__init__(problems)

    def __str__(self) -> str:
        lines = [describe_problem(dict(row)) for row in self.problems.head(self.shown).to_dict("records")]
        rest = len(self.problems) - len(lines)
        if rest > 0:
            lines.append(f"... and {rest} more (all of them in .problems)")
        count = len(self.problems)
        return "\n  ".join([f"{count} problem{'s' if count != 1 else ''} in the season:", *lines])


class RulesError(KeizerError, ValueError):
    """A rule set contradicts itself or holds a value that cannot be.

    Parameters
    ----------
    problems
        One sentence per fault: the field, the value and the way out.
    """

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = list(problems)
        super().__init__(self.problems)

    def __str__(self) -> str:
        return "; ".join(self.problems)


#: Names that an error lists in full although it has a suggestion.
_FEW = 20


class UnknownNameError(KeizerError, LookupError):
    """A preset, a data set or an option that does not exist.

    Parameters
    ----------
    what
        The kind of thing looked up, such as ``"rule set"``.
    name
        The name as given.
    known
        The names there are.
    """

    def __init__(self, what: str, name: str, known: Iterable[str]) -> None:
        self.what, self.name, self.known = what, name, sorted(known)
        self.nearest = nearest(name, self.known)
        # What was given, so that the error can be pickled: it has to cross processes.
        super().__init__(what, name, self.known)

    def __str__(self) -> str:
        near = f"; did you mean {' or '.join(self.nearest)}?" if self.nearest else ""
        # A long list would hide what matters: the names like it.
        shown = ", ".join(self.known) if len(self.known) <= _FEW or not near else f"{len(self.known)} names"
        return f"unknown {self.what} {self.name!r}{near} (known: {shown})"


class PairingError(KeizerError, ValueError):
    """A round or a schedule that cannot be made as it is wished.

    Parameters
    ----------
    problems
        One sentence per wish that cannot be met: what, and the way out.
    """

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = list(problems)
        super().__init__(self.problems)

    def __str__(self) -> str:
        if len(self.problems) == 1:
            return self.problems[0]
        return "\n  ".join([f"{len(self.problems)} things stand in the way:", *self.problems])


class FileFormatError(KeizerError, ValueError):
    """A file is not what its name or its place promises."""


class PublishedTableError(KeizerError, ValueError):
    """A published table cannot be held against a season.

    Parameters
    ----------
    problems
        One sentence per fault: what, where, and how to mend it.
    """

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = list(problems)
        super().__init__(self.problems)

    def __str__(self) -> str:
        return "; ".join(self.problems)


class ScoreRangeError(KeizerError, OverflowError):
    """Shares whose common denominator is too large for exact 64-bit scores."""


class BatchError(KeizerError, RuntimeError):
    """A batch run cannot begin, go on or end as asked.

    Parameters
    ----------
    problems
        One sentence per fault: what, where, and the way out.
    """

    #: How many problems the message itself spells out.
    shown = 10

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = list(problems)
        super().__init__(self.problems)

    def __str__(self) -> str:
        rest = len(self.problems) - self.shown
        more = [f"... and {rest} more (all of them in .problems)"] if rest > 0 else []
        return "\n  ".join([*self.problems[: self.shown], *more])


class KeizerWarning(UserWarning):
    """Base of every warning given by keizerframe."""


class NoRatingsWarning(KeizerWarning):
    """No player of a season has a rating: the names' order decides the start order."""


class NegativeValueWarning(KeizerWarning):
    """Some value numbers are below zero: a win over such a player costs points."""


_gathered: ContextVar[list[str] | None] = ContextVar("gathered", default=None)


@contextmanager
def gather_warnings() -> Iterator[list[str]]:
    """Collect what `warn_user` says in place of warning; in a context variable, so that threads do not mix.

    Examples
    --------
    >>> with gather_warnings() as found:
    ...     warn_user("no ratings", NoRatingsWarning)
    >>> found
    ['no ratings']
    """
    found: list[str] = []
    token = _gathered.set(found)
    try:
        yield found
    finally:
        _gathered.reset(token)


def warn_user(message: str, category: type[KeizerWarning]) -> None:
    """Warn at the line outside keizerframe that led here, however deep the call is."""
    if (found := _gathered.get()) is not None:
        found.append(message)
        return
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("keizerframe"):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def nearest(name: str, known: Iterable[str], count: int = 3) -> list[str]:
    """Return the known names most like `name`, best first.

    Examples
    --------
    >>> nearest("kbsn", ["knsb", "freekeizer"])
    ['knsb']
    """
    by_folded = {candidate.casefold(): candidate for candidate in known}
    return [by_folded[m] for m in difflib.get_close_matches(name.casefold(), by_folded, count, 0.5)]


def describe_problem(problem: Mapping[Any, Any]) -> str:
    """Return one problem of a `SeasonError` as a line: where, what, and how to mend it."""
    where = []
    if problem["file"]:
        where.append(f"{problem['file']}:{problem['row']}" if problem["row"] is not None else f"{problem['file']}")
    elif problem["row"] is not None:
        where.append(f"row {problem['row']}")
    if problem["season"]:
        where.append(f"season {problem['season']}")
    if problem["round"] is not None:
        where.append(f"round {problem['round']}")
    column, value = problem["column"], problem["value"]
    text = f"{', '.join(where)}: " if where else ""
    text += f"{problem['what']}" + (f" ({column} = {value!r})" if column and value != "" else "")
    return text + (f"; {problem['hint']}" if problem["hint"] else "")
