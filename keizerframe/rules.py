"""`Rules`: one Keizer rule set as a frozen object with exact shares.

Every option is a field; a program, a club or a what-if is a set of field values, never a branch in the
code. The kernel sees only the award table derived here.
"""

from __future__ import annotations

import dataclasses
import json
import tomllib
from collections.abc import Mapping
from dataclasses import InitVar, dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self

from keizerframe.awards import (
    Award,
    FrozenDict,
    award_table,
    exact_changes,
    read_changes,
    read_extra,
    read_value_list,
    read_values_from,
    write_changes,
    write_extra,
    write_value_list,
    write_values_from,
)
from keizerframe.contradictions import contradictions
from keizerframe.errors import RulesError, nearest
from keizerframe.fields import (
    choice,
    custom,
    flag,
    names,
    natural,
    optional_natural,
    optional_points,
    optional_share,
    optional_shares,
    optional_whole,
    points,
    positive,
    read_leniently,
    save,
    share,
    snake,
    text,
    toml,
    whole,
)
from keizerframe.results import fallback_chain

OwnValue = Literal["current", "none", "start"]
Recalculation = Literal["fixed-point", "previous", "frozen", "static", "two-ages"]
OnCycle = Literal["average", "average-two", "stop"]
Rounding = Literal["half", "whole", "none"]
RoundingOf = Literal["item", "total"]
RoundingTies = Literal["away", "even"]
RatioRounding = Literal["half-even", "floor"]
Arithmetic = Literal["exact", "float64", "float32"]
DecayRounding = Literal["once", "floor"]
Withdrawn = Literal["keep", "void", "share"]
Roster = Literal["joined", "joined-next", "all"]
MissingRow = Literal["absent", "none"]
Scope = Literal["season", "part"]
StartOrder = Literal["rating", "given"]
EmptySeason = Literal["own", "zero"]

_NOT_FROZEN = ("fixed-point", "previous", "static", "two-ages")
_VALUE_TIES = ("rating", "name", "id")


