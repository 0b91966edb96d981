"""The documented scorer's own numbers, equal in compatibility mode."""

from __future__ import annotations

import pandas as pd
import pytest

import keizerframe as kf
from keizerframe.io.chesspairing import COMPATIBILITY
from tests import goldens, proof


@pytest.mark.parametrize("rest", [0, 1, 2])
def test_a_third_of_the_golden_seasons_is_equal(rest):
    seasons = list(goldens.scoring_seasons(every=3))[rest::3]
    checked = [(season["id"], *one) for season in seasons for one in proof.compatible(season)]
    assert len(checked) > 600
    assert [one for one in checked if not one[2]] == []


def test_the_six_variants_on_seven_real_seasons_are_equal():
    expected = pd.read_csv(goldens.HERE / "waagtoren_programs.csv", dtype={"season": "str"})
    expected = expected[expected["program"].str.startswith("chesspairing")]
    rules = {name: kf.get_rules(name).replace(**COMPATIBILITY) for name in expected["rules"].unique()}
    frame = kf.score(kf.load_dataset("waagtoren"), rules)
    both = frame.merge(expected, on=["season", "rules", "player"], how="outer", suffixes=("", "_expected"))
    assert len(both) == len(frame) == len(expected) == 3306
    assert (both["score"] == both["score_expected"]).all()
    assert (both["rank"] == both["rank_expected"]).all()
