"""What a rule set cannot mean: fields that contradict each other, each with the way out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from keizerframe.errors import nearest

if TYPE_CHECKING:
    from keizerframe.rules import Rules

#: What `changes` may change: shares, fixed points, caps and windows. Everything else holds all season.
CHANGEABLE = frozenset(
    [
        "win_fraction",
        "draw_fraction",
        "loss_fraction",
        "forfeit_win_fraction",
        "forfeit_loss_fraction",
        "double_forfeit_fraction",
        "bye_value_fraction",
        "half_bye_fraction",
        "zero_bye_fraction",
        "absent_penalty_fraction",
        "excused_absent_fraction",
        "club_commitment_fraction",
        "bye_fixed_value",
        "half_bye_fixed_value",
        "zero_bye_fixed_value",
        "absent_fixed_value",
        "excused_absent_fixed_value",
        "club_commitment_fixed_value",
        "absence_limit",
        "absence_decay",
        "late_join_handicap",
        "extra",
    ]
)


def contradictions(rules: Rules) -> list[str]:
    """Return a sentence for everything in `rules` that cannot be."""
    return [*_values(rules), *_modes(rules), *_arithmetic(rules), *_changes(rules)]


def _values(rules: Rules) -> Iterator[str]:
    given = {
        name: getattr(rules, name)
        for name in ("value_number_base", "value_per_player", "value_ratio", "value_list")
        if getattr(rules, name) is not None
    }
    # Two list rules start from one of the others.
    if rules.value_list == "normalised":
        given.pop("value_list")
        if rules.value_ratio is None:
            yield "value_list = 'normalised' needs value_ratio: give it, such as value_ratio = 3"
    elif rules.value_list == "pairs":
        given.pop("value_list")
    if len(given) > 1:
        listed = ", ".join(f"{name} = {value}" for name, value in given.items())
        yield f"{listed}: each of these sets the value numbers; keep one"
    if rules.value_number_step != 1 and isinstance(rules.value_list, tuple):
        yield f"value_number_step = {rules.value_number_step} has no meaning beside value_list: leave it out"
    if rules.own_value_fades is not None and rules.own_value == "none":
        yield "own_value_fades with own_value = 'none': there is nothing to fade; leave one of them out"


def _modes(rules: Rules) -> Iterator[str]:
    if rules.freeze_after is not None and rules.recalculation != "previous":
        yield (
            f"freeze_after = {rules.freeze_after} with recalculation = {rules.recalculation!r}: "
            "only 'previous' can freeze; set recalculation = 'previous'"
        )
    if rules.recalculation != "fixed-point" and rules.max_iterations is not None:
        yield f"max_iterations = {rules.max_iterations} means something for fixed-point only: leave it out"
    if rules.values_from is not None:
        if rules.values_from.values_from is not None:
            yield "values_from of values_from: only one list may supply the values; drop the inner one"
        for name in ("recalculation", "freeze_after", "roster", "withdrawn", "start_order"):
            ours, theirs = getattr(rules, name), getattr(rules.values_from, name)
            if ours != theirs:
                yield (
                    f"{name} = {ours!r}, but values_from has {theirs!r}: both lists are of the same players and "
                    "take their values from one ranking; make them equal"
                )


def _arithmetic(rules: Rules) -> Iterator[str]:
    if rules.arithmetic == "float32" and rules.rounding != "none":
        yield (
            f"arithmetic = 'float32' with rounding = {rules.rounding!r}: single precision is the rounding; "
            "set rounding = 'none'"
        )
    if rules.arithmetic == "float64" and (rules.rounding, rules.rounding_of) not in (
        ("half", "item"),
        ("whole", "item"),
    ):
        yield "arithmetic = 'float64' rounds each item: set rounding = 'half' and rounding_of = 'item'"
    if rules.on_cycle == "average-two" and rules.recalculation == "fixed-point" and rules.rounding != "half":
        yield "on_cycle = 'average-two' rounds to half points: set rounding = 'half', or on_cycle = 'average'"
    if rules.decay_rounding == "floor" and (rules.rounding == "none" or rules.rounding_of == "total"):
        yield "decay_rounding = 'floor' halves rounded items: set rounding = 'half', or decay_rounding = 'once'"


def _changes(rules: Rules) -> Iterator[str]:
    for first, fields in rules.changes.items():
        for name in fields:
            if name not in CHANGEABLE:
                close = nearest(name, CHANGEABLE)
                hint = f"did you mean {' or '.join(close)}?" if close else "only shares, fixed points and caps may"
                yield f"changes from round {first}: {name} cannot change in mid-season; {hint}"
        if not set(fields) <= CHANGEABLE:
            continue
        try:
            later = rules.replace(changes={}, **fields)
        except ValueError as fault:
            yield f"changes from round {first}: {fault}"
            continue
        before = {name for name, award in rules.awards.items() if award.counts_as_absence}
        if before != {name for name, award in later.awards.items() if award.counts_as_absence}:
            yield f"changes from round {first}: what counts as an absence must stay the same all season"
