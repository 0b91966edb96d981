"""Schedules: the printed tables, the reference's rounds, and what every schedule must be."""

from __future__ import annotations

import json
from collections import Counter

import pandas as pd
import pytest

import keizerframe as kf
from keizerframe.cli import main
from tests import pairings

#: FIDE Handbook C.05, Annex 1, "Details of Berger Table", by the even number of players.
PRINTED = {
    4: """
        1-4 2-3
        4-3 1-2
        2-4 3-1""",
    6: """
        1-6 2-5 3-4
        6-4 5-3 1-2
        2-6 3-1 4-5
        6-5 1-4 2-3
        3-6 4-2 5-1""",
    8: """
        1-8 2-7 3-6 4-5
        8-5 6-4 7-3 1-2
        2-8 3-1 4-7 5-6
        8-6 7-5 1-4 2-3
        3-8 4-2 5-1 6-7
        8-7 1-6 2-5 3-4
        4-8 5-3 6-2 7-1""",
    10: """
        1-10 2-9 3-8 4-7 5-6
        10-6 7-5 8-4 9-3 1-2
        2-10 3-1 4-9 5-8 6-7
        10-7 8-6 9-5 1-4 2-3
        3-10 4-2 5-1 6-9 7-8
        10-8 9-7 1-6 2-5 3-4
        4-10 5-3 6-2 7-1 8-9
        10-9 1-8 2-7 3-6 4-5
        5-10 6-4 7-3 8-2 9-1""",
    12: """
        1-12 2-11 3-10 4-9 5-8 6-7
        12-7 8-6 9-5 10-4 11-3 1-2
        2-12 3-1 4-11 5-10 6-9 7-8
        12-8 9-7 10-6 11-5 1-4 2-3
        3-12 4-2 5-1 6-11 7-10 8-9
        12-9 10-8 11-7 1-6 2-5 3-4
        4-12 5-3 6-2 7-1 8-11 9-10
        12-10 11-9 1-8 2-7 3-6 4-5
        5-12 6-4 7-3 8-2 9-1 10-11
        12-11 1-10 2-9 3-8 4-7 5-6
        6-12 7-5 8-4 9-3 10-2 11-1""",
    14: """
        1-14 2-13 3-12 4-11 5-10 6-9 7-8
        14-8 9-7 10-6 11-5 12-4 13-3 1-2
        2-14 3-1 4-13 5-12 6-11 7-10 8-9
        14-9 10-8 11-7 12-6 13-5 1-4 2-3
        3-14 4-2 5-1 6-13 7-12 8-11 9-10
        14-10 11-9 12-8 13-7 1-6 2-5 3-4
        4-14 5-3 6-2 7-1 8-13 9-12 10-11
        14-11 12-10 13-9 1-8 2-7 3-6 4-5
        5-14 6-4 7-3 8-2 9-1 10-13 11-12
        14-12 13-11 1-10 2-9 3-8 4-7 5-6
        6-14 7-5 8-4 9-3 10-2 11-1 12-13
        14-13 1-12 2-11 3-10 4-9 5-8 6-7
        7-14 8-6 9-5 10-4 11-3 12-2 13-1""",
    16: """
        1-16 2-15 3-14 4-13 5-12 6-11 7-10 8-9
        16-9 10-8 11-7 12-6 13-5 14-4 15-3 1-2
        2-16 3-1 4-15 5-14 6-13 7-12 8-11 9-10
        16-10 11-9 12-8 13-7 14-6 15-5 1-4 2-3
        3-16 4-2 5-1 6-15 7-14 8-13 9-12 10-11
        16-11 12-10 13-9 14-8 15-7 1-6 2-5 3-4
        4-16 5-3 6-2 7-1 8-15 9-14 10-13 11-12
        16-12 13-11 14-10 15-9 1-8 2-7 3-6 4-5
        5-16 6-4 7-3 8-2 9-1 10-15 11-14 12-13
        16-13 14-12 15-11 1-10 2-9 3-8 4-7 5-6
        6-16 7-5 8-4 9-3 10-2 11-1 12-15 13-14
        16-14 15-13 1-12 2-11 3-10 4-9 5-8 6-7
        7-16 8-6 9-5 10-4 11-3 12-2 13-1 14-15
        16-15 1-14 2-13 3-12 4-11 5-10 6-9 7-8
        8-16 9-7 10-6 11-5 12-4 13-3 14-2 15-1""",
}


def printed(players):
    """Return games and byes of every round of the printed table."""
    even = players + players % 2
    for line in PRINTED[even].split("\n")[1:]:
        pairs = [tuple(map(int, pair.split("-"))) for pair in line.split()]
        byes = [min(pair) for pair in pairs if max(pair) > players]
        yield [pair for pair in pairs if max(pair) <= players], byes


def games_of(schedule):
    return schedule[schedule["black"].notna()]


@pytest.mark.parametrize("players", range(3, 17))
def test_schedules_are_the_printed_tables(players):
    schedule = kf.round_robin(range(1, players + 1))
    found = []
    for _, rows in schedule.groupby("round"):
        games = games_of(rows).sort_values("board")
        assert games["board"].tolist() == list(range(1, len(games) + 1))
        pairs = list(zip(games["white"].astype(int), games["black"].astype(int), strict=True))
        found.append((pairs, rows["white"][rows["black"].isna()].astype(int).tolist()))
    assert found == list(printed(players))


