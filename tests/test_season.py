"""Validation finds every fault at once and says where; good input of any spelling works."""

from __future__ import annotations

import pickle
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import keizerframe as kf
from keizerframe.columns import Origin, is_missing, read_id, whole_number
from keizerframe.errors import NegativeValueWarning, NoRatingsWarning
from keizerframe.results import CODES, OUTCOME_NUMBER, fallback_chain, parse_result, suggest_result

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


# Everybody against everybody (Berger): room for many faults that do not touch each other.
BERGER = [
    (r, f"p{a % 7}", f"p{b}") for r in range(1, 8) for a, b in ((r, 7), *((r + k, (r - k) % 7) for k in (1, 2, 3)))
]
CROWD = pd.DataFrame({"player": [f"p{i}" for i in range(8)], "rating": range(1800, 1000, -100)})
# One value per column and kind of fault; `None` is a missing id, a missing round, no opponent.
PLANTS = {
    "white": ["zzz", None, 0.5],
    "black": ["zzz", None, 0.5],
    "round": [-3, 2.5, "one", None],
    "result": ["2-0", "club", ""],
}


@settings(deadline=None, max_examples=80)
@given(st.data())
def test_planted_faults_are_found_and_nothing_else(data):
    games = pd.DataFrame(BERGER, columns=["round", "white", "black"], dtype=object).assign(result="1-0")
    rows = data.draw(st.lists(st.integers(0, len(games) - 1), min_size=1, max_size=12, unique=True))
    expected = set()
    for row in rows:
        kind = data.draw(st.sampled_from([*PLANTS, "himself", "twice"]))
        column = {"himself": "black", "twice": "white"}.get(kind, kind)
        expected.add((len(games) if kind == "twice" else row, column))
        if kind == "himself":
            games.loc[row, "black"] = games.loc[row, "white"]
        elif kind == "twice":
            # The later row is the one told of: its hint names the first.
            games.loc[len(games)] = [games.loc[row, "round"], games.loc[row, "white"], None, "bye"]
        else:
            games.loc[row, column] = data.draw(st.sampled_from(PLANTS[column]))
    problems = problems_of(games, CROWD)
    assert set(zip(problems["row"], problems["column"], strict=True)) == expected


def test_faults_of_all_three_frames_come_together():
    unfit = [
        ((1, "anna", "bert", "1-0"), ()),
        ((1, "anna", None, "bye"), (1, "white", "anna", "a player twice in a round")),
        ((2, "bert", "bert", "0-1"), (2, "black", "bert", "a player against himself")),
        ((2, "karl", "anna", "1-0"), (2, "white", "karl", "unknown player")),
        ((3, "anna", "dora", "*"), (3, "black", "dora", "a game in round 3 before the player joined in round 4")),
        ((4, "anna", "carl", "remize"), (4, "result", "remize", "unknown result")),
        ((4, "bert", "dora", "excused"), (4, "result", "excused", "a game on a non-game code")),
        ((5, "carl", None, "0-1"), (5, "black", "", "a game without an opponent")),
        ((-4, "anna", "bert", "1-0"), (None, "round", "-4.0", "round below 1")),
        ((4.5, "anna", "bert", "1-0"), (None, "round", "4.5", "round is no whole number")),
        ((6, None, "bert", "1-0"), (6, "white", "", "missing player id")),
    ]
    expected = {(row, *fault) for row, (_, fault) in enumerate(unfit) if fault} | {
        (4, None, "player", "anna", "duplicate player"),
        (1, None, "rating", "strong", "rating is no whole number"),
        (2, 2, "round", "", "round listed twice"),
        (3, None, "round", "0", "round below 1"),
    }
    games = pd.DataFrame([row for row, _ in unfit], columns=["round", "white", "black", "result"])
    people = pd.DataFrame({"player": ["anna", "bert", "carl", "dora", "anna"]}).assign(
        season="a", rating=[1900, "strong", 1700, 1600, 1900], joined_round=[None, None, None, 4, None]
    )
    listed = pd.DataFrame({"season": "a", "round": [1, 2, 2, 0]})
    problems = problems_of(games.assign(season="a"), people, listed)
    assert list(problems.columns) == ["season", "round", "file", "row", "column", "value", "what", "hint"]
    found = problems[["row", "round", "column", "value", "what"]].itertuples(index=False, name=None)
    assert sorted(found, key=str) == sorted(expected, key=str)
    assert set(problems["season"]) == {"a"}
    assert (problems["hint"] != "").all()
    hints = problems.set_index("what")["hint"]
    assert hints["unknown player"] == "did you mean carl?"
    assert hints["unknown result"] == "did you mean 1/2-1/2?"
    assert hints["duplicate player"] == "he is already in row 0: keep one"


