"""`identify`: which rule sets reproduce a published table."""

from __future__ import annotations

import itertools
import numbers
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from keizerframe.catalog import PRESETS, RulesArgument, club_presets, resolve_rules
from keizerframe.entries import scored_batches
from keizerframe.errors import KeizerError, NegativeValueWarning, RulesError
from keizerframe.io.chesspairing import COMPATIBILITY
from keizerframe.kernel.grid import Scope
from keizerframe.published import SINGLE_PRECISION, Published, read_published
from keizerframe.rules import Rules
from keizerframe.scoring import check_parts
from keizerframe.season import Season, as_season
from keizerframe.tariffs import value_numbers
from keizerframe.variants import VALUE_FIELDS, swapped

IntArray = npt.NDArray[np.integer]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
#: What orders candidates: scores and ranks equal (negative), mean and largest residual, sum of rank differences.
Key = tuple[int, int, float, float, int]
Verdict = Literal["exact", "best", "ambiguous", "none"]

#: The switches of programs that let their users choose: each a list of fields of which one applies.
SETTINGS: dict[str, tuple[tuple[Mapping[str, Any], ...], ...]] = {
    "keizerforclubs-2.0": (
        ({}, {"value_list": "normalised"}),
        ({}, {"own_value_fades": ("4/5", "3/5", "2/5", "1/5", 0)}),
        ({}, {"absence_decay": True}),
        ({}, *({"loss_fraction": Fraction(percent, 100)} for percent in (1, 2, 3, 4, 5, 10))),
    ),
    "sharly-chess": (
        ({}, *({"rounding": to, "rounding_of": "total", "rounding_ties": "even"} for to in ("half", "whole"))),
    ),
}
#: First value number over last, where a rule set fixes that.
RATIOS = (Fraction(3, 2), Fraction(2), Fraction(5, 2), Fraction(3), Fraction(4))
#: The top value is searched up to this, or four times the number of players.
LEAST_REACH = 160
#: Rule sets at once, times the square of the players: bounds the memory.
_CHUNK_CELLS = 6_000_000

