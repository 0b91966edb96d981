"""`sweep`: a grid is the rule sets one by one; break-evens and staying away against numbers worked out by hand."""

from __future__ import annotations

import itertools
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau

import keizerframe as kf
from keizerframe.sweeps import _against_first
from tests import programs


def small(*rows, rounds=None) -> kf.Season:
    people = pd.DataFrame({"player": list("abc"), "rating": [2000, 1900, 1800]})
    return programs.season_from(rows, people, rounds)


#: Value numbers 10, 9, 8 for a, b, c all season; no own value, absences pay nothing.
PLAIN = kf.Rules(
    label="plain",
    recalculation="static",
    own_value="none",
    rounding="none",
    value_number_base=10,
    missing_row="none",
)
#: a and b beat c: 8 points each; c has 10 + 9 = 19 times the loss share.
LOSER = small((1, "a", "c", "1-0"), (2, "b", "c", "1-0"))


def test_the_grid_is_the_rule_sets_one_by_one():
    season = kf.load_dataset("waagtoren").select(["2018-19", "2023-24"])
    grid = kf.sweep(season, "knsb", loss_fraction=[0, "1/6"], recalculation=["previous", "fixed-point"], through=20)
    base = kf.score(season, "knsb", through=20)
    assert len(grid.summary) == 8
    for row in grid.summary.itertuples():
        # The label is a rule set as the doors take it.
        alone = kf.score(season.select(row.season), row.rules, through=20)
        table = grid.standings[(grid.standings["season"] == row.season) & (grid.standings["rules"] == row.rules)]
        pd.testing.assert_frame_equal(table.reset_index(drop=True), alone)
        places = alone.set_index("player")["place"]
        before = base[base["season"] == row.season].set_index("player")["place"]
        moves = (places - before).abs()
        assert row.champion == alone["player"][0]
        assert row.same_champion == (before[row.champion] == 1)
        assert (row.moved, row.largest_move) == ((moves > 0).sum(), moves.max())
        assert row.tau_b == pytest.approx(kendalltau(places, before.reindex(places.index)).statistic, abs=1e-12)
        assert row.outcome == alone["outcome"][0]
        assert kf.get_rules(row.rules).loss_fraction == kf.Rules(loss_fraction=row.loss_fraction).loss_fraction
    assert grid.standings["rules"].unique().tolist() == ["knsb", *grid.summary["rules"][:4]]


def test_orders_of_other_players_are_compared_over_the_players_in_both():
    rng = np.random.default_rng(4)
    place = np.zeros((40, 12), dtype=np.int64)
    for row in place:
        here = np.flatnonzero(rng.random(12) < 0.8)
        row[here] = rng.permutation(len(here)) + 1
    moved, largest, players, tau = _against_first(place)
    for v, other in enumerate(place[1:]):
        both = (place[0] > 0) & (other > 0)
        size = np.abs(place[0] - other)[both]
        assert (moved[v], largest[v], players[v]) == ((size > 0).sum(), size.max(), both.sum())
        assert tau[v] == pytest.approx(kendalltau(place[0][both], other[both]).statistic, abs=1e-12)


def test_the_loss_share_at_which_the_champion_changes():
    # 19 x > 8 from x = 8/19 = 0.42105... on.
    found = kf.sweep(LOSER, PLAIN, loss_fraction=[0, "1/2"]).break_evens
    assert found[["field", "champion_low", "champion_high"]].values.tolist() == [["loss_fraction", "a", "c"]]
    assert found[["low", "high"]].values.tolist() == [[0.421, 0.422]]
    fine = kf.sweep(LOSER, PLAIN, loss_fraction=["1/2", 0], precision="1/100000").break_evens
    assert fine[["low", "high"]].values.tolist() == [[0.42105, 0.42106]]
    coarse = kf.sweep(LOSER, PLAIN, loss_fraction=[0, "1/2"], precision=1).break_evens
    assert coarse[["low", "high"]].values.tolist() == [[0, 0.5]]
    assert kf.sweep(LOSER, PLAIN, loss_fraction=[0, "2/5"]).break_evens.empty


def test_break_evens_hold_the_other_fields():
    # With a win at half a share a and b have 4: 19 x > 4 from 4/19 = 0.2105... on.
    grid = kf.sweep(LOSER, PLAIN, loss_fraction=[0, "1/2"], win_fraction=[1, "1/2"])
    losses = grid.break_evens[grid.break_evens["field"] == "loss_fraction"]
    assert losses[["win_fraction", "low", "high"]].values.tolist() == [[1, 0.421, 0.422], [0.5, 0.210, 0.211]]
    assert losses["loss_fraction"].isna().all()
    # Under loss 0 a stays ahead, under loss 1/2 c does, whatever a win pays.
    assert len(losses) == len(grid.break_evens)


