"""Rule sets as numbers: how rows are counted, what they pay, which value numbers there are."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from keizerframe.awards import Award
from keizerframe.errors import NegativeValueWarning, RulesError, ScoreRangeError, warn_user
from keizerframe.kernel.contraction import Prices
from keizerframe.kernel.grid import START, Coded, Counting
from keizerframe.kernel.points import LARGEST, Arithmetic, Meaning, Of, Tariff, own_units, points_table
from keizerframe.kernel.recurrence import Ages
from keizerframe.kernel.tables import ABSENCES, BYES, CLUB, GAMES
from keizerframe.results import OUTCOME_NUMBER, OUTCOMES, base_outcome
from keizerframe.rules import Rules

IntArray = npt.NDArray[np.integer]
T = TypeVar("T")

_OF = {"fixed": Of.FIXED, "opponent": Of.OPPONENT, "own": Of.OWN}
_PART = {"nothing": GAMES, "game": GAMES, "bye": BYES, "absence": ABSENCES, "club": CLUB}
_ARITHMETIC = {"exact": Arithmetic.EXACT, "float64": Arithmetic.FLOAT64, "float32": Arithmetic.FLOAT32}
#: Single-precision items are multiples of this, to within a millionth of their last digit.
_SINGLE_UNITS = 2**36
#: Keys that decide ties -> their place among the grid's.
TIE_KEYS = {"rating": 0, "name": 1, "id": 2, "start": 3}
#: Unrounded decay is exact for this many halvings; what is smaller is rounded to the unit.
_DECAY_BITS = 16
#: What is kept about one rule set: a few sets of outcomes.
_MOST_KEPT = 16
#: What a game against somebody who left becomes under ``withdrawn = "share"``.
_OF_LEFT = {
    "win": "left-win",
    "forfeit-win": "left-win",
    "draw": "left-draw",
    "adjourned": "left-draw",
    "loss": "left-other",
    "forfeit-loss": "left-other",
    "double-forfeit": "left-other",
    "unfinished": "left-other",
}
AGES = {
    "previous": Ages(),
    "frozen": Ages(earlier=None, own_at_end=True),
    "static": Ages(newest=None, earlier=None),
    "two-ages": Ages(earlier=2),
}


def _kept(rules: Rules, key: tuple[Any, ...], make: Callable[[], T]) -> T:
    """Return what `make` made of these rules before, or now: rules that differ in value numbers only share it."""
    derived = rules.derived
    if key not in derived:
        if len(derived) >= _MOST_KEPT:
            derived.clear()
        derived[key] = make()
    kept: T = derived[key]
    return kept


def ages_of(rules: Rules) -> Ages | None:
    """Return how old the value numbers are; None = the table's own ranking, the fixed point."""
    if rules.freeze_after is not None:
        return Ages(freeze_after=rules.freeze_after)
    return AGES.get(rules.recalculation)


def counting_of(rules: Rules, outcomes: Sequence[str]) -> Counting:
    """Return how `rules` turn rows into codes."""
    return _kept(rules, ("counting", *outcomes), lambda: _counting(rules, outcomes))


def _counting(rules: Rules, outcomes: Sequence[str]) -> Counting:
    number = {name: i for i, name in enumerate(outcomes)}
    caps = any(award.cap for _, stage in rules.epochs for award in stage.extra.values())
    scopes = [_cap_scope(rules, name) if caps else None for name in outcomes]
    of_left = [number[_OF_LEFT[name]] if name in _OF_LEFT else i for i, name in enumerate(outcomes)]
    missing = number["absent"] if rules.missing_row == "absent" else 0
    return Counting(
        counted=tuple(rules.award(name).counts_as_absence for name in outcomes),
        capped=tuple({None: 0, "season": 1, "part": 2}[scope] for scope in scopes),
        by_part=rules.limit_scope == "part",
        epochs=tuple(first for first, _ in rules.epochs),
        missing=missing,
        # Where everybody is in from the start, nobody joins late.
        before_joining=number["handicap"] if rules.roster != "all" else missing,
        present=number["outside"],
        unpaid=number["unpaid-absence"] if rules.absence_needs_game else 0,
        game=tuple("played" in OUTCOMES[OUTCOME_NUMBER[base_outcome(name)]].counts for name in outcomes),
        of_left=tuple(of_left) if rules.withdrawn == "share" else (),
        void=rules.withdrawn != "keep",
        everybody=rules.roster == "all",
        lookahead=int(rules.roster == "joined-next"),
        start=_start_keys(rules),
        ties=tuple(
            dict.fromkeys([*(START if key == "start" else TIE_KEYS[key] for key in rules.value_ties), TIE_KEYS["id"]])
        ),
    )


