"""Rule sets: exact shares, strict reading, round trips, and what contradicts itself."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import keizerframe as kf
from keizerframe.catalog import PRESETS, resolve_rules
from keizerframe.fields import simplest_fraction
from tests import goldens, proof, strategies


@given(st.integers(0, 3000), st.integers(1, 1000))
def test_a_float_is_the_fraction_it_was_made_of(p, q):
    assert simplest_fraction(p / q) == Fraction(p, q)
    assert simplest_fraction(-p / q) == Fraction(-p, q)


@given(st.floats(-1e6, 1e6))
def test_the_fraction_has_the_floats_value(x):
    assert float(simplest_fraction(x)) == x


@pytest.mark.parametrize("spelling", ["1/6", 1 / 6, Fraction(1, 6), " 1/6 "])
def test_spellings_of_a_share(spelling):
    assert kf.Rules(loss_fraction=spelling).loss_fraction == Fraction(1, 6)


def test_percent_and_decimals():
    assert kf.Rules(loss_fraction="35%", draw_fraction="0.35").loss_fraction == Fraction(7, 20)


@settings(deadline=None)
@given(strategies.rule_sets())
def test_round_trips(rules):
    import json
    import tomllib

    assert kf.Rules.parse(json.loads(rules.to_json())) == rules
    assert kf.Rules.parse(tomllib.loads(rules.to_toml())) == rules
    assert eval(repr(rules), {"Rules": kf.Rules}) == rules
    assert hash(eval(repr(rules), {"Rules": kf.Rules})) == hash(rules)


def test_every_bad_option_is_listed_with_the_nearest_name():
    with pytest.raises(kf.RulesError) as caught:
        kf.Rules.parse({"lossFracton": 1, "absence_limit": -2, "drawFraction": "half", "winFraction": True})
    text = str(caught.value)
    assert len(caught.value.problems) == 4
    assert "loss_fraction" in text
    assert "absence_limit = -2: must be at least 0" in text
    assert "draw_fraction = 'half'" in text


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"own_value": "none", "self_victory": True}, "disagree"),
        ({"own_value": "current", "self_victory": False}, "disagree"),
        ({"recalculation": "fixed-point", "frozen": True}, "disagree"),
        ({"recalculation": "backwards"}, "one of fixed-point"),
        ({"max_iterations": 0}, "at least 1"),
        ({"loss_fraction": float("nan")}, "finite"),
        ({"absence_limit": 2.5}, "whole number"),
    ],
)
def test_contradictions_and_impossible_values(fields, said):
    with pytest.raises(kf.RulesError, match=said):
        kf.Rules(**fields)


def test_spellings_of_fields():
    assert kf.Rules(self_victory=False).own_value == "none"
    assert kf.Rules(frozen=True).recalculation == "frozen"
    assert kf.Rules.parse({"selfVictory": True, "frozen": False}) == kf.Rules()
    assert kf.Rules(own_value="none").replace(self_victory=True) == kf.Rules()
    assert (kf.Rules().self_victory, kf.Rules().frozen) == (True, False)


def test_names_do_not_take_part_in_equality():
    assert kf.Rules(label="a", source="b") == kf.Rules()
    assert hash(kf.Rules(label="a")) == hash(kf.Rules())


def test_rules_cannot_be_changed():
    with pytest.raises(AttributeError):
        kf.Rules().absence_limit = 3


def test_camel_and_snake_at_once_is_an_error():
    with pytest.raises(kf.RulesError, match="twice"):
        kf.Rules.parse({"lossFraction": 0, "loss_fraction": 0})


def test_lenient_reads_as_the_reference_does():
    """The golden cases of wrong types are met as well, though nobody asks for it."""
    checked = 0
    for golden in goldens.lines("chesspairing_scoring.jsonl.gz"):
        if golden["family"] == "optcoerce":
            results = dict(proof.compatible(golden))
            assert all(results.values()), results
            checked += len(results)
    assert checked == 100


def test_files(tmp_path):
    kf.Rules(loss_fraction="1/6").to_toml(tmp_path / "ours.toml")
    (tmp_path / "bad.json").write_text('{"lossFracton": 1}')
    assert kf.get_rules(str(tmp_path / "ours.toml")).label == "ours"
    assert kf.get_rules(f"{tmp_path / 'ours.toml'},absence_limit=2").absence_limit == 2
    with pytest.raises(kf.RulesError, match=r"bad\.json"):
        kf.get_rules(tmp_path / "bad.json")
    with pytest.raises(kf.RulesError, match="no such rules file"):
        kf.get_rules("nowhere.toml")


@pytest.mark.parametrize("name", ["knbs", "KNSB", "freekeiser"])
def test_unknown_presets_name_the_nearest(name):
    with pytest.raises(kf.UnknownNameError, match="did you mean"):
        kf.get_rules(name)


def test_labels():
    assert list(resolve_rules(["knsb", kf.Rules(loss_fraction="1/6")])) == ["knsb", "loss_fraction=1/6"]
    assert list(resolve_rules({"a": "knsb", "b": kf.Rules()})) == ["a", "b"]
    with pytest.raises(kf.RulesError, match="labelled"):
        resolve_rules([kf.Rules(label="x"), kf.Rules(label="x", absence_limit=1)])
    with pytest.raises(kf.RulesError, match="no rule set"):
        resolve_rules([])


def test_the_variants_are_those_of_the_documentation():
    knsb, freekeizer = kf.get_rules("knsb"), kf.get_rules("freekeizer")
    assert (knsb.bye_value_fraction, knsb.excused_absent_fraction) == (Fraction(2, 3), Fraction(1, 3))
    assert (freekeizer.loss_fraction, freekeizer.excused_absent_fraction) == (Fraction(1, 6), Fraction(7, 20))
    assert kf.get_rules("keizerforclubs") == kf.Rules()
    assert kf.get_rules("decaying-absences") == kf.Rules(absence_decay=True, absence_limit=0)


def test_every_preset_names_its_source_and_proof():
    table = kf.presets()
    assert table["name"].tolist() == list(PRESETS)
    assert (table[["title", "source", "proof"]] != "").all(axis=None)
    assert (table.loc[table["kind"] == "variant", "assumptions"].str.contains("variant of the documented")).all()
