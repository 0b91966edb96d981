"""The points table: what each code is worth at each rank, in integer units."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.integer]

#: Scores stay below this, so that sums of 64-bit integers cannot wrap.
LARGEST = 2**62


class Of(IntEnum):
    """Whose value number an award shares."""

    FIXED = 0
    OPPONENT = 1
    OWN = 2


@dataclass(frozen=True, slots=True)
class Tariff:
    """One rule set as numbers.

    Parameters
    ----------
    of, numerator, denominator
        The award of each outcome: whose value number, and the share (or the points), shape [outcomes].
    counted
        Whether the outcome counts as an absence, shape [outcomes].
    limit
        Absences that pay; 0 = all.
    decay
        Whether each further absence pays half.
    floored
        Whether decay halves the rounded units, rounding down; else the share is rounded once.
    doubles
        Whether products are taken in double precision before rounding.
    per_point
        Units in a point.
    own
        The share of the own value number added once.
    """

    of: IntArray
    numerator: IntArray
    denominator: IntArray
    counted: npt.NDArray[np.bool_]
    limit: int
    decay: bool
    floored: bool
    doubles: bool
    per_point: int
    own: int


def points_table(tariff: Tariff, values: IntArray, outcome: IntArray, ordinal: IntArray) -> IntArray:
    """Return the units of every code at every rank.

    Parameters
    ----------
    tariff
        The rule set.
    values
        Value number of each rank, shape [..., N].
    outcome, ordinal
        What each code means, shape [C].

    Returns
    -------
    Shape [..., C, N]; N runs over the rank of whoever's value number is shared.
    """
    of = tariff.of[outcome][:, None]
    value = np.where(of == Of.FIXED, 1, values[..., None, :])
    numerator, denominator = tariff.numerator[outcome][:, None], tariff.denominator[outcome][:, None]
    absent = tariff.counted[outcome]
    halvings = np.where(absent & tariff.decay, np.maximum(ordinal - 1, 0), 0)[:, None]
    if tariff.doubles:
        units = _round_double(value * (numerator / denominator) * tariff.per_point)
    else:
        once = 0 if tariff.floored else halvings
        units = round_half_away(value * numerator * tariff.per_point, denominator, once)
    if tariff.floored:
        units = units >> np.minimum(halvings, 63)
    unpaid = absent & (ordinal > tariff.limit) if tariff.limit else np.zeros_like(absent)
    units[..., unpaid, :] = 0
    return units


def own_units(tariff: Tariff, values: IntArray) -> IntArray:
    """Return the units of the own value number added once, by rank; the shape of `values`."""
    return values * (tariff.per_point * tariff.own)


def round_half_away(
    numerator: IntArray, denominator: int | IntArray, halvings: int | IntArray = 0
) -> IntArray:
    """Return numerator / (denominator * 2**halvings) rounded to integers, halves away from zero."""
    # floor((y + n) / m) = floor((floor(y) + n) / m): the power of two never multiplies the denominator.
    halvings = np.minimum(halvings, 60)
    twice = 2 * np.abs(numerator) // denominator
    magnitude = (twice + (np.int64(1) << halvings)) >> (halvings + 1)
    return np.where(numerator < 0, -magnitude, magnitude)


def _round_double(units: npt.NDArray[np.float64]) -> IntArray:
    """Return doubles rounded half away from zero; numpy's own rounding takes halves to even."""
    whole = np.trunc(units)
    return (whole + np.copysign(np.abs(units - whole) >= 0.5, units)).astype(np.int64)
