"""`compare`: what the choice of rules changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from keizerframe.catalog import RulesArgument, resolve_rules
from keizerframe.diagnosis import diagnose
from keizerframe.errors import RulesError
from keizerframe.rules import Rules
from keizerframe.scoring import score
from keizerframe.season import Season, as_season
from keizerframe.voice import Voice

IntArray = npt.NDArray[np.integer]

SUMMARY_COLUMNS = (
    "season",
    "rules",
    "against",
    "players",
    "champion",
    "champion_against",
    "same_champion",
    "moved",
    "largest_move",
    "largest_mover",
    "tau_b",
    "footrule",
    "top",
    "top_overlap",
    "outcome",
    "outcome_against",
    *(f"{part}_share{side}" for part in ("own_value", "byes", "absences") for side in ("", "_against")),
)
#: Shares of the totals -> the columns of the standings they are made of.
SHARES = {"own_value_share": "from_own_value", "byes_share": "from_byes", "absences_share": "from_absences"}
PLAYER_COLUMNS = (
    "season",
    "rules",
    "against",
    "player",
    "name",
    "place",
    "place_against",
    "place_change",
    "score",
    "score_against",
    "score_change",
    *(f"{share}{side}" for share in ("own_value_share", "byes_share", "absences_share") for side in ("", "_against")),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """The first rule set held against each of the others.

    Parameters
    ----------
    summary
        One row per season and pair of rule sets, moves counted among the players of both tables: who is champion
        under each, how many players change place
        (``moved``), the largest move and who makes it, how each table settled, and how far the two orders agree:
        ``tau_b`` (Kendall's, 1 = the same, -1 = reversed), ``footrule`` (Spearman's, 0 = the same, 1 = as far apart
        as can be), ``top_overlap`` (the share of the first ``top`` places held by the same players). Which share
        of all points comes from own value numbers, from byes and from absences, under each.
    players
        One row per player: place and score (points) under both, and the change; a place change above 0 is a
        rise; which share of his score comes from his own value number, byes and absences. Sorted by the size of
        the change.
    fields
        The fields in which the rule sets differ, one column per rule set.
    standings
        The standings behind all this, as `score` gives them.
    season, rules, scope
        What was compared, and ``through`` and ``roster_round``.
    """

    summary: pd.DataFrame
    players: pd.DataFrame
    fields: pd.DataFrame
    standings: pd.DataFrame
    season: Season
    rules: dict[str, Rules]
    scope: dict[str, int | None]

    def sentences(self, lang: str = "en", *, starts: int = 200, seed: int = 0) -> pd.DataFrame:
        """Return what a members' meeting asks for, one sentence a season and pair of rule sets.

        Parameters
        ----------
        lang
            ``en``, ``nl``, ``de`` or ``fr``.
        starts, seed
            Random start orders in which the champion is looked for, as in `diagnose`; 0 = none.

        Examples
        --------
        >>> import keizerframe as kf
        >>> season = kf.load_dataset("waagtoren").select("2018-19")
        >>> print(kf.compare(season, ["knsb", "freekeizer"]).sentences(starts=50)["sentence"].item())
        same champion (W134); 51 of 67 change place, largest 9 (W160); settled; champion unchanged in 50 of 50 start \
