"""Pairing a round: the reference's rounds, the cheapest of all pairings, wishes that cannot be met, the file."""

from __future__ import annotations

import json
import os
import random

import numpy as np
import pandas as pd
import pytest

import keizerframe as kf
from keizerframe.cli import main
from keizerframe.datasets import dataset_folder
from keizerframe.io.append import append_games
from keizerframe.pairing.matching import Field, match
from keizerframe.pairing.sheet import for_people
from tests import pairings

PLAYERS = pd.DataFrame({"player": list("abcdef"), "rating": [2000, 1900, 1800, 1700, 1600, 1500]})


def season(rows, players=PLAYERS, rounds=None):
    return kf.Season(pd.DataFrame(rows, columns=["round", "white", "black", "result"]), players, rounds)


#: Two rounds in which rank follows rating: a-b and c-d met, e and f did not play.
QUIET = season([(1, "a", "b", "1/2-1/2"), (1, "c", "d", "1/2-1/2"), (2, "e", None, "bye")])


def boards(sheet):
    games = sheet[sheet["black"].notna()]
    return list(zip(games["white"], games["black"], strict=True))


def problems(*arguments, **wishes):
    with pytest.raises(kf.PairingError) as caught:
        kf.pair(*arguments, **wishes)
    assert all(problem in str(caught.value) for problem in caught.value.problems)
    return caught.value.problems


# --- against the reference and the oracle


@pytest.mark.parametrize("rest", range(3))
def test_golden_rounds_from_the_top_down(rest):
    states = list(pairings.pairing_states(every=8))[rest::3]
    found = [row for state in states for row in pairings.top_down(state)]
    assert len(found) > 90
    assert [row for row in found if not row[-1]] == []


def test_random_rounds_are_as_cheap_as_by_networkx():
    assert [seed for seed in range(60) if not pairings.as_cheap(seed)] == []


def test_no_pairing_of_a_small_round_is_better():
    assert [seed for seed in range(80) if not pairings.as_good_as_any(seed)] == []


def test_nothing_that_could_be_avoided_is_in_golden_rounds():
    states = [s for s in pairings.pairing_states(every=20) if s["family"] in ("club", "keizer")]
    found = pd.DataFrame([one for state in states for one in pairings.avoidable(state)])
    # There are repeats among them, so the rest says something.
    assert found.pop("repeats").sum() > 10
    assert found.sum().to_dict() == dict.fromkeys(found.columns, 0)


def test_names_and_row_order_change_nothing():
    whole = kf.load_dataset("waagtoren").select("2018-19")
    rng = random.Random(1)
    people = whole.players.assign(rating=rng.sample(range(1000, 2500), len(whole.players)))
    games = whole.games[whole.games["round"] < 20]
    new = dict(zip(people["player"], rng.sample([f"x{i}" for i in range(999)], len(people)), strict=True))
    other_games = games.assign(white=games["white"].map(new), black=games["black"].map(new))
    other_people = people.assign(player=people["player"].map(new))
    sheet = kf.pair(kf.Season(games, people), "knsb")
    other = kf.pair(kf.Season(other_games.sample(frac=1, random_state=1), other_people[::-1]), "knsb")
    assert len(sheet) > 30
    assert boards(other) == [(new[white], new[black]) for white, black in boards(sheet)]


# --- the sheet


def test_the_sheet_says_who_meets_whom_with_what_behind_them():
    sheet = kf.pair(QUIET, "knsb", absent=["f"], rematch_gap=1)
    assert list(sheet.columns) == [
        *("season", "round", "board", "white", "black", "result", "white_rank", "black_rank"),
        *("white_value_number", "black_value_number", "last_meeting", "white_balance", "black_balance", "note"),
    ]
    assert sheet["round"].tolist() == [3, 3, 3]
    # d has the fewest byes and is the lowest of them; e had one. Values 6, 5, ... by rank.
    assert boards(sheet) == [("b", "a"), ("e", "c")]
    assert sheet["white"].iloc[2] == "d"
    assert sheet["result"].tolist() == ["*", "*", "bye"]
    assert sheet["note"].iloc[2] == "d receives a bye (lowest ranked of those with the fewest byes)"
    assert sheet["last_meeting"].iloc[0] == 1
    assert pd.isna(sheet["last_meeting"].iloc[1])
    first = sheet.iloc[0]
    assert (first["white_balance"], first["black_balance"]) == (-1, 1)
    table = kf.score(QUIET, "knsb", roster_round=3).set_index("player")
    for side in ("white", "black"):
        known = sheet[sheet[side].notna()]
        assert known[f"{side}_rank"].tolist() == table["rank"].loc[known[side]].tolist()
        assert known[f"{side}_value_number"].tolist() == table["next_value_number"].loc[known[side]].tolist()