@dataclass(frozen=True, kw_only=True)
class Rules:
    """A Keizer rule set.

    Shares may be given as fractions, integers, text (``"1/6"``, ``"0.35"``, ``"35%"``) or floats; a float
    is read as the simplest fraction with that float value. They are kept as exact fractions.

    Parameters
    ----------
    value_number_base
        Value number of rank 1; None = the number of players in the roster.
    value_number_step
        Drop of the value number per rank.
    win_fraction, draw_fraction, loss_fraction
        Share of the opponent's value number.
    forfeit_win_fraction, forfeit_loss_fraction, double_forfeit_fraction
        The same for games decided by forfeit; a double forfeit pays both players.
    bye_value_fraction, half_bye_fraction, zero_bye_fraction
        Share of the own value number: pairing-allocated, half-point and zero-point bye.
    absent_penalty_fraction, excused_absent_fraction, club_commitment_fraction
        Share of the own value number: absent without notice, excused, away for the club.
    bye_fixed_value, half_bye_fixed_value, zero_bye_fixed_value, absent_fixed_value, \
excused_absent_fixed_value, club_commitment_fixed_value
        Fixed points in place of the share; None = the share.
    absence_limit
        Absences (absent, excused) beyond it pay nothing; 0 = no limit.
    absence_decay
        The first absence pays in full, the second half, the third a quarter, and so on.
    late_join_handicap
        Points for each round missed before joining; outside limit and decay.
    own_value
        The own value number added once: ``current``, ``none``, or ``start`` (that of the start order, all
        season). ``self_victory`` is another spelling of the first two.
    own_value_fades
        Shares of the own value number after rounds 1, 2, ...; the last one holds. None = 1.
    value_ratio, value_ratio_rounding
        q: value number of rank 1 = round((N - 1) q / (q - 1)), so that the first has about q times the last.
    value_per_player
        c: value number of rank 1 = round(c N), halves away from zero.
    value_list
        The value numbers themselves, rank 1 first; or ``pairs`` (two ranks share a value number, the next two
        have twice the step less), or ``normalised`` (KeizerForClubs' list from `value_ratio` down to 1).
    recalculation
        Which ranking supplies the value numbers of a table: its own (``fixed-point``), the one before it
        (``previous``), for each round the one before that round (``frozen``), the start order (``static``), or
        the last but one for all rounds but the newest (``two-ages``). ``frozen=True`` is another spelling.
    freeze_after
        With ``previous``: value numbers stay those of the ranking after this round.
    rounding, rounding_of, rounding_ties
        To ``half`` or ``whole`` points or not at all (``none``); each ``item`` or the ``total``; halves
        ``away`` from zero or to ``even``.
    on_cycle
        What to print when the fixed point is a cycle of tables: the exact mean over all of them
        (``average``), the mean of the last two rounded to half points (``average-two``, the documented
        scorer), or the table at hand (``stop``).
    max_iterations
        Tables after which to give up; None = 2,000, or 20 with ``average-two``.
    arithmetic
        ``exact`` rationals; ``float64``: the product in double precision before rounding, as the
        documented scorer does; ``float32``: items and totals in single precision, as KeizerForClubs does.
    decay_rounding
        ``once``: the decayed share is rounded once; ``floor``: the rounded half points are halved and
        rounded down, as the documented scorer does.
    withdrawn, withdrawn_share
        ``keep``: games of players who left pay both sides and the leaver keeps his place; ``void``: he
        leaves the table and his opponents' points go with him; ``share``: he leaves the table and a win over
        him pays this share of the own value number, a draw half of it, anything else `loss_fraction` of it.
    roster
        Who is in the table: ``joined`` (by the roster round, by default the last round scored),
        ``joined-next`` (by default the round after it), or ``all``: joined_round then plays no part.
    missing_row
        A roster player without a row is ``absent``, or nothing (``none``).
    absence_needs_game
        Absences before a player's first game pay nothing, yet use up the limit.
    limit_scope
        Absences count per ``season`` or per ``part``.
    start_order
        By ``rating``, or as ``given`` by the players' start_rank.
    value_ties, place_ties
        What decides equal scores when value numbers are handed out, and in print: rating, name, id, start,
        and in print game_points; the id is always the last. `place_ties` None = as `value_ties`.
    empty_season
        Before the first round everybody has his ``own`` value number, or ``zero``.
    extra
        Further awards: result code -> `Award` (or a mapping with its fields). A refinement such as
        ``excused:late`` may have one of its own.
    changes
        Round k -> fields (shares, fixed points, caps, extra) that hold for the rows of rounds >= k; absences
        are counted on.
    values_from
        Other rules whose ranking supplies the value numbers: these rules then decide the place only.
    label, source
        A name, and where the rules come from; not part of equality.
    self_victory, frozen
        Spellings of `own_value` and `recalculation`.

    Raises
    ------
    RulesError
        With every bad field, its value and the way out.

    References
    ----------
    The options of the Keizer scorer of the Go library chesspairing.

    Examples
    --------
    >>> Rules(loss_fraction="1/6").replace(self_victory=False)
    Rules(loss_fraction='1/6', own_value='none')
    >>> Rules(loss_fraction=1/6) == Rules(loss_fraction="1/6")
    True
    """

    value_number_base: int | None = optional_whole(None)
    value_number_step: int = whole(1)
    win_fraction: Fraction = share(1)
    draw_fraction: Fraction = share("1/2")
    loss_fraction: Fraction = share(0)
    forfeit_win_fraction: Fraction = share(1)
    forfeit_loss_fraction: Fraction = share(0)
    double_forfeit_fraction: Fraction = share(0)
    bye_value_fraction: Fraction = share("1/2")
    half_bye_fraction: Fraction = share("1/2")
    zero_bye_fraction: Fraction = share(0)
    absent_penalty_fraction: Fraction = share("0.35")
    excused_absent_fraction: Fraction = share("0.35")
    club_commitment_fraction: Fraction = share("0.70")
    bye_fixed_value: Fraction | None = optional_points(None)
    half_bye_fixed_value: Fraction | None = optional_points(None)
    zero_bye_fixed_value: Fraction | None = optional_points(None)
    absent_fixed_value: Fraction | None = optional_points(None)
    excused_absent_fixed_value: Fraction | None = optional_points(None)
    club_commitment_fixed_value: Fraction | None = optional_points(None)
    absence_limit: int = natural(5)
    absence_decay: bool = flag(False)
    late_join_handicap: Fraction = points(0)
    own_value: OwnValue = choice("current", "none", "start")
    own_value_fades: tuple[Fraction, ...] | None = optional_shares()
    value_ratio: Fraction | None = optional_share(Fraction(11, 10))
    value_ratio_rounding: RatioRounding = choice("half-even", "floor")
    value_per_player: Fraction | None = optional_share(Fraction(1, 10))
    value_list: tuple[Fraction, ...] | str | None = custom(read_value_list, write_value_list)
    recalculation: Recalculation = choice("fixed-point", "previous", "frozen", "static", "two-ages")
    freeze_after: int | None = optional_natural()
    rounding: Rounding = choice("half", "whole", "none")
    rounding_of: RoundingOf = choice("item", "total")
    rounding_ties: RoundingTies = choice("away", "even")
    on_cycle: OnCycle = choice("average", "average-two", "stop")
    max_iterations: int | None = positive(None)
    arithmetic: Arithmetic = choice("exact", "float64", "float32")
    decay_rounding: DecayRounding = choice("once", "floor")
    withdrawn: Withdrawn = choice("keep", "void", "share")
    withdrawn_share: Fraction = share("3/4")
    roster: Roster = choice("joined", "joined-next", "all")
    missing_row: MissingRow = choice("absent", "none")
    absence_needs_game: bool = flag(False)
    limit_scope: Scope = choice("season", "part")
    start_order: StartOrder = choice("rating", "given")
    value_ties: tuple[str, ...] = names(("rating", "name", "id", "start"), _VALUE_TIES)
    place_ties: tuple[str, ...] | None = names(("game_points", "rating", "name", "id", "start"), None)
    empty_season: EmptySeason = choice("own", "zero")
    extra: Mapping[str, Award] = custom(read_extra, write_extra, FrozenDict())
    changes: Mapping[int, Mapping[str, Any]] = custom(read_changes, write_changes, FrozenDict())
    values_from: Rules | None = custom(read_values_from, write_values_from)
    label: str = text()
    source: str = text()
    self_victory: InitVar[bool | None] = None
    frozen: InitVar[bool | None] = None

    def __post_init__(self, self_victory: bool | None, frozen: bool | None) -> None:
        """Make every field exact, or raise one error with all that is wrong."""
        problems: list[str] = []
        for spelling, given in (("self_victory", self_victory), ("frozen", frozen)):
            self._take_spelling(spelling, given, problems)
        for field in dataclasses.fields(self):
            kind, value = field.metadata["kind"], getattr(self, field.name)
            try:
                object.__setattr__(self, field.name, kind.read(value))
            except ValueError as fault:
                problems.append(f"{field.name} = {value!r}: {fault}")
        kinds = {field.name: field.metadata["kind"] for field in dataclasses.fields(self)}
        if not problems:
            object.__setattr__(self, "changes", exact_changes(self.changes, kinds, problems))
        if problems or (problems := contradictions(self)):
            raise RulesError(problems)

    def _take_spelling(self, spelling: str, given: bool | None, problems: list[str]) -> None:
        if given is None:
            return
        if not isinstance(given, bool):
            problems.append(f"{spelling} = {given!r}: must be true or false")
            return
        name, meanings = _SPELLINGS[spelling]
        present = getattr(self, name)
        if present is None:
            object.__setattr__(self, name, meanings[given][0])
        elif present not in meanings[given]:
            problems.append(f"{spelling} = {given} and {name} = {present!r} disagree: they spell one thing, keep one")

    @classmethod
    def parse(cls, options: Mapping[str, Any], *, lenient: bool = False) -> Self:
        """Read a rule set from a mapping with camelCase or snake_case keys.

        Parameters
        ----------
        options
            Field values as JSON or TOML holds them; absent keys keep their default.
        lenient
            Ignore unknown keys and wrong types and truncate numbers, as the documented scorer does.

        Raises
        ------
        RulesError
            Listing every unknown key with the nearest name and every bad value.

        Examples
        --------
        >>> Rules.parse({"lossFraction": "1/6", "absence_limit": 4})
        Rules(loss_fraction='1/6', absence_limit=4)
        """
        values: dict[str, Any] = {}
        problems: list[str] = []
        known = {field.name: field.metadata["kind"] for field in dataclasses.fields(cls)}
        if not isinstance(options, Mapping):
            raise RulesError([f"options must be a table, not a {type(options).__name__}"])
        for key, value in options.items():
            name = snake(str(key))
            if name not in known and name not in _SPELLINGS:
                close = nearest(name, [*known, *_SPELLINGS])
                problems.append(f"unknown option {key!r}" + (f"; did you mean {' or '.join(close)}?" if close else ""))
            elif name in values:
                problems.append(f"{key} is given twice, as camelCase and as snake_case: keep one of them")
            else:
                values[name] = value
        if lenient:
            values = read_leniently(values, known, _SPELLINGS)
        elif problems:
            raise RulesError([*problems, *_faults(cls, values)])
        return cls(**values)

    def replace(self, **changes: Any) -> Self:
        """Return these rules with some fields changed.

        Examples
        --------
        >>> Rules(label="ours").replace(absence_limit=3)
        Rules(absence_limit=3, label='ours')
        """
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        given = {snake(key) for key in changes}
        given |= {name for spelling, (name, _) in _SPELLINGS.items() if spelling in given}
        return type(self).parse({name: one for name, one in values.items() if name not in given} | changes)

    def settings(self) -> dict[str, Any]:
        """Return the fields that differ from their default, as JSON values (shares as text).

        Examples
        --------
        >>> Rules(draw_fraction=0.5, loss_fraction=1/6).settings()
        {'loss_fraction': '1/6'}
        """
        return {
            field.name: value
            for field, value in zip(dataclasses.fields(self), self._written(), strict=True)
            if getattr(self, field.name) != field.metadata["kind"].default
        }

    def written(self) -> dict[str, Any]:
        """Return all fields that decide scores, as JSON values (shares as text).

        Examples
        --------
        >>> Rules().written()["club_commitment_fraction"]
        '7/10'
        """
        fields = zip(dataclasses.fields(self), self._written(), strict=True)
        return {field.name: value for field, value in fields if field.compare}

    def _written(self) -> list[Any]:
        return [field.metadata["kind"].write(getattr(self, field.name)) for field in dataclasses.fields(self)]

    def to_json(self, path: str | Path | None = None) -> str:
        """Return the rules as JSON text, written to `path` if given.

        Examples
        --------
        >>> print(Rules(loss_fraction="1/6").to_json())
        {
          "loss_fraction": "1/6"
        }
        """
        return save(json.dumps(self.settings(), indent=2, ensure_ascii=False) + "\n", path)

    def to_toml(self, path: str | Path | None = None) -> str:
        """Return the rules as TOML text, written to `path` if given.

        Examples
        --------
        >>> print(Rules(loss_fraction="1/6", absence_decay=True).to_toml())
        loss_fraction = "1/6"
        absence_decay = true
        """
        # JSON scalars are TOML scalars.
        lines = [f"{name} = {toml(value)}\n" for name, value in self.settings().items()]
        return save("".join(lines), path)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a rule set from a ``.json`` or ``.toml`` file.

        Raises
        ------
        RulesError
            If the file is neither, or holds a bad option; the message names the file.
        """
        path = Path(path)
        try:
            content = path.read_text(encoding="utf-8-sig")
            options = tomllib.loads(content) if path.suffix.lower() == ".toml" else json.loads(content)
        except ValueError as fault:
            raise RulesError([f"{path}: not a readable rules file: {fault}"]) from fault
        if not isinstance(options, dict):
            raise RulesError([f"{path}: a rules file holds one table of options, not a {type(options).__name__}"])
        try:
            return cls.parse({"label": path.stem} | options)
        except RulesError as fault:
            raise RulesError([f"{path}: {problem}" for problem in fault.problems]) from fault

    def describe(self, lang: str = "en") -> str:
        """Return these rules in plain sentences, one a line: every field that has a say.

        Parameters
        ----------
        lang
            ``en``, ``nl``, ``de`` or ``fr``.

        Raises
        ------
        UnknownNameError
            If there are no sentences in that language.

        Examples
        --------
        >>> print(Rules(loss_fraction="1/6").describe("nl").splitlines()[6])
        Verlies levert 1/6 van het waardecijfer van de tegenstander op.
        """
        from keizerframe.wording import describe  # the sentences are read when somebody asks for them

        return describe(self, lang)

    @cached_property
    def awards(self) -> Mapping[str, Award]:
        """The award table: what each outcome pays.

        Outcomes that are not in it fall back (`award`).

        Examples
        --------
        >>> Rules().awards["excused"].amount
        Fraction(7, 20)
        """
        return award_table(self)

    def award(self, outcome: str) -> Award:
        """Return what `outcome` pays, through its fallbacks if these rules do not know it.

        Examples
        --------
        >>> Rules().award("club-win:away").amount
        Fraction(7, 10)
        """
        for name in fallback_chain(outcome):
            if name in self.awards:
                return self.awards[name]
        return Award(of="fixed", amount=Fraction(0))

    @cached_property
    def derived(self) -> dict[Any, Any]:
        """What others keep about these rules, whatever their value numbers (`variants.swapped` passes it on)."""
        return {}

    @cached_property
    def epochs(self) -> tuple[tuple[int, Rules], ...]:
        """The rules by the round from which they hold: `changes` and the windows of `extra` start new ones."""
        rules = self.replace(changes={}) if self.changes else self
        stages = {1: rules}
        for first, fields in sorted(self.changes.items()):
            stages[first] = rules = rules.replace(**fields)
        starts = set(stages)
        for stage in stages.values():
            for award in stage.extra.values():
                if award.rounds is not None:
                    starts |= {award.rounds[0], award.rounds[1] + 1}
        return tuple((first, stages[max(k for k in stages if k <= first)]) for first in sorted(starts))

    @property
    def iterations_allowed(self) -> int:
        """The number of tables after which a fixed point is given up."""
        if self.max_iterations is not None:
            return self.max_iterations
        return 20 if self.on_cycle == "average-two" else 2000

    def __getstate__(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}  # not the cached tables

    def __repr__(self) -> str:
        return f"Rules({', '.join(f'{name}={value!r}' for name, value in self.settings().items())})"


#: Spelling -> the field it stands for, and the values of that field it agrees with; the first is its meaning.
_SPELLINGS: dict[str, tuple[str, dict[bool, tuple[str, ...]]]] = {
    "self_victory": ("own_value", {True: ("current",), False: ("none",)}),
    "frozen": ("recalculation", {True: ("frozen",), False: _NOT_FROZEN}),
}


def _spelling(field: str, meaning: tuple[str, ...]) -> property:
    return property(lambda rules: getattr(rules, field) in meaning)


# The init-only parameters leave a class attribute behind; reading a spelling shall give its meaning.
for _name, (_field, _meanings) in _SPELLINGS.items():
    setattr(Rules, _name, _spelling(_field, _meanings[True]))


def _faults(cls: type[Rules], values: dict[str, Any]) -> list[str]:
    """Return what the constructor would say of these values."""
    try:
        cls(**values)
    except RulesError as fault:
        return fault.problems
    return []