def test_file_and_line_stand_in_for_the_row():
    with pytest.raises(kf.SeasonError) as caught:
        kf.Season(with_cell(2, result="2-0"), PLAYERS, origins={"games": Origin("club.csv", np.arange(2, 7))})
    assert caught.value.problems[["file", "row"]].to_numpy().tolist() == [["club.csv", 4]]
    assert "club.csv:4, round 2: unknown result (result = '2-0'); did you mean" in str(caught.value)


# Faults that are dropped in silence, or end in an error that names no row.
GAMES_A, PLAYERS_A = CLEAN.assign(season="a"), PLAYERS.assign(season="a")
UNSEEN = {
    "a listed round without number": (CLEAN, PLAYERS, [1, None, 4]),
    "a round twice in a plain list": (CLEAN, PLAYERS, [1, 2, 2]),
    "a round twice, in two parts": (CLEAN, PLAYERS, pd.DataFrame({"round": [1, 1], "part": ["a", "b"]})),
    "no season": (GAMES_A, PLAYERS_A, pd.DataFrame({"season": ["a", None], "round": [1, 9]})),
    "a player without season": (GAMES_A, pd.concat([PLAYERS_A, pd.DataFrame({"player": ["emil"]})]), None),
    "a player with a blank id": (CLEAN, pd.concat([PLAYERS, pd.DataFrame({"player": [" "]})]), None),
    "a column twice": (pd.concat([CLEAN, CLEAN[["result"]]], axis=1), PLAYERS, None),
}


@pytest.mark.parametrize("fault", UNSEEN)
def test_nothing_is_dropped_silently(fault):
    assert len(problems_of(*UNSEEN[fault])) == 1


@pytest.mark.parametrize(
    ("column", "values", "what"),
    [
        ("rating", [1900, -5, 1700, 1600], "rating below 0"),
        ("withdrawn_after", [None, "soon", None, None], "withdrawn_after is no whole number"),
        ("player", ["anna", "bert", "carl", None], "missing player id"),
    ],
)
def test_faults_of_the_players_frame(column, values, what):
    problems = problems_of(CLEAN, PLAYERS.assign(**{column: values}))
    assert (column, what) in set(zip(problems["column"], problems["what"], strict=True))


def test_missing_columns_name_the_likely_one():
    problems = problems_of(CLEAN.rename(columns={"round": "ronde", "result": "uitslag"}))
    assert problems["what"].tolist() == ["games lacks the column 'round'", "games lacks the column 'result'"]
    # "uitslag" is nothing like "result": no guess is better than a wrong one.
    assert problems["hint"].tolist() == ["rename 'ronde' to 'round'", "add a column 'result'"]
    problems = problems_of(CLEAN, PLAYERS.rename(columns=str.upper), pd.DataFrame({"rounds": [1]}))
    assert problems["hint"].tolist() == ["rename 'PLAYER' to 'player'", "rename 'rounds' to 'round'"]
    assert kf.Season(CLEAN.assign(tempo="25m"), PLAYERS).notes == ["games: columns not used: tempo"]


def test_players_without_season_beside_several_seasons_are_refused():
    both = pd.concat([CLEAN.assign(season="a"), CLEAN.assign(season="b")])
    problems = problems_of(both, PLAYERS)
    assert problems["what"].tolist() == ["players has no column season, but there are 2 seasons"]


