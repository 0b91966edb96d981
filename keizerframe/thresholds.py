"""What a sweep is asked afterwards: where the champion changes, and what staying away pays."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from keizerframe.awards import Award
from keizerframe.errors import KeizerWarning
from keizerframe.results import OUTCOME_NUMBER, OUTCOMES, base_outcome
from keizerframe.rules import Rules
from keizerframe.scoring import score
from keizerframe.season import Season
from keizerframe.tariffs import value_numbers
from keizerframe.variants import swapped

KINDS = {field.name: field.metadata["kind"] for field in dataclasses.fields(Rules) if field.compare}
#: Cells of the tables scored at once: bounds the memory.
_CELLS = 6_000_000
#: The opponent's value number over the own one.
OPPONENTS = (Fraction(1, 2), Fraction(1), Fraction(2))
_STAYING_COLUMNS = {
    "season": "str",
    "rules": "str",
    "absence": "str",
    "pays_at_most": "Int64",
    "value_number": "float64",
    "opponent": "float64",
    "stays": "float64",
    "win": "float64",
    "loss": "float64",
    "win_chance": "float64",
    "better": "str",
}
_ABSENCES = ("absent", "excused", "club")


@dataclass(frozen=True, slots=True)
class Run:
    """What a sweep was asked: the season, the grid, and how to score.

    Parameters
    ----------
    rule_sets
        The base and the grid by label; the grid in the order of the product of `values`.
    values
        The fields and their exact values.
    precision
        How far break-evens of shares are refined.
    """

    data: Season
    base: Rules
    rule_sets: dict[str, Rules]
    values: dict[str, list[Any]]
    precision: Fraction
    through: int | None
    roster_round: int | None

    @property
    def count(self) -> int:
        """Rule sets of the grid."""
        return math.prod(map(len, self.values.values()))

    def standings(self, rule_sets: Mapping[str, Rules]) -> pd.DataFrame:
        """Score rule sets, so many at once that memory stays bounded."""
        width = int(self.data.grid.n_players.max(initial=1))
        most = max(16, _CELLS // max(1, width * width))
        labels = list(rule_sets)
        frames = [
            score(
                self.data,
                {label: rule_sets[label] for label in labels[first : first + most]},
                through=self.through,
                roster_round=self.roster_round,
            )
            for first in range(0, len(labels), most)
        ]
        if len(frames) == 1:
            return frames[0]
        whole = pd.concat(frames, ignore_index=True)
        # Seasons together; within each the rule sets and places as they are.
        return whole.iloc[np.argsort(pd.factorize(whole["season"], sort=True)[0], kind="stable")].reset_index(drop=True)


def text_of(name: str, value: Any) -> str:
    """Return a field's value as rules are written."""
    written = KINDS[name].write(value)
    return written if isinstance(written, str) else json.dumps(written)


def _cell(value: Any, name: str) -> Any:
    """Return a value as it stands in a column."""
    if isinstance(value, Fraction):
        return float(value)
    return value if isinstance(value, bool | int | str) or value is None else text_of(name, value)


def column(name: str, values: Sequence[Any]) -> pd.Series[Any]:
    """Return a column of values; None = the field has none there."""
    cells = [_cell(value, name) for value in values]
    kinds = {type(cell) for cell in cells if cell is not None}
    dtype = {frozenset([bool]): "boolean", frozenset([int]): "Int64", frozenset([float]): "float64"}
    return pd.Series(cells, dtype=dtype.get(frozenset(kinds), "str" if str in kinds else "float64"))


@dataclass(frozen=True, slots=True)
class Gap:
    """Two values of a field with different champions in a season, the other fields held.

    `points` are the values between which bisection chooses, `low` and `high` positions in them.
    """

    season: str
    field: str
    held: tuple[tuple[str, Any], ...]
    points: Sequence[Any]
    low: int
    high: int
    champion_low: str
    champion_high: str

    @property
    def middle(self) -> int:
        """The position halfway."""
        return (self.low + self.high) // 2


def break_evens(run: Run, standings: pd.DataFrame) -> pd.DataFrame:
    """Return where the champion changes; see `Sweep.break_evens`."""
    gaps = _gaps(run, _champions(standings))
    done: list[Gap] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KeizerWarning)  # the grid has warned already
        for season in dict.fromkeys(gap.season for gap in gaps):
            # Each season has values of its own to try: scoring all seasons with all of them would cost most.
            data = run.data if len(run.data) == 1 else run.data.select(season)
            done += _bisected(dataclasses.replace(run, data=data), [gap for gap in gaps if gap.season == season])
    order = list(run.values)
    done.sort(
        key=lambda gap: (
            gap.season,
            order.index(gap.field),
            [run.values[name].index(value) for name, value in gap.held],
            gap.points[gap.low],
        )
    )
    columns: dict[str, Any] = {
        "season": pd.Series([gap.season for gap in done], dtype="str"),
        "field": pd.Series([gap.field for gap in done], dtype="str"),
        "low": pd.Series([float(gap.points[gap.low]) for gap in done], dtype="float64"),
        "high": pd.Series([float(gap.points[gap.high]) for gap in done], dtype="float64"),
        "champion_low": pd.Series([gap.champion_low for gap in done], dtype="str"),
        "champion_high": pd.Series([gap.champion_high for gap in done], dtype="str"),
    }
    for name in run.values:
        columns[name] = column(name, [dict(gap.held).get(name) for gap in done])
    return pd.DataFrame(columns)


