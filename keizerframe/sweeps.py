"""`sweep`: a grid of rule sets at once, where the champion changes, and what staying away pays."""

from __future__ import annotations

import dataclasses
import itertools
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from keizerframe import thresholds
from keizerframe.awards import exact_changes
from keizerframe.catalog import RulesLike, get_rules, settings_text
from keizerframe.errors import KeizerWarning, RulesError, nearest, warn_user
from keizerframe.fields import read_share, snake
from keizerframe.rules import Rules
from keizerframe.season import Season, as_season
from keizerframe.thresholds import KINDS, Run, column, text_of
from keizerframe.variants import swapped

IntArray = npt.NDArray[np.integer]

#: Spelling -> the field to sweep instead.
_SPELLINGS = {"self_victory": "own_value", "frozen": "recalculation"}
#: Cells of the pairwise comparisons at once: bounds the memory.
_CELLS = 6_000_000


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """A season under a grid of rule sets.

    Parameters
    ----------
    base
        The label of the rule set that was varied.
    fields
        The fields varied, and their values as exact as the rules hold them.
    summary
        One row per season and rule set of the grid: a column for each field (shares and points as floats, which
        `Rules` reads back exactly), the champion, whether it is the champion under the base, how many players
        change place against the base (``moved``), the largest change, Kendall's tau-b of the two orders, how the
        table settled. Players that only one of the two tables has count in neither.
    standings
        The standings of the base and of the whole grid, as `score` gives them.
    """

    base: str
    fields: dict[str, list[Any]]
    summary: pd.DataFrame
    standings: pd.DataFrame
    _run: Run = dataclasses.field(repr=False)

    @cached_property
    def break_evens(self) -> pd.DataFrame:
        """Where the champion changes between two neighbouring values of a field, the others held.

        One row per change: season, field, the values ``low`` and ``high`` of the field between which the champion
        changes from ``champion_low`` to ``champion_high``, and the values at which the other fields are held (a
        missing cell is the field itself). For shares and points `high` - `low` is at most the precision of the
        sweep, for whole numbers 1. Between two values of the grid with different champions all changes that
        bisection meets are listed; none is sought between values with the same champion.
        """
        return thresholds.break_evens(self._run, self.standings)

    @cached_property
    def staying_away(self) -> pd.DataFrame:
        """What staying away pays against playing.

        One row per season, rule set, kind of absence and value number of the opponent (``opponent`` = 1/2, 1 and
        2 times the own one): what staying away (``stays``), a win and a loss pay in points, and ``win_chance``,
        the chance at which playing pays as much:

            win_chance = (stays - loss) / (win - loss)

        A draw counts as half a win and half a loss, so the chance is the expected score of the game. Missing
        where no chance between 0 and 1 does it: ``better`` then says which always pays more. The own value number
        is that of the middle rank, (players + 1) // 2; it matters where fixed points are paid. Exact, without the
        rounding of items; an absence within its limits, before decay; rules of the first round where they change.
        """
        return thresholds.staying_away(self._run, self.standings)

    def __repr__(self) -> str:
        return f"{self._sentence()}\n\n{self.summary.head(12).to_string(index=False)}"

    def _repr_html_(self) -> str:
        return f"<p>{self._sentence()}</p>" + self.summary.to_html(index=False, max_rows=40)

    def _sentence(self) -> str:
        rules, seasons = self._run.count, self.summary["season"].nunique()
        same = int(self.summary["same_champion"].sum())
        return (
            f"{self.base} varied {rules} time{'s' * (rules != 1)} on {seasons} season{'s' * (seasons != 1)}: "
            f"same champion in {same} of {len(self.summary)}, at most {self.summary['moved'].max()} players change "
            "place."
        )