orders
        """
        kept: dict[tuple[str, str], tuple[int, int]] = {}
        if starts:
            found = diagnose(self.season, self.rules, starts=starts, seed=seed, **self.scope).summary
            keys = zip(found["season"], found["rules"], strict=True)
            kept = dict(zip(keys, zip(found["champion_kept"], found["starts"], strict=True), strict=True))
        voice = Voice(lang, "telling")
        rows = [
            {name: row[name] for name in ("season", "rules", "against")} | {"sentence": _sentence(row, kept, voice)}
            for row in self.summary.to_dict("records")
        ]
        return pd.DataFrame(rows, columns=["season", "rules", "against", "sentence"], dtype="str")

    def __repr__(self) -> str:
        return f"{self.summary.to_string(index=False)}\n\n{self.fields.to_string(index=False)}"

    def _repr_html_(self) -> str:
        return self.summary.to_html(index=False) + self.fields.to_html(index=False)


def compare(
    season: Season | pd.DataFrame,
    rules: RulesArgument,
    *,
    through: int | None = None,
    roster_round: int | None = None,
    top: int = 10,
) -> Comparison:
    """Compare the first rule set with each other one.

    Parameters
    ----------
    season
        One or many seasons, or a games frame.
    rules
        At least two rule sets.
    through, roster_round
        As in `score`.
    top
        How many of the first places ``top_overlap`` looks at.

    Raises
    ------
    RulesError
        If fewer than two rule sets are given.

    References
    ----------
    M. G. Kendall, "The treatment of ties in ranking problems", Biometrika 33 (1945): tau-b.
    P. Diaconis and R. L. Graham, "Spearman's footrule as a measure of disarray", J. R. Statist. Soc. B 39 (1977).
    R. Fagin, R. Kumar and D. Sivakumar, "Comparing top k lists", SIAM J. Discrete Math. 17 (2003): the overlap.

    Examples
    --------
    >>> import keizerframe as kf
    >>> result = kf.compare(kf.load_dataset("waagtoren"), ["knsb", "freekeizer"])
    >>> result.fields
                          field knsb freekeizer
    0             loss_fraction    0        1/6
    1   excused_absent_fraction  1/3       7/20
    2  club_commitment_fraction  2/3       7/10
    >>> bool(result.summary["same_champion"].all())
    True
    """
    rule_sets = resolve_rules(rules)
    if len(rule_sets) < 2:
        raise RulesError([f"compare needs two rule sets or more, and there is only {next(iter(rule_sets))!r}"])
    data = as_season(season)
    standings = score(data, rule_sets, through=through, roster_round=roster_round)
    first, *others = rule_sets
    pairs = [_pair(standings, first, other) for other in others]
    players = pd.concat(pairs, ignore_index=True)
    return Comparison(
        summary=_summaries(players, standings, top),
        players=_by_change(players),
        fields=differing_fields(rule_sets),
        standings=standings,
        season=data,
        rules=rule_sets,
        scope={"through": through, "roster_round": roster_round},
    )


def differing_fields(rule_sets: dict[str, Rules]) -> pd.DataFrame:
    """Return the fields in which rule sets differ: one row a field, one column a rule set.

    Examples
    --------
    >>> differing_fields({"a": Rules(), "b": Rules(loss_fraction="1/6")})
               field  a    b
    0  loss_fraction  0  1/6
    """
    written = {label: rules.written() for label, rules in rule_sets.items()}
    names = next(iter(written.values())).keys()
    rows = [
        {"field": name} | {label: str(fields[name]) for label, fields in written.items()}
        for name in names
        if len({str(fields[name]) for fields in written.values()}) > 1
    ]
    return pd.DataFrame(rows, columns=["field", *rule_sets], dtype="str")


def _pair(standings: pd.DataFrame, first: str, other: str) -> pd.DataFrame:
    """Return the players of every season under two rule sets, side by side."""
    columns = ["season", "player", "name", "place", "score", *SHARES]
    sides = [_with_shares(standings[standings["rules"] == label])[columns] for label in (first, other)]
    both = sides[0].merge(sides[1].drop(columns="name"), on=["season", "player"], suffixes=("", "_against"))
    both = both.assign(
        rules=first,
        against=other,
        place_change=both["place"] - both["place_against"],
        score_change=both["score_against"] - both["score"],
    )
    return both[list(PLAYER_COLUMNS)]


def _with_shares(table: pd.DataFrame) -> pd.DataFrame:
    """Add which share of each score comes from where; missing for a score of 0."""
    whole = table["units"].where(table["units"] != 0)
    return table.assign(**{share: table[part] / whole for share, part in SHARES.items()})


def _total_shares(table: pd.DataFrame) -> dict[str, float]:
    """Return which share of all points comes from where."""
    points = float(table["score"].sum())
    return {
        share: float((table[part] / table["per_point"]).sum()) / points if points else float("nan")
        for share, part in SHARES.items()
    }


def _by_change(players: pd.DataFrame) -> pd.DataFrame:
    order = np.lexsort((players["place"], -players["place_change"].abs(), players["season"], players["against"]))
    return players.iloc[order].reset_index(drop=True)


def _summaries(players: pd.DataFrame, standings: pd.DataFrame, top: int) -> pd.DataFrame:
    tables = standings.groupby(["season", "rules"], sort=False)
    outcomes = tables["outcome"].first().to_dict()
    leaders = standings[standings["place"] == 1]
    first_of = dict(zip(zip(leaders["season"], leaders["rules"], strict=True), leaders["player"], strict=True))
    shares = {key: _total_shares(table) for key, table in tables}
    rows = []
    for (season, rules, against), table in players.groupby(["season", "rules", "against"], sort=False):
        size = table["place_change"].abs()
        largest = int(size.max())
        players_at = table["player"].to_numpy()
        champions = [first_of[season, label] for label in (rules, against)]
        places = table["place"].to_numpy(), table["place_against"].to_numpy()
        within = min(top, len(table))
        sides = (("", shares[season, rules]), ("_against", shares[season, against]))
        rows.append(
            {f"{name}{side}": value for side, told in sides for name, value in told.items()}
            | {
                "season": season,
                "rules": rules,
                "against": against,
                "players": len(table),
                "champion": champions[0],
                "champion_against": champions[1],
                "same_champion": champions[0] == champions[1],
                "moved": int((size > 0).sum()),
                "largest_move": largest,
                "largest_mover": players_at[size.argmax()] if largest else None,
                "tau_b": kendall_tau(*places),
                "footrule": footrule(*places),
                "top": within,
                "top_overlap": top_overlap(*places, within),
                "outcome": outcomes[season, rules],
                "outcome_against": outcomes[season, against],
            }
        )
    frame = pd.DataFrame(rows, columns=list(SUMMARY_COLUMNS))
    texts = ("season", "rules", "against", "champion", "champion_against", "largest_mover", "outcome")
    return frame.astype(dict.fromkeys((*texts, "outcome_against"), "str"))


def kendall_tau(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    """Return Kendall's tau-b of two orders: 1 = the same, -1 = reversed; NaN where it is not defined.

    tau-b = (concordant - discordant) / sqrt((pairs - ties in first) * (pairs - ties in second)).

    References
    ----------
    M. G. Kendall, "The treatment of ties in ranking problems", Biometrika 33 (1945).

    Examples
    --------
    >>> kendall_tau([1, 2, 3], [1, 3, 2])
    0.3333333333333333
    """
    signs = [np.sign(np.subtract.outer(a, a).astype(np.float64)) for a in map(np.asarray, (first, second))]
    agreement = float((signs[0] * signs[1]).sum())
    untied = [float(np.abs(sign).sum()) for sign in signs]
    scale = float(np.sqrt(untied[0] * untied[1]))
    return agreement / scale if scale else float("nan")


def footrule(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    """Return Spearman's footrule distance of two orders: 0 = the same, 1 = as far apart as can be.

    sum |place in first - place in second| / floor(n^2 / 2).

    References
    ----------
    P. Diaconis and R. L. Graham, "Spearman's footrule as a measure of disarray", J. R. Statist. Soc. B 39 (1977).

    Examples
    --------
    >>> footrule([1, 2, 3, 4], [2, 1, 3, 4])
    0.25
    """
    a, b = np.asarray(first), np.asarray(second)
    farthest = len(a) ** 2 // 2
    return float(np.abs(a - b).sum() / farthest) if farthest else float("nan")


def top_overlap(first: npt.ArrayLike, second: npt.ArrayLike, top: int) -> float:
    """Return which share of the first `top` places the same players hold in both orders, 0 to 1.

    References
    ----------
    R. Fagin, R. Kumar and D. Sivakumar, "Comparing top k lists", SIAM J. Discrete Math. 17 (2003).

    Examples
    --------
    >>> top_overlap([1, 2, 3, 4], [3, 1, 2, 4], 2)
    0.5
    """
    inside = [np.asarray(order) <= top for order in (first, second)]
    return float((inside[0] & inside[1]).sum() / top) if top > 0 else float("nan")


def _sentence(row: Mapping[Any, Any], kept: dict[tuple[str, str], tuple[int, int]], voice: Voice) -> str:
    """Return the summary of one season and pair as a sentence."""
    key = "champion.same" if row["same_champion"] else "champion.other"
    champions = {"first": row["champion"], "second": row["champion_against"]}
    parts = [voice.say(key, **champions, rules=row["rules"], against=row["against"])]
    numbers = {"moved": row["moved"], "players": row["players"], "largest": row["largest_move"]}
    key = "moves.some" if row["moved"] else "moves.none"
    parts.append(voice.say(key, **numbers, mover=row["largest_mover"]))
    pair = [(row["rules"], row["outcome"]), (row["against"], row["outcome_against"])]
    unsettled = [(rules, outcome) for rules, outcome in pair if outcome in ("cycle", "cap")]
    parts += [voice.say(f"settled.{outcome}", rules=rules) for rules, outcome in unsettled] or [voice.say("settled")]
    if kept:
        counts = [kept[row["season"], rules] for rules, _ in pair]
        if counts[0] == counts[1]:
            parts.append(voice.say("kept.both", count=counts[0][0], starts=counts[0][1]))
        else:
            told = zip(pair, counts, strict=True)
            parts += [voice.say("kept.one", rules=one[0], count=count, starts=starts) for one, (count, starts) in told]
    return "; ".join(parts)
