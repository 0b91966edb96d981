"""Every point has a row: the ledger adds up, and its rows are the programs' own."""

from __future__ import annotations

from fractions import Fraction

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import keizerframe as kf
from tests import goldens, programs, strategies
from tests.proof import ledger_adds_up, replay_is_score, season_of
from tests.test_programs import published

pytestmark = pytest.mark.filterwarnings("ignore::keizerframe.KeizerWarning")
drawn = settings(max_examples=60, deadline=None)


def sums(ledger):
    return ledger.groupby(["season", "rules", "player"])["units"].sum().to_dict()


@drawn
@given(season=strategies.seasons(), rules=strategies.rule_sets())
def test_rows_add_up_to_the_standings_whatever_the_rules(season, rules):
    data = kf.Season(*strategies.frames(*season))
    assert ledger_adds_up(data, {"drawn": rules})
    assert replay_is_score(data, {"drawn": rules})


def test_rows_of_golden_seasons_add_up_under_every_preset():
    rules = {name: kf.get_rules(name) for name in kf.presets()["name"]}
    for golden in goldens.scoring_seasons(every=97):
        data = season_of(golden)
        data = data.with_parts({"1": (1, 9), "2": (10, 9999)})
        assert ledger_adds_up(data, rules)
        assert replay_is_score(data, rules)


@drawn
@given(season=strategies.seasons(), rules=strategies.rule_sets(), since=st.integers(0, 5), through=st.integers(1, 5))
def test_rows_of_a_change_add_up_to_the_change(season, rules, since, through):
    data = kf.Season(*strategies.frames(*season))
    change = kf.explain(data, {"drawn": rules}, since=since, through=through)
    scored = {}
    for round_number in (since, through):
        table = kf.score(data, {"drawn": rules}, through=round_number)
        for row in table.itertuples():
            scored.setdefault(row.player, {})[round_number] = Fraction(int(row.units), int(row.per_point))
    found = {}
    for row in change.itertuples():
        found[row.player] = found.get(row.player, 0) + Fraction(int(row.units), int(row.per_point))
    for player, by_round in scored.items():
        assert found.get(player, 0) == by_round.get(through, 0) - by_round.get(since, 0)


def test_the_published_points_of_every_row():
    games, people, _ = published("ex06")
    people = people.assign(withdrawn_after=[0 if state == "retired" else None for state in people["state_now"]])
    renamed = games.assign(result=games["result"].replace({"unexcused": "absent"}))
    found = programs.row_points(
        kf.Season(renamed, people[["player", "rating", "withdrawn_after"]]), "keizerforclubs-2.0"
    )
    expected = {(row.round, row.white): row.points_white for row in games.itertuples()}
    expected |= {(row.round, row.black): row.points_black for row in games.itertuples() if isinstance(row.black, str)}
    assert {key: points for key, points in expected.items() if key[1] != "P8"} == pytest.approx(
        {key: found[key] for key in expected if key[1] != "P8"}, abs=1e-3
    )
    assert len(expected) == 44


SMALL = kf.Season(
    pd.DataFrame(
        [
            (1, "a", "b", "1-0"),
            (1, "c", None, "excused"),
            (2, "a", "d", "0-1"),
            (2, "b", None, "bye"),
            (2, "c", None, "excused"),
            (3, "a", "b", "1/2-1/2"),
        ],
        columns=["round", "white", "black", "result"],
    ),
    pd.DataFrame({"player": list("abcd"), "rating": [1900, 1800, 1700, 1600], "joined_round": [1, 1, 1, 2]}),
)


def rows_of(player, rules, **options):
    ledger = kf.explain(SMALL, rules, player=player, **options)
    return [
        (
            None if pd.isna(row.round) else row.round,
            row.kind,
            row.share if isinstance(row.share, str) else None,
            row.reason,
        )
        for row in ledger.itertuples()
    ]


def test_reasons_are_told():
    rules = kf.Rules(absence_limit=2, late_join_handicap=3, recalculation="static")
    assert rows_of("c", rules) == [
        (None, "own value", "1", ""),
        (1, "absence", "7/20", ""),
        (2, "absence", "7/20", ""),
        (3, "absence", "0", "limit"),
    ]
    assert rows_of("d", rules) == [
        (None, "own value", "1", ""),
        (1, "handicap", None, ""),
        (2, "game", "1", ""),
        (3, "absence", "7/20", "no-row"),
    ]
    decaying = rules.replace(absence_limit=0, absence_decay=True)
    assert rows_of("c", decaying)[2:] == [(2, "absence", "7/40", "decay"), (3, "absence", "7/80", "decay")]
    waiting = rules.replace(absence_needs_game=True)
    assert [row[3] for row in rows_of("c", waiting)] == ["", "no-game-yet", "no-game-yet", "no-game-yet"]
    capped = rules.replace(extra={"excused": {"of": "own", "amount": 1, "cap": 1}})
    assert [row[3] for row in rows_of("c", capped)] == ["", "", "cap", "no-row"]
    note = kf.explain(SMALL, rules, player="c")["note"].tolist()[-1]
    assert note == "absence 3, only 2 are paid"


def test_a_row_says_whose_value_number_it_shares():
    ledger = kf.explain(SMALL, kf.Rules(recalculation="static"), player="a").set_index("round")
    # Static: 4 players, values 4, 3, 2, 1 by rating.
    assert ledger["value_of"].tolist() == ["a", "b", "d", "b"]
    assert ledger["value_number"].tolist() == [4, 3, 1, 3]
    assert ledger["points"].tolist() == [4, 3, 0, 1.5]
    assert ledger["opponent"].tolist()[1:] == ["b", "d", "b"]
    assert ledger["result"].tolist()[1:] == ["1-0", "0-1", "1/2-1/2"]


def test_who_left_gets_nothing_more_and_it_says_so():
    people = SMALL.players.assign(withdrawn_after=[pd.NA, pd.NA, 1, pd.NA])
    ledger = kf.explain(kf.Season(SMALL.games, people), kf.Rules(), player="c")
    assert ledger["reason"].tolist() == ["", "", "left"]
    assert ledger["points"].tolist()[2] == 0


def test_unknown_players_are_named():
    with pytest.raises(kf.UnknownNameError, match="unknown player 'W999'"):
        kf.explain(kf.load_dataset("waagtoren"), "knsb", player=["W134", "W999"])


def test_no_rows_make_an_empty_ledger():
    empty = kf.Season(pd.DataFrame({"round": [], "white": [], "black": [], "result": []}))
    ledger = kf.explain(empty, "knsb")
    assert len(ledger) == 0
    assert ledger["units"].dtype == "int64"


def test_replay_tells_rises_and_gains():
    tables = kf.replay(SMALL, kf.Rules(recalculation="static"))
    a = tables[tables["player"] == "a"]
    assert a["round"].tolist() == [1, 2, 3]
    # d joins in round 2: N and all value numbers rise by one, so a gains 2 (his own and b's).
    assert a["score"].tolist() == [3 + 2, 4 + 3, 4 + 3 + 1.5]
    assert a["score_change"].tolist()[1:] == [2, 1.5]
    assert a["rank_change"].isna().tolist() == [True, False, False]
    assert tables[tables["player"] == "d"]["round"].tolist() == [2, 3]