def test_the_rows_are_rows_of_a_games_frame():
    sheet = kf.pair(QUIET, "knsb", byes={"f": "club"})
    more = pd.concat([QUIET.games.astype({"result": "str"}), sheet[list(QUIET.games.columns)]])
    assert len(kf.Season(more, PLAYERS).games) == len(QUIET.games) + len(sheet)


def test_two_lists_are_paired_by_the_value_list():
    whole = kf.load_dataset("waagtoren").select("2023-24")
    data = kf.Season(whole.games[whole.games["round"] <= 20], whole.players[whole.players["joined_round"] <= 21])
    data = data.with_parts({"1": (1, 15), "2": (16, 30)})
    sheet = kf.pair(data, "caissa-2014", method="top-down", rematch_gap=0)
    by_values = kf.score(data, kf.get_rules("caissa-2014").values_from, roster_round=21)["player"].tolist()
    assert sheet["round"].tolist() == [21] * len(sheet)
    assert [set(pair) for pair in boards(sheet)] == [set(by_values[i : i + 2]) for i in range(0, len(by_values) - 1, 2)]
    by_score = kf.score(data, "caissa-2014", roster_round=21)["player"].tolist()
    assert by_score != by_values


def test_white_goes_to_fewer_whites_then_is_reversed_then_to_the_lower():
    # The order of the rows is not that of the rounds.
    rows = [(3, "c", "d", "1/2-1/2"), (2, "d", "c", "1/2-1/2"), (1, "a", "b", "1/2-1/2")]
    sheet = kf.pair(season(rows), "knsb", fixed=[("a", "b"), ("c", "d"), ("e", "f")])
    # b had no White; c and d one each and c had the last; e and f none and never met.
    assert sorted(boards(sheet)) == [("b", "a"), ("d", "c"), ("f", "e")]
    assert sheet["note"].tolist() == [
        "fixed pair; repeat: met in round 1",
        "fixed pair; repeat: met in round 3",
        "fixed pair",
    ]


def test_a_forfeit_is_no_meeting_and_no_colour_but_an_unfinished_game_is_both():
    sheet = kf.pair(season([(1, "a", "b", "1-0f"), (1, "c", "d", "*")]), "knsb", present=list("abcd"))
    assert {"c", "d"} not in [set(pair) for pair in boards(sheet)]
    balance = {
        player: count
        for side in ("white", "black")
        for player, count in zip(sheet[side], sheet[f"{side}_balance"], strict=True)
    }
    assert balance == {"a": 0, "b": 0, "c": 1, "d": -1}
    again = kf.pair(season([(1, "a", "b", "1-0f"), (1, "c", "d", "*")]), "knsb", present=["a", "b"])
    assert again["note"].tolist() == [""]


def test_an_unavoidable_repeat_is_made_and_noted():
    rows = [(1, "a", "b", "1-0"), (2, "b", "a", "1-0")]
    sheet = kf.pair(season(rows), "knsb", present=["a", "b"])
    assert boards(sheet) == [("a", "b")]
    assert sheet["note"].tolist() == ["repeat that could not be avoided: met in round 2"]
    assert kf.pair(season(rows), "knsb", present=["a", "b"], rematch_gap=0)["note"].tolist() == [""]


@pytest.mark.parametrize(("number", "noted"), [(4, True), (5, False)])
def test_the_gap_counts_rounds(number, noted):
    rows = [(1, "a", "b", "1-0"), (2, "c", "d", "1-0")]
    sheet = kf.pair(season(rows), "knsb", round=number, present=["a", "b"], rematch_gap=3)
    assert (sheet["note"].iloc[0] != "") is noted


