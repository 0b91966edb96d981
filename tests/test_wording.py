"""Every field is told, in every language."""

from __future__ import annotations

import dataclasses
import string
from fractions import Fraction

import pytest

import keizerframe as kf
from keizerframe import voice
from keizerframe.awards import Award
from keizerframe.voice import LANGUAGES, Voice, table

#: Field -> values away from its default.
AWAY = {
    "value_number_base": [60],
    "value_number_step": [2],
    "win_fraction": [2],
    "draw_fraction": ["1/3"],
    "loss_fraction": ["1/6"],
    "forfeit_win_fraction": ["1/2"],
    "forfeit_loss_fraction": ["1/6"],
    "double_forfeit_fraction": ["1/4"],
    "bye_value_fraction": ["2/3", 1, 2],
    "half_bye_fraction": ["1/4"],
    "zero_bye_fraction": ["1/10"],
    "absent_penalty_fraction": [0],
    "excused_absent_fraction": ["1/3"],
    "club_commitment_fraction": ["2/3"],
    "bye_fixed_value": [40, 1],
    "half_bye_fixed_value": [15],
    "zero_bye_fixed_value": [1],
    "absent_fixed_value": [0, 15],
    "excused_absent_fixed_value": [7.5],
    "club_commitment_fixed_value": [25],
    "absence_limit": [0, 1],
    "absence_decay": [True],
    "late_join_handicap": [15],
    "recalculation": ["previous", "frozen", "static", "two-ages"],
    "freeze_after": [18],
    "on_cycle": ["average-two", "stop"],
    "max_iterations": [50],
    "own_value": ["none", "start"],
    "own_value_fades": [(0.8, 0.6, 0)],
    "value_ratio": [3, "5/2"],
    "value_ratio_rounding": ["floor"],
    "value_per_player": ["3/2"],
    "value_list": [(60, 58, 57), "pairs", "normalised"],
    "rounding": ["whole", "none"],
    "rounding_of": ["total"],
    "rounding_ties": ["even"],
    "arithmetic": ["float64", "float32"],
    "decay_rounding": ["floor"],
    "value_ties": [("start",), ("rating", "id")],
    "place_ties": [("game_points", "rating")],
    "start_order": ["given"],
    "roster": ["joined-next", "all"],
    "missing_row": ["none"],
    "absence_needs_game": [True],
    "limit_scope": ["part"],
    "withdrawn": ["void", "share"],
    "withdrawn_share": ["1/2"],
    "empty_season": ["zero"],
    "extra": [
        *({code: Award(of="own", amount="1/3")} for code in ("adjourned", "full-bye", "club-win", "club-draw")),
        *({code: Award(of="own", amount="1/3")} for code in ("club-loss", "late-start", "excused:late", "loss")),
    ],
    "changes": [{12: {"absence_limit": 8}}, {12: {"win_fraction": "1/2"}}, {3: {"absence_decay": False}}],
    "values_from": [kf.Rules(), kf.Rules(loss_fraction="1/4"), kf.Rules(absence_limit=0)],
    "label": ["our club"],
    "source": ["regulation of 2019"],
}
#: What must hold for a field, or a value of it, to matter or to be allowed.
CONTEXT = {
    "decay_rounding": {"absence_decay": True},
    "withdrawn_share": {"withdrawn": "share"},
    "value_ratio_rounding": {"value_ratio": 3},
    "freeze_after": {"recalculation": "previous"},
    "normalised": {"value_ratio": 3},
    "float32": {"rounding": "none"},
    str({3: {"absence_decay": False}}): {"absence_decay": True},
}
CASES = [(field, value) for field, values in AWAY.items() for value in values]
AWARDS = [
    {"of": "fixed", "amount": 3},
    {"amount": "1/2"},
    {"cap": 1},
    {"cap": 3},
    {"cap": 3, "cap_scope": "part"},
    {"rounds": (2, 9)},
    {"counts_as_absence": True},
]


def rules_with(field, value):
    context = CONTEXT.get(field, {}) | CONTEXT.get(str(value), {})
    return kf.Rules(**context), kf.Rules(**context | {field: value})


def test_the_list_of_fields_is_whole():
    assert set(AWAY) == {field.name for field in dataclasses.fields(kf.Rules)}


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("field", AWAY)
def test_each_value_of_each_field_is_told_apart_from_the_default_and_the_others(field, lang):
    pairs = [rules_with(field, value) for value in AWAY[field]]
    assert all(plain.describe(lang) != changed.describe(lang) for plain, changed in pairs)
    assert len({changed.describe(lang) for _, changed in pairs}) == len(pairs)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("code", ["club-win", "excused:late"])