def counted_by_part(rules: Rules) -> list[str]:
    """Return the settings of `rules` that count by part of the season, as they are written."""
    found = ["limit_scope"] if rules.limit_scope == "part" else []
    for _, stage in rules.epochs:
        for code, award in stage.extra.items():
            if award.cap is not None and award.cap_scope == "part":
                found.append(f"extra {code}: cap_scope")
    if rules.values_from is not None:
        found += [f"values_from: {field}" for field in counted_by_part(rules.values_from)]
    return list(dict.fromkeys(found))


def _start_keys(rules: Rules) -> tuple[int, ...]:
    """Return the keys of the start order: rating first, then as the rules decide ties, the id last."""
    behind = [key for key in rules.value_ties if key in ("name", "id")] or ["name", "id"]
    keys = ["rating", *behind, "id"]
    given = ["start"] if rules.start_order == "given" else []
    return tuple(dict.fromkeys(TIE_KEYS[key] for key in (*given, *keys)))


def _cap_scope(rules: Rules, outcome: str) -> str | None:
    """Return the scope of an outcome's own cap, None if it never has one."""
    scopes = {award.cap_scope for _, stage in rules.epochs if (award := stage.award(outcome)).cap}
    if len(scopes) > 1:
        raise RulesError([f"extra {outcome}: its cap counts per season and per part; keep one cap_scope"])
    return next(iter(scopes), None)


def tariff_of(rules: Rules, outcomes: Sequence[str], source: Rules) -> Tariff:
    """Return `rules` as numbers; the value numbers they share are those of `source`."""
    unit = _value_unit(source)
    return _kept(rules, ("tariff", unit, *outcomes), lambda: _tariff(rules, outcomes, unit))