def test_the_bye_moves_on_before_a_repeat_is_accepted():
    rows = [(1, "a", "b", "1/2-1/2"), (2, "e", None, "bye")]
    moved = kf.pair(season(rows), "knsb", present=["a", "b", "c"])
    assert moved["white"].tolist()[-1] != "c"
    assert "not c, so that more can meet somebody new" in moved["note"].iloc[-1]
    kept = kf.pair(season(rows), "knsb", present=["a", "b", "c"], forbidden=[("a", None), ("b", None)])
    assert kept["white"].tolist()[-1] == "c"
    assert kept["note"].iloc[0] == "repeat that could not be avoided: met in round 1"


def test_byes_go_round_or_to_the_lowest():
    rows = [(1, "c", None, "bye"), (2, "a", "b", "1/2-1/2")]
    wishes = {"present": ["a", "b", "c"], "rematch_gap": 0}
    ranks = kf.score(season(rows), "knsb", roster_round=3).set_index("player")["rank"]
    lowest = ranks.loc[["a", "b", "c"]].idxmax()
    assert kf.pair(season(rows), "knsb", bye="lowest", **wishes)["white"].iloc[-1] == lowest
    assert kf.pair(season(rows), "knsb", **wishes)["white"].iloc[-1] in ("a", "b")
    # A bye that was asked for is none that was allocated.
    asked = [(1, "c", None, "half-bye"), (2, "a", "b", "1/2-1/2")]
    assert kf.pair(season(asked), "knsb", **wishes)["white"].iloc[-1] == ranks.loc[["a", "b", "c"]].idxmax()


def test_only_rounds_before_the_one_to_pair_count():
    data = kf.load_dataset("waagtoren").select("2023-24")
    past = data.games[data.games["round"] < 10]
    entered = data.players["joined_round"].fillna(0) <= 10
    here = data.players["player"][entered].tolist()
    alone = kf.pair(kf.Season(past, data.players), "knsb", present=here)
    later = data.games[data.games["round"] != 10]
    pd.testing.assert_frame_equal(kf.pair(kf.Season(later, data.players), "knsb", round=10, present=here), alone)


def test_who_has_a_row_in_the_round_is_left_out_and_boards_go_on():
    games = pd.DataFrame(
        [(1, 1, "a", "b", "*"), (2, 7, "a", "c", "*"), (2, None, "d", None, "excused")],
        columns=["round", "board", "white", "black", "result"],
    )
    sheet = kf.pair(kf.Season(games, PLAYERS), "knsb", round=2, absent=["b"])
    assert sheet["board"].tolist() == [8]
    assert sorted(boards(sheet)[0]) == ["e", "f"]


def test_nobody_and_one():
    assert kf.pair(QUIET, "knsb", present=[]).empty
    only = kf.pair(QUIET, "knsb", present=["a"])
    assert only[["white", "result", "note"]].values.tolist() == [["a", "bye", "a receives a bye (only player)"]]


def test_a_round_that_is_complete_is_not_paired_again():
    whole = [(1, "a", "b", "1-0"), (1, "c", "d", "1-0"), (1, "e", None, "club"), (1, "f", None, "absent")]
    assert "nobody is left to pair" in problems(season(whole), "knsb", round=1)[0]


def test_a_sheet_for_people_has_names_and_says_what_a_bye_is():
    people = PLAYERS.assign(name=["Anna", None, "Carla", "Dirk", "Eva", "Finn"])
    data = season([(1, "a", "b", "1-0")], people)
    sheet = for_people(kf.pair(data, "knsb", present=["a", "b", "f"], byes={"f": "club"}), data.players)
    assert sheet[["white", "black", "ranks"]].values.tolist() == [["b", "Anna (a)", "3 - 1"], ["Finn (f)", "club", "6"]]
    assert sheet["last met"].tolist() == [1, pd.NA]


def test_inputs_are_not_changed():
    before = QUIET.games.copy(deep=True)
    present, byes = ["a", "b"], {"f": "club"}
    kf.pair(QUIET, "knsb", present=present, byes=byes)
    pd.testing.assert_frame_equal(QUIET.games, before)
    assert (present, byes) == (["a", "b"], {"f": "club"})


# --- wishes