def test_the_message_shows_ten_and_counts_the_rest():
    games = pd.DataFrame({"round": range(1, 15), "white": "anna", "black": "bert", "result": "2-0"})
    with pytest.raises(kf.SeasonError) as caught:
        kf.Season(games, PLAYERS)
    first, *lines, last = str(caught.value).splitlines()
    assert first == "14 problems in the season:"
    assert [line.split(":")[0] for line in lines] == [f"  row {i}, round {i + 1}" for i in range(10)]
    assert lines[0].endswith(": unknown result (result = '2-0'); did you mean 1-0 or 1-0f?")
    assert last == "  ... and 4 more (all of them in .problems)"
    assert len(caught.value.problems) == 14
    assert isinstance(caught.value, kf.KeizerError)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


SPELLINGS = {
    "1-0": ["1 – 0", "1:0"],
    "1/2-1/2": ["½-½", "½:½", "0.5-0.5", "0,5-0,5", "remise", "1\N{FRACTION SLASH}2-1\N{FRACTION SLASH}2"],
    "1-0f": ["+-", "+:-", "1-0F", "1-0 f"],
    "0-1f": ["-+", "0-1F"],
    "0-0f": ["--", "-:-", "0-0"],
    "bye": ["vrij"],
    "excused": ["Excused", "afgemeld"],
    "excused:late": ["excused:late", "Excused : Late"],
    "club": ["extern"],
    None: ["1-0:late", "excused:", "2-0", "1", "", ":"],
}


@pytest.mark.parametrize("code", SPELLINGS)
def test_spellings(code):
    assert [parse_result(spelling) for spelling in SPELLINGS[code]] == [code] * len(SPELLINGS[code])


@given(st.sampled_from(CODES), st.data())
def test_case_blanks_and_dashes_do_not_matter(code, data):
    letters = [data.draw(st.sampled_from("-‐‑‒–—−")) if c == "-" else c for c in code]
    text = "".join(c.upper() if data.draw(st.booleans()) else c for c in letters)
    blank = data.draw(st.sampled_from(["", " ", "\t", "\u00a0"]))
    assert parse_result(blank + blank.join(text) + blank) == code


@pytest.mark.parametrize(
    ("text", "codes"),
    [("1-O", "1-0 or 1-0f?"), ("exused", "excused"), ("half bye", "half-bye"), ("remize", "1/2-1/2?")],
)
def test_hints_for_unknown_results(text, codes):
    assert suggest_result(text).startswith(f"did you mean {codes}")
    assert suggest_result("zzzz").startswith("use one of 1-0, 0-1, 1/2-1/2, *, adjourned")


def test_fallbacks_are_those_of_the_specification():
    chains = {
        "full-bye": "bye",
        "half-bye": "bye",
        "adjourned": "unfinished",
        "late-start": "handicap",
        **dict.fromkeys(["club-win", "club-draw", "club-loss", "club:other-day"], "club excused absent"),
        "club": "excused absent",
        "excused": "absent",
        "excused:late": "excused absent",
    }
    for outcome in (*OUTCOME_NUMBER, "excused:late", "club:other-day"):
        assert fallback_chain(outcome) == (outcome, *chains.get(outcome, "").split())


def test_ids_are_decimal_text():
    assert {read_id(value) for value in ("7", 7, 7.0, np.float32(7), np.int8(7))} == {"7"}
    assert [read_id(value) for value in ("007", -3, 10**400)] == ["007", "-3", "1" + 400 * "0"]
    assert read_id(2**53 + 1) == "9007199254740993"
    for value in (7.5, np.inf, True, np.True_, b"7", pd.Timestamp(0), Decimal("7.5")):
        with pytest.raises(ValueError, match="not an id"):
            read_id(value)


def test_whole_numbers_of_any_type():
    values = [7, 7.0, "7", " 7 ", "7.0", np.int8(7), np.float32(7), Decimal(7)]
    assert [whole_number(1, 9, "round")(value) for value in values] == [7] * len(values)
    for said, values in {
        "no whole number": [7.5, "seven", True, np.inf, "nan", "1e999", pd.Timestamp(0), "7,5"],
        "below 1": [0, "-1", -1.0],
        "above 9": [10, "10", 10**400],
    }.items():
        for value in values:
            with pytest.raises(ValueError, match=said):
                whole_number(1, 9, "round")(value)


def test_empty_cells():
    assert all(map(is_missing, [None, np.nan, pd.NA, pd.NaT, "", "  "]))
    assert not any(map(is_missing, [0, "0", "None", "nan", False]))


