"""Rule sets: exact shares, strict reading, round trips, and what contradicts itself."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
import tomllib
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import keizerframe as kf
from keizerframe.catalog import PRESETS, club_presets, resolve_rules
from keizerframe.fields import read_share, simplest_fraction
from tests import goldens, proof, strategies


@given(st.integers(0, 3000), st.integers(1, 1000))
def test_a_float_is_the_fraction_it_was_made_of(p, q):
    assert simplest_fraction(p / q) == Fraction(p, q)
    assert simplest_fraction(-p / q) == Fraction(-p, q)


@given(st.floats(-1e6, 1e6))
def test_the_fraction_has_the_floats_value(x):
    assert float(simplest_fraction(x)) == x


@pytest.mark.parametrize("spelling", ["1/6", 1 / 6, Fraction(1, 6), " 1/6 ", "2/12"])
def test_spellings_of_a_share(spelling):
    assert kf.Rules(loss_fraction=spelling).loss_fraction == Fraction(1, 6)


@given(st.decimals(0, 200, places=3), st.integers(0, 999), st.integers(1, 999))
def test_text_and_percent_are_exact(decimal, p, q):
    assert read_share(str(decimal)) == Fraction(decimal)
    assert read_share(f"{decimal}%") == read_share(f"{decimal} %") == Fraction(decimal) / 100
    assert read_share(f"{p}/{q}") == Fraction(p, q)


@pytest.mark.parametrize("value", ["half", "1/0", "0,35", "", "%", "1/6/2", None, True, [1], b"1", "nan", "inf"])
def test_what_is_no_share(value):
    with pytest.raises(kf.RulesError) as caught:
        kf.Rules(loss_fraction=value)
    assert str(caught.value) == f'loss_fraction = {value!r}: must be a share such as 1/6, 0.35 or "35%"'


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_shares_are_finite(value):
    with pytest.raises(kf.RulesError, match="must be a finite number"):
        kf.Rules(loss_fraction=value)


# The options of the documented scorer with their defaults, as its documentation lists them.
DOCUMENTED = {
    "valueNumberBase": None,
    "valueNumberStep": 1,
    "winFraction": 1,
    "drawFraction": Fraction(1, 2),
    "lossFraction": 0,
    "forfeitWinFraction": 1,
    "forfeitLossFraction": 0,
    "doubleForfeitFraction": 0,
    "byeValueFraction": Fraction(1, 2),
    "halfByeFraction": Fraction(1, 2),
    "zeroByeFraction": 0,
    "absentPenaltyFraction": Fraction(35, 100),
    "excusedAbsentFraction": Fraction(35, 100),
    "clubCommitmentFraction": Fraction(70, 100),
    "byeFixedValue": None,
    "halfByeFixedValue": None,
    "zeroByeFixedValue": None,
    "absentFixedValue": None,
    "excusedAbsentFixedValue": None,
    "clubCommitmentFixedValue": None,
    "selfVictory": True,
    "absenceLimit": 5,
    "absenceDecay": False,
    "frozen": False,
    "lateJoinHandicap": 0,
}


def test_the_documented_options_and_defaults():
    named = {key: "".join(f"_{c.lower()}" if c.isupper() else c for c in key) for key in DOCUMENTED}
    assert {key: getattr(kf.Rules(), named[key]) for key in DOCUMENTED} == DOCUMENTED
    given_by_name = {key: value for key, value in DOCUMENTED.items() if value is not None}
    assert kf.Rules.parse(given_by_name) == kf.Rules()
    assert kf.Rules.parse({named[key]: value for key, value in given_by_name.items()}) == kf.Rules()


@settings(deadline=None)
@given(strategies.rule_sets())
def test_round_trips(rules):
    assert kf.Rules.parse(json.loads(rules.to_json())) == rules
    assert kf.Rules.parse(tomllib.loads(rules.to_toml())) == rules
    assert eval(repr(rules), {"Rules": kf.Rules}) == rules
    assert hash(eval(repr(rules), {"Rules": kf.Rules})) == hash(rules)


def test_every_bad_option_is_listed_with_the_nearest_name():
    with pytest.raises(kf.RulesError) as caught:
        kf.Rules.parse(
            {
                "lossFracton": 1,
                "AbsenceLimit": 3,
                "qqq": 1,
                "absence_limit": -2,
                "drawFraction": "half",
                "winFraction": True,
                "frozen": "yes",
                "recalculation": "backwards",
            }
        )
    assert isinstance(caught.value, kf.KeizerError)
    unknown, limit, stranger, *faults = caught.value.problems
    assert unknown.startswith("unknown option 'lossFracton'; did you mean loss_fraction")
    assert limit.startswith("unknown option 'AbsenceLimit'; did you mean absence_limit")
    assert stranger == "unknown option 'qqq'"
    assert sorted(faults) == [
        "absence_limit = -2: must be at least 0",
        "draw_fraction = 'half': must be a share such as 1/6, 0.35 or \"35%\"",
        "frozen = 'yes': must be true or false",
        "recalculation = 'backwards': must be one of fixed-point, previous, frozen, static, two-ages",
        'win_fraction = True: must be a share such as 1/6, 0.35 or "35%"',
    ]
    assert str(caught.value) == "; ".join(caught.value.problems)


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
    assert kf.Rules(absence_limit=4) != kf.Rules()
    assert len({kf.Rules(label="a"), kf.Rules(label="b"), kf.Rules(loss_fraction="1/6")}) == 2


def test_repr_and_settings_show_what_differs_from_the_defaults():
    rules = kf.Rules(loss_fraction=1 / 6, draw_fraction=0.5, bye_fixed_value=12.5, label='the "club"')
    assert repr(rules) == "Rules(loss_fraction='1/6', bye_fixed_value='25/2', label='the \"club\"')"
    assert rules.settings() == {"loss_fraction": "1/6", "bye_fixed_value": "25/2", "label": 'the "club"'}
    assert eval(repr(rules), {"Rules": kf.Rules}).label == 'the "club"'
    decisive = {field.name for field in dataclasses.fields(kf.Rules)} - {"label", "source"}
    assert set(rules.written()) == decisive


@pytest.mark.parametrize("label", ["", "Eerste klasse ½", 'a "b" \\ c', "two\nlines", "x = [1]", "# none"])
def test_labels_survive_both_formats(label):
    rules = kf.Rules(label=label, source="reglement 2024–25")
    for again in (kf.Rules.parse(json.loads(rules.to_json())), kf.Rules.parse(tomllib.loads(rules.to_toml()))):
        assert (again.label, again.source) == (label, rules.source)


def test_replace():
    rules = kf.Rules(label="ours", loss_fraction="1/6")
    assert rules.replace() == rules
    changed = rules.replace(absenceLimit=3, loss_fraction=0, bye_fixed_value=10)
    assert (changed.absence_limit, changed.loss_fraction, changed.bye_fixed_value) == (3, 0, 10)
    assert changed.replace(bye_fixed_value=None).bye_fixed_value is None
    assert (rules.loss_fraction, changed.label) == (Fraction(1, 6), "ours")
    with pytest.raises(kf.RulesError, match="unknown option 'absence_limt'; did you mean absence_limit"):
        rules.replace(absence_limt=3)
    with pytest.raises(kf.RulesError, match="disagree"):
        rules.replace(self_victory=False, own_value="current")


def test_rules_cannot_be_changed():
    with pytest.raises(AttributeError):
        kf.Rules().absence_limit = 3


def test_camel_and_snake_at_once_is_an_error():
    with pytest.raises(kf.RulesError, match="twice"):
        kf.Rules.parse({"lossFraction": 0, "loss_fraction": 0})


@pytest.mark.parametrize(
    ("options", "read"),
    [
        ({"absenceLimit": 2.7, "valueNumberBase": 34.9, "valueNumberStep": -1.9}, (2, 34, -1)),
        ({"absenceLimit": -1, "unknownKey": 3}, (0, None, 1)),
        ({"absenceLimit": "3", "valueNumberBase": True, "valueNumberStep": None}, (5, None, 1)),
        ({"absenceLimit": [3], "valueNumberBase": {}, "valueNumberStep": float("nan")}, (5, None, 1)),
    ],
)
def test_lenient_truncates_numbers_and_ignores_the_rest(options, read):
    rules = kf.Rules.parse(options, lenient=True)
    assert (rules.absence_limit, rules.value_number_base, rules.value_number_step) == read
    with pytest.raises(kf.RulesError):
        kf.Rules.parse(options)
    with pytest.raises(kf.RulesError):
        kf.rules_from_chesspairing(options, lenient=False)


def test_lenient_ignores_texts_where_numbers_and_flags_belong():
    options = {"selfVictory": "false", "frozen": 1, "absenceDecay": 1, "lossFraction": "1/6", "byeFixedValue": "4"}
    assert kf.Rules.parse(options, lenient=True) == kf.Rules()
    assert kf.Rules.parse({"byeFixedValue": 4.99, "lossFraction": -0.25}, lenient=True) == kf.Rules(
        bye_fixed_value=4, loss_fraction="-1/4"
    )


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
    kf.Rules(loss_fraction="1/6", label="named").to_json(tmp_path / "ours.JSON")
    assert kf.get_rules(str(tmp_path / "ours.toml")).label == "ours"
    assert kf.get_rules(tmp_path / "ours.JSON").label == "named"
    assert kf.get_rules(tmp_path / "ours.JSON") == kf.get_rules(tmp_path / "ours.toml")
    assert kf.get_rules(f"{tmp_path / 'ours.toml'},absence_limit=2").absence_limit == 2
    # Windows editors put a byte order mark first.
    (tmp_path / "bom.toml").write_text('loss_fraction = "1/6"', encoding="utf-8-sig")
    assert kf.get_rules(tmp_path / "bom.toml").loss_fraction == Fraction(1, 6)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.json", '{"lossFracton": 1}', "a.json: unknown option 'lossFracton'; did you mean loss_fraction"),
        ("a.toml", "absence_limit = -1", "a.toml: absence_limit = -1: must be at least 0"),
        ("a.json", "{", "a.json: not a readable rules file"),
        ("a.toml", "loss_fraction = 1/6", "a.toml: not a readable rules file"),
        ("a.json", "[1]", "a.json: a rules file holds one table of options, not a list"),
        ("b.toml", "", "a.toml: no such rules file"),
    ],
)
def test_bad_files_are_named(tmp_path, monkeypatch, name, content, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(kf.RulesError) as caught:
        kf.get_rules(name.replace("b.", "a."))
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize("name", ["knbs", "KNSB", "freekeiser"])
def test_unknown_presets_name_the_nearest(name):
    nearest = "freekeizer" if name.startswith("f") else "knsb"
    for spelled in (name, f"{name},loss_fraction=1/6"):
        with pytest.raises(kf.UnknownNameError, match=f"unknown rule set '{name}'; did you mean {nearest}") as caught:
            kf.get_rules(spelled)
        assert caught.value.nearest[0] == nearest
        assert set(caught.value.known) == {*PRESETS, *club_presets()}
        assert isinstance(caught.value, kf.KeizerError)


def test_changes_behind_a_name():
    changed = kf.get_rules("knsb,loss_fraction=1/6")
    assert changed == kf.get_rules("knsb").replace(loss_fraction="1/6")
    assert changed.label == "knsb,loss_fraction=1/6"
    several = kf.get_rules("knsb, absence_limit = 3 ,absenceDecay=true,bye_fixed_value=12.5,value_number_base=None")
    assert (several.absence_limit, several.absence_decay) == (3, True)
    assert (several.bye_fixed_value, several.value_number_base) == (Fraction(25, 2), None)
    assert kf.get_rules("knsb,own_value=none").own_value == "none"
    assert kf.get_rules("knsb,self_victory=false").own_value == "none"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("knsb,los_fraction=1/6", "unknown option 'los_fraction'; did you mean loss_fraction"),
        ("knsb,loss_fraction", "'loss_fraction' is not a change of the rules: write field=value"),
        ("knsb,loss_fraction=many", "loss_fraction = 'many': must be a share"),
        ("knsb,absence_limit=1.5", "absence_limit = '1.5': must be a whole number"),
        ("knsb,absence_decay=maybe", "absence_decay = 'maybe': must be true or false"),
    ],
)
def test_bad_changes_behind_a_name(name, said):
    with pytest.raises(kf.RulesError) as caught:
        kf.get_rules(name)
    assert str(caught.value).startswith(said)


# Ways into rules that end in an error of Python's own, or read as something else.
UNMENDED = {
    "camelCase spelling in replace": lambda: kf.Rules().replace(selfVictory=False).own_value == "none",
    "camelCase spelling behind a name": lambda: kf.get_rules("knsb,selfVictory=false").own_value == "none",
    "a label behind a name": lambda: kf.get_rules("knsb,label=ours").label == "ours",
    "two signs": lambda: refused(lambda: kf.get_rules("knsb,absence_limit=--3")),
    "a superscript": lambda: refused(lambda: kf.get_rules("knsb,absence_limit=²")),
    "a field twice": lambda: refused(lambda: kf.get_rules("knsb,absence_limit=2,absence_limit=3")),
    "a kind that is none": lambda: refused(lambda: kf.presets(kind="programm")),
    "a huge number": lambda: refused(lambda: kf.Rules(absence_limit=10**400)),
    "infinity, leniently": lambda: kf.rules_from_chesspairing({"absenceLimit": float("inf")}).absence_limit == 5,
    "ties of a number": lambda: refused(lambda: kf.Rules.parse({"value_ties": 3})),
    "ties of lists": lambda: refused(lambda: kf.Rules.parse({"place_ties": [["rating"]]})),
    "a key that is no text": lambda: refused(lambda: kf.Rules.parse({1: 2})),
    "options that are no table": lambda: refused(lambda: kf.Rules.parse(["loss_fraction"])),
    "a control letter": lambda: tomllib.loads(kf.Rules(label="\x7f").to_toml()) == {"label": "\x7f"},
    "pickled rules that have scored": lambda: survives(pickled, with_awards(kf.get_rules("knsb"))),
    "copied rules that have scored": lambda: survives(copy.deepcopy, with_awards(kf.get_rules("knsb"))),
    "pickled rules with extra awards": lambda: survives(pickled, kf.Rules(extra={"bye": {"of": "own", "amount": 1}})),
    "pickled RulesError": lambda: same_error(pickled, lambda: kf.Rules.parse({"a": 1, "b": 2})),
    "pickled UnknownNameError": lambda: same_error(pickled, lambda: kf.get_rules("knbs")),
}


def refused(call):
    with pytest.raises(kf.KeizerError):
        call()
    return True


def pickled(thing):
    return pickle.loads(pickle.dumps(thing))


def with_awards(rules):
    assert rules.awards
    return rules


def survives(through, rules):
    return through(rules) == rules and dict(through(rules).awards) == dict(rules.awards)


def same_error(through, call):
    with pytest.raises(kf.KeizerError) as caught:
        call()
    again = through(caught.value)
    return str(again) == str(caught.value) and vars(again) == vars(caught.value)


@pytest.mark.parametrize("case", UNMENDED)
def test_ways_into_rules(case):
    assert UNMENDED[case]()


def test_labels():
    assert list(resolve_rules(["knsb", kf.Rules(loss_fraction="1/6")])) == ["knsb", "loss_fraction=1/6"]
    assert list(resolve_rules({"a": "knsb", "b": kf.Rules()})) == ["a", "b"]
    with pytest.raises(kf.RulesError, match="labelled"):
        resolve_rules([kf.Rules(label="x"), kf.Rules(label="x", absence_limit=1)])
    with pytest.raises(kf.RulesError, match="no rule set"):
        resolve_rules([])
    assert list(resolve_rules(["knsb", "knsb"])) == ["knsb"]
    assert list(resolve_rules([kf.Rules()])) == ["rules-1"]


# "Variant presets" of the documentation: what each changes; everything else is the default.
SIXTHS = {"bye_value_fraction": "4/6", "absent_penalty_fraction": "2/6", "absence_limit": 5}
VARIANTS = {
    "keizerforclubs": {},
    "knsb": SIXTHS | {"excused_absent_fraction": "2/6", "club_commitment_fraction": "4/6"},
    "freekeizer": SIXTHS | {"loss_fraction": "1/6"},
    "no-self-victory": {"self_victory": False},
    "fixed-absences": {"absent_fixed_value": 15, "excused_absent_fixed_value": 15, "club_commitment_fixed_value": 25},
    "decaying-absences": {"absence_decay": True, "absence_limit": 0},
}


@pytest.mark.parametrize("name", VARIANTS)
def test_the_variants_are_those_of_the_documentation(name):
    rules = kf.get_rules(name)
    assert rules == kf.Rules(**VARIANTS[name])
    assert rules.label == name
    assert (rules.win_fraction, rules.draw_fraction, rules.recalculation) == (1, Fraction(1, 2), "fixed-point")


def test_rules_come_back_as_they_are():
    rules = kf.Rules(loss_fraction="1/6")
    assert kf.get_rules(rules) is rules


def test_every_preset_names_its_source_and_proof():
    table = kf.presets()
    columns = ["name", "kind", "title", "settings", "source", "proof", "assumptions", "expressed", "unsaid"]
    assert list(table.columns) == columns
    assert set(table.dtypes.astype(str)) == {"str"}
    assert kf.presets(kind="variant")["name"].tolist() == list(VARIANTS)
    assert table.set_index("name").loc["no-self-victory", "settings"] == "own_value=none"
    assert table["name"].tolist() == [*PRESETS, *club_presets()]
    assert (table[["title", "source", "proof"]] != "").all(axis=None)
    assert (table.loc[table["kind"] == "variant", "assumptions"].str.contains("variant of the documented")).all()


def test_counting_by_part_needs_parts():
    halved = kf.load_dataset("waagtoren").select(["2018-19", "2019-20"])
    season = kf.Season(halved.games, halved.players)
    capped = kf.Rules(extra={"club": {"of": "own", "amount": 1, "cap": 2, "cap_scope": "part"}})
    with pytest.raises(kf.RulesError) as caught:
        kf.score(season, {"caissa-2014": "caissa-2014", "capped": capped})
    assert caught.value.problems == [
        f"{label}: {field} = 'part', but season '2018-19', '2019-20' has no parts: give its rounds a column part "
        f"(Season.with_parts), or set {field} = 'season'"
        for label, field in (("caissa-2014", "limit_scope"), ("capped", "extra club: cap_scope"))
    ]
    assert len(kf.score(season.with_parts({"1": (1, 99)}), "caissa-2014")) > 0
