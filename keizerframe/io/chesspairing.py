"""The options of the Go library chesspairing as rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keizerframe.rules import Rules

#: Field values by which the documented scorer differs from ours.
COMPATIBILITY: dict[str, Any] = {
    "arithmetic": "float64",
    "decay_rounding": "floor",
    "on_cycle": "average-two",
    "withdrawn": "void",
    "roster": "joined-next",
    "empty_season": "zero",
}


def rules_from_chesspairing(options: Mapping[str, Any], *, lenient: bool = True) -> Rules:
    """Return the rule set that scores exactly as the Go library chesspairing does with `options`.

    The library's arithmetic, its cap of 20 tables, its mean of the last two, its halving of decayed
    absences and its treatment of withdrawals are option values of `Rules`; nothing else is special.

    Parameters
    ----------
    options
        The library's options in camelCase; absent = its default.
    lenient
        As the library: unknown keys and wrong types are ignored. False refuses them.

    Examples
    --------
    >>> rules_from_chesspairing({"absenceLimit": 0}).arithmetic
    'float64'
    """
    return Rules.parse(options, lenient=lenient).replace(**COMPATIBILITY)
