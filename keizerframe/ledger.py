"""`explain`: the ledger, in which every point has a row that made it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from keizerframe.catalog import RulesArgument, resolve_rules
from keizerframe.columns import read_id, text_array
from keizerframe.entries import Batch, scored_batches
from keizerframe.errors import UnknownNameError
from keizerframe.kernel.grid import NOBODY, Scope, dense
from keizerframe.kernel.points import CAP, LIMIT, WINDOW, Meaning, Of, Tariff, halvings_of, round_ratio, unpaid_by
from keizerframe.kernel.recurrence import shared_out
from keizerframe.kernel.tables import OWN_VALUE
from keizerframe.results import OUTCOME_NUMBER, OUTCOMES, base_outcome
from keizerframe.revaluation import changes_between
from keizerframe.rules import Rules
from keizerframe.scoring import check_parts
from keizerframe.season import Season, as_season

IntArray = npt.NDArray[np.integer]
BoolArray = npt.NDArray[np.bool_]

#: Kinds of rows, in the order they stand in beside one another.
KINDS = ("own value", "game", "bye", "absence", "handicap", "club", "rounding")
#: Why a row pays nothing, or something other than its result says: key -> the note in full.
REASONS = {
    "": "",
    "limit": "absence {ordinal}, only {limit} are paid",
    "cap": "number {nth}, only {cap} are paid",
    "window": "not paid in this round",
    "no-game-yet": "no game played yet: unpaid, but counted",
    "no-row": "no row: {result} by the rules",
    "outside": "the opponent is not in the table",
    "opponent-left": "the opponent withdrew: a share of the own value number",
    "left": "after withdrawing: nothing more",
    "decay": "absence {ordinal}: halved {halvings} times",
}
LEDGER_COLUMNS = (
    "season",
    "rules",
    "player",
    "round",
    "kind",
    "result",
    "colour",
    "opponent",
    "value_of",
    "value_number",
    "share",
    "fixed",
    "units",
    "per_point",
    "points",
    "reason",
    "note",
)


def explain(
    season: Season | pd.DataFrame,
    rules: RulesArgument,
    *,
    player: str | Iterable[str] | None = None,
    through: int | None = None,
    roster_round: int | None = None,
    since: int | None = None,
) -> pd.DataFrame:
    """Return the ledger: for every player the rows that his score is the sum of.

    Parameters
    ----------
    season
        One or many seasons, or a games frame.
    rules
        As in `score`.
    player
        Only these players (ids).
    through, roster_round
        As in `score`.
    since
        Explain the change since the table after this round instead: which rows are new, and which are valued
        otherwise than then.

    Returns
    -------
    pandas.DataFrame
        One row per player and round, one for the own value number, and one for rounding where a total was
        rounded. ``units`` is in 1/``per_point`` points and adds up to the ``units`` of the standings, exactly;
        ``points`` is the same in points. ``colour``: on which side of the result the player stood.
        ``share`` (text, exact) of ``value_number``, the value number of
        ``value_of`` (the mean over a cycle of tables), or ``fixed`` points. ``reason`` is a key, ``note`` the same
        in words: why a row pays nothing, or otherwise than its result. Ordered by season, rule set, place, round.

        With `since`: ``units`` and ``points`` are changes, ``value_number_before`` is the value number then,
        ``cause`` is ``new`` (a row since then), ``revaluation`` (another value number), ``absences`` (the same of
        byes, absences and club duty), ``own value``, ``rounding`` or ``gone``; rows without a change are left out.

    Raises
    ------
    UnknownNameError
        If there is no such player.
    SeasonError, RulesError, ScoreRangeError
        As `score`.

    References
    ----------
    The general form of the Keizer system: own value number, and share times value number row by row.

    Examples
    --------
    >>> import keizerframe as kf
    >>> season = kf.load_dataset("waagtoren").select("2023-24")
    >>> ledger = kf.explain(season, "knsb", player="W157", through=3)
    >>> ledger[["round", "kind", "result", "opponent", "value_number", "share", "points"]]
       round       kind   result opponent  value_number share  points
    0   <NA>  own value      NaN      NaN          34.0     1    34.0
    1      1       game      1-0     W006           7.0     1     7.0
    2      2    absence  excused      NaN          34.0   1/3    11.5
    3      3    absence  excused      NaN          34.0   1/3    11.5
    """
    data, rule_sets = as_season(season), resolve_rules(rules)
    check_parts(data, rule_sets)
    chosen = _chosen(data, player)
    ledger = _ledger(data, rule_sets, Scope(through=through, roster_round=roster_round), chosen)
    if since is None:
        return ledger
    before = _ledger(data, rule_sets, Scope(through=since, roster_round=roster_round), chosen)
    return changes_between(before, ledger, since)


def _chosen(data: Season, player: str | Iterable[str] | None) -> BoolArray:
    """Return which of all players are asked for."""
    ids = data.players["player"]
    if player is None:
        return np.ones(len(ids), dtype=bool)
    wanted = [player] if isinstance(player, str) or not isinstance(player, Iterable) else list(player)
    names = [read_id(one) for one in wanted]
    known = set(ids)
    for name in names:
        if name not in known:
            raise UnknownNameError("player", name, known)
    return ids.isin(names).to_numpy()


@dataclass(frozen=True, slots=True)
class _Reading:
    """What the codes of a batch say under one rule set."""

    tariff: Tariff
    meaning: Meaning
    outcomes: Sequence[str]

    def lines(self) -> list[dict[str, Any]]:
        """Return for each code the kind of its row, whose value number it shares, the share, and why."""
        blocked, halvings = unpaid_by(self.tariff, self.meaning), halvings_of(self.tariff, self.meaning)
        return [self._line(code, int(blocked[code]), int(halvings[code])) for code in range(len(blocked))]

    def _line(self, code: int, blocked: int, halvings: int) -> dict[str, Any]:
        tariff, meaning = self.tariff, self.meaning
        name = self.outcomes[meaning.outcome[code]]
        at = min(int(meaning.epoch[code]), len(tariff.limit) - 1), int(meaning.outcome[code])
        amount = Fraction(int(tariff.numerator[at]), int(tariff.denominator[at])) / 2**halvings
        blocked, halvings = (blocked, halvings) if amount else (0, 0)
        reason = {LIMIT: "limit", CAP: "cap", WINDOW: "window"}.get(blocked, "decay" if halvings else "")
        reason = {"unpaid-absence": "no-game-yet"}.get(name, "opponent-left" if name.startswith("left-") else reason)
        numbers = {
            "ordinal": int(meaning.ordinal[code]),
            "limit": int(tariff.limit[at[0]]),
            "nth": int(meaning.nth[code]),
            "cap": int(tariff.cap[at]),
            "halvings": halvings,
        }
        of = int(tariff.of[at])
        paid = Fraction(0) if blocked else amount
        return {
            "kind": kind_of(name),
            "of": of,
            "share": None if of == Of.FIXED else str(paid),
            "fixed": float(paid) if of == Of.FIXED else np.nan,
            "reason": reason,
            "note": REASONS[reason].format(**numbers),
        }


def kind_of(outcome: str) -> str:
    """Return the kind of row an outcome makes."""
    base = base_outcome(outcome)
    kind = OUTCOMES[OUTCOME_NUMBER[base]].kind
    return "handicap" if base == "handicap" else {"nothing": "game"}.get(kind, kind)


def _ledger(data: Season, rule_sets: dict[str, Rules], scope: Scope, chosen: BoolArray) -> pd.DataFrame:
    """Return the ledger of the tables of `scope` for the chosen players."""
    found: list[dict[str, Any]] = []
    listed = list(rule_sets.values())
    for batch in scored_batches(data, listed, scope):
        cells = _cells(data, batch, chosen)
        units, values = shared_out(batch.coded, batch.prices, batch.valuation)
        for v, number in enumerate(batch.rules):
            rows = _round_rows(data, batch, v, cells, units, values)
            found += [rows, *_other_rows(data, batch, listed[number], v, cells, rows["units"])]
    return _frame(data, list(rule_sets), found)


@dataclass(frozen=True, slots=True)
class _Cells:
    """The rows of a batch that go into the ledger: season and column, round; and what the games say there."""

    season: IntArray
    round: IntArray
    column: IntArray
    outcome: IntArray
    game: IntArray
    white: BoolArray
    people: tuple[IntArray, ...]


def _cells(data: Season, batch: Batch, chosen: BoolArray) -> _Cells:
    grid, coded, seasons = data.grid, batch.coded, batch.seasons
    _, depth, width = coded.code.shape
    raw = np.take_along_axis(dense(grid, seasons)[5][:, :depth], coded.column[:, None, :], axis=2)
    inside = np.arange(width) < coded.size[:, None]
    player = grid.players[seasons][:, None] + coded.column
    inside[inside] &= chosen[player[inside]]
    played = np.arange(depth) < coded.scored[:, None]
    told = inside[:, None] & played[:, :, None] & ((coded.code > 0) | (raw > 0))
    s, r, p = np.nonzero(told)
    row = np.full(grid.cells[-1] + 1, -1)
    row[data.cells] = np.arange(data.cells.shape[1])
    row[-1] = -1
    cell = grid.cells[seasons[s]] + r * grid.n_players[seasons[s]] + coded.column[s, p]
    white = np.zeros(grid.cells[-1] + 1, dtype=bool)
    white[data.cells[0]] = True
    return _Cells(s, r, p, raw[s, r, p], row[cell], white[cell], np.nonzero(inside))


def _alone(data: Season, batch: Batch, v: int, s: IntArray, p: IntArray) -> dict[str, Any]:
    """Return whose rows these are: the columns that every row has."""
    row = s * len(batch.rules) + v
    return {
        "season": batch.seasons[s],
        "rules": np.full(len(s), batch.rules[v]),
        "player": data.grid.players[batch.seasons[s]] + batch.coded.column[s, p],
        "place": batch.place[row, p],
        "per_point": batch.per_point[v] * batch.tables.divisor[row],
    }


def _round_rows(data: Season, batch: Batch, v: int, cells: _Cells, units: IntArray, values: IntArray) -> dict[str, Any]:
    """Return the columns of the rows of rounds under one rule set of a batch."""
    coded, tables = batch.coded, batch.tables
    tariff = batch.prices.tariffs[v]
    lines = _Reading(tariff, Meaning(coded.outcome, coded.ordinal, coded.nth, coded.epoch), data.outcomes).lines()
    s, r, p = cells.season, cells.round, cells.column
    row, code, whose = s * len(batch.rules) + v, coded.code[s, r, p], coded.whose[s, r, p]
    count = np.maximum(tables.tables[row], 1)
    paid = units[row, r, p]
    # Where the mean of a cycle was rounded, so is each row's; the rounding row makes up the rest.
    paid = np.where(tables.divisor[row] != count, round_ratio(paid, count), paid)
    first = data.grid.players[batch.seasons[s]]
    opponent = np.take_along_axis(coded.column[s], np.maximum(whose, 0)[:, None].astype(np.intp), axis=1)[:, 0]
    opponent = np.where(whose != NOBODY, first + opponent, -1)
    of = np.array([line["of"] for line in lines])[code]
    valued = np.where(of == Of.OPPONENT, opponent, first + coded.column[s, p])
    valued = np.where((code == 0) | (of == Of.FIXED), -1, valued)
    return (
        _alone(data, batch, v, s, p)
        | _told(lines, code, cells, data.outcomes, coded.outcome)
        | {
            "round": data.grid.numbers[data.grid.rounds[batch.seasons[s]] + r],
            "opponent": opponent,
            "colour": np.where(opponent >= 0, np.where(cells.white, 0, 1), -1),
            "game": cells.game,
            "value_of": valued,
            "value_number": np.where(valued >= 0, values[row, r, p] / (count * tariff.value_unit), np.nan),
            "units": paid,
        }
    )


def _other_rows(
    data: Season, batch: Batch, rules: Rules, v: int, cells: _Cells, paid: IntArray
) -> Iterator[dict[str, Any]]:
    """Yield the columns of the rows of no round: the own value number, and what rounding adds."""
    coded, tables, prices = batch.coded, batch.tables, batch.prices
    s, p = cells.people
    row = s * len(batch.rules) + v
    alone = _alone(data, batch, v, s, p)
    own = np.zeros(len(s), dtype=np.int64)
    if rules.own_value != "none":
        own = tables.parts[row, OWN_VALUE, p]
        fades = [str(share) for share in rules.own_value_fades or (Fraction(1),)]
        stage = np.clip(coded.scored[s], 1, len(fades)) - 1
        number = tables.values[row, p] / np.maximum(tables.tables[row], 1)
        if rules.own_value == "start":
            number = prices.values[v, prices.size[s], coded.start[s, p]]
        yield (
            _blank("own value", own)
            | alone
            | {
                "value_of": alone["player"],
                "value_number": number / prices.tariffs[v].value_unit,
                "share": np.array(fades, dtype=object)[stage],
            }
        )
    summed = np.zeros((len(coded.size), coded.column.shape[1]), dtype=np.int64)
    np.add.at(summed, (cells.season, cells.column), paid)
    rest = tables.units[row, p] - summed[s, p] - own
    some = rest != 0
    yield _blank("rounding", rest[some]) | {name: column[some] for name, column in alone.items()}


def _blank(kind: str, units: IntArray) -> dict[str, Any]:
    """Return the columns of rows of no round and no opponent."""
    count = len(units)
    nobody, empty = np.full(count, -1), np.full(count, "", dtype=object)
    return {
        "round": np.zeros(count, dtype=np.int64),
        "kind": np.full(count, KINDS.index(kind)),
        "game": nobody,
        "colour": nobody,
        "opponent": nobody,
        "value_of": nobody,
        "value_number": np.full(count, np.nan),
        "share": np.full(count, None, dtype=object),
        "fixed": np.full(count, np.nan),
        "units": units,
        "reason": empty,
        "note": empty,
    }


def _told(
    lines: list[dict[str, Any]], code: IntArray, cells: _Cells, outcomes: Sequence[str], meant: IntArray
) -> dict[str, Any]:
    """Return kind, share, fixed points, reason and note of each row."""
    columns = {
        name: np.array([line[name] for line in lines], dtype=object)[code] for name in ("share", "reason", "note")
    }
    columns["fixed"] = np.array([line["fixed"] for line in lines], dtype=np.float64)[code]
    kinds = np.array([KINDS.index(line["kind"]) for line in lines])[code]
    raw_kinds = np.array([KINDS.index(kind_of(name)) for name in outcomes])[cells.outcome]
    silent = code == 0
    columns["kind"] = np.where(silent, raw_kinds, kinds)
    outside = ~silent & (meant[code] == OUTCOME_NUMBER["outside"])
    blank = columns["reason"] == ""
    absent = ~silent & (cells.outcome == 0) & blank & (columns["kind"] == KINDS.index("absence"))
    for mask, reason in ((silent, "left"), (outside, "outside"), (absent, "no-row")):
        columns["reason"][mask] = reason
        columns["note"][mask] = REASONS[reason].format(result="absent")
    columns["share"][silent] = None
    columns["fixed"][silent] = 0.0
    return columns


def _frame(data: Season, labels: list[str], found: list[dict[str, Any]]) -> pd.DataFrame:
    """Return the ledger as a frame, ordered by season, rule set, place and round."""
    names = ("season", "rules", "player", "place", "per_point")
    nothing = _blank("rounding", np.zeros(0, dtype=np.int64)) | {name: np.zeros(0, dtype=np.int64) for name in names}
    row = {name: np.concatenate([nothing[name], *(one[name] for one in found)]) for name in nothing}
    last = row["kind"] == KINDS.index("rounding")
    order = np.lexsort((row["round"], last, row["place"], row["rules"], row["season"]))
    row = {name: column[order] for name, column in row.items()}
    ids = data.players["player"].tolist()
    columns: dict[str, Any] = {
        "season": text_array(data.labels, row["season"]),
        "rules": text_array(labels, row["rules"]),
        "player": text_array(ids, row["player"]),
        "round": pd.arrays.IntegerArray(row["round"].astype(np.int16), row["round"] == 0),
        "kind": text_array(KINDS, row["kind"]),
        "result": text_array(data.games["result"].astype("str").tolist(), row["game"]),
        "colour": text_array(["white", "black"], row["colour"]),
        "opponent": text_array(ids, row["opponent"]),
        "value_of": text_array(ids, row["value_of"]),
        "value_number": row["value_number"],
        "share": pd.array(row["share"], dtype="str"),
        "fixed": row["fixed"],
        "units": row["units"],
        "per_point": row["per_point"],
        "points": row["units"] / row["per_point"],
        "reason": pd.array(row["reason"], dtype="str"),
        "note": pd.array(row["note"], dtype="str"),
    }
    return pd.DataFrame(columns)[list(LEDGER_COLUMNS)]
