"""Named rule sets as data: each a `Rules` with its source and what proves it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

import pandas as pd

from keizerframe.errors import RulesError, UnknownNameError
from keizerframe.rules import Rules

Kind = Literal["variant", "program", "club"]
RulesLike = str | Path | Rules
#: In place of a rule set: the rules that came with each season (`Season.rules`, by season).
AS_PLAYED = "as-played"
#: What every door takes for `rules`: one rule set, several, or several under labels of your own.
RulesArgument = RulesLike | Iterable[RulesLike] | Mapping[str, RulesLike]

VARIANT_NOTE = (
    "a variant of the documented scorer (fixed point); the program of that name recalculates otherwise "
    "and often has another final order"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Preset:
    """A named rule set.

    Parameters
    ----------
    rules
        The rules; ``rules.label`` is the preset's name, ``rules.source`` where they come from.
    kind
        ``variant`` of the documented scorer, a ``program`` itself, or a ``club``.
    title
        One line for people.
    proof
        What its numbers were checked against.
    assumptions
        What the source leaves open and how it is read here.
    expressed, unsaid
        What of a club's regulation the rules say, and what they cannot say.
    """

    rules: Rules
    kind: Kind
    title: str
    proof: str
    assumptions: str = ""
    expressed: str = ""
    unsaid: str = ""


_CHESSPAIRING = "documentation of chesspairing's Keizer scorer, section Variant presets"
_PROOF = "chesspairing a413c36: 6,780 golden option sets and seven real seasons (python -m tests.proof scoring)"


def _variant(name: str, title: str, **fields: object) -> Preset:
    return Preset(
        rules=Rules.parse({"label": name, "source": _CHESSPAIRING} | fields),
        kind="variant",
        title=title,
        proof=_PROOF,
        assumptions=VARIANT_NOTE,
    )


_SIXTHS: dict[str, object] = {
    "bye_value_fraction": "4/6",
    "absent_penalty_fraction": "2/6",
    "absence_limit": 5,
}


def _program(name: str, title: str, *, source: str, proof: str, assumptions: str = "", **fields: Any) -> Preset:
    rules = Rules.parse({"label": name, "source": source} | fields)
    return Preset(rules=rules, kind="program", title=title, proof=proof, assumptions=assumptions)


_FREEKEIZER = _program(
    "freekeizer-0.5",
    "FreeKeizer 0.5 itself",
    source="the program FreeKeizer 0.5, compiled and run",
    proof="957 golden tables of at most 16 players, and the larger ones given the table before "
    "(python -m tests.proof freekeizer)",
    assumptions="top value N unless given; ties by start order, where the program's library sort is unstable "
    "above 16 players; club duty counts as an absence",
    start_order="given",
    roster="all",
    value_ties=["start"],
    recalculation="previous",
    own_value="start",
    loss_fraction="1/6",
    bye_value_fraction="4/6",
    half_bye_fraction="4/6",
    absent_penalty_fraction="2/6",
    excused_absent_fraction="2/6",
    extra={"club": {"of": "own", "amount": "2/6", "counts_as_absence": True}},
    absence_needs_game=True,
    rounding="whole",
)
_KEIZERFORCLUBS = _program(
    "keizerforclubs-2.0",
    "KeizerForClubs 2.0 with its shipped settings",
    source="the ranking code of the program KeizerForClubs 2.0.2.4",
    proof="150 golden seasons: points of every row, sums, ranks, next values; 551 rows of real seasons "
    "(python -m tests.proof keizerforclubs)",
    assumptions="the printed order rounds sums to two decimals first, which these rules do not",
    recalculation="previous",
    roster="all",
    value_ratio=3,
    value_ties=["rating", "id"],
    place_ties=["game_points", "rating", "id"],
    withdrawn="share",
    absent_penalty_fraction="5%",
    absence_limit=0,
    missing_row="none",
    rounding="none",
    arithmetic="float32",
    extra={
        "adjourned": {"of": "opponent", "amount": "1/2"},
        "late-start": {"of": "own", "amount": "5%"},
    },
)
_SHARLY_SHARES: dict[str, Any] = {
    "recalculation": "previous",
    "roster": "all",
    "value_ratio": 3,
    "value_ratio_rounding": "floor",
    "value_ties": ["start"],
    "bye_value_fraction": "1/3",
    "half_bye_fraction": "1/3",
    "excused_absent_fraction": "1/3",
    "club_commitment_fraction": "1/3",
    "absent_penalty_fraction": 0,
    "absence_limit": 0,
    "missing_row": "none",
    "rounding": "none",
    "extra": {"adjourned": {"of": "opponent", "amount": "1/2"}},
}
_ONE_PASS = "30 golden seasons and real ones in exact fractions (python -m tests.proof one_pass)"
_CAISSA_VALUES: dict[str, object] = {
    "recalculation": "previous",
    "value_number_base": 260,
    "value_ties": ["start"],
    "loss_fraction": "1/4",
    "bye_value_fraction": "1/2",
    "absent_penalty_fraction": "1/2",
    "excused_absent_fraction": "1/2",
    "club_commitment_fraction": "1/2",
    "absence_limit": 0,
    "missing_row": "none",
    "rounding": "none",
}

PRESETS: dict[str, Preset] = {
    preset.rules.label: preset
    for preset in (
        _FREEKEIZER,
        _KEIZERFORCLUBS,
        _program(
            "sharly-chess",
            "Sharly Chess, Keizer tournaments",
            source="Sharly Chess: scorer, its unit tests and user documentation",
            proof=f"Sharly's own unit cases; {_ONE_PASS}",
            **_SHARLY_SHARES,
        ),
        _program(
            "sharly-chess-start",
            "Sharly Chess, older version: own value number of the start order",
            source="Sharly Chess, an older version of the scorer",
            proof="by its parts: sharly-chess and the own value of freekeizer-0.5",
            **_SHARLY_SHARES,
            own_value="start",
        ),
        _program(
            "caissa-2014",
            "Caissa Amsterdam's two lists (Aangepast Keizer, in Sevilla)",
            source="Caissa's regulation for 2014-15: an invisible value list, and a score list valued by it",
            proof=_ONE_PASS,
            assumptions="both lists add the own value number once, value by the ranking before, do not round; bye "
            "1/2 in both, a forfeit loss nothing, no row nothing; ties by start order",
            recalculation="previous",
            value_ties=["start"],
            bye_value_fraction="1/2",
            absent_penalty_fraction="33/100",
            excused_absent_fraction="33/100",
            club_commitment_fraction="1/2",
            absence_limit=5,
            limit_scope="part",
            missing_row="none",
            rounding="none",
            values_from=_CAISSA_VALUES,
        ),
        _program(
            "classic",
            "Keizer's own example",
            source="Keizer's example as retold by the site of Sevilla",
            proof=f"published example 1; {_ONE_PASS}",
            assumptions="top value number N unless given; byes, absences and club duty pay nothing",
            recalculation="previous",
            value_ties=["start"],
            bye_value_fraction=0,
            half_bye_fraction=0,
            absent_penalty_fraction=0,
            excused_absent_fraction=0,
            club_commitment_fraction=0,
            rounding="none",
        ),
        _program(
            "esg",
            "ESG Emmen's own program",
            source="documentation of ESG Emmen's application, 2025-26",
            proof="published example 5",
            assumptions="its floor of 1 for value numbers cannot be said",
            recalculation="frozen",
            own_value="none",
            value_number_base=60,
            bye_fixed_value=40,
            absent_fixed_value=20,
            excused_absent_fixed_value=20,
            club_commitment_fixed_value=40,
            absence_limit=5,
            late_join_handicap=15,
        ),
        _variant("keizerforclubs", "the documented scorer's defaults"),
        _variant(
            "knsb",
            "classic KNSB sixths",
            **_SIXTHS,
            excused_absent_fraction="2/6",
            club_commitment_fraction="2/3",
        ),
        _variant(
            "freekeizer",
            "sixths, and a sixth of the opponent's value for a loss",
            **_SIXTHS,
            loss_fraction="1/6",
        ),
        _variant("no-self-victory", "defaults without the own value", own_value="none"),
        _variant(
            "fixed-absences",
            "defaults with fixed points for absences and club duty",
            absent_fixed_value=15,
            excused_absent_fixed_value=15,
            club_commitment_fixed_value=25,
        ),
        _variant("decaying-absences", "each further absence pays half", absence_decay=True, absence_limit=0),
    )
}


_CLUB_PROOF = (
    "expressed from the regulation's own numbers, no published table: it scores seven real seasons "
    "(pytest tests/test_clubs.py)"
)


@cache
def club_presets() -> Mapping[str, Preset]:
    """Return the rule sets of the clubs whose regulations are in ``data/club_regulations.csv``.

    Examples
    --------
    >>> club_presets()["sv-sliedrecht"].rules.absence_limit
    10
    """
    clubs = tomllib.loads(Path(__file__).with_name("clubs.toml").read_text(encoding="utf-8"))
    return {
        name: Preset(
            rules=Rules.parse({"label": name, "source": f"club regulations, row {club['row']}"} | club["rules"]),
            kind="club",
            title=club["title"],
            proof=_CLUB_PROOF,
            **{
                told: "; ".join(club[key])
                for told, key in (("assumptions", "assumed"), ("expressed", "expressed"), ("unsaid", "unsaid"))
            },
        )
        for name, club in clubs.items()
    }


def presets(*, kind: Kind | None = None) -> pd.DataFrame:
    """Return the named rule sets, one row each.

    Parameters
    ----------
    kind
        Only ``variant``, ``program`` or ``club`` presets.

    Returns
    -------
    pandas.DataFrame
        Columns name, kind, title, settings (what differs from the defaults), source, proof, assumptions, and
        for clubs what of the regulation is expressed, and what the rules cannot say (unsaid).

    Examples
    --------
    >>> presets()["name"].tolist()[:3]
    ['freekeizer-0.5', 'keizerforclubs-2.0', 'sharly-chess']
    """
    if kind is not None and kind not in get_args(Kind):
        raise UnknownNameError("kind of preset", kind, get_args(Kind))
    rows = [
        {
            "name": name,
            "kind": preset.kind,
            "title": preset.title,
            "settings": settings_text(preset.rules),
            "source": preset.rules.source,
            "proof": preset.proof,
            "assumptions": preset.assumptions,
            "expressed": preset.expressed,
            "unsaid": preset.unsaid,
        }
        for name, preset in (PRESETS | dict(club_presets())).items()
        if kind is None or preset.kind == kind
    ]
    columns = ["name", "kind", "title", "settings", "source", "proof", "assumptions", "expressed", "unsaid"]
    return pd.DataFrame(rows, columns=columns, dtype="str")


def settings_text(rules: Rules) -> str:
    """Return the fields of `rules` that differ from the defaults, as the command line takes them."""
    settings = rules.settings()
    return ",".join(f"{name}={value}" for name, value in settings.items() if name not in ("label", "source"))


def get_rules(name: RulesLike) -> Rules:
    """Return the rule set called `name`.

    Parameters
    ----------
    name
        A preset's name, a ``.toml`` or ``.json`` file, either followed by changes
        (``"knsb,loss_fraction=1/6"``), or Rules, which come back as they are.

    Raises
    ------
    UnknownNameError
        If there is no such preset; the message has the nearest names.
    RulesError
        If a change names no field or holds a bad value.

    Examples
    --------
    >>> get_rules("knsb,loss_fraction=1/6").loss_fraction
    Fraction(1, 6)
    """
    if isinstance(name, Rules):
        return name
    base, *changes = str(name).split(",")
    if base.lower().endswith((".toml", ".json")):
        try:
            rules = Rules.load(base)
        except FileNotFoundError:
            raise RulesError([f"{base}: no such rules file"]) from None
    elif (preset := PRESETS.get(base) or club_presets().get(base)) is not None:
        rules = preset.rules
    else:
        raise UnknownNameError("rule set", base, [*PRESETS, *club_presets()])
    if not changes:
        return rules
    return rules.replace(**{"label": str(name)} | _changes(changes))


def _changes(parts: Iterable[str]) -> dict[str, object]:
    """Return ``field=value`` texts as JSON values."""
    values: dict[str, object] = {}
    for part in parts:
        field, equals, value = part.partition("=")
        if not equals:
            raise RulesError([f"{part!r} is not a change of the rules: write field=value, as in loss_fraction=1/6"])
        if field.strip() in values:
            raise RulesError([f"{field.strip()} is given twice: keep one of them"])
        values[field.strip()] = value_of(field.strip(), value)
    return values


def value_of(field: str, text: str) -> object:
    """Return what a field's value means as it is written on the command line.

    Examples
    --------
    >>> value_of("absence_limit", "3"), value_of("value_ratio", "none"), value_of("own_value", "none")
    (3, None, 'none')
    """
    text = text.strip()
    number = int(text) if re.fullmatch(r"[+-]?[0-9]+", text) else text
    # "none" is also a value of own_value, which is text.
    if field in ("own_value", "ownValue"):
        return number
    return {"true": True, "false": False, "none": None}.get(text.lower(), number)


def resolve_rules(rules: RulesArgument) -> dict[str, Rules]:
    """Return the rule sets a door was given, by label, in the order given.

    Raises
    ------
    RulesError
        If two different rule sets share a label, there are none, or one is ``as-played``.
    """
    found: dict[str, Rules] = {}
    for label, one in resolve_with_played(rules).items():
        if one is None:
            raise RulesError([f"{label} (each season's own rules) is for score and rescore: name a rule set here"])
        found[label] = one
    return found


def resolve_with_played(rules: RulesArgument) -> dict[str, Rules | None]:
    """Return the rule sets as `resolve_rules` does; None stands for each season's own, ``as-played``."""
    if isinstance(rules, str | Path | Rules):
        given: list[tuple[str, RulesLike]] = [("", rules)]
    elif isinstance(rules, Mapping):
        given = list(rules.items())
    else:
        given = [("", one) for one in rules]
    if not given:
        raise RulesError(["no rule set given: name at least one, such as knsb"])
    found: dict[str, Rules | None] = {}
    for position, (label, like) in enumerate(given, start=1):
        if like == AS_PLAYED:
            found[label or AS_PLAYED] = None
            continue
        one = get_rules(like)
        key = label or one.label or settings_text(one) or f"rules-{position}"
        if key in found and found[key] != one:
            raise RulesError([f"two different rule sets are labelled {key!r}: give a dict of labels to rules"])
        found[key] = one
    return found