CANDIDATE_COLUMNS = (
    "rules",
    "kind",
    "verdict",
    "settings",
    "top_value",
    "players",
    "scores_compared",
    "scores_equal",
    "ranks_compared",
    "ranks_equal",
    "largest_residual",
    "mean_residual",
    "equal_settings",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Identification:
    """Which rule sets reproduce a published table.

    Parameters
    ----------
    verdict
        ``exact``: one candidate agrees in everything; ``best``: one agrees most; ``ambiguous``: several agree
        equally, and best; ``none``: the best one misses more than half of the scores (of the ranks, if there are no
        scores).
    candidates
        One row per candidate, best first: its ``kind``, its ``verdict`` (missing where it is behind the best),
        the ``settings`` in which it differs from the preset, the ``top_value`` (value number of rank 1), how many
        scores and ranks were compared and are equal, the largest and the mean residual in points, and
        ``equal_settings``: how many of its settings (top values and switches) agree equally.
    residuals
        One row per player for the candidates that lead: score and rank as published and as these rules have
        them, ``residual`` = ours - published in points. Ranks are counted among the published players.
    rules
        The rule set behind each row of `candidates`, with the settings found, by its name.
    skipped
        Candidates that could not be scored, and why: columns rules, reason.
    decimals
        Decimals of the published scores; None without scores.
    """

    verdict: Verdict
    candidates: pd.DataFrame
    residuals: pd.DataFrame
    rules: dict[str, Rules]
    skipped: pd.DataFrame
    decimals: int | None

    @property
    def sentence(self) -> str:
        """The finding in a sentence."""
        first = self.candidates.iloc[0]
        agrees = [
            f"{first[f'{what}_equal']} of {first[f'{what}_compared']} {what}"
            for what in ("scores", "ranks")
            if first[f"{what}_compared"]
        ]
        found = f"{first['rules']} (top value {first['top_value']:g})"
        if self.verdict == "ambiguous":
            tied = int((self.candidates["verdict"] == "ambiguous").sum())
            names = ", ".join(self.candidates["rules"].head(min(tied, 4))) + (", ..." if tied > 4 else "")
            return f"{tied} candidates agree equally, with {' and '.join(agrees)}: {names}."
        opening = {
            "exact": f"{found} reproduces the table",
            "best": f"{found} comes nearest",
            "none": f"No candidate reproduces the table; {found} comes nearest",
        }[self.verdict]
        told = f"{opening}: {' and '.join(agrees)} equal"
        if first["scores_compared"]:
            told += f", largest difference {first['largest_residual']:.4g} points"
        also = int(first["equal_settings"]) - 1
        return told + (f"; {also} other settings of it do so equally." if also else ".")

    def __repr__(self) -> str:
        shown = self.candidates.drop(columns=["kind", "equal_settings"]).head(8)
        return f"{self.sentence}\n\n{shown.to_string(index=False)}"

    def _repr_html_(self) -> str:
        return f"<p>{self.sentence}</p>" + self.candidates.to_html(index=False)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A rule set to be tried, under all settings that its users may have chosen; its own come first."""

    label: str
    kind: str
    rules: Rules
    versions: Sequence[Rules]


@dataclass(frozen=True, slots=True)
class Fit:
    """How well the versions of a candidate agree: shape [versions, published players], and the roster's size."""

    score: FloatArray
    rank: IntArray
    residual: FloatArray
    score_equal: BoolArray
    rank_equal: BoolArray
    rank_moved: IntArray
    size: int

    def keys(self) -> list[Key]:
        """Return what orders the versions, the best lowest."""
        size = np.abs(np.nan_to_num(self.residual))
        scored = max(1, np.count_nonzero(~np.isnan(self.residual[0])))
        columns = (
            -self.score_equal.sum(axis=1),
            -self.rank_equal.sum(axis=1),
            # Sums in another order differ in their last digits.
            (size.sum(axis=1) / scored).round(9),
            size.max(axis=1, initial=0).round(9),
            self.rank_moved,
        )
        return list(zip(*(column.tolist() for column in columns), strict=True))


@dataclass(frozen=True, slots=True)
class Found:
    """The best version of a candidate, and how many do as well."""

    candidate: Candidate
    fit: Fit
    key: Key
    best: int
    equal: int

    @property
    def rules(self) -> Rules:
        """The rules with the settings found."""
        return self.candidate.versions[self.best]


def identify(
    season: Season | pd.DataFrame,
    published: pd.DataFrame,
    *,
    candidates: Literal["programs", "all"] | RulesArgument = "programs",
    through: int | None = None,
    roster_round: int | None = None,
    top: int | Iterable[int] | None = None,
    decimals: int | None = None,
) -> Identification:
    """Find the rule sets that reproduce a published table.

    Each candidate is scored under every setting that its users may have chosen: the top value (value number of
    rank 1) from 1 to four times the number of players, at least to 160, or, where the rules fix the ratio of
    first to last, a few ratios; and the switches of the programs (`SETTINGS`). The settings that agree best
    stand for the candidate.

    Parameters
    ----------
    season
        One season, or a games frame.
    published
        The table: ``player`` and ``score`` (points) or ``rank`` or both; other columns are passed over. Players
        may be missing. Printed scores may be rounded.
    candidates
        ``"programs"``: the programs, and the six variants as the documented scorer chesspairing computes them;
        ``"all"``: the clubs too; or rule sets as `score` takes them.
    through
        The round after which the table was published; None = the last.
    roster_round
        As in `score`.
    top
        The top value, or several to try, for candidates whose rules do not fix the ratio; None = search.
    decimals
        Decimals to which the published scores were rounded; None = as many as they show.

    Returns
    -------
    Identification
        The candidates, best first. Best = the most scores equal (within half of the last decimal shown), then the
        most ranks equal, then the least mean and largest residual, then the ranks nearest. Published ranks are
        compared among the published players, with the printed places or the ranks that set the value numbers,
        whichever agree more; players outside a candidate's roster count as 0 points, behind all others.

    Raises
    ------
    PublishedTableError
        With everything that is wrong with the table.
    UnknownNameError, RulesError
        If there is more than one season, a candidate does not exist, or none can score this season.

    Examples
    --------
    >>> import keizerframe as kf
    >>> season = kf.load_dataset("waagtoren").select("2018-19")
    >>> table = kf.score(season, "classic,value_number_base=120")[["player", "score"]].round()
    >>> found = kf.identify(season, table, candidates=["classic", "sharly-chess", "freekeizer-0.5"])
    >>> print(found.sentence)
    classic (top value 120) reproduces the table: 67 of 67 scores equal, largest difference 0.5 points.
    """
    data = as_season(season)
    if len(data.labels) != 1:
        raise RulesError([f"identify takes one season, not {len(data.labels)}: choose one with Season.select"])
    table = read_published(published, data.players["player"].tolist(), decimals)
    scope = Scope(through=through, roster_round=roster_round)
    tops = _tops(top)
    reach = max(4 * len(data.players), LEAST_REACH)
    found: list[Found] = []
    skipped: list[dict[str, str]] = []
    for label, kind, rules in _named(candidates):
        try:
            check_parts(data, {label: rules})
            candidate = Candidate(label, kind, rules, _versions(rules, tops, reach))
            found.append(_found(candidate, _fit(data, candidate.versions, scope, table), table))
        except KeizerError as fault:
            skipped.append({"rules": label, "reason": str(fault)})
    if not found:
        raise RulesError([f"{one['rules']} cannot score this season: {one['reason']}" for one in skipped])
    # Among equals, a candidate that needs no search first.
    found.sort(key=lambda one: (one.key, one.best > 0))
    return _identification(data, table, found, pd.DataFrame(skipped, columns=["rules", "reason"], dtype="str"))


def _tops(top: int | Iterable[int] | None) -> list[int] | None:
    """Return the top values given."""
    if top is None:
        return None
    given = [top] if isinstance(top, int) else list(top)
    bad = [one for one in given if isinstance(one, bool) or not isinstance(one, numbers.Integral)]
    if bad or not given:
        raise RulesError([f"top = {top!r}: must be a whole number, or a list of some"])
    return [int(one) for one in given]


@cache
def _programs() -> tuple[tuple[str, str, Rules], ...]:
    """Return the programs themselves, and the variants as the documented scorer computes them."""
    return tuple(
        (name, preset.kind, preset.rules)
        if preset.kind == "program"
        else (f"{name} as chesspairing computes it", preset.kind, preset.rules.replace(**COMPATIBILITY))
        for name, preset in PRESETS.items()
    )


def _named(candidates: str | RulesArgument) -> list[tuple[str, str, Rules]]:
    """Return label, kind and rules of each candidate."""
    if candidates in ("programs", "all"):
        clubs = club_presets().items() if candidates == "all" else ()
        return [*_programs(), *((name, preset.kind, preset.rules) for name, preset in clubs)]
    return [(label, "given", rules) for label, rules in resolve_rules(candidates).items()]


@cache
def _switched(name: str) -> tuple[Rules, ...]:
    """Return a preset under all positions of its switches, its own first."""
    chosen = itertools.product(*SETTINGS[name])
    fields = ({name: value for switch in one for name, value in switch.items()} for one in chosen)
    return tuple(PRESETS[name].rules.replace(**one) for one in fields)


def _versions(rules: Rules, tops: list[int] | None, reach: int) -> list[Rules]:
    """Return the rules under all settings to be tried, their own first."""
    preset = next((name for name in SETTINGS if PRESETS[name].rules == rules), None)
    switched = (rules,) if preset is None else _switched(preset)
    return [version for one in switched for version in _valued(one, tops, reach)]


def _valued(rules: Rules, tops: list[int] | None, reach: int) -> list[Rules]:
    """Return the rules with the value numbers to be tried, their own first."""
    if rules.values_from is not None:
        return [swapped(rules, {"values_from": source}) for source in _valued(rules.values_from, tops, reach)]
    if isinstance(rules.value_list, tuple):
        return [rules]
    if rules.value_ratio is not None:
        return _at_ratios(rules)
    searched = [
        swapped(rules, {"value_per_player": None, "value_number_base": top}) for top in tops or range(1, reach + 1)
    ]
    return searched if tops is not None else [rules, *searched]


def _at_ratios(rules: Rules) -> list[Rules]:
    others = [ratio for ratio in RATIOS if ratio != rules.value_ratio]
    return [rules, *(swapped(rules, {"value_ratio": ratio}) for ratio in others)]


def _fit(data: Season, versions: Sequence[Rules], scope: Scope, table: Published) -> Fit:
    """Score one season under all versions and hold them against the table."""
    shape = len(versions), len(data.players)
    score, place, rank = np.zeros(shape), np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    size = 0
    most = max(1, _CHUNK_CELLS // max(1, shape[1]) ** 2)
    for first in range(0, len(versions), most):
        with warnings.catch_warnings():
            # Low tops are tried too, and make value numbers negative.
            warnings.simplefilter("ignore", NegativeValueWarning)
            batches = list(scored_batches(data, versions[first : first + most], scope))
        for batch in batches:
            tables, rows = batch.tables, np.asarray(batch.rules) + first
            size = int(batch.coded.size[0])
            # Who is outside the roster has nothing.
            units = np.where(np.arange(shape[1]) < size, tables.units, 0)
            at = np.ix_(rows, batch.coded.column[0])
            score[at] = units / (batch.per_point * tables.divisor)[:, None]
            place[at], rank[at] = batch.place, batch.ranks
    ours = score[:, table.player]
    residual = ours - table.score
    residual[np.abs(residual) <= SINGLE_PRECISION * np.maximum(np.abs(ours), 1)] = 0
    score_equal = np.abs(residual) <= table.tolerance
    ranks, expected = _ranks(table, ours, [order[:, table.player] for order in (place, rank)])
    return Fit(
        score=ours,
        rank=ranks,
        residual=residual,
        score_equal=score_equal,
        rank_equal=(ranks == expected) & (table.rank > 0),
        rank_moved=np.abs(ranks - expected).sum(axis=1),
        size=size,
    )


def _ranks(table: Published, score: FloatArray, orders: Sequence[npt.NDArray[Any]]) -> tuple[IntArray, IntArray]:
    """Return our ranks [versions, players] among the players with a published one, and those published; else 0.

    A table in which players share a rank is met by equal scores; any other by the printed places or by the
    ranks that set the value numbers, whichever agree more.
    """
    listed = np.flatnonzero(table.rank)
    printed = table.rank[listed]
    expected = np.zeros(len(table.rank), dtype=np.int64)
    expected[listed] = 1 + np.searchsorted(np.sort(printed), printed)
    if len(np.unique(printed)) < len(printed):
        orders = [-score]
    ranks = np.zeros(score.shape, dtype=np.int64)
    agreed = np.full(len(score), -1)
    for order in orders:
        ours = np.zeros_like(ranks)
        for v, one in enumerate(order[:, listed]):
            ours[v, listed] = 1 + np.searchsorted(np.sort(one), one)
        same = (ours == expected).sum(axis=1)
        better = same > agreed
        ranks[better], agreed[better] = ours[better], same[better]
    return ranks, expected


def _found(candidate: Candidate, fit: Fit, table: Published) -> Found:
    """Return the best version: among equals the first, which is nearest to the rules as they are."""
    keys = fit.keys()
    best = min(keys)
    equal = [v for v, one in enumerate(keys) if _as_good(one, best, table)]
    # A top value that is searched may be the rules' own.
    plain = {name: getattr(Rules(), name) for name in VALUE_FIELDS}
    alike = {
        (tuple(_values(candidate.versions[v], fit.size)), swapped(candidate.versions[v], {"values_from": None} | plain))
        for v in equal
    }
    return Found(candidate, fit, keys[equal[0]], equal[0], len(alike))


def _as_good(key: Key, best: Key, table: Published) -> bool:
    """Say whether nothing published tells the two apart.

    Where the best agrees within the rounding of the published numbers, a smaller rest is chance.
    """
    figures = int((~np.isnan(table.score)).sum()), int(np.count_nonzero(table.rank))
    complete = best[:2] == (-figures[0], -figures[1])
    return key[:2] == best[:2] if complete else key == best


def _values(rules: Rules, size: int) -> list[Fraction]:
    return value_numbers(rules.values_from or rules, size)


def _identification(data: Season, table: Published, found: list[Found], skipped: pd.DataFrame) -> Identification:
    scores, ranks = int((~np.isnan(table.score)).sum()), int(np.count_nonzero(table.rank))
    lead = [one for one in found if _as_good(one.key, found[0].key, table)]
    scores_equal, ranks_equal = -lead[0].key[0], -lead[0].key[1]
    verdict: Verdict = "ambiguous"
    if 2 * scores_equal < scores or (not scores and 2 * ranks_equal < ranks):
        verdict = "none"
    elif len(lead) == 1:
        verdict = "exact" if (scores_equal, ranks_equal) == (scores, ranks) else "best"
    rows = [_row(one, table) | {"verdict": verdict if one in lead else None} for one in found]
    frame = pd.DataFrame(rows, columns=list(CANDIDATE_COLUMNS))
    return Identification(
        verdict=verdict,
        candidates=frame.astype(dict.fromkeys(("rules", "kind", "verdict", "settings"), "str")),
        residuals=pd.concat([_residuals(one, table, data) for one in lead], ignore_index=True),
        rules={one.candidate.label: swapped(one.rules, {"label": one.candidate.label}) for one in found},
        skipped=skipped,
        decimals=table.decimals,
    )


def _row(one: Found, table: Published) -> dict[str, Any]:
    own, now = one.candidate.rules.written(), one.rules.written()
    residual = np.abs(one.fit.residual[one.best])
    scored = ~np.isnan(residual)
    values = _values(one.rules, one.fit.size)
    return {
        "rules": one.candidate.label,
        "kind": one.candidate.kind,
        "settings": ",".join(f"{name}={value}" for name, value in now.items() if value != own[name]),
        "top_value": float(values[0]) if values else np.nan,
        "players": len(table.player),
        "scores_compared": int(scored.sum()),
        "scores_equal": int(one.fit.score_equal[one.best].sum()),
        "ranks_compared": int(np.count_nonzero(table.rank)),
        "ranks_equal": int(one.fit.rank_equal[one.best].sum()),
        "largest_residual": residual[scored].max() if scored.any() else np.nan,
        "mean_residual": residual[scored].mean() if scored.any() else np.nan,
        "equal_settings": one.equal,
    }


def _residuals(one: Found, table: Published, data: Season) -> pd.DataFrame:
    """Return the players of one candidate, the largest residual first."""
    fit, best = one.fit, one.best
    people = data.players.iloc[table.player]
    listed = table.rank > 0
    frame = pd.DataFrame(
        {
            "rules": pd.Series(one.candidate.label, index=range(len(people)), dtype="str"),
            "player": people["player"].array,
            "name": people["name"].array,
            "published_score": table.score,
            "score": fit.score[best],
            "residual": fit.residual[best],
            "score_equal": fit.score_equal[best],
            "published_rank": pd.arrays.IntegerArray(table.rank, ~listed),
            "rank": pd.arrays.IntegerArray(fit.rank[best], ~listed),
            "rank_equal": fit.rank_equal[best],
        }
    )
    order = np.lexsort((np.arange(len(frame)), -np.nan_to_num(np.abs(fit.residual[best]))))
    return frame.iloc[order].reset_index(drop=True)
