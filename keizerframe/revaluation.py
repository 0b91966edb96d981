"""Two ledgers of one season held against each other: which rows are new, which are valued otherwise."""

from __future__ import annotations

import numpy as np
import pandas as pd

#: Why points changed, in the order they are told.
CAUSES = ("new", "revaluation", "own value", "absences", "rounding", "gone")
CHANGE_COLUMNS = (
    *("season", "rules", "player", "since", "cause", "round", "kind", "result", "colour", "opponent", "value_of"),
    *("value_number_before", "value_number", "share", "fixed", "units", "per_point", "points", "reason", "note"),
)
_KEYS = ["season", "rules", "player", "round"]
_CAUSE_OF = {
    "own value": "own value",
    "rounding": "rounding",
    "bye": "absences",
    "absence": "absences",
    "handicap": "absences",
    "club": "absences",
}


def changes_between(before: pd.DataFrame, after: pd.DataFrame, since: int) -> pd.DataFrame:
    """Return the ledger of a change: the rows of `after` less those of `before`, zeros left out.

    Units are brought to what both tables divide by, so that they add up to the change exactly.
    """
    # The two rows of no round are told apart by a round of their own.
    keyed = [
        ledger.assign(round=ledger["round"].astype("Int64").fillna(0) - (ledger["kind"] == "rounding"))
        for ledger in (before, after)
    ]
    both = keyed[1].merge(keyed[0], on=_KEYS, how="outer", suffixes=("", "_before"), sort=False)
    per_point = _common(both, ["per_point", "per_point_before"])
    units = [
        (both[name].fillna(0) * (per_point // both[scale].fillna(1))).astype(np.int64)
        for name, scale in (("units", "per_point"), ("units_before", "per_point_before"))
    ]
    gone, new = both["kind"].isna(), both["kind_before"].isna()
    for name in ("kind", "result", "colour", "opponent", "value_of", "share", "fixed", "reason", "note"):
        both[name] = both[name].where(~gone, both[f"{name}_before"])
    change = units[0] - units[1]
    cause = both["kind"].map(_CAUSE_OF).fillna("revaluation").mask(new, "new").mask(gone, "gone")
    cause = cause.mask(both["kind"] == "rounding", "rounding")
    changed = both.assign(
        round=both["round"].where(both["round"] > 0).astype("Int16"),
        since=np.int16(since),
        cause=cause,
        units=change,
        per_point=per_point,
        points=change / per_point,
    )
    told = changed.iloc[_order(changed, cause, after)]
    return told.loc[(told["units"] != 0) | (told["cause"] == "new"), list(CHANGE_COLUMNS)].reset_index(drop=True)


def _order(changed: pd.DataFrame, cause: pd.Series, after: pd.DataFrame) -> np.ndarray:
    """Return the rows by place in the later table, cause and round."""
    places = {key: place for place, key in enumerate(dict.fromkeys(_people(after)))}
    return np.lexsort(
        (
            changed["round"].fillna(0).to_numpy(),
            cause.map(CAUSES.index).to_numpy(),
            np.array([places.get(key, len(places)) for key in _people(changed)]),
        )
    )


def _people(frame: pd.DataFrame) -> list[tuple[str, str, str]]:
    return list(zip(frame["season"], frame["rules"], frame["player"], strict=True))


def _common(both: pd.DataFrame, scales: list[str]) -> pd.Series:
    """Return for each row the least number of units in a point that both tables of its season can be told in."""
    scale = np.ones(len(both), dtype=np.int64)
    for name in scales:
        whole = both.groupby(["season", "rules"])[name].transform("max").fillna(1).astype(np.int64)
        scale = np.lcm(scale, whole.to_numpy())
    return pd.Series(scale, index=both.index)
