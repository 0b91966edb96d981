"""Rule sets that differ from one in a few fields, made by the hundred."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keizerframe.contradictions import contradictions
from keizerframe.errors import RulesError
from keizerframe.rules import Rules

#: Fields that decide the value numbers and nothing else.
VALUE_FIELDS = frozenset(
    [
        "value_number_base",
        "value_number_step",
        "value_ratio",
        "value_ratio_rounding",
        "value_per_player",
        "value_list",
    ]
)
_NAMES = frozenset(["label", "source"])


def swapped(rules: Rules, fields: Mapping[str, Any]) -> Rules:
    """Return rules with some fields exchanged for values that are exact already.

    As `Rules.replace`, but no value is read again, so that hundreds of them cost little.

    Parameters
    ----------
    rules
        Any rules.
    fields
        Names of fields -> values as these fields hold them: a share is a Fraction.

    Raises
    ------
    RulesError
        If the fields contradict each other.

    Examples
    --------
    >>> swapped(Rules(loss_fraction="1/6"), {"value_number_base": 40})
    Rules(value_number_base=40, loss_fraction='1/6')
    """
    state = rules.__getstate__() | dict(fields)
    if fields.keys() <= VALUE_FIELDS | _NAMES:
        state["derived"] = rules.derived
    new = object.__new__(Rules)
    new.__dict__.update(state)
    if problems := contradictions(new):
        raise RulesError(problems)
    return new