def test_a_fixed_pair_plays_and_a_forbidden_one_does_not():
    for one, other in [("a", "f"), ("b", "e")]:
        assert {one, other} in map(set, boards(kf.pair(QUIET, "knsb", fixed=[(one, other)])))
    free = {frozenset(pair) for pair in boards(kf.pair(QUIET, "knsb", rematch_gap=0))}
    barred = {frozenset(pair) for pair in boards(kf.pair(QUIET, "knsb", rematch_gap=0, forbidden=map(tuple, free)))}
    assert not free & barred
    assert len(barred) == 3


def test_every_wish_that_cannot_be_met_is_named_at_once():
    late = pd.concat([PLAYERS, pd.DataFrame({"player": ["g"], "rating": [1400]})]).assign(
        joined_round=[0, 0, 0, 0, 9, 0, 0], withdrawn_after=[None, None, None, None, None, 1, None]
    )
    data = season([(1, "a", "b", "1-0"), (2, "d", None, "excused")], late)
    assert problems(
        data,
        "knsb",
        round=2,
        present=["a", "a", "b", "bb", "c", "d", "e", "f", "g"],
        absent=["c"],
        byes={"a": "1-0", "zz": "bye"},
        fixed=[("a", "c"), ("a", "b"), ("a", "x"), ("b", "b"), "ab"],
        forbidden=[("b", "a"), ("q", None), ("a",)],
        bye="none",
    ) == [
        "present: unknown player 'bb'; did you mean b?",
        "present: 'a' is named 2 times: once will do",
        "present and absent: 'c' is both: take him out of one of them",
        "present: 'd' has a row in round 2 already (excused)",
        "present: 'e' joins in round 9",
        "present: 'f' left after round 1",
        "byes: unknown player 'zz'; add the player to the players",
        "byes: '1-0' for 'a' is no code of a non-game; use one of bye, half-bye, full-bye, zero-bye, excused, absent, "
        "club, club-win, club-draw, club-loss, late-start",
        "fixed: 'ab' is no pair: give a list of pairs of players",
        "fixed: 'c', who is to play 'a', is not present",
        "fixed: 'a', who is to play 'b', is to play 'c' as well: take back one of the two",
        "fixed: unknown player 'x'; add the player to the players",
        "fixed: 'b' is named 2 times: once will do",
        "forbidden: ('a',) is no pair: give a list of pairs of players",
        "forbidden: unknown player 'q'; add the player to the players",
        "fixed and forbidden: 'a' against 'b' is both: take back one",
        "bye = 'none', but 1 player is left to pair, an odd number: allow a bye, or let one more come or one less",
    ]


@pytest.mark.parametrize(
    ("wishes", "named"),
    [
        ({"present": list("abc"), "bye": "none"}, ["bye = 'none'", "3 players", "odd"]),
        ({"present": list("abc"), "forbidden": [(p, None) for p in "abc"]}, ["none of them may have the bye", "'a'"]),
        ({"present": ["a"], "bye": "none"}, ["1 player is left"]),
        (
            {"present": list("abcd"), "forbidden": [(x, y) for x in "abcd" for y in "abcd" if x < y]},
            ["4 of 4 players", "'a', 'b', 'c', 'd'"],
        ),
        # a can only play b, and so can c.
        (
            {"present": list("abcd"), "forbidden": [("a", "c"), ("a", "d"), ("c", "d")]},
            ["2 of 4 players stay without an opponent"],
        ),
        ({"method": "swiss"}, ["method = 'swiss'", "matching, top-down"]),
        ({"method": "matchin"}, ["did you mean 'matching'"]),
        ({"rematch_gap": "x"}, ["rematch_gap = 'x'", "'season'"]),
        ({"bye": "x"}, ["bye = 'x'", "use one of fewest, lowest, none"]),
        ({"round": 0}, ["round = 0"]),
        ({"method": "top-down", "fixed": [("a", "b")]}, ["top-down", "use method 'matching'"]),
        ({"byes": {"a": "bye"}, "fixed": [("a", "b")]}, ["'a'", "among the byes"]),
        ({"fixed": [("a", 1.5)]}, ["1.5", "not an id"]),
    ],
)
def test_one_wish_alone_is_named(wishes, named):
    said = problems(QUIET, "knsb", **wishes)
    assert len(said) == 1
    assert [part for part in named if part not in said[0]] == []


