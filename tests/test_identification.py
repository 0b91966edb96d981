"""`identify`: the programs are named from their published and golden tables, and what is wrong is said."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pandas as pd
import pytest

import keizerframe as kf
from tests import identified, programs

FIRST = "first, exact"


@pytest.mark.parametrize(
    ("name", "through", "right", "top"),
    [
        ("ex01", 1, "classic", 50),
        ("ex01", 2, "classic", 50),
        ("ex05", 1, "esg", 60),
        ("ex05", 2, "esg", 60),
        ("ex06", None, "keizerforclubs-2.0", 10),
    ],
)
def test_published_tables_name_their_program(name, through, right, top):
    season, table = identified.published(name, through)
    found = kf.identify(season, table, through=through)
    assert found.verdict == "exact"
    first = found.candidates.iloc[0]
    assert (first["rules"], first["top_value"], first["verdict"]) == (right, top, "exact")
    assert first["scores_equal"] == first["ranks_equal"] == len(table)
    # Whoever is behind agrees in less.
    assert (found.candidates["scores_equal"].iloc[1:] < len(table)).all()
    assert f"{right} (top value {top}) reproduces the table" in repr(found)
    assert right in found._repr_html_()


def test_golden_tables_name_their_program():
    assert {said for _, said in islice(identified.freekeizer(), 5)} == {FIRST}
    assert {said for _, said in islice(identified.keizerforclubs(), 3)} == {FIRST}
    said = [one for _, one in identified.chesspairing(every=400)]
    assert "wrong" not in said
    assert FIRST in said


def small(*rows) -> kf.Season:
    people = pd.DataFrame({"player": list("abcd"), "rating": [2000, 1900, 1800, 1700]})
    return programs.season_from(rows, people)


def test_candidates_that_agree_equally_are_ambiguous():
    # Nobody is absent, has a bye or plays for the club: those shares cannot be told.
    season = small((1, "a", "b", "1-0"), (1, "c", "d", "0-1"), (2, "a", "d", "1/2-1/2"), (2, "b", "c", "1-0"))
    # Start values 4 3 2 1; the first table (a 7.5, d 5, b 5, c 2) stands b before d by rating; valued by itself
    # it is a 4 + 3 + 1 = 8, b 3 + 1 = 4, d 2 + 1 + 2 = 5, c 1; by a d b c: a 4 + 2 + 1.5, d 3 + 1 + 2, b 2 + 1, c 1.
    table = pd.DataFrame({"player": list("adbc"), "score": [7.5, 6, 3, 1]})
    found = kf.identify(season, table, candidates=["keizerforclubs", "knsb", "decaying-absences", "freekeizer"])
    assert found.verdict == "ambiguous"
    tied = found.candidates[found.candidates["verdict"] == "ambiguous"]
    assert tied["rules"].tolist() == ["keizerforclubs", "knsb", "decaying-absences"]
    assert set(found.residuals["rules"]) == set(tied["rules"])
    assert found.sentence.startswith("3 candidates agree equally, with 4 of 4 scores: keizerforclubs, knsb,")


def test_a_misprint_is_shown_with_its_residual():
    season, table = identified.published("ex01", 2)
    wrong = table.assign(score=table["score"].replace({70.0: 79.0}))
    found = kf.identify(season, wrong)
    assert (found.verdict, found.candidates["rules"][0]) == ("best", "classic")
    worst = found.residuals.iloc[0]
    assert (worst["player"], worst["published_score"], worst["score"], worst["residual"]) == ("P3", 79, 70, -9)
    assert found.residuals["score_equal"].sum() == 9
    assert found.candidates["largest_residual"][0] == 9


def test_published_scores_may_be_rounded():
    season, table = identified.published("ex01", 2)
    for given in (table.assign(score=(table["score"] + 0.25).round()), table.assign(score=table["score"] // 1)):
        found = kf.identify(season, given.astype({"score": int}), candidates="programs")
        assert found.decimals == 0
        assert (found.verdict, found.candidates["rules"][0]) == ("exact", "classic")
        assert found.candidates["largest_residual"][0] == 0.5
    # As exact numbers they are not the classic ones.
    exact = kf.identify(season, given.astype({"score": int}), candidates=["classic"], decimals=1)
    assert (exact.verdict, exact.candidates["scores_equal"][0]) == ("best", 8)


def test_scores_may_be_text_and_extra_columns_are_passed_over():
    season, table = identified.published("ex01", 2)
    spelled = [f"{one:.1f}".replace(".", ",") for one in table["score"]]
    spelled[spelled.index("66,5")] = "66½"
    found = kf.identify(season, table.assign(score=spelled, club="x", rank=[f"{k}." for k in table["rank"]]))
    assert (found.verdict, found.candidates["rules"][0], found.decimals) == ("exact", "classic", 1)


def test_ranks_alone_are_enough():
    season, table = identified.published("ex06", None)
    found = kf.identify(season, table[["player", "rank"]])
    assert "keizerforclubs-2.0" in found.candidates["rules"][found.candidates["verdict"].notna()].tolist()
    assert found.candidates["ranks_equal"][0] == found.candidates["ranks_compared"][0] == 9
    assert found.decimals is None
    assert found.candidates["largest_residual"].isna().all()


def test_shared_ranks_are_met_by_equal_scores():
    season = small((1, "a", "b", "1/2-1/2"), (1, "c", "d", "1/2-1/2"))
    rules = kf.get_rules("classic").replace(own_value="none", value_number_step=0, value_number_base=10)
    table = pd.DataFrame({"player": list("abcd"), "rank": [1, 1, 1, 1]})
    assert kf.identify(season, table, candidates=rules, top=10).candidates["ranks_equal"].tolist() == [4]
    assert kf.identify(season, table.assign(rank=[1, 1, 3, 3]), candidates=rules, top=10).verdict == "best"


def test_players_may_be_missing_and_who_is_outside_the_roster_has_nothing():
    season, table = identified.published("ex06", None)
    found = kf.identify(season, table[table["rank"] > 3])
    assert (found.verdict, found.candidates["rules"][0]) == ("exact", "keizerforclubs-2.0")
    gone = found.residuals.set_index("player").loc["P8"]
    assert (gone["score"], gone["residual"]) == (0, 0)


def test_a_given_top_value_is_the_only_one_tried():
    season, table = identified.published("ex01", 2)
    found = kf.identify(season, table, top=[49, 50])
    assert (found.verdict, found.candidates["top_value"][0], found.candidates["equal_settings"][0]) == ("exact", 50, 1)
    # Where the rules fix the ratio of first to last, they set the top value.
    assert set(found.candidates["top_value"][~found.candidates["rules"].str.contains("sharly|2.0")]) <= {49, 50}
    assert kf.identify(season, table, top=49).verdict == "none"


def test_the_rules_found_score_the_table():
    season, table = identified.published("ex01", 2)
    found = kf.identify(season, table)
    frame = kf.score(season, found.rules["classic"]).set_index("player")
    assert frame["score"].to_dict() == table.set_index("player")["score"].to_dict()


def test_rules_that_count_by_part_are_skipped_and_named():
    season, table = identified.published("ex01", 2)
    assert kf.identify(season, table, top=50).skipped["rules"].tolist() == ["caissa-2014"]
    parts = season.with_parts({"1": (1, 2)})
    assert kf.identify(parts, table, top=50).skipped.empty
    clubs = kf.identify(parts, table, candidates="all", top=50)
    assert set(kf.presets(kind="club")["name"]) <= {*clubs.candidates["rules"], *clubs.skipped["rules"]}
    with pytest.raises(kf.RulesError, match="caissa-2014 cannot score this season"):
        kf.identify(season, table, candidates="caissa-2014")


def test_inputs_are_never_changed():
    season, table = identified.published("ex01", 2)
    before = table.copy(deep=True)
    kf.identify(season, table, candidates=["classic"])
    pd.testing.assert_frame_equal(table, before)


def test_one_error_names_all_that_is_wrong_with_the_table():
    season, _ = identified.published("ex01", 2)
    bad = pd.DataFrame(
        {
            "player": ["P1", "P1", "P11", None, 3.5, "P2"],
            "score": ["12", "12½", "much", "inf", 1, 2],
            "rank": [1, 2, 0, "x", 2.5, 3],
        }
    )
    with pytest.raises(kf.PublishedTableError) as caught:
        kf.identify(season, bad, decimals=-1)
    assert len(caught.value.problems) == 7
    for said in (
        "more than one row for 'P1' (rows 0, 1)",
        "not in the season: 'P11' (did you mean 'P1'?)",
        "row 3: no player",
        "row 4: player 3.5 is not an id",
        "score is no number: 'much' (row 2), 'inf' (row 3)",
        "rank is no whole number from 1: 0 (row 2), 'x' (row 3), 2.5 (row 4)",
        "decimals = -1",
    ):
        assert said in str(caught.value)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (pd.DataFrame({"player": ["P1"], "scores": [1]}), "rename 'scores'"),
        (pd.DataFrame({"who": ["P1"], "rank": [1]}), "no column 'player'"),
        (pd.DataFrame({"player": ["P1"], "score": [None]}), "the table says nothing"),
        (pd.DataFrame({"player": [], "score": []}), "no rows"),
        ([("P1", 3)], "must be a DataFrame, not a list"),
        (pd.DataFrame([["P1", 1, 2]], columns=["player", "score", "score"]), "stands twice"),
    ],
)
def test_tables_that_cannot_be_read(table, said):
    season, _ = identified.published("ex01", 2)
    with pytest.raises(kf.PublishedTableError, match=said):
        kf.identify(season, table)


def test_bad_arguments():
    season, table = identified.published("ex01", 2)
    with pytest.raises(kf.UnknownNameError, match="knsb"):
        kf.identify(season, table, candidates="kbsn")
    with pytest.raises(kf.RulesError, match="whole number"):
        kf.identify(season, table, top="50")
    with pytest.raises(kf.RulesError, match="one season, not 7"):
        kf.identify(kf.load_dataset("waagtoren"), table)


def test_what_fits_within_the_rounding_alike_is_ambiguous():
    """An absence of the value number 8: a third is 2.5 in half points, 0.35 is 3; in whole points both are 3."""
    games = pd.DataFrame({"round": [1] * 5, "white": list("acegh"), "black": ["b", "d", "f", None, None]})
    games["result"] = ["1-0", "1-0", "1-0", "bye", "excused"]
    players = pd.DataFrame({"player": list("habcdefg"), "rating": range(2000, 1200, -100)})
    season = kf.Season(games, players)
    plain = kf.Rules(recalculation="static")
    candidates = {"third": plain.replace(excused_absent_fraction="1/3"), "0.35": plain}
    scores = kf.score(season, candidates).pivot(index="player", columns="rules", values="score")
    assert (scores["third"] != scores["0.35"]).any()
    whole = np.floor(scores["third"] + 0.5).astype(int).rename("score").reset_index()
    assert (np.abs(scores["0.35"].to_numpy() - whole["score"]) <= 0.5).all()
    assert kf.identify(season, whole, candidates=candidates, top=8).verdict == "ambiguous"
    shown = scores["third"].rename("score").reset_index()
    found = kf.identify(season, shown, candidates=candidates, top=8)
    assert (found.verdict, found.candidates["rules"].iloc[0]) == ("exact", "third")