def test_golden_rounds():
    found = list(pairings.schedules(every=5))
    assert len(found) > 1500
    assert [row for row in found if not row[-1]] == []


@pytest.mark.parametrize("players", range(2, 25))
def test_everybody_meets_once_a_cycle_and_nobody_has_a_colour_three_times(players):
    ids = [f"p{i}" for i in range(players)]
    for cycles in (1, 2, 3):
        schedule = kf.round_robin(ids, cycles=cycles)
        games = games_of(schedule)
        per_cycle = players - 1 + players % 2
        assert schedule["round"].max() == cycles * per_cycle
        for cycle in range(cycles):
            rows = games[(games["round"] - 1) // per_cycle == cycle]
            met = Counter(frozenset(pair) for pair in zip(rows["white"], rows["black"], strict=True))
            assert len(met) == players * (players - 1) // 2
            assert set(met.values()) == {1}
        everybody = pd.concat(
            [schedule[["round", side]].set_axis(["round", "p"], axis=1) for side in ("white", "black")]
        )
        assert not everybody.dropna().duplicated().any()
        assert len(everybody.dropna()) == players * cycles * per_cycle
    double = games_of(kf.round_robin(ids, cycles=2))
    for player in ids:
        mine = double[(double["white"] == player) | (double["black"] == player)]
        assert pairings.longest_run("".join("W" if white == player else "B" for white in mine["white"])) <= 2


def test_without_the_swap_somebody_has_a_colour_three_times():
    double = games_of(kf.round_robin(range(6), cycles=2, swap_last_two_rounds=False))
    runs = [
        pairings.longest_run(
            "".join("W" if row.white == p else "B" for row in double.itertuples() if p in (row.white, row.black))
        )
        for p in map(str, range(6))
    ]
    assert max(runs) == 3


def test_a_withdrawal_frees_later_opponents_and_nothing_else():
    whole, left = kf.round_robin(list("abcde")), kf.round_robin(list("abcde"), withdrawn={"b": 2, "d": 3})
    for number, rows in whole.groupby("round"):
        gone = {player for player, last in {"b": 2, "d": 3}.items() if last < number}
        games = {pair for pair in zip(rows["white"], rows["black"], strict=True) if isinstance(pair[1], str)}
        kept = {pair for pair in games if not gone & set(pair)}
        free = {player for pair in games - kept for player in pair} - gone
        free |= set(rows["white"][rows["black"].isna()]) - gone
        now = left[left["round"] == number]
        assert set(zip(games_of(now)["white"], games_of(now)["black"], strict=True)) == kept
        assert set(now["white"][now["black"].isna()]) == free
        assert games_of(now)["board"].tolist() == list(range(1, len(kept) + 1))


def test_a_schedule_is_a_games_frame():
    players = pd.DataFrame({"player": list("abcde"), "rating": range(5)})
    schedule = kf.round_robin(players, cycles=2)
    pd.testing.assert_frame_equal(kf.Season(schedule, players).games, schedule)
    empty = kf.round_robin([])
    assert len(empty) == 0
    assert (empty.dtypes.drop("result") == schedule.dtypes.drop("result")).all()


def test_everything_wrong_with_a_schedule_is_named():
    with pytest.raises(kf.PairingError) as caught:
        kf.round_robin(["a", "b", "a", None, 1.5], cycles=0, withdrawn={"aa": 1, "b": -1})
    assert caught.value.problems == [
        "players: 'a' is named twice: once will do",
        "players: None is not an id: use text or whole numbers",
        "players: 1.5 is not an id: use text or whole numbers",
        "cycles = 0: give a whole number from 1",
        "withdrawn: unknown player 'aa'; did you mean a?",
        "withdrawn: -1 for 'b': give the last round played, from 0",
    ]
    with pytest.raises(kf.PairingError, match="no column 'player'"):
        kf.round_robin(pd.DataFrame({"name": ["a"]}))


def test_the_command_writes_a_games_file(tmp_path, capsys):
    assert main(["round-robin", "a", "b", "c", "--cycles", "2", "--withdrawn", "b:3"]) == 0
    (tmp_path / "games.csv").write_text(capsys.readouterr().out)
    (tmp_path / "players.csv").write_text("player,rating\na,3\nb,2\nc,1\n")
    expected = kf.round_robin(list("abc"), cycles=2, withdrawn={"b": 3})
    pd.testing.assert_frame_equal(kf.read(tmp_path).games.drop(columns="season"), expected.drop(columns="season"))
    assert main(["round-robin", "--players-file", str(tmp_path / "players.csv"), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(row["white"], row["black"]) for row in rows[:2]] == [("b", "c"), ("a", None)]
    assert main(["round-robin", "a", "a", "--withdrawn", "a:x"]) == 2
    err = capsys.readouterr().err
    assert "named twice" in err
    assert "'x' for 'a'" in err
