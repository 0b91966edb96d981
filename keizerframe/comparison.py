"""`compare`: what the choice of rules changes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from keizerframe.catalog import RulesArgument, resolve_rules
from keizerframe.errors import RulesError
from keizerframe.rules import Rules
from keizerframe.scoring import score
from keizerframe.season import Season, as_season

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
    "outcome",
    "outcome_against",
)
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
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """The first rule set held against each of the others.

    Parameters
    ----------
    summary
        One row per season and pair of rule sets: who is champion under each, how many players change place
        (``moved``), the largest move and who makes it, Kendall's tau-b of the two orders (-1 to 1), how each
        table settled.
    players
        One row per player: place and score (points) under both, and the change; a place change above 0 is a
        rise. Sorted by the size of the change.
    fields
        The fields in which the rule sets differ, one column per rule set.
    standings
        The standings behind all this, as `score` gives them.
    """

    summary: pd.DataFrame
    players: pd.DataFrame
    fields: pd.DataFrame
    standings: pd.DataFrame

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

    Raises
    ------
    RulesError
        If fewer than two rule sets are given.

    References
    ----------
    M. G. Kendall, "The treatment of ties in ranking problems", Biometrika 33 (1945): tau-b.

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
    standings = score(as_season(season), rule_sets, through=through, roster_round=roster_round)
    first, *others = rule_sets
    pairs = [_pair(standings, first, other) for other in others]
    players = pd.concat(pairs, ignore_index=True)
    return Comparison(
        summary=_summaries(players, standings),
        players=_by_change(players),
        fields=differing_fields(rule_sets),
        standings=standings,
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
    columns = ["season", "player", "name", "place", "score"]
    sides = [standings.loc[standings["rules"] == label, columns] for label in (first, other)]
    both = sides[0].merge(sides[1].drop(columns="name"), on=["season", "player"], suffixes=("", "_against"))
    both = both.assign(
        rules=first,
        against=other,
        place_change=both["place"] - both["place_against"],
        score_change=both["score_against"] - both["score"],
    )
    return both[list(PLAYER_COLUMNS)]


def _by_change(players: pd.DataFrame) -> pd.DataFrame:
    order = np.lexsort((players["place"], -players["place_change"].abs(), players["season"], players["against"]))
    return players.iloc[order].reset_index(drop=True)


def _summaries(players: pd.DataFrame, standings: pd.DataFrame) -> pd.DataFrame:
    outcomes = standings.groupby(["season", "rules"], sort=False)["outcome"].first().to_dict()
    rows = []
    for (season, rules, against), table in players.groupby(["season", "rules", "against"], sort=False):
        size = table["place_change"].abs()
        largest = int(size.max())
        players_at = table["player"].to_numpy()
        champions = [players_at[table[place].argmin()] for place in ("place", "place_against")]
        rows.append(
            {
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
                "tau_b": kendall_tau(table["place"].to_numpy(), table["place_against"].to_numpy()),
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
