"""Tables of scores: ranking them, and what the last table of a row is made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.integer]

CONVERGED, CYCLE, CAP, DIRECT = range(4)
#: Parts of a score.
OWN_VALUE, GAMES, BYES, ABSENCES, CLUB = PARTS = range(5)


def ranking(units: IntArray) -> IntArray:
    """Return the rank (from 0) of each column, equal units to the lower column; last axis = columns.

    Examples
    --------
    >>> ranking(np.array([[3, 8, 8]]))
    array([[2, 0, 1]])
    """
    width = units.shape[-1]
    bits = max(width - 1, 1).bit_length()
    # Score and column packed into one integer: sorting them is the whole ranking.
    key = np.multiply(units, -(1 << bits), dtype=units.dtype)
    key += np.arange(width, dtype=key.dtype)
    key.sort(axis=-1)
    order = (key & ((1 << bits) - 1)).astype(np.intp)
    rank = np.empty(units.shape, dtype=np.intp)
    np.put_along_axis(rank, order, np.arange(width).reshape((1,) * (units.ndim - 1) + (width,)), axis=-1)
    return rank


@dataclass(slots=True)
class Tables:
    """The final tables of a batch; rows are season x rule set, columns as in `Coded`.

    Parameters
    ----------
    units
        Score of each player, shape [rows, N]; divide by ``per_point * divisor`` for points.
    parts
        The same by part of the score, shape [rows, parts, N].
    values
        Value numbers used, summed over `tables`, shape [rows, N].
    rank
        Final rank from 0, shape [rows, N].
    outcome, steps, length
        How the row ended, after how many tables, and the length of its cycle, shape [rows].
    tables
        How many tables were summed, shape [rows].
    divisor
        How many tables the units are still a sum of (1 where the mean was rounded), shape [rows].
    """

    units: IntArray
    parts: IntArray
    values: IntArray
    rank: IntArray
    outcome: IntArray
    steps: IntArray
    length: IntArray
    tables: IntArray
    divisor: IntArray


def blank_tables(rows: int, n_parts: int, width: int) -> Tables:
    """Return tables in which nothing has been counted."""
    return Tables(
        units=np.zeros((rows, width), dtype=np.int64),
        parts=np.zeros((rows, n_parts, width), dtype=np.int64),
        values=np.zeros((rows, width), dtype=np.int64),
        rank=np.zeros((rows, width), dtype=np.intp),
        outcome=np.full(rows, DIRECT),
        steps=np.ones(rows, dtype=np.int64),
        length=np.ones(rows, dtype=np.int64),
        tables=np.zeros(rows, dtype=np.int64),
        divisor=np.ones(rows, dtype=np.int64),
    )