def _tariff(rules: Rules, outcomes: Sequence[str], value_unit: int) -> Tariff:
    stages = [stage for _, stage in rules.epochs]
    starts = [first for first, _ in rules.epochs]
    awards = [[stage.award(name) for name in outcomes] for stage in stages]
    fades = rules.own_value_fades or (Fraction(1),)
    if rules.own_value == "none":
        fades = (Fraction(0),)
    per_point = _per_point(rules, [award for row in awards for award in row], fades, value_unit)

    def table(read: object) -> IntArray:
        return np.array([[read(award) for award in row] for row in awards])  # type: ignore[operator]

    closed = [
        [award.cap == 0 or not _open(award, first) for award in row] for row, first in zip(awards, starts, strict=True)
    ]
    whole = {"half": per_point // 2, "whole": per_point, "none": 0}[rules.rounding]
    return Tariff(
        of=table(lambda award: _OF[award.of]),
        numerator=table(lambda award: award.amount.numerator),
        denominator=table(lambda award: award.amount.denominator),
        cap=table(lambda award: award.cap or 0),
        unpaid=np.array(closed),
        counted=np.array([award.counts_as_absence for award in awards[0]]),
        limit=np.array([stage.absence_limit for stage in stages]),
        decay=np.array([stage.absence_decay for stage in stages]),
        floored=rules.decay_rounding == "floor",
        arithmetic=_ARITHMETIC[rules.arithmetic],
        even=rules.rounding_ties == "even",
        per_point=per_point,
        total_grain=whole if rules.rounding_of == "total" else 0,
        value_unit=value_unit,
        own=tuple((share.numerator, share.denominator) for share in fades),
        own_start=rules.own_value == "start",
    )


def _open(award: Award, first: int) -> bool:
    return award.rounds is None or award.rounds[0] <= first <= award.rounds[1]


def _per_point(rules: Rules, awards: Sequence[Award], fades: Sequence[Fraction], value_unit: int) -> int:
    """Return how many units make a point, so that everything unrounded is whole."""
    if rules.arithmetic == "float32":
        return _SINGLE_UNITS
    if rules.rounding != "none" and rules.rounding_of == "item":
        return 2 if rules.rounding == "half" else 1
    shares = [award.amount.denominator for award in awards] + [share.denominator for share in fades]
    exact = math.lcm(2 if rules.rounding == "half" else 1, *shares) * value_unit
    decays = any(stage.absence_decay for _, stage in rules.epochs)
    return exact << _DECAY_BITS if decays else exact


def check_range(
    rules: Rules, tariff: Tariff, values: Sequence[int | Fraction], outcomes: Sequence[str], depth: int
) -> None:
    """Refuse rules whose scores could wrap: every product and every packed sum must stay within 64 bits.

    Counted in Python's integers, before any array holds one of them.
    """
    unit, scale = tariff.value_unit, tariff.per_point
    top = max([Fraction(1), *(abs(Fraction(value)) for value in (*values[:1], *values[-1:]))])
    room = LARGEST >> max(len(values), 2).bit_length()
    longest = max(1, int(np.abs(tariff.numerator).max()), *(abs(over) for over, _ in tariff.own))
    under = max(int(tariff.denominator.max()), *(below for _, below in tariff.own))
    # No share is more than its numerator: what fits with the longest of all fits with each.
    if (depth + 1) * (int(top * unit) * longest * scale * 2 + 1) < room and under * unit < LARGEST:
        return
    named = [
        (f"the share {award.amount} for {name}", award.amount)
        for _, stage in rules.epochs
        for name, award in zip(outcomes, map(stage.award, outcomes), strict=True)
    ]
    named += [("the own value number", share) for share in (*(rules.own_value_fades or ()), Fraction(1))]
    for name, share in named:
        product = int(top * unit) * abs(share.numerator) * scale * 2
        exact = rules.arithmetic == "exact" and max(product, share.denominator * unit) >= LARGEST
        if exact or (depth + 1) * (top * abs(share) * scale + 1) >= room:
            raise ScoreRangeError(
                f"{rules.label or rules}: {name} with value numbers up to {float(top):g} is too much for exact 64-bit "
                "scores: take smaller value numbers or shorter shares, or round each item"
            )


def value_numbers(rules: Rules, size: int) -> list[Fraction]:
    """Return the value number of each rank in a roster of `size`.

    Raises
    ------
    RulesError
        If the rules list fewer value numbers than there are players.

    Examples
    --------
    >>> [int(value) for value in value_numbers(Rules(value_ratio=3), 8)]
    [10, 9, 8, 7, 6, 5, 4, 3]
    """
    return [Fraction(value) for value in _value_numbers(rules, size)]


def _value_numbers(rules: Rules, size: int) -> Sequence[int | Fraction]:
    """Return the value numbers, whole ones as integers, which cost less."""
    if isinstance(rules.value_list, tuple):
        if len(rules.value_list) < size:
            raise RulesError(
                [f"value_list has {len(rules.value_list)} value numbers for {size} players: lengthen it, or use a step"]
            )
        return rules.value_list[:size]
    if rules.value_list == "normalised":
        return _normalised(rules.value_ratio or Fraction(1), size)
    base = _base(rules, size)
    if rules.value_list == "pairs":
        return [base - 2 * (k // 2) * rules.value_number_step for k in range(size)]
    return [base - k * rules.value_number_step for k in range(size)]


def _value_unit(rules: Rules) -> int:
    """Return what makes all value numbers whole, whatever the rosters of a batch."""
    if rules.value_list == "normalised":
        # Four decimals, as the program needs for up to ten thousand players at a ratio of 2 or more.
        return 10**4
    return math.lcm(1, *(value.denominator for value in rules.value_list or () if not isinstance(value, str)))


def _base(rules: Rules, size: int) -> int:
    if rules.value_ratio is not None:
        top = (size - 1) * rules.value_ratio / (rules.value_ratio - 1)
        return math.floor(top) if rules.value_ratio_rounding == "floor" else round(top)
    if rules.value_per_player is not None:
        return math.floor(rules.value_per_player * size + Fraction(1, 2))
    return size if rules.value_number_base is None else rules.value_number_base


@lru_cache(maxsize=256)
def _normalised(ratio: Fraction, size: int) -> tuple[Fraction, ...]:
    """Return KeizerForClubs' normalised values, computed in single precision as the program does."""
    if size < 2:
        return (Fraction(ratio),) * size
    q = float(ratio)
    step = np.float32(np.float32(q - 1) / np.float32(size - 1))
    digits = 0
    while not step > 10.0**-digits:
        digits += 1
    values = []
    for k in range(size):
        single = np.float32(q - float(np.float32(np.float32(k) * step)))
        values.append(Fraction(round(float(single), digits)).limit_denominator(10**digits))
    return tuple(values)


def price(
    rule_sets: Sequence[Rules],
    tariffs: Sequence[Tariff],
    coded: Coded,
    outcomes: Sequence[str],
    source: Rules | None = None,
) -> Prices:
    """Return the points tables of `rule_sets` for the roster sizes that occur.

    The value numbers are those of `source` if it is given, else each rule set's own.
    """
    sizes, size = np.unique(coded.size, return_inverse=True)
    width = coded.column.shape[1]
    values = np.zeros((len(rule_sets), len(sizes), width), dtype=np.int64)
    for v, (rules, tariff) in enumerate(zip(rule_sets, tariffs, strict=True)):
        unit = tariff.value_unit
        for i, one in enumerate(_value_numbers(source or rules, int(n)) for n in sizes):
            check_range(rules, tariff, one, outcomes, coded.code.shape[1])
            if any(unit % value.denominator for value in one):
                raise ScoreRangeError(
                    f"{rules.label or rules}: value numbers need over four decimals: raise value_ratio"
                )
            values[v, i, : len(one)] = [value.numerator * (unit // value.denominator) for value in one]
        if (lowest := values[v].min(initial=0)) < 0:
            warn_user(
                f"{rules.label or rules}: value numbers go down to {Fraction(int(lowest), unit)} with "
                f"{coded.size.max()} players, and a win over a player below zero costs points; raise "
                "value_number_base",
                NegativeValueWarning,
            )
    meaning = Meaning(coded.outcome, coded.ordinal, coded.nth, coded.epoch)
    stages = max(len(tariff.own) for tariff in tariffs)
    base = [OUTCOMES[OUTCOME_NUMBER[base_outcome(name)]] for name in outcomes]
    part = np.array([_PART[outcome.kind] for outcome in base])
    # Rule sets that differ in their value numbers only share a tariff, and are priced together.
    alike: dict[int, list[int]] = {}
    for v, tariff in enumerate(tariffs):
        alike.setdefault(id(tariff), []).append(v)
    own = np.empty((stages, *values.shape), dtype=np.int64)
    table = np.empty((*values.shape[:2], len(coded.outcome), width), dtype=np.int64)
    of_opponent = np.empty((len(rule_sets), len(coded.outcome)), dtype=np.bool_)
    for members in alike.values():
        tariff = tariffs[members[0]]
        own[:, members] = own_units(tariff, values[members], stages)
        table[members] = points_table(tariff, values[members], meaning)
        of = tariff.of[np.minimum(coded.epoch, len(tariff.limit) - 1), coded.outcome]
        of_opponent[members] = of == Of.OPPONENT
    return Prices(
        tariffs=tariffs,
        values=values,
        own=own,
        table=table,
        of_opponent=of_opponent,
        size=size,
        part=part[coded.outcome],
    )
