"""The points table: what each code is worth at each rank, in integer units."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.integer]
BoolArray = npt.NDArray[np.bool_]

#: Scores stay below this, so that sums of 64-bit integers cannot wrap.
LARGEST = 2**62


#: Why a code is not paid: beyond the absence limit, beyond its own cap, outside its rounds.
LIMIT, CAP, WINDOW = 1, 2, 3


class Of(IntEnum):
    """Whose value number an award shares."""

    FIXED = 0
    OPPONENT = 1
    OWN = 2


class Arithmetic(IntEnum):
    """How a share of a value number becomes units."""

    EXACT = 0
    FLOAT64 = 1
    FLOAT32 = 2


@dataclass(frozen=True, slots=True)
class Tariff:
    """One rule set as numbers.

    Parameters
    ----------
    of, numerator, denominator
        The award of each outcome in each epoch: whose value number, and the share (or the points), shape
        [epochs, outcomes].
    cap
        How often it pays by its own cap, 0 = no cap of its own but see `unpaid`, shape [epochs, outcomes].
    unpaid
        Awards that pay nothing in an epoch: outside their window, or capped at 0, shape [epochs, outcomes].
    counted
        Whether the outcome counts as an absence, shape [outcomes].
    limit, decay
        Absences that pay (0 = all), and whether each further one pays half, shape [epochs].
    floored
        Whether decay halves the rounded units, rounding down; else the share is rounded once.
    arithmetic
        How a share becomes units.
    even
        Whether halves go to even; else away from zero.
    per_point
        Units in a point.
    total_grain
        Units that the total is rounded to a multiple of; 0 = as it is.
    value_unit
        What value numbers are multiplied with to be whole.
    own
        Shares of the own value number added after rounds 1, 2, ... as (numerator, denominator); the last holds.
    own_start
        Whether that is the value number of the start order.
    """

    of: IntArray
    numerator: IntArray
    denominator: IntArray
    cap: IntArray
    unpaid: BoolArray
    counted: BoolArray
    limit: IntArray
    decay: BoolArray
    floored: bool
    arithmetic: Arithmetic
    even: bool
    per_point: int
    total_grain: int
    value_unit: int
    own: tuple[tuple[int, int], ...]
    own_start: bool

    @property
    def rounds_totals(self) -> bool:
        """Whether totals are rounded."""
        return self.total_grain > 0 or self.arithmetic == Arithmetic.FLOAT32


@dataclass(frozen=True, slots=True)
class Meaning:
    """What each code means: see `Coded`; all of shape [C]."""

    outcome: IntArray
    ordinal: IntArray
    nth: IntArray
    epoch: IntArray


def points_table(tariff: Tariff, values: IntArray, meaning: Meaning) -> IntArray:
    """Return the units of every code at every rank.

    Parameters
    ----------
    tariff
        The rule set.
    values
        Value number of each rank, times ``tariff.value_unit``, shape [..., N].
    meaning
        What each code means.

    Returns
    -------
    Shape [..., C, N]; N runs over the rank of whoever's value number is shared.
    """
    epoch = np.minimum(meaning.epoch, len(tariff.limit) - 1)
    at = epoch, meaning.outcome
    value = np.where(tariff.of[at][:, None] == Of.FIXED, tariff.value_unit, values[..., None, :])
    halvings = halvings_of(tariff, meaning)[:, None]
    once = np.zeros_like(halvings) if tariff.floored else halvings
    units = _items(tariff, value, tariff.numerator[at][:, None], tariff.denominator[at][:, None], once)
    if tariff.floored:
        units = units >> np.minimum(halvings, 63)
    units[..., unpaid_by(tariff, meaning) > 0, :] = 0
    return units


def halvings_of(tariff: Tariff, meaning: Meaning) -> IntArray:
    """Return how often decay halves what each code pays, shape [C]."""
    epoch = np.minimum(meaning.epoch, len(tariff.limit) - 1)
    decays = tariff.counted[meaning.outcome] & tariff.decay[epoch]
    return np.where(decays, np.maximum(meaning.ordinal - 1, 0), 0)


def unpaid_by(tariff: Tariff, meaning: Meaning) -> IntArray:
    """Return what keeps each code from being paid, shape [C]: 0 nothing, else LIMIT, CAP or WINDOW."""
    epoch = np.minimum(meaning.epoch, len(tariff.limit) - 1)
    at = epoch, meaning.outcome
    limit = tariff.limit[epoch]
    beyond = tariff.counted[meaning.outcome] & (limit > 0) & (meaning.ordinal > limit)
    capped = (tariff.cap[at] > 0) & (meaning.nth > tariff.cap[at])
    return np.select([tariff.unpaid[at], beyond, capped], [WINDOW, LIMIT, CAP], 0)


def own_units(tariff: Tariff, values: IntArray, stages: int) -> IntArray:
    """Return the units of the own value number after each of `stages` rounds (the last holds), by rank.

    The shape is [stages] and that of `values`.
    """
    shares = [tariff.own[min(stage, len(tariff.own) - 1)] for stage in range(stages)]
    none = np.zeros((1, 1), dtype=np.int64)
    return np.array([_items(tariff, values, none + top, none + bottom, none) for top, bottom in shares])


def _items(tariff: Tariff, value: IntArray, numerator: IntArray, denominator: IntArray, halvings: IntArray) -> IntArray:
    """Return shares of value numbers in units, rounded as the rule set does."""
    if tariff.arithmetic == Arithmetic.FLOAT64:
        # Halving a double is exact: only the product is rounded.
        share = np.ldexp(numerator / denominator, -halvings)
        return _round_double((value / tariff.value_unit) * share * tariff.per_point)
    if tariff.arithmetic == Arithmetic.FLOAT32:
        exact = (value / tariff.value_unit) * (numerator / denominator)
        single = exact.astype(np.float32).astype(np.float64)
        units32: IntArray = np.rint(np.ldexp(single, -halvings) * tariff.per_point).astype(np.int64)
        return units32
    whole = value * numerator * tariff.per_point
    return round_ratio(whole, denominator * tariff.value_unit, halvings, even=tariff.even)


def round_total(units: IntArray, tariff: Tariff) -> IntArray:
    """Return totals rounded as the rule set does."""
    if tariff.arithmetic == Arithmetic.FLOAT32:
        single = (units / tariff.per_point).astype(np.float32).astype(np.float64)
        return np.rint(single * tariff.per_point).astype(units.dtype)
    if tariff.total_grain:
        wide = units.astype(np.int64)
        return (round_ratio(wide, tariff.total_grain, even=tariff.even) * tariff.total_grain).astype(units.dtype)
    return units


def round_ratio(
    numerator: IntArray, denominator: int | IntArray, halvings: int | IntArray = 0, *, even: bool = False
) -> IntArray:
    """Return numerator / (denominator * 2**halvings) rounded to integers, halves away from zero or to even."""
    # floor((y + n) / m) = floor((floor(y) + n) / m): the power of two never multiplies the denominator.
    halvings = np.minimum(halvings, 60)
    half = np.int64(1) << halvings
    twice, rest = np.divmod(2 * np.abs(numerator), denominator)
    magnitude = (twice + half) >> (halvings + 1)
    if even:
        tie = (rest == 0) & ((twice & (2 * half - 1)) == half)
        magnitude = magnitude - (tie & (magnitude % 2 == 1))
    signed: IntArray = np.where(numerator < 0, -magnitude, magnitude)
    return signed


def _round_double(units: npt.NDArray[np.float64]) -> IntArray:
    """Return doubles rounded half away from zero; numpy's own rounding takes halves to even."""
    whole = np.trunc(units)
    return (whole + np.copysign(np.abs(units - whole) >= 0.5, units)).astype(np.int64)