@pytest.mark.parametrize(
    "ids",
    [
        [7, 8, 9, 10],
        [7.0, 8.0, 9.0, 10.0],
        ["7", 8, 9.0, "10"],
        pd.Categorical(["7", "8", "9", "10"]),
        pd.Categorical([7, 8, 9, 10]),
        np.array([7, 8, 9, 10], dtype="int8"),
        pd.array([7, 8, 9, 10], dtype="Int64"),
        pd.array([7, 8, 9, 10], dtype="int64[pyarrow]"),
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


TYPES = {
    "games": {"season": "str", "round": "int16", "board": "Int16", "white": "str", "black": "str"}
    | {"result": "category"},
    "players": {"season": "str", "player": "str", "name": "str", "rating": "Int32", "joined_round": "Int32"}
    | {"withdrawn_after": "Int32", "start_rank": "Int32", "category": "str"},
    "rounds": {"season": "str", "round": "int16", "part": "str", "date": "str"},
}


@pytest.mark.parametrize("rows", [slice(None), slice(0)])
def test_frames_have_the_documented_types(rows):
    """Of a season and of an empty one alike: the types must not depend on the rows."""
    season = kf.Season(CLEAN.iloc[rows], PLAYERS.iloc[rows], [1, 2, 3][rows])
    for name, types in TYPES.items():
        frame = getattr(season, name)
        assert list(frame.dtypes.astype(str).items()) == list(types.items())
        assert isinstance(frame.index, pd.RangeIndex)
    assert season.labels == [""]
    assert season.games["result"].tolist() == CLEAN["result"].tolist()[rows]
    assert list(season.games["result"].cat.categories) == list(CODES)


def test_columns_of_any_type_are_read_alike():
    plain = kf.Season(CLEAN, PLAYERS)
    people = PLAYERS.astype({"player": "category", "rating": "float64"})
    for games in (
        CLEAN.astype("category"),
        CLEAN.astype(object),
        CLEAN.astype({"round": "float64"}),
        CLEAN.astype("str"),
        CLEAN.convert_dtypes(dtype_backend="pyarrow"),
        CLEAN.set_axis([5, 5, 5, 0, 0]),
        CLEAN[CLEAN.columns[::-1]],
    ):
        season = kf.Season(games, people)
        pd.testing.assert_frame_equal(season.games, plain.games)
        pd.testing.assert_frame_equal(season.players, plain.players)


def test_inputs_are_never_changed():
    def frames():
        games = CLEAN.astype(object).assign(
            white=["7", 9, 8.0, 10, 7],
            black=[8, "10", 9.0, np.nan, None],
            result=["Remise", "1-0F", "½-½", "vrij", "afgemeld"],
        )
        people = pd.DataFrame({"player": pd.Categorical([7, 8, 9, 10]), "rating": [1.0, 2.0, 3.0, np.nan]})
        return games, people, pd.DataFrame({"round": [4, 1], "part": ["b", None]})

    given_frames, kept = frames(), frames()
    season = kf.Season(*given_frames)
    kf.compare(season, ["knsb", "freekeizer"])
    kf.concat([season]).select("")
    for frame, copy in zip(given_frames, kept, strict=True):
        pd.testing.assert_frame_equal(frame, copy)
    assert season.games["result"].tolist() == ["1/2-1/2", "1-0f", "1/2-1/2", "bye", "excused"]


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


@pytest.mark.parametrize("rounds", [[4, 2], range(2, 5, 2), np.array([4]), pd.Series([4]), iter([4])])
def test_rounds_may_be_any_list(rounds):
    assert kf.Season(CLEAN, PLAYERS, rounds).rounds["round"].tolist() == [1, 2, 3, 4]


def test_a_plain_list_of_rounds_holds_for_every_season():
    both = [pd.concat([frame.assign(season=label) for label in "ab"]) for frame in (CLEAN, PLAYERS)]
    rounds = kf.Season(*both, [1, 2, 3, 4]).rounds
    assert rounds[["season", "round"]].to_numpy().tolist() == [[s, r] for s in "ab" for r in (1, 2, 3, 4)]


def test_empty_seasons_and_single_players():
    nothing = pd.DataFrame(columns=["round", "white", "black", "result"])
    assert len(kf.score(kf.Season(nothing), "knsb")) == 0
    waiting = kf.score(kf.Season(nothing, PLAYERS), "knsb")
    assert waiting["player"].tolist() == ["anna", "bert", "carl", "dora"]
    alone = pd.DataFrame({"round": [1], "white": ["x"], "black": [None], "result": ["bye"]})
    # One player: value number 1; the bye of 4/6 rounds to half a point.
    assert kf.score(kf.Season(alone), "knsb")["score"].tolist() == [1.5]


def test_no_ratings_warn_once_at_the_callers_line_and_a_games_frame_is_enough():
    with pytest.warns(NoRatingsWarning):
        frame = CLEAN.pipe(kf.score, "knsb")
    assert set(frame["player"]) == {"anna", "bert", "carl", "dora"}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kf.Season(CLEAN)
    assert [(w.category, w.filename) for w in caught] == [(NoRatingsWarning, __file__)]


def test_one_warning_for_all_seasons_without_ratings():
    parts = [CLEAN.assign(season=label) for label in "abcde"]
    people = [PLAYERS.assign(season=label, rating=1500 if label == "c" else None) for label in "abcde"]
    with pytest.warns(NoRatingsWarning, match="^no player of season 'a', 'b', 'd', ... has a rating") as seen:
        kf.Season(pd.concat(parts), pd.concat(people))
    assert len(seen) == 1


def test_negative_value_numbers_warn_and_work():
    season = kf.Season(CLEAN, PLAYERS)
    with pytest.warns(NegativeValueWarning, match="raise value_number_base"):
        frame = kf.score(season, kf.Rules(value_number_step=2, value_number_base=2))
    assert frame["value_number"].tolist() == [2, 0, -2, -4]


def test_a_large_season_works():
    count, rounds, rng = 500, 120, np.random.default_rng(5)
    order = np.concatenate([rng.permutation(count) for _ in range(rounds)])
    games = pd.DataFrame({"round": np.repeat(range(1, rounds + 1), count // 2), "result": "1-0"})
    people = pd.DataFrame({"player": range(count), "rating": rng.integers(1000, 2400, count)})
    frame = kf.score(kf.Season(games.assign(white=order[0::2], black=order[1::2]), people), "knsb")
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
    for name in TYPES:
        pd.testing.assert_frame_equal(getattr(kf.concat(halves), name), getattr(season, name))
    with pytest.raises(kf.UnknownNameError, match="2018-19"):
        season.select("1999-00")
    with pytest.raises(kf.SeasonError) as caught:
        kf.concat([halves[0], halves[0]])
    assert set(caught.value.problems["what"]) == {
        "duplicate player",
        "a player twice in a round",
        "round listed twice",
    }


def test_select_keeps_notes_and_rules():
    rules = {"as-played": kf.Rules(absence_limit=2)}
    both = [pd.concat([frame.assign(season=label) for label in (2018, 2019)]) for frame in (CLEAN, PLAYERS)]
    season = kf.Season(*both, notes=["a note"], rules=rules)
    one = season.select(2019)
    assert (len(season), len(one)) == (2, 1)
    assert repr(one) == "<Season: 1 season, 4 players, 3 rounds, 5 rows>"
    again = kf.concat([one, season.select(["2018"])])
    assert (again.labels, again.notes, again.rules) == (["2018", "2019"], ["a note"], rules)


def test_the_frames_of_a_season_make_it_again():
    season = kf.Season(CLEAN, PLAYERS)
    again = kf.Season(season.games, season.players, season.rounds)
    pd.testing.assert_frame_equal(again.games, season.games)
    assert again.labels == [""]
    copy = pickle.loads(pickle.dumps(season))
    pd.testing.assert_frame_equal(kf.score(copy, "knsb"), kf.score(season, "knsb"))


def test_category_places():
    people = PLAYERS.assign(category=["A", "B", "A", None])
    frame = kf.score(kf.Season(CLEAN, people), "knsb").set_index("player")
    order = [player for player in frame.index if player in ("anna", "carl")]
    assert frame.loc[order, "place_in_category"].tolist() == [1, 2]
    assert frame.loc["bert", "place_in_category"] == 1
    assert pd.isna(frame.loc["dora", "place_in_category"])