def test_each_field_of_an_extra_award_is_told(code, lang):
    texts = {
        kf.Rules(extra={code: Award(**{"of": "own", "amount": "1/3"} | fields)}).describe(lang)
        for fields in ({}, *AWARDS)
    }
    assert len(texts) == len(AWARDS) + 1


@pytest.mark.parametrize(("name", "key"), [(name, key) for name in ("wording", "telling") for key in table(name)])
def test_each_sentence_has_all_languages_and_the_same_placeholders(name, key):
    by_language = table(name)[key]
    assert tuple(by_language) == LANGUAGES
    assert all(text.strip() for text in by_language.values())
    placeholders = [
        frozenset(name for _, name, _, _ in string.Formatter().parse(text) if name) for text in by_language.values()
    ]
    assert len(set(placeholders)) == 1


def test_each_sentence_is_used(monkeypatch):
    used = set()
    say = Voice.say

    def spy(self, key, **values):
        used.add(key)
        return say(self, key, **values)

    monkeypatch.setattr(voice.Voice, "say", spy)
    for field, value in CASES:
        rules_with(field, value)[1].describe()
    for fields in AWARDS:
        kf.Rules(extra={"club": Award(**{"of": "own", "amount": "1/3"} | fields)}).describe()
    kf.Rules(absence_decay=True, values_from=kf.Rules()).describe()
    assert used == set(table("wording"))


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", kf.presets()["name"])
def test_presets_are_told_one_sentence_a_line(name, lang):
    for line in kf.get_rules(name).describe(lang).splitlines():
        assert line == line.strip()
        assert line.endswith(".")
        assert "{" not in line
        assert "None" not in line


def test_an_unknown_language_is_refused_with_the_known_ones():
    with pytest.raises(kf.UnknownNameError, match="known: de, en, fr, nl"):
        kf.Rules().describe("es")


@pytest.mark.parametrize(
    ("lang", "line"),
    [
        ("en", "A draw earns 1/2 of the opponent's value number."),
        ("nl", "Remise levert 1/2 van het waardecijfer van de tegenstander op."),
        ("de", "Ein Remis bringt 1/2 der Wertzahl des Gegners."),
        ("fr", "Une partie nulle rapporte 1/2 de la valeur de l'adversaire."),
    ],
)
def test_outcome_and_share_are_one_sentence(lang, line):
    assert line in kf.Rules().describe(lang).splitlines()


@pytest.mark.parametrize(
    ("points", "lang", "told"),
    [
        (15, "en", "An absence without notice earns 15 points."),
        (1, "en", "An absence without notice earns 1 point."),
        (Fraction(15, 2), "nl", "Afwezigheid zonder bericht levert 7,5 punten op."),
        (Fraction(3, 2), "fr", "Une absence non excusée rapporte 1,5 point."),
        (Fraction(14, 3), "de", "Wer unentschuldigt fehlt, erhält 14/3 Punkte."),
        (0, "de", "Wer unentschuldigt fehlt, erhält nichts."),
    ],
)
def test_points_are_written_as_people_write_them(points, lang, told):
    assert told in kf.Rules(absent_fixed_value=points).describe(lang).splitlines()


def test_an_extra_award_for_a_usual_outcome_replaces_its_sentence():
    rules = kf.Rules(extra={"absent": Award(of="own", amount="1/5")})
    told = [line for line in rules.describe().splitlines() if line.startswith("An absence without notice")]
    assert told == ["An absence without notice earns 1/5 of the player's own value number."]


def test_a_change_tells_only_what_it_changes():
    rules = kf.Rules(changes={20: {"absence_limit": 0}, 12: {"absence_limit": 8}})
    told = [line for line in rules.describe().splitlines() if "from round" in line.lower()]
    assert told == [
        "From round 12 on: Absences, excused or not, beyond the joint limit of 8 earn nothing.",
        "From round 20 on: There is no limit to the number of absences that are paid.",
        "No longer valid from round 20 on: Absences are counted over the whole season.",
    ]


def test_a_value_list_tells_only_where_it_differs():
    rules = kf.Rules(values_from=kf.Rules(loss_fraction="1/4"))
    told = [line for line in rules.describe().splitlines() if line.startswith("Value list")]
    assert told == ["Value list: A loss earns 1/4 of the opponent's value number."]


@pytest.mark.parametrize("mode", ["previous", "frozen", "static", "two-ages"])
def test_cycles_are_told_only_of_a_fixed_point(mode):
    rules = kf.Rules(recalculation=mode)
    assert rules.describe() == rules.replace(on_cycle="stop").describe()
    assert "circle" not in rules.describe()
