"""`Award`, and the fields of a rule set that hold more than one value."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from keizerframe.fields import read_share, read_shares, write_share
from keizerframe.results import DERIVED, NON_GAME_CODES, OUTCOME_NUMBER, base_outcome

if TYPE_CHECKING:
    from keizerframe.rules import Rules

Source = Literal["opponent", "own", "fixed"]
Scope = Literal["season", "part"]


class FrozenDict(dict[Any, Any]):
    """A mapping that cannot be changed, so that rules can be hashed."""

    def __hash__(self) -> int:  # type: ignore[override]  # a dict has none
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[type[FrozenDict], tuple[dict[Any, Any]]]:
        # Pickle and copy would otherwise fill an empty one item by item, which is refused.
        return type(self), (dict(self),)

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise TypeError("rules cannot be changed: use replace")

    __setitem__ = __delitem__ = clear = pop = popitem = setdefault = update = __ior__ = _refuse


@dataclass(frozen=True, kw_only=True, slots=True)
class Award:
    """What one outcome pays.

    Parameters
    ----------
    of
        Whose value number is shared: the opponent's, the player's ``own``, or none (``fixed`` points).
    amount
        The share of that value number, or the points.
    cap
        How often it pays; None = always, or as long as the absence limit allows.
    cap_scope
        Whether the cap counts per ``season`` or per ``part``.
    rounds
        First and last round in which it pays; None = all.
    counts_as_absence
        Whether the outcome uses up the absence limit and decays.

    Examples
    --------
    >>> Award(of="own", amount="2/3", cap=2).amount
    Fraction(2, 3)
    """

    of: Source
    amount: Fraction
    cap: int | None = None
    cap_scope: Scope = "season"
    rounds: tuple[int, int] | None = None
    counts_as_absence: bool = False

    def __post_init__(self) -> None:
        """Check every value; the message names all that are wrong."""
        faults = []
        if self.of not in ("opponent", "own", "fixed"):
            faults.append(f"of = {self.of!r}: must be opponent, own or fixed")
        try:
            object.__setattr__(self, "amount", read_share(self.amount))
        except ValueError as fault:
            faults.append(f"amount = {self.amount!r}: {fault}")
        if self.cap is not None and (not _is_whole(self.cap) or self.cap < 0):
            faults.append(f"cap = {self.cap!r}: must be a whole number from 0; leave it out for no cap")
        if self.cap_scope not in ("season", "part"):
            faults.append(f"cap_scope = {self.cap_scope!r}: must be season or part")
        if self.rounds is not None:
            window = tuple(self.rounds)
            if len(window) != 2 or not all(map(_is_whole, window)) or not 1 <= window[0] <= window[1]:
                faults.append(f"rounds = {self.rounds!r}: must be the first and the last round, such as [1, 7]")
            object.__setattr__(self, "rounds", window)
        if not isinstance(self.counts_as_absence, bool):
            faults.append(f"counts_as_absence = {self.counts_as_absence!r}: must be true or false")
        if faults:
            raise ValueError("; ".join(faults))


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def read_extra(value: Any) -> FrozenDict:
    """Return extra awards: known outcomes and refinements of non-game codes only."""
    if not isinstance(value, Mapping):
        raise ValueError("must be a table of result codes to awards")
    read = {}
    faults = []
    for code, given in value.items():
        name = str(code)
        if name in DERIVED or not (name in OUTCOME_NUMBER or base_outcome(name) in NON_GAME_CODES):
            faults.append(
                f"{name!r} is no outcome: use {', '.join(NON_GAME_CODES)}, or base:suffix, or win, draw, loss"
            )
            continue
        try:
            award = given if isinstance(given, Award) else Award(**given)
        except (TypeError, ValueError) as fault:
            faults.append(f"{name}: {fault}")
            continue
        if award.of == "opponent" and base_outcome(name) in NON_GAME_CODES:
            faults.append(f"{name}: of = 'opponent', but there is none; use own or fixed")
        read[name] = award
    if faults:
        raise ValueError("; ".join(faults))
    return FrozenDict(read)


def write_extra(value: Mapping[str, Award]) -> dict[str, Any]:
    """Return extra awards as JSON, defaults left out."""
    written: dict[str, Any] = {}
    for code, award in value.items():
        fields: dict[str, Any] = {"of": award.of, "amount": write_share(award.amount)}
        if award.cap is not None:
            fields["cap"] = award.cap
        if award.cap_scope != "season":
            fields["cap_scope"] = award.cap_scope
        if award.rounds is not None:
            fields["rounds"] = list(award.rounds)
        if award.counts_as_absence:
            fields["counts_as_absence"] = True
        written[code] = fields
    return written


def read_changes(value: Any) -> FrozenDict:
    """Return changes: round -> fields, kept as JSON values."""
    if not isinstance(value, Mapping):
        raise ValueError("must be a table of rounds to fields")
    read = {}
    for key, fields in value.items():
        if not str(key).isdigit() or int(key) < 1 or not isinstance(fields, Mapping):
            raise ValueError(f"{key!r}: must be a round from 1 with a table of fields")
        read[int(key)] = FrozenDict({name: _frozen(one) for name, one in fields.items()})
    return FrozenDict(read)


def exact_changes(
    changes: Mapping[int, Mapping[str, Any]], kinds: Mapping[str, Any], problems: list[str]
) -> FrozenDict:
    """Return changes with every known field read as that field is; what cannot be is added to `problems`."""
    exact = {}
    for first, fields in changes.items():
        values = dict(fields)
        for name in set(values) & set(kinds):
            try:
                values[name] = kinds[name].read(values[name])
            except ValueError as fault:
                problems.append(f"changes from round {first}: {name} = {values[name]!r}: {fault}")
        exact[first] = FrozenDict(values)
    return FrozenDict(exact)


def _frozen(value: Any) -> Any:
    """Return tables and lists of a JSON value in a form that can be hashed."""
    if isinstance(value, Mapping):
        return FrozenDict({key: _frozen(one) for key, one in value.items()})
    return tuple(_frozen(one) for one in value) if isinstance(value, list | tuple) else value


def write_changes(value: Mapping[int, Mapping[str, Any]]) -> dict[str, Any]:
    """Return changes as JSON."""

    def plain(one: Any) -> Any:
        if isinstance(one, Mapping):
            return {key: plain(inner) for key, inner in one.items()}
        if isinstance(one, Award):
            return write_extra({"": one})[""]
        if isinstance(one, tuple):
            return [plain(inner) for inner in one]
        return write_share(one) if isinstance(one, Fraction) else one

    return {str(first): plain(fields) for first, fields in value.items()}


def read_value_list(value: Any) -> tuple[Fraction, ...] | str | None:
    """Return a list of value numbers, or the name of a rule for one."""
    if value is None or value in ("pairs", "normalised"):
        return None if value is None else str(value)
    if isinstance(value, str):
        raise ValueError("must be a list of value numbers, pairs, or normalised")
    values = read_shares(value)
    if any(later > earlier for earlier, later in itertools.pairwise(values)):
        raise ValueError("must not rise: rank 1 has the highest value number")
    return values


def write_value_list(value: tuple[Fraction, ...] | str | None) -> Any:
    """Return a value list as JSON."""
    return [write_share(one) for one in value] if isinstance(value, tuple) else value


def read_values_from(value: Any) -> Any:
    """Return the rules of the value list: Rules as they are, or read from a table."""
    from keizerframe.rules import Rules  # the field holds what it is a field of

    if value is None or isinstance(value, Rules):
        return value
    if not isinstance(value, Mapping):
        raise ValueError("must be rules, or a table of fields")
    try:
        return Rules.parse(value)
    except ValueError as fault:
        raise ValueError(str(fault)) from fault


def write_values_from(value: Any) -> Any:
    """Return the rules of the value list as JSON."""
    return None if value is None else value.settings()


# Field of the share, field of the fixed points that replace it, by outcome.
_GAME_SHARES = {
    "win": "win_fraction",
    "draw": "draw_fraction",
    "loss": "loss_fraction",
    "forfeit-win": "forfeit_win_fraction",
    "forfeit-loss": "forfeit_loss_fraction",
    "double-forfeit": "double_forfeit_fraction",
}
_OWN_SHARES = {
    "bye": ("bye_value_fraction", "bye_fixed_value"),
    "half-bye": ("half_bye_fraction", "half_bye_fixed_value"),
    "zero-bye": ("zero_bye_fraction", "zero_bye_fixed_value"),
    "absent": ("absent_penalty_fraction", "absent_fixed_value"),
    "excused": ("excused_absent_fraction", "excused_absent_fixed_value"),
    "club": ("club_commitment_fraction", "club_commitment_fixed_value"),
}
_ABSENCES = ("absent", "excused")


def award_table(rules: Rules) -> Mapping[str, Award]:
    """Return what each outcome pays under `rules`, their extra awards last."""
    table = {outcome: Award(of="opponent", amount=getattr(rules, name)) for outcome, name in _GAME_SHARES.items()}
    for outcome, (share_name, fixed_name) in _OWN_SHARES.items():
        fixed = getattr(rules, fixed_name)
        table[outcome] = Award(
            of="own" if fixed is None else "fixed",
            amount=getattr(rules, share_name) if fixed is None else fixed,
            counts_as_absence=outcome in _ABSENCES,
        )
    table["handicap"] = Award(of="fixed", amount=rules.late_join_handicap)
    table["unpaid-absence"] = Award(of="fixed", amount=Fraction(0), counts_as_absence=True)
    for outcome, part in (
        ("left-win", 1),
        ("left-draw", Fraction(1, 2)),
        ("left-other", rules.loss_fraction),
    ):
        table[outcome] = Award(of="own", amount=rules.withdrawn_share * part)
    return MappingProxyType(table | dict(rules.extra))
