"""Comparing rule sets: against scipy, against counts made by hand, and what it refuses."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

import keizerframe as kf
from keizerframe.comparison import footrule, kendall_tau, top_overlap

GAMES = pd.DataFrame(
    {
        "round": [1, 1, 2, 2],
        "white": ["a", "c", "a", "b"],
        "black": ["b", "d", "c", "d"],
        "result": ["1-0", "0-1", "0-1", "1/2-1/2"],
    }
)
PLAYERS = pd.DataFrame({"player": list("abcd"), "rating": [2000, 1900, 1800, 1700]})


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=2, max_size=30))
def test_tau_agrees_with_scipy(pairs):
    first, second = np.array(pairs).T
    ours, theirs = kendall_tau(first, second), kendalltau(first, second, variant="b").statistic
    assert ours == pytest.approx(theirs, abs=1e-12, nan_ok=True)


def test_a_rule_set_against_itself_moves_nobody():
    result = kf.compare(kf.Season(GAMES, PLAYERS), {"a": "knsb", "b": "knsb"})
    row = result.summary.iloc[0]
    assert (row["moved"], row["largest_move"], row["tau_b"], row["same_champion"]) == (0, 0, 1.0, True)
    assert len(result.fields) == 0


def test_the_summary_counts_what_the_players_frame_shows():
    result = kf.compare(kf.load_dataset("waagtoren"), ["knsb", "freekeizer", "no-self-victory"])
    assert len(result.summary) == 14
    for row in result.summary.to_dict("records"):
        rows = result.players.query("season == @row['season'] and against == @row['against']")
        assert row["players"] == len(rows)
        assert row["moved"] == (rows["place"] != rows["place_against"]).sum()
        assert row["largest_move"] == (rows["place"] - rows["place_against"]).abs().max()
        assert row["champion"] == rows.loc[rows["place"] == 1, "player"].item()
        assert row["champion_against"] == rows.loc[rows["place_against"] == 1, "player"].item()


def test_the_fields_that_differ_are_all_named():
    fields = kf.compare(kf.Season(GAMES, PLAYERS), ["knsb", "fixed-absences"]).fields.set_index("field")
    assert fields.loc["absent_fixed_value"].tolist() == ["None", "15"]
    assert set(fields.index) == {
        "bye_value_fraction",
        "absent_penalty_fraction",
        "excused_absent_fraction",
        "club_commitment_fraction",
        "absent_fixed_value",
        "excused_absent_fixed_value",
        "club_commitment_fixed_value",
    }


def test_one_rule_set_is_refused():
    with pytest.raises(kf.RulesError, match="two rule sets"):
        kf.compare(kf.Season(GAMES, PLAYERS), "knsb")


@given(st.permutations(list(range(1, 9))), st.integers(1, 8))
def test_footrule_and_overlap_are_what_their_formulas_say(order, top):
    places = list(range(1, 9))
    assert footrule(places, order) == sum(abs(a - b) for a, b in zip(places, order, strict=True)) / 32
    assert footrule(places, places) == 0
    assert footrule(places, places[::-1]) == 1
    there = {player for player, place in enumerate(order) if place <= top}
    assert top_overlap(places, order, top) == len(there & set(range(top))) / top


def test_shares_of_the_total_are_those_of_the_standings():
    result = kf.compare(kf.load_dataset("waagtoren").select("2018-19"), ["knsb", "classic"])
    table = result.standings.query("rules == 'classic'")
    row = result.summary.iloc[0]
    own = (table["from_own_value"] / table["per_point"]).sum() / table["score"].sum()
    assert row["own_value_share_against"] == pytest.approx(own)
    # Under the classic rules absences and byes pay nothing.
    assert (row["absences_share_against"], row["byes_share_against"]) == (0, 0)
    player = result.players.query("player == 'W022'").iloc[0]
    there = table[table["player"] == "W022"].iloc[0]
    assert player["own_value_share_against"] == there["from_own_value"] / there["units"]