def test_several_seasons_are_refused_by_name():
    assert "select one of 2018-19" in problems(kf.load_dataset("waagtoren"), "knsb")[0]


def test_an_odd_number_with_no_pairing_names_who_is_left():
    forbidden = [(x, y) for x in "abc" for y in "abc" if x < y]
    said = problems(QUIET, "knsb", present=list("abc"), forbidden=forbidden)
    assert len(said) == 1
    assert "without an opponent" in said[0]


# --- the matching itself


@pytest.mark.parametrize(("lately", "pairs"), [((0, 1), [(0, 2), (1, 3), (4, 5)]), ((4, 5), [(0, 1), (2, 4), (3, 5)])])
def test_of_equal_costs_the_older_meetings_are_taken(lately, pairs):
    # Everybody met in round 1, two again in round 5, and 2 may not play 3: both pairings have distances 20.
    met = np.ones((6, 6), dtype=np.int64)
    met[lately] = met[lately[::-1]] = 5
    allowed = np.ones((6, 6), dtype=bool)
    allowed[2, 3] = allowed[3, 2] = False
    found = match(Field(met > 0, met, np.zeros(6, dtype=np.int64), allowed), [])
    assert (found.pairs, found.bye, found.alone) == (pairs, None, [])


def test_a_large_round_accepts_no_repeat_for_the_sake_of_distance():
    # New are 1-2, 3-4, ... and 2-3, 4-5, ...: either 0 meets 0-1 again and all others a new neighbour, or 0 meets the
    # last and nobody anybody again, which costs more than a million.
    n = 340
    place = np.arange(n)
    again = np.abs(place[:, None] - place) != 1
    again[0, 1] = again[1, 0] = True
    again[0, -1] = again[-1, 0] = False
    field = Field(again, again.astype(np.int64), np.zeros(n, dtype=np.int64), np.ones((n, n), dtype=bool))
    assert match(field, []).pairs == [(0, n - 1), *((i, i + 1) for i in range(1, n - 1, 2))]


def test_colours_decide_between_equal_distances():
    # 0-2 1-3 4-5 and 0-1 2-4 3-5 are as far apart; two who both had White too often should not meet.
    allowed = np.ones((6, 6), dtype=bool)
    allowed[2, 3] = allowed[3, 2] = False
    nobody = np.zeros((6, 6), dtype=np.int64)
    for balance, pairs in (
        ([2, 2, 0, 0, 0, 0], [(0, 2), (1, 3), (4, 5)]),
        ([0, 0, 0, 0, 2, 2], [(0, 1), (2, 4), (3, 5)]),
    ):
        assert match(Field(nobody > 0, nobody, np.array(balance), allowed), []).pairs == pairs


# --- the command line and the file


@pytest.fixture
def club(tmp_path):
    folder = tmp_path / "club"
    folder.mkdir()
    (folder / "games.csv").write_bytes("Round;Black;White;Result;Remark\r\n1;b;a;½-½;first\r\n1;d;c;1-0;".encode())
    (folder / "players.csv").write_text("player,rating,name\n" + "".join(f"{p},{r},N{p}\n" for p, r in PLAYERS.values))
    return folder


def test_the_command_prints_csv_and_appends_the_round(club, capsys):
    before = (club / "games.csv").read_bytes()
    assert main(["pair", str(club), "--rules", "knsb", "--absent", "f", "--append"]) == 0
    out, err = capsys.readouterr()
    assert "appended 3 rows" in err
    printed = [line.split(",") for line in out.splitlines()]
    grown = (club / "games.csv").read_bytes()
    assert grown.startswith(before + b"\r\n")
    rows = [line.split(";") for line in grown[len(before) + 2 :].decode().splitlines()]
    assert rows == [["2", row[4], row[3], row[5], ""] for row in printed[1:]]
    assert len(kf.read(club).games) == 5
    assert list(club.glob(".*")) == []