def test_three_champions_in_turn_are_all_found():
    # Points: a wins over c, 8; b is excused once, x; c is away for the club three times, 0.
    season = small((1, "a", "c", "1-0"), (1, "b", None, "excused"), (2, "c", None, "club"), (2, "b", None, "excused"))
    rules = PLAIN.replace(absence_limit=0, excused_absent_fixed_value=0, extra={"club": {"of": "fixed", "amount": 9}})
    # b has 2 x: he passes c's 9 from x = 4.5 on (b before c by rating), where c led with 9 against a's 8.
    found = kf.sweep(season, rules, excused_absent_fixed_value=[0, 8], precision="1/4").break_evens
    assert found[["low", "high", "champion_low", "champion_high"]].values.tolist() == [[4.25, 4.5, "c", "b"]]
    # Club duty at 7: a leads until 2 x > 8.
    calm = rules.replace(extra={"club": {"of": "fixed", "amount": 7}})
    found = kf.sweep(season, calm, excused_absent_fixed_value=[None, 0, 8], precision="1/4").break_evens
    assert found[["low", "high", "champion_low", "champion_high"]].values.tolist() == [[4, 4.25, "a", "b"]]
    # The more a win pays, the later: c's 7 for club duty, then a's 8 x. A win of 7/8 is as good as club duty.
    found = kf.sweep(season, calm, win_fraction=[0, 1], precision="1/8").break_evens
    assert found[["low", "high", "champion_low", "champion_high"]].values.tolist() == [[0.75, 0.875, "c", "a"]]


def test_a_whole_number_is_refined_to_its_neighbour():
    # c is excused three times at 5 points; a and b have 8 each: 5, 10, 15 within a limit of 1, 2, 3.
    rows = [(1, "a", "c", "1-0"), (2, "b", "c", "1-0"), *((r, "c", None, "excused") for r in (3, 4, 5))]
    rules = PLAIN.replace(excused_absent_fixed_value=5)
    grid = kf.sweep(small(*rows), rules, absence_limit=[1, 3], win_fraction=[1])
    assert grid.break_evens[["low", "high", "champion_low", "champion_high"]].values.tolist() == [[1, 2, "a", "c"]]
    assert grid.summary["absence_limit"].tolist() == [1, 3]
    assert grid.summary["same_champion"].tolist() == [False, True]  # the base has a limit of 5: c


def test_the_champions_differ_on_the_two_sides_of_a_break_even():
    season = kf.load_dataset("waagtoren").select(["2018-19", "2024-25"])
    grid = kf.sweep(season, "keizerforclubs", loss_fraction=[0, "1/2", "9/10"], absence_limit=[3, 10])
    assert len(grid.break_evens) > 4
    shares = grid.break_evens["field"] == "loss_fraction"
    width = grid.break_evens["high"] - grid.break_evens["low"]
    assert (width[shares] <= 0.001 + 1e-12).all()
    assert (width[~shares] == 1).all()
    assert set(grid.break_evens["season"]) == {"2018-19", "2024-25"}
    for row in grid.break_evens.sample(6, random_state=1).to_dict("records"):
        held = {name: row[name] for name in ("loss_fraction", "absence_limit") if name != row["field"]}
        for side in ("low", "high"):
            end = row[side] if row["field"] == "loss_fraction" else int(row[side])
            rules = kf.get_rules("keizerforclubs").replace(**held, **{row["field"]: end})
            assert kf.score(season.select(row["season"]), rules)["player"][0] == row[f"champion_{side}"]


def test_what_staying_away_pays_against_playing():
    grid = kf.sweep(LOSER, "knsb", loss_fraction=[0, "1/6"])
    away = grid.staying_away.set_index(["loss_fraction", "absence", "opponent"]).sort_index()
    # Of three players the middle one has value number 2; knsb: absences 1/3, club duty 2/3 of it.
    assert away["value_number"].unique().tolist() == [2]
    for kind in ("absent", "excused"):
        assert away.loc[0, kind]["win_chance"].tolist() == pytest.approx([2 / 3, 1 / 3, 1 / 6])
        # (1/3 - 1/12) / (1/2 - 1/12) = 3/5, (1/3 - 1/6) / (5/6) = 1/5, (1/3 - 1/3) / (2 - 1/3) = 0
        assert away.loc[1 / 6, kind]["win_chance"].tolist() == pytest.approx([3 / 5, 1 / 5, 0])
        assert away.loc[0, kind]["pays_at_most"].tolist() == [5, 5, 5]
    club = away.loc[0, "club"]
    assert club["win_chance"].tolist() == pytest.approx([np.nan, 2 / 3, 1 / 3], nan_ok=True)
    assert club["better"].tolist() == ["staying away", "it depends", "it depends"]
    assert club["pays_at_most"].isna().all()
    known = away.dropna(subset="win_chance")
    paid = known["win_chance"] * known["win"] + (1 - known["win_chance"]) * known["loss"]
    assert np.allclose(paid, known["stays"])


