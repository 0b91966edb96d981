"""`sentences`: a ledger in words, for whom it is about."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from keizerframe.voice import Voice

#: Revalued opponents that are told one by one; the others are summed.
_TOLD = 3
_UNPAID = ("limit", "cap", "window", "no-game-yet", "left", "outside")
_KINDS = ("own value", "game", "bye", "absence", "handicap", "club", "rounding")


def sentences(ledger: pd.DataFrame, lang: str = "en") -> pd.DataFrame:
    """Return what a ledger says, one sentence a player.

    Parameters
    ----------
    ledger
        What `explain` returns: of a table, or with ``since`` of a change.
    lang
        ``en``, ``nl``, ``de`` or ``fr``.

    Returns
    -------
    pandas.DataFrame
        Columns season, rules, player, sentence; in the order of the ledger. Points are told to two decimals.

    Raises
    ------
    UnknownNameError
        If there are no sentences in that language.

    References
    ----------
    Every number is a row or a sum of rows of the ledger.

    Examples
    --------
    >>> import keizerframe as kf
    >>> season = kf.load_dataset("waagtoren").select("2023-24")
    >>> change = kf.explain(season, "classic", player="W157", through=8, since=6)
    >>> print(kf.sentences(change)["sentence"].item())
    +24.5 since round 6: your absence in round 7 (0), your absence in round 8 (0), your round-1 opponent rose from \
28 to 50 (+22), your round-5 opponent rose from 56 to 63 (+3.5), own value -1.
    """
    voice = Voice(lang, "telling")
    tell = _change if "cause" in ledger else _total
    rows = [
        (*key, tell(rows, voice))
        for key, rows in ledger.groupby(["season", "rules", "player"], sort=False, dropna=False)
    ]
    return pd.DataFrame(rows, columns=["season", "rules", "player", "sentence"], dtype="str")


def _change(rows: pd.DataFrame, voice: Voice) -> str:
    since = int(rows["since"].iloc[0])
    parts = [*_new(rows, voice), *_revalued(rows, voice)]
    for cause, key in (("own value", "own"), ("absences", "absences"), ("rounding", "rounding"), ("gone", "gone")):
        points = float(rows.loc[rows["cause"] == cause, "points"].sum())
        # What two decimals do not show is not worth a word.
        if abs(points) >= 0.005:
            parts.append(voice.say(key, points=voice.points(points, signed=True)))
    if not parts:
        return voice.say("change.none", since=since)
    total = voice.points(float(rows["points"].sum()), signed=True)
    return voice.say("change", points=total, since=since, parts=", ".join(parts))


def _new(rows: pd.DataFrame, voice: Voice) -> Iterator[str]:
    for row in rows[rows["cause"] == "new"].to_dict("records"):
        points = voice.points(row["points"], signed=True)
        if row["reason"] in _UNPAID:
            points = f"{points}: {voice.say('why.' + row['reason'])}"
        yield voice.say(f"new.{row['kind']}", round=row["round"], points=points)


def _revalued(rows: pd.DataFrame, voice: Voice) -> Iterator[str]:
    changed = rows[rows["cause"] == "revaluation"]
    changed = changed.iloc[np.argsort(-changed["points"].abs().to_numpy(), kind="stable")]
    for row in changed.head(_TOLD).to_dict("records"):
        before, after = row["value_number_before"], row["value_number"]
        points = voice.points(row["points"], signed=True)
        # Another share of the same value number is no fall and no rise.
        key = "fell" if after < before else "rose" if after > before else "otherwise"
        key = "otherwise" if row.get("reason") == "opponent-left" else key
        numbers = {"before": voice.points(before), "after": voice.points(after)} if key != "otherwise" else {}
        yield voice.say(key, round=row["round"], points=points, **numbers)
    others = changed.iloc[_TOLD:]
    if len(others):
        points = voice.points(float(others["points"].sum()), signed=True)
        yield voice.say("others.one" if len(others) == 1 else "others.more", count=len(others), points=points)


def _total(rows: pd.DataFrame, voice: Voice) -> str:
    parts = []
    for kind in _KINDS:
        some = rows[rows["kind"] == kind]
        points = float(some["points"].sum())
        if len(some) and (kind != "rounding" or abs(points) >= 0.005):
            parts.append(voice.say(f"sum.{kind}", count=len(some), points=voice.points(points)))
    for reason in _UNPAID:
        rounds = rows.loc[rows["reason"] == reason, "round"]
        if len(rounds):
            why = voice.say(f"why.{reason}")
            parts.append(voice.say("unpaid", why=why, rounds=", ".join(map(str, rounds))))
    return voice.say("total", points=voice.points(float(rows["points"].sum())), parts="; ".join(parts))