def test_a_round_is_not_appended_twice(club, capsys):
    arguments = ["pair", str(club), "--rules", "knsb", "--round", "2", "--present", "a", "b", "--append", "-q"]
    assert main(arguments) == 0
    before = (club / "games.csv").read_bytes()
    assert main(arguments) == 2
    assert "'a' has a row in round 2 already" in capsys.readouterr().err
    assert (club / "games.csv").read_bytes() == before
    # Also when the file has grown since the round was paired.
    sheet = kf.pair(season([(1, "a", "b", "1-0")]), "knsb", present=["a", "c"]).assign(season="club")
    with pytest.raises(kf.PairingError, match="'a' has a row in round 2 already"):
        append_games(club, sheet)
    assert (club / "games.csv").read_bytes() == before


def test_an_append_that_fails_leaves_the_file(club, monkeypatch):
    before = (club / "games.csv").read_bytes()
    sheet = kf.pair(kf.read(club), "knsb")

    def full(_: int) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space left"):
        append_games(club, sheet)
    assert (club / "games.csv").read_bytes() == before
    assert sorted(path.name for path in club.iterdir()) == ["games.csv", "players.csv"]


def test_a_round_goes_into_the_right_season_of_a_file_with_several(tmp_path, capsys):
    folder = tmp_path / "all"
    folder.mkdir()
    for name in ("games.csv", "players.csv"):
        (folder / name).write_bytes((dataset_folder() / "waagtoren" / name).read_bytes())
    arguments = ["pair", str(folder), "--rules", "knsb", "--season", "2023-24", "--present", "W134", "W082", "--append"]
    assert main([*arguments, "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["season"], row["round"], {row["white"], row["black"]}) == ("2023-24", 34, {"W134", "W082"})
    assert (folder / "games.csv").read_text().splitlines()[-1].startswith("2023-24,34,1,W")
    assert len(kf.read(folder).select("2018-19").games) == len(kf.load_dataset("waagtoren").select("2018-19").games)


def test_parquet_grows_too_and_keeps_its_types(tmp_path):
    kf.to_parquet(QUIET, tmp_path / "club")
    before = pd.read_parquet(tmp_path / "club" / "games.parquet")
    append_games(tmp_path / "club", kf.pair(QUIET, "knsb"))
    after = pd.read_parquet(tmp_path / "club" / "games.parquet")
    assert (after.dtypes == before.dtypes).all()
    pd.testing.assert_frame_equal(after.head(len(before)), before)
    assert len(kf.read(tmp_path / "club").games) == 6


def test_a_file_without_a_column_for_the_round_is_refused(tmp_path):
    (tmp_path / "games.csv").write_text("round,white,result\n1,a,bye\n1,b,bye\n")
    (tmp_path / "players.csv").write_text("player,rating\na,1500\nb,1400\n")
    with pytest.raises(kf.KeizerError, match="no column 'black'"):
        append_games(tmp_path, kf.pair(kf.read(tmp_path), "knsb"))


@pytest.mark.parametrize("content", ["a\n\nc\n", "player;rating\na;1\nc;2\n"])
def test_those_present_can_come_from_a_file(club, tmp_path, content, capsys):
    (tmp_path / "here.txt").write_text(content)
    assert main(["pair", str(club), "--rules", "knsb", "--present-file", str(tmp_path / "here.txt"), "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert {row["white"], row["black"]} == {"a", "c"}


def test_wishes_on_the_command_line(club, capsys):
    arguments = ["pair", str(club), "--rules", "knsb", "--absent", "f", "--fixed", "a:e", "--forbidden", "b:"]
    assert main([*arguments, "--byes", "d:club", "--rematch-gap", "season", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    # f is away, a plays e, d is on club duty: b, who may not have the bye, meets c.
    assert [{row["white"], row["black"]} for row in rows] == [{"a", "e"}, {"b", "c"}, {"d", None}]
    assert rows[2]["result"] == "club"


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["--present", "a", "B"], 2, "did you mean b"),
        (["--rematch-gap", "soon"], 2, "rematch_gap = 'soon'"),
        (["--method", "swiss"], 2, "matching"),
        (["--present-file", "none.txt"], 1, "none.txt"),
    ],
)
def test_what_a_wrong_command_says(club, arguments, status, said, capsys):
    assert main(["pair", str(club), "--rules", "knsb", *arguments]) == status
    assert said in capsys.readouterr().err
