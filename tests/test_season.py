"""Validation finds every fault at once and says where; good input of any spelling works."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import keizerframe as kf
from keizerframe.errors import NegativeValueWarning, NoRatingsWarning
from keizerframe.results import CODES, parse_result

PLAYERS = pd.DataFrame({"player": ["anna", "bert", "carl", "dora"], "rating": [1900, 1800, 1700, 1600]})
CLEAN = pd.DataFrame(
    {
        "round": [1, 1, 2, 2, 3],
        "white": ["anna", "carl", "bert", "dora", "anna"],
        "black": ["bert", "dora", "carl", None, "dora"],
        "result": ["1-0", "1/2-1/2", "0-1", "bye", "*"],
    }
)


def problems_of(games, players=PLAYERS, rounds=None):
    with pytest.raises(kf.SeasonError) as caught:
        kf.Season(games, players, rounds)
    return caught.value.problems


def with_cell(row, **cells):
    frame = CLEAN.astype(object)
    for column, value in cells.items():
        frame.loc[row, column] = value
    return frame


# Each fault: the row and cells that make it, and (column, what, a word of the hint) as the user sees them.
FAULTS = {
    "twice, as white and black": (1, {"white": "bert"}, ("white", "a player twice in a round", "row 0")),
    "twice, with a bye": (3, {"white": "carl"}, ("white", "a player twice in a round", "row 2")),
    "himself": (0, {"black": "anna"}, ("black", "a player against himself", "non-game")),
    "unknown player": (0, {"white": "ana"}, ("white", "unknown player", "anna")),
    "unknown result": (0, {"result": "1-O"}, ("result", "unknown result", "1-0")),
    "unknown word": (3, {"result": "excusd"}, ("result", "unknown result", "excused")),
    "game on a non-game code": (0, {"result": "excused"}, ("result", "a game on a non-game code", "black")),
    "game without an opponent": (3, {"result": "1-0"}, ("black", "a game without an opponent", "bye")),
    "negative round": (0, {"round": -1}, ("round", "round below 1", "1")),
    "fractional round": (0, {"round": 1.5}, ("round", "round is no whole number", "digits")),
    "missing round": (0, {"round": None}, ("round", "missing round", "fill it in")),
    "missing id": (3, {"white": None}, ("white", "missing player id", "fill it in")),
    "missing result": (0, {"result": None}, ("result", "missing result", "*")),
    "id that is no id": (0, {"white": 1.25}, ("white", "not an id", "whole numbers")),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named_with_place_and_mend(fault):
    row, cells, (column, what, hint) = FAULTS[fault]
    problems = problems_of(with_cell(row, **cells))
    assert len(problems) == 1
    found = problems.iloc[0]
    assert (found["row"], found["column"], found["what"]) == (row, column, what)
    assert hint in found["hint"]


@settings(deadline=None, max_examples=60)
@given(st.lists(st.sampled_from(sorted(FAULTS)), min_size=2, max_size=5, unique=True))
def test_mixed_faults_come_in_one_error(chosen):
    """Many clean copies of the season, each spoilt by one fault: all are found together."""
    games, expected = [], []
    for number, fault in enumerate(chosen):
        row, cells, (column, what, _) = FAULTS[fault]
        games.append(with_cell(row, **cells).assign(season=f"s{number}"))
        expected.append((row + number * len(CLEAN), column, what))
    seasons = [f"s{number}" for number in range(len(chosen))]
    people = pd.concat([PLAYERS.assign(season=label) for label in seasons])
    problems = problems_of(pd.concat(games), people)
    found = list(problems[["row", "column", "what"]].itertuples(index=False, name=None))
    assert sorted(found) == sorted(expected)


@pytest.mark.parametrize(
    ("players", "column", "what"),
    [
        (PLAYERS.assign(player=["anna", "bert", "carl", "anna"]), "player", "duplicate player"),
        (PLAYERS.assign(rating=[1900, "strong", 1700, 1600]), "rating", "rating is no whole number"),
        (PLAYERS.assign(rating=[1900, -5, 1700, 1600]), "rating", "rating below 0"),
        (
            PLAYERS.assign(joined_round=[2, None, None, None]),
            "white",
            "a game in round 1 before the player joined",
        ),
        (PLAYERS.assign(withdrawn_after=[None, "soon", None, None]), "withdrawn_after", "is no whole number"),
        (PLAYERS.assign(player=["anna", "bert", "carl", None]), "player", "missing player id"),
    ],
)
def test_faults_of_the_players_frame(players, column, what):
    problems = problems_of(CLEAN, players)
    assert any(row["column"] == column and what in row["what"] for row in problems.to_dict("records"))


def test_missing_columns_name_the_likely_one():
    problems = problems_of(CLEAN.rename(columns={"round": "ronde", "result": "uitslag"}))
    assert problems["what"].tolist() == ["games lacks the column 'round'", "games lacks the column 'result'"]
    assert "ronde" in problems["hint"][0]


def test_players_without_season_beside_several_seasons_are_refused():
    both = pd.concat([CLEAN.assign(season="a"), CLEAN.assign(season="b")])
    problems = problems_of(both, PLAYERS)
    assert problems["what"].tolist() == ["players has no column season, but there are 2 seasons"]


def test_a_round_listed_twice():
    listed = pd.DataFrame({"season": "a", "round": [1, 2, 3, 3]})
    problems = problems_of(CLEAN.assign(season="a"), PLAYERS.assign(season="a"), listed)
    assert problems["what"].tolist() == ["round listed twice"]


def test_the_message_shows_ten_and_counts_the_rest():
    games = pd.DataFrame({"round": range(1, 15), "white": "anna", "black": "bert", "result": "2-0"})
    with pytest.raises(kf.SeasonError) as caught:
        kf.Season(games, PLAYERS)
    assert str(caught.value).count("unknown result") == 10
    assert "14 problems" in str(caught.value)
    assert "and 4 more" in str(caught.value)


@pytest.mark.parametrize(
    ("spelling", "code"),
    [
        *((code, code) for code in CODES),
        ("½-½", "1/2-1/2"),
        ("0.5-0.5", "1/2-1/2"),
        ("0,5-0,5", "1/2-1/2"),
        ("remise", "1/2-1/2"),
        ("1 – 0", "1-0"),
        ("1:0", "1-0"),
        ("+-", "1-0f"),
        ("1-0F", "1-0f"),
        ("0-1F", "0-1f"),
        ("Excused", "excused"),
        ("excused:late", "excused:late"),
        ("1-0:late", None),
        ("2-0", None),
        ("", None),
    ],
)
def test_spellings(spelling, code):
    assert parse_result(spelling) == code


@pytest.mark.parametrize(
    "ids",
    [
        [7, 8, 9, 10],
        [7.0, 8.0, 9.0, 10.0],
        ["7", 8, 9.0, "10"],
        pd.Categorical(["7", "8", "9", "10"]),
        np.array([7, 8, 9, 10], dtype="int8"),
    ],
)
def test_ids_of_any_type_become_text(ids):
    people = pd.DataFrame({"player": ids, "rating": [4, 3, 2, 1]})
    games = pd.DataFrame({"round": [1, 1], "white": [7, 9.0], "black": [8, 10], "result": ["1-0", "0-1"]})
    season = kf.Season(games, people)
    assert season.players["player"].tolist() == ["7", "8", "9", "10"]
    assert kf.score(season, "knsb")["player"].tolist() == ["7", "8", "10", "9"]


@pytest.mark.parametrize("missing", [None, np.nan, "", " ", pd.NA])
def test_an_empty_black_is_a_non_game(missing):
    games = pd.DataFrame({"round": [1], "white": ["anna"], "black": [missing], "result": ["excused"]}, dtype=object)
    assert kf.Season(games, PLAYERS).games["black"].isna().all()


def test_frames_have_the_documented_types():
    season = kf.Season(CLEAN, PLAYERS)
    assert season.games.dtypes.astype(str).tolist() == ["str", "int16", "Int16", "str", "str", "category"]
    assert season.players["rating"].dtype == "Int32"
    assert season.labels == [""]
    assert season.games["result"].tolist() == CLEAN["result"].tolist()


def test_inputs_are_never_changed():
    games, people = CLEAN.copy(deep=True), PLAYERS.copy(deep=True)
    kf.compare(kf.Season(CLEAN, PLAYERS), ["knsb", "freekeizer"])
    pd.testing.assert_frame_equal(games, CLEAN)
    pd.testing.assert_frame_equal(people, PLAYERS)


def test_an_evening_without_rows_is_a_round_only_if_listed():
    plain, listed = kf.Season(CLEAN, PLAYERS), kf.Season(CLEAN, PLAYERS, [1, 2, 3, 4])
    assert plain.rounds["round"].tolist() == [1, 2, 3]
    assert listed.rounds["round"].tolist() == [1, 2, 3, 4]
    before, after = (kf.score(season, "knsb").set_index("player")["absences"] for season in (plain, listed))
    assert (after - before).tolist() == [1, 1, 1, 1]


def test_parts_and_dates_are_kept():
    listed = pd.DataFrame({"round": [1, 2, 3], "part": ["a", "a", "b"], "date": pd.to_datetime(["2024-09-01"] * 3)})
    rounds = kf.Season(CLEAN, PLAYERS, listed).rounds
    assert rounds["part"].tolist() == ["a", "a", "b"]
    assert rounds["date"].tolist() == ["2024-09-01"] * 3


def test_empty_seasons_and_single_players():
    nothing = pd.DataFrame(columns=["round", "white", "black", "result"])
    assert len(kf.score(kf.Season(nothing), "knsb")) == 0
    waiting = kf.score(kf.Season(nothing, PLAYERS), "knsb")
    assert waiting["player"].tolist() == ["anna", "bert", "carl", "dora"]
    alone = pd.DataFrame({"round": [1], "white": ["x"], "black": [None], "result": ["bye"]})
    # One player: value number 1; the bye of 4/6 rounds to half a point.
    assert kf.score(kf.Season(alone), "knsb")["score"].tolist() == [1.5]


def test_no_ratings_warn_once_at_the_callers_line():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kf.Season(CLEAN)
    assert [(w.category, w.filename) for w in caught] == [(NoRatingsWarning, __file__)]


def test_negative_value_numbers_warn_and_work():
    season = kf.Season(CLEAN, PLAYERS)
    with pytest.warns(NegativeValueWarning, match="raise value_number_base"):
        frame = kf.score(season, kf.Rules(value_number_step=2, value_number_base=2))
    assert frame["value_number"].tolist() == [2, 0, -2, -4]


def test_a_large_season_works():
    count, rounds = 500, 120
    rng = np.random.default_rng(5)
    rows = []
    for number in range(1, rounds + 1):
        order = rng.permutation(count)
        rows.append(pd.DataFrame({"round": number, "white": order[0::2], "black": order[1::2]}))
    games = pd.concat(rows).assign(result="1-0")
    people = pd.DataFrame({"player": range(count), "rating": rng.integers(1000, 2400, count)})
    frame = kf.score(kf.Season(games, people), "knsb")
    assert len(frame) == count
    assert (frame["played"] == rounds).all()


@pytest.mark.parametrize("label", ["0910", 2018, 2018.0])
def test_season_labels_stay_text(label):
    season = kf.Season(CLEAN.assign(season=label), PLAYERS.assign(season=label))
    assert season.labels == ["0910" if label == "0910" else "2018"]


def test_select_and_concat():
    season = kf.load_dataset("waagtoren")
    halves = [season.select(season.labels[:3]), season.select(season.labels[3:])]
    pd.testing.assert_frame_equal(kf.score(kf.concat(halves), "knsb"), kf.score(season, "knsb"))
    with pytest.raises(kf.UnknownNameError, match="2018-19"):
        season.select("1999-00")
    with pytest.raises(kf.SeasonError) as caught:
        kf.concat([halves[0], halves[0]])
    assert set(caught.value.problems["what"]) == {
        "duplicate player",
        "a player twice in a round",
        "round listed twice",
    }


def test_the_frames_of_a_season_make_it_again():
    season = kf.Season(CLEAN, PLAYERS)
    again = kf.Season(season.games, season.players, season.rounds)
    pd.testing.assert_frame_equal(again.games, season.games)
    assert again.labels == [""]


def test_a_games_frame_is_enough():
    with pytest.warns(NoRatingsWarning):
        frame = CLEAN.pipe(kf.score, "knsb")
    assert set(frame["player"]) == {"anna", "bert", "carl", "dora"}


def test_category_places():
    people = PLAYERS.assign(category=["A", "B", "A", None])
    frame = kf.score(kf.Season(CLEAN, people), "knsb").set_index("player")
    order = [player for player in frame.index if player in ("anna", "carl")]
    assert frame.loc[order, "place_in_category"].tolist() == [1, 2]
    assert frame.loc["bert", "place_in_category"] == 1
    assert pd.isna(frame.loc["dora", "place_in_category"])
