"""The clubs' regulations as rules: each row said, and each scores the real seasons."""

from __future__ import annotations

import csv
import re
import tomllib
from fractions import Fraction
from pathlib import Path

import pandas as pd
import pytest

import keizerframe as kf
from keizerframe import catalog

ROWS = {
    int(row["id"]): row
    for row in csv.DictReader(
        (Path(__file__).parents[1] / "data" / "club_regulations.csv").read_text(encoding="utf-8").splitlines()
    )
}
CLUBS = tomllib.loads(Path(catalog.__file__).with_name("clubs.toml").read_text(encoding="utf-8"))
NAMES = list(CLUBS)
NUMBER = re.compile(r"\d+(?:/\d+)?")


def row_of(name):
    return ROWS[CLUBS[name]["row"]]


def test_every_row_is_a_preset_of_its_own():
    assert sorted(club["row"] for club in CLUBS.values()) == sorted(ROWS)
    table = kf.presets(kind="club")
    assert table["name"].tolist() == NAMES
    assert (table[["expressed", "assumptions"]] != "").all(axis=None)


@pytest.mark.parametrize("name", NAMES)
def test_the_games_pay_what_the_row_says(name):
    row, rules = row_of(name), kf.get_rules(name)
    for column, outcome in (("win", "win"), ("draw", "draw"), ("loss", "loss")):
        if NUMBER.fullmatch(row[column]):
            assert rules.award(outcome).amount == Fraction(row[column]), column


@pytest.mark.parametrize("name", NAMES)
def test_a_plain_top_value_and_step_are_the_rows(name):
    row, rules = row_of(name), kf.get_rules(name)
    if row["top_value"].isdigit():
        listed = rules.value_list[0] if isinstance(rules.value_list, tuple) else None
        assert int(row["top_value"]) in (rules.value_number_base, listed)
    if row["step"].isdigit() and not isinstance(rules.value_list, tuple):
        assert rules.value_number_step == int(row["step"])


def test_two_ranks_share_a_value_number_at_sv_ktv():
    # The row: 80, 80, 78, 78, 76 ...
    players = pd.DataFrame({"player": list("abcde"), "rating": [2000, 1900, 1800, 1700, 1600]})
    season = kf.Season(pd.DataFrame({"round": [1], "white": ["a"], "black": ["b"], "result": ["1-0"]}), players)
    table = kf.score(season.with_parts({"1": (1, 9)}), "sv-ktv")
    assert sorted(table["next_value_number"], reverse=True) == [80, 80, 78, 78, 76]
    assert "it drops by 2." in kf.get_rules("sv-ktv").describe()


# A top value of 50 is meant for a smaller club than these.
@pytest.mark.filterwarnings("ignore::keizerframe.errors.NegativeValueWarning")
@pytest.mark.parametrize("name", NAMES)
def test_it_scores_the_real_seasons(name):
    season = kf.load_dataset("waagtoren")
    table = kf.score(season, name)
    assert table.groupby("season")["player"].nunique().tolist() == [
        len(season.select(label).players) for label in season.labels
    ]
    parts = table[["from_own_value", "from_games", "from_byes", "from_absences", "from_club", "rounding"]]
    assert (parts.sum(axis=1) == table["units"]).all()
    assert table.groupby("season")["units"].nunique().gt(20).all()
