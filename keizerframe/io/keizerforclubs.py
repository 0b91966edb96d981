"""KeizerForClubs' settings as rules."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from keizerframe.awards import Award
from keizerframe.catalog import get_rules
from keizerframe.errors import RulesError
from keizerframe.fields import read_share
from keizerframe.rules import Rules

#: The program's settings and what it takes where a key is missing.
SHIPPED = {
    "BONUS.Clubgame": 70,
    "BONUS.Excused": 35,
    "BONUS.Unexcused": 5,
    "BONUS.Retired": 75,
    "BONUS.Freilos": 50,
    "BONUS.Verlust": 0,
    "OPTION.RatioFirst2Last": 3,
    "OPTION.WickerNormalization": 0,
    "OPTION.DecayPrevRound": 0,
    "OPTION.DecayBonus": 0,
}


def rules_from_keizerforclubs(config: Mapping[str, Any]) -> Rules:
    """Return the rules that KeizerForClubs 2.0 applies under its settings.

    Parameters
    ----------
    config
        The table ConfigTab as key -> value (percent for the BONUS keys); a missing key takes the shipped
        value, keys that do not score are passed over.

    Raises
    ------
    RulesError
        Naming every setting that is no number.

    Examples
    --------
    >>> rules_from_keizerforclubs({"BONUS.Excused": 50}).excused_absent_fraction
    Fraction(1, 2)
    """
    values: dict[str, Fraction] = {}
    problems = []
    for key, shipped in SHIPPED.items():
        given = config.get(key, shipped)
        try:
            values[key] = read_share(int(given) if isinstance(given, bool) else given)
        except ValueError:
            problems.append(f"{key} = {given!r}: must be a number")
    if problems:
        raise RulesError(problems)
    share = {name: values[f"BONUS.{name}"] / 100 for name in ("Clubgame", "Excused", "Unexcused", "Freilos")}
    return get_rules("keizerforclubs-2.0").replace(
        label="keizerforclubs",
        value_ratio=values["OPTION.RatioFirst2Last"],
        value_list="normalised" if values["OPTION.WickerNormalization"] else None,
        own_value_fades=["4/5", "3/5", "2/5", "1/5", 0] if values["OPTION.DecayPrevRound"] else None,
        absence_decay=bool(values["OPTION.DecayBonus"]),
        club_commitment_fraction=share["Clubgame"],
        excused_absent_fraction=share["Excused"],
        absent_penalty_fraction=share["Unexcused"],
        bye_value_fraction=share["Freilos"],
        half_bye_fraction=share["Freilos"],
        loss_fraction=values["BONUS.Verlust"] / 100,
        withdrawn_share=values["BONUS.Retired"] / 100,
        extra={
            "adjourned": Award(of="opponent", amount=Fraction(1, 2)),
            "late-start": Award(of="own", amount=share["Unexcused"]),
        },
    )
