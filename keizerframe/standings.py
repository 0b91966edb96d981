"""The standings frame: its columns, their types, and how arrays become rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from keizerframe.columns import text_array
from keizerframe.kernel.points import round_ratio

IntArray = npt.NDArray[np.integer]

#: Columns of the standings in order: a public contract.
STANDINGS_SCHEMA = pa.schema(
    [
        ("season", pa.string()),
        ("rules", pa.string()),
        ("rank", pa.int32()),
        ("place", pa.int32()),
        ("player", pa.string()),
        ("name", pa.string()),
        ("rating", pa.int32()),
        ("category", pa.string()),
        ("place_in_category", pa.int32()),
        ("value_number", pa.float64()),
        ("next_value_number", pa.float64()),
        ("score", pa.float64()),
        ("score_x2", pa.int64()),
        ("units", pa.int64()),
        ("per_point", pa.int64()),
        ("from_own_value", pa.int64()),
        ("from_games", pa.int64()),
        ("from_byes", pa.int64()),
        ("from_absences", pa.int64()),
        ("from_club", pa.int64()),
        ("rounding", pa.int64()),
        ("game_points", pa.float64()),
        ("played", pa.int32()),
        ("wins", pa.int32()),
        ("draws", pa.int32()),
        ("losses", pa.int32()),
        ("byes", pa.int32()),
        ("absences", pa.int32()),
        ("withdrawn", pa.bool_()),
        ("outcome", pa.string()),
        ("iterations", pa.int32()),
        ("cycle_length", pa.int32()),
    ]
)
PART_COLUMNS = ("from_own_value", "from_games", "from_byes", "from_absences", "from_club")
COUNT_COLUMNS = ("played", "wins", "draws", "losses", "byes", "absences")
OUTCOME_NAMES = ("converged", "cycle", "cap", "direct")


def standings_frame(
    columns: dict[str, npt.NDArray[Any]],
    season_labels: list[str],
    rules_labels: list[str],
    players: pd.DataFrame,
    category: IntArray,
) -> pd.DataFrame:
    """Return the standings from columns of numbers.

    Parameters
    ----------
    columns
        season, rules, player (positions in the three lists), outcome (position in OUTCOME_NAMES), round (0 = the
        last table), and the numeric columns of the schema.
    season_labels, rules_labels
        The names.
    players
        The players frame of the Season.
    category
        Each player's category as a number, -1 without one.
    """
    person = columns["player"]
    units, per_point = columns["units"], columns["per_point"]
    given: dict[str, Any] = {
        "season": text_array(season_labels, columns["season"]),
        "rules": text_array(rules_labels, columns["rules"]),
        "outcome": text_array(OUTCOME_NAMES, columns["outcome"]),
        "score": units / per_point,
        "score_x2": round_ratio(2 * units, per_point),
        "rounding": units - sum(columns[name] for name in PART_COLUMNS),
    }
    for name in ("player", "name", "rating", "category"):
        given[name] = players[name].array.take(person)
    given["place_in_category"] = _place_in_category(columns, category)
    built: dict[str, Any] = {}
    for column in STANDINGS_SCHEMA:
        value = given[column.name] if column.name in given else columns[column.name]
        if isinstance(value, np.ndarray):
            value = value.astype(column.type.to_pandas_dtype(), copy=False)
        built[column.name] = value
    return pd.DataFrame(built, copy=False)


def _place_in_category(columns: dict[str, IntArray], category: IntArray) -> pd.api.extensions.ExtensionArray:
    """Return each player's place among those of his category; missing without one."""
    code = category[columns["player"]]
    places = np.zeros(len(code), dtype=np.int32)
    rows = np.flatnonzero(code >= 0)
    if len(rows):
        group = (columns["season"][rows], columns["rules"][rows], columns["round"][rows], code[rows])
        order = np.lexsort((columns["place"][rows], *group))
        fresh = np.any([np.diff(key[order], prepend=-1) != 0 for key in group], axis=0)
        start = np.maximum.accumulate(np.where(fresh, np.arange(len(rows)), 0))
        places[rows[order]] = np.arange(len(rows)) - start + 1
    return pd.arrays.IntegerArray(places, code < 0)