def test_fixed_points_are_held_against_the_middle_value_number():
    rules = PLAIN.replace(excused_absent_fixed_value=3, loss_fraction="1/2", absent_penalty_fraction=0, absence_limit=0)
    grid = kf.sweep(LOSER, rules, club_commitment_fixed_value=[30, None])
    away = grid.staying_away.set_index(["absence", "club_commitment_fixed_value", "opponent"])
    # The middle value number is 9: a win over an equal opponent pays 9, a loss 4.5, staying away 3.
    assert away.loc[("excused", 30, 1.0), ["stays", "win", "loss", "better"]].tolist() == [3, 9, 4.5, "playing"]
    # Against half of it 4.5 and 2.25: (3 - 2.25) / 2.25 = 1/3.
    assert away.loc[("excused", 30, 0.5), "win_chance"] == pytest.approx(1 / 3)
    assert away.loc[("club", 30, 2.0), "better"] == "staying away"
    assert away["pays_at_most"].isna().all()


def test_columns_hold_what_kind_of_value_a_field_has():
    grid = kf.sweep(
        LOSER,
        PLAIN,
        own_value=["none", "start"],
        absence_decay=[True, False],
        value_number_base=[10, None, 20],
        bye_fixed_value=[None],
        value_ties=[["rating", "id"]],
        extra={"club": {"of": "own", "amount": "2/3"}},
    )
    kinds = grid.summary.dtypes.astype(str)
    assert kinds[["absence_decay", "value_number_base", "bye_fixed_value"]].tolist() == ["boolean", "Int64", "float64"]
    assert grid.summary["value_ties"].unique().tolist() == ['["rating", "id"]']
    assert grid.summary["value_number_base"].tolist()[:3] == [10, pd.NA, 20]
    assert len(grid.summary) == 12
    assert "plain varied 12 times on 1 season" in repr(grid)
    assert "plain varied 12 times" in grid._repr_html_()


def test_a_single_value_and_camel_case_are_taken():
    grid = kf.sweep(LOSER, PLAIN, lossFraction="1/6")
    assert grid.summary["rules"].tolist() == ["plain,loss_fraction=1/6"]


def test_one_error_names_all_that_is_wrong_with_a_sweep():
    with pytest.raises(kf.RulesError) as caught:
        kf.sweep(
            LOSER,
            "knsb",
            los_fraction=[0],
            absence_limit=[],
            draw_fraction=["half", 2, "1/2", 0.5],
            frozen=[True],
            precision=0,
        )
    assert len(caught.value.problems) == 6
    for said in (
        "unknown field 'los_fraction'; did you mean loss_fraction",
        "absence_limit has no values",
        "draw_fraction = 'half': must be a share",
        "draw_fraction = 0.5 is given twice",
        "frozen: vary recalculation instead",
        "precision = 0: must be above 0",
    ):
        assert said in str(caught.value)


def test_contradictions_of_the_grid_are_told_once_each():
    with pytest.raises(kf.RulesError) as caught:
        kf.sweep(LOSER, "knsb", value_ratio=[2, 3], value_number_base=[None, 50], loss_fraction=[0, "1/6"])
    assert len(caught.value.problems) == 2
    assert all("keep one" in problem for problem in caught.value.problems)
    with pytest.raises(kf.RulesError, match="no field to vary"):
        kf.sweep(LOSER, "knsb")
    with pytest.raises(kf.UnknownNameError):
        kf.sweep(LOSER, "kbsn", loss_fraction=[0])


def test_hundreds_of_rule_sets_warn_once():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kf.sweep(LOSER, "knsb", value_number_base=range(-50, 2))
    assert [one.category.__name__ for one in caught] == ["NegativeValueWarning"]
    assert "and 51 more like this" in str(caught[0].message)
    assert caught[0].filename == __file__


def test_large_grids_are_scored_in_portions(monkeypatch):
    season = kf.load_dataset("waagtoren").select(["2018-19", "2023-24"])
    fields = {"loss_fraction": [Fraction(k, 40) for k in range(10)], "absence_limit": [1, 2, 3, 4]}
    whole = kf.sweep(season, "knsb", **fields)
    monkeypatch.setattr("keizerframe.thresholds._CELLS", 1)
    monkeypatch.setattr("keizerframe.sweeps._CELLS", 1)
    parts = kf.sweep(season, "knsb", **fields)
    pd.testing.assert_frame_equal(parts.standings, whole.standings)
    pd.testing.assert_frame_equal(parts.summary, whole.summary)


def test_rules_that_differ_in_value_numbers_only_score_as_if_made_alone():
    # They share how rows are counted and what they pay; see variants.swapped.
    season = kf.load_dataset("waagtoren").select("2018-19").with_parts({"1": (1, 15), "2": (16, 30)})
    for name, base in itertools.product(
        ("knsb", "freekeizer-0.5", "esg,value_number_base=90", "decaying-absences"), (70, 123)
    ):
        shared = kf.sweep(season, name, value_number_base=[70, 123]).standings
        alone = kf.score(season, kf.Rules.parse(kf.get_rules(name).settings() | {"value_number_base": base}))
        table = shared[shared["rules"] == f"{name},value_number_base={base}"].reset_index(drop=True)
        pd.testing.assert_frame_equal(table.drop(columns="rules"), alone.drop(columns="rules"))