def sweep(
    season: Season | pd.DataFrame,
    base: RulesLike,
    *,
    through: int | None = None,
    roster_round: int | None = None,
    precision: Fraction | float | str = "1/1000",
    **fields: Iterable[Any],
) -> Sweep:
    """Score seasons under every combination of values of some fields.

    Parameters
    ----------
    season
        One or many seasons, or a games frame.
    base
        The rule set to vary: a preset's name, Rules, or a rules file.
    through, roster_round
        As in `score`.
    precision
        How far `Sweep.break_evens` are refined where the field is a share or points.
    **fields
        Field of the rules -> the values to try, such as ``loss_fraction=[0, "1/12", "1/6"]``. A value that is not
        in a list counts as a list of one.

    Returns
    -------
    Sweep
        With `summary`, `standings`, `break_evens` and `staying_away`; the last two are worked out when asked for.

    Raises
    ------
    SeasonError
        If the games frame is faulty.
    UnknownNameError
        If there is no such preset.
    RulesError
        With every unknown field, empty list, bad value and contradiction.

    References
    ----------
    M. G. Kendall, "The treatment of ties in ranking problems", Biometrika 33 (1945): tau-b.

    Examples
    --------
    >>> import keizerframe as kf
    >>> season = kf.load_dataset("waagtoren").select("2018-19")
    >>> grid = kf.sweep(season, "knsb", loss_fraction=[0, "1/6"], absence_limit=[3, 5])
    >>> grid.summary[["loss_fraction", "absence_limit", "same_champion", "moved", "largest_move"]]
       loss_fraction  absence_limit  same_champion  moved  largest_move
    0       0.000000              3           True     29             8
    1       0.000000              5           True      0             0
    2       0.166667              3           True     55            12
    3       0.166667              5           True     52             9
    """
    data, rules = as_season(season), get_rules(base)
    label = rules.label or settings_text(rules) or "base"
    values, problems = _exact_values(fields, rules)
    try:
        fine = read_share(precision)
        if fine <= 0:
            problems.append(f"precision = {precision!r}: must be above 0")
    except ValueError as fault:
        problems.append(f"precision = {precision!r}: {fault}")
    if problems:
        raise RulesError(problems)
    run = Run(
        data=data,
        base=rules,
        rule_sets=_grid(label, rules, values),
        values=values,
        precision=fine,
        through=through,
        roster_round=roster_round,
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        standings = run.standings(run.rule_sets)
    _warn_once(caught)
    return Sweep(base=label, fields=values, summary=_summary(run, standings), standings=standings, _run=run)


def _warn_once(caught: Sequence[warnings.WarningMessage]) -> None:
    """Give the first warning of each kind: hundreds of rule sets would say the same."""
    for category in dict.fromkeys(one.category for one in caught):
        same = [one for one in caught if one.category is category]
        more = f" (and {len(same) - 1} more like this)" if len(same) > 1 else ""
        if issubclass(category, KeizerWarning):
            warn_user(f"{same[0].message}{more}", category)
        else:
            warnings.warn_explicit(same[0].message, category, same[0].filename, same[0].lineno)


def _exact_values(fields: Mapping[str, Any], rules: Rules) -> tuple[dict[str, list[Any]], list[str]]:
    """Return the fields' values as rules hold them, and all that is wrong."""
    values: dict[str, list[Any]] = {}
    problems: list[str] = [] if fields else ["no field to vary: give at least one, such as loss_fraction=[0, '1/6']"]
    for key, given in fields.items():
        name = snake(key)
        if name in _SPELLINGS:
            problems.append(f"{key}: vary {_SPELLINGS[name]} instead, which this is a spelling of")
            continue
        if name not in KINDS:
            close = nearest(name, KINDS)
            problems.append(f"unknown field {key!r}" + (f"; did you mean {' or '.join(close)}?" if close else ""))
            continue
        listed = list(given) if _is_list(given) else [given]
        if not listed:
            problems.append(f"{key} has no values: give at least one")
        exact: list[Any] = []
        for value in listed:
            try:
                one = KINDS[name].read(value)
            except ValueError as fault:
                problems.append(f"{key} = {value!r}: {fault}")
                continue
            if name == "changes":
                one = exact_changes(one, KINDS, problems)
            if one in exact:
                problems.append(f"{key} = {value!r} is given twice: drop one")
            exact.append(one)
        values[name] = exact
    return values, problems


def _is_list(given: Any) -> bool:
    return isinstance(given, Iterable) and not isinstance(given, str | bytes | Mapping)


def _grid(label: str, base: Rules, values: Mapping[str, list[Any]]) -> dict[str, Rules]:
    """Return the base and all combinations of the values, by label."""
    names = list(values)
    texts = [[f"{name}={text_of(name, value)}" for value in values[name]] for name in names]
    found, problems = {label: base}, []
    for chosen, told in zip(itertools.product(*values.values()), itertools.product(*texts), strict=True):
        key = ",".join((label, *told))
        try:
            found[key] = swapped(base, dict(zip(names, chosen, strict=True)) | {"label": key})
        except RulesError as fault:
            problems += fault.problems
    if problems:
        raise RulesError(list(dict.fromkeys(problems)))
    return found


def _summary(run: Run, standings: pd.DataFrame) -> pd.DataFrame:
    """Return the row of every season and rule set of the grid, against the base."""
    labels = pd.Index(list(run.rule_sets))
    version = labels.get_indexer(pd.Index(standings["rules"]))
    season, names = pd.factorize(standings["season"])
    bounds = np.searchsorted(season, np.arange(len(names) + 1))
    blocks: list[pd.DataFrame] = []
    combinations = list(itertools.product(*run.values.values()))
    columns = {name: column(name, [one[i] for one in combinations]) for i, name in enumerate(run.values)}
    for number, name in enumerate(names):
        rows = slice(bounds[number], bounds[number + 1])
        table, at = standings.iloc[rows], version[rows]
        first = table["place"].to_numpy() == 1
        person, people = pd.factorize(table["player"])
        champion, outcome = np.empty(len(labels), dtype=object), np.empty(len(labels), dtype=object)
        champion[at[first]] = table["player"].to_numpy()[first]
        outcome[at[first]] = table["outcome"].to_numpy()[first]
        place = np.zeros((len(labels), len(people)), dtype=np.int64)
        place[at, person] = table["place"]
        moved, largest, players, tau = _against_first(place)
        blocks.append(
            pd.DataFrame(
                {
                    "season": pd.Series(name, index=range(len(labels) - 1), dtype="str"),
                    "rules": pd.Series(labels[1:], dtype="str"),
                    **columns,
                    "players": players,
                    "champion": pd.Series(champion[1:], dtype="str"),
                    "same_champion": champion[1:] == champion[0],
                    "moved": moved,
                    "largest_move": largest,
                    "tau_b": tau,
                    "outcome": pd.Series(outcome[1:], dtype="str"),
                }
            )
        )
    return pd.concat(blocks, ignore_index=True)


def _against_first(place: IntArray) -> tuple[IntArray, IntArray, IntArray, npt.NDArray[np.float64]]:
    """Return players moved, largest move, players in both and tau-b of each order against the first, [V - 1].

    `place` has a row for each order, 0 for players who are not in it. Places are never shared, so tau-b is
    1 - 4 d / (n (n - 1)) with d pairs in another order.
    """
    place = place[:, np.argsort(place[0], kind="stable")]
    both = (place[1:] > 0) & (place[0] > 0)
    size = np.where(both, np.abs(place[1:] - place[0]), 0)
    width, players = place.shape[1], both.sum(axis=1)
    swaps = np.zeros(len(both), dtype=np.int64)
    above = np.tri(width, k=-1, dtype=np.bool_).T
    most = max(1, _CELLS // max(1, width * width))
    for first in range(0, len(both), most):
        part, here = place[1:][first : first + most], both[first : first + most]
        turned = (part[:, :, None] > part[:, None, :]) & above & here[:, :, None] & here[:, None, :]
        swaps[first : first + most] = np.count_nonzero(turned, axis=(1, 2))
    pairs = players * (players - 1)
    tau = np.where(pairs > 0, 1 - 4 * swaps / np.maximum(pairs, 1), np.nan)
    return np.count_nonzero(size, axis=1), size.max(axis=1, initial=0), players, tau