def _bisected(run: Run, pending: list[Gap]) -> list[Gap]:
    """Return the gaps of one season refined: all are halved together, each half with different ends goes on."""
    done: list[Gap] = []
    while pending:
        done += [gap for gap in pending if gap.high - gap.low == 1]
        pending = [gap for gap in pending if gap.high - gap.low > 1]
        if not pending:
            break
        probes = {(gap.held, gap.field, gap.points[gap.middle]): "" for gap in pending}
        rule_sets = {}
        for number, (held, field, value) in enumerate(probes):
            label = probes[held, field, value] = str(number)
            rule_sets[label] = swapped(run.base, {**dict(held), field: value, "label": label})
        champions = _champions(run.standings(rule_sets))
        halves: list[Gap] = []
        for gap in pending:
            champion = champions[gap.season, probes[gap.held, gap.field, gap.points[gap.middle]]]
            lower = dataclasses.replace(gap, high=gap.middle, champion_high=champion)
            upper = dataclasses.replace(gap, low=gap.middle, champion_low=champion)
            halves += [half for half in (lower, upper) if half.champion_low != half.champion_high]
        pending = halves
    return done


def _champions(standings: pd.DataFrame) -> dict[tuple[str, str], str]:
    first = standings[standings["place"] == 1]
    return dict(zip(zip(first["season"], first["rules"], strict=True), first["player"], strict=True))


def _gaps(run: Run, champions: Mapping[tuple[str, str], str]) -> list[Gap]:
    """Return the neighbouring values of each numeric field between which the champion changes."""
    names = list(run.values)
    labels = list(run.rule_sets)[1:]
    of = dict(zip(itertools.product(*(range(len(one)) for one in run.values.values())), labels, strict=True))
    seasons = list(dict.fromkeys(season for season, _ in champions))
    found = []
    for axis, field in enumerate(names):
        numeric = [i for i, value in enumerate(run.values[field]) if _is_number(value)]
        numeric.sort(key=run.values[field].__getitem__)
        for i, j in itertools.pairwise(numeric):
            points = _points(run.values[field][i], run.values[field][j], run.precision)
            for at in itertools.product(*(range(len(one)) for k, one in enumerate(run.values.values()) if k != axis)):
                low, high = (of[(*at[:axis], end, *at[axis:])] for end in (i, j))
                others = [name for name in names if name != field]
                held = tuple((name, run.values[name][k]) for name, k in zip(others, at, strict=True))
                for season in seasons:
                    first, last = champions.get((season, low)), champions.get((season, high))
                    # A season without players has no champion.
                    if first is not None and last is not None and first != last:
                        found.append(Gap(season, field, held, points, 0, len(points) - 1, first, last))
    return found


def _is_number(value: Any) -> bool:
    return isinstance(value, int | Fraction) and not isinstance(value, bool)


def _points(low: Any, high: Any, precision: Fraction) -> Sequence[Any]:
    """Return the values between two: multiples of the precision, or whole numbers."""
    if isinstance(low, int):
        return range(low, high + 1)
    first, last = math.floor(low / precision) + 1, math.ceil(high / precision) - 1
    return [low, *(k * precision for k in range(first, last + 1)), high]


def staying_away(run: Run, standings: pd.DataFrame) -> pd.DataFrame:
    """Return the win chance at which playing pays as much as staying away; see `Sweep.staying_away`."""
    combinations = dict(zip(list(run.rule_sets)[1:], itertools.product(*run.values.values()), strict=True))
    sizes = Counter(zip(standings["season"], standings["rules"], strict=True))
    rows: list[dict[str, Any]] = []
    chosen: list[tuple[Any, ...]] = []
    for (season, label), size in sizes.items():
        if label not in combinations:
            continue
        rules = run.rule_sets[label]
        own = value_numbers(rules.values_from or rules, size)[(size + 1) // 2 - 1]
        stage = rules.epochs[0][1]
        refined = [code for code in stage.extra if code not in _ABSENCES and _stays_away(code)]
        for kind in (*_ABSENCES, *refined):
            award = stage.award(kind)
            stays = _pays(award, own, own)
            for times in OPPONENTS:
                win, loss = (_pays(stage.award(name), own, own * times) for name in ("win", "loss"))
                chance, better = _chance(stays, win, loss)
                rows.append(
                    {
                        "season": season,
                        "rules": label,
                        "absence": kind,
                        "pays_at_most": _at_most(stage, award),
                        "value_number": float(own),
                        "opponent": float(times),
                        "stays": float(stays),
                        "win": float(win),
                        "loss": float(loss),
                        "win_chance": chance,
                        "better": better,
                    }
                )
                chosen.append(combinations[label])
    frame = pd.DataFrame(rows, columns=list(_STAYING_COLUMNS)).astype(_STAYING_COLUMNS)
    for i, name in enumerate(run.values):
        frame.insert(2 + i, name, column(name, [one[i] for one in chosen]))
    return frame


def _stays_away(code: str) -> bool:
    return OUTCOMES[OUTCOME_NUMBER[base_outcome(code)]].kind in ("absence", "club")


def _pays(award: Award, own: Fraction, opponent: Fraction) -> Fraction:
    """Return what an award pays in points, before rounding."""
    return award.amount * {"fixed": Fraction(1), "own": own, "opponent": opponent}[award.of]


def _at_most(rules: Rules, award: Award) -> int | None:
    """Return how often an absence pays; None = always."""
    limits = [] if award.cap is None else [award.cap]
    if award.counts_as_absence and rules.absence_limit:
        limits.append(rules.absence_limit)
    return min(limits, default=None)


def _chance(stays: Fraction, win: Fraction, loss: Fraction) -> tuple[float, str]:
    """Return the chance at which playing pays as much as staying away, and which is better."""
    if win > loss and loss <= stays <= win:
        return float((stays - loss) / (win - loss)), "it depends"
    return float("nan"), "playing" if stays < min(win, loss) else "staying away" if stays > max(
        win, loss
    ) else "it depends"
