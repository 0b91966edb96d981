"""Other start orders, other results, and the sentences about them."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import keizerframe as kf
from keizerframe import entries
from tests import strategies
from tests.proof import replay_is_score

pytestmark = pytest.mark.filterwarnings("ignore::keizerframe.KeizerWarning")
drawn = settings(max_examples=40, deadline=None)
WAAGTOREN = kf.load_dataset("waagtoren")

# --- diagnose


def test_every_start_order_of_three_players_is_the_tables_that_score_makes_of_it():
    """All six start orders, given as start ranks, against the tables that random ones reach."""
    rows = [(1, "a", "b", "1-0"), (2, "b", "c", "1-0"), (3, "c", "a", "1/2-1/2"), (4, "b", "a", "1-0")]
    games = pd.DataFrame(rows, columns=["round", "white", "black", "result"])
    ratings = pd.DataFrame({"player": list("abc"), "rating": [3, 2, 1]})
    for rules in (kf.get_rules("knsb"), kf.get_rules("classic").replace(value_ties=["rating"])):
        expected = set()
        for order in itertools.permutations([1, 2, 3]):
            given_order = kf.Season(games, ratings.assign(start_rank=order))
            table = kf.score(given_order, rules.replace(start_order="given"))
            expected.add(tuple(table.sort_values("place")["player"]))
        found = kf.diagnose(kf.Season(games, ratings), rules, starts=200)
        assert found.summary["tables"].item() == len(expected)
        assert found.tables["count"].sum() == 200
        assert set(found.tables["champion"]) == {order[0] for order in expected}
        for place in range(3):
            spans = found.players.set_index("player")
            for player in {order[place] for order in expected}:
                assert spans.loc[player, "best"] <= place + 1 <= spans.loc[player, "worst"]


def test_the_fair_six_cycle_has_one_table_whatever_the_start():
    games = pd.DataFrame({"round": [1, 2, 3], "white": list("abc"), "black": list("bca"), "result": ["1-0"] * 3})
    players = pd.DataFrame({"player": list("abc"), "rating": [3, 2, 1]})
    found = kf.diagnose(kf.Season(games, players), "keizerforclubs", starts=100)
    row = found.summary.iloc[0]
    assert (row["outcome"], row["cycle_length"], row["in_cycle"], row["settled"]) == ("cycle", 6, 3, 0)
    assert (row["tables"], row["champion_kept"]) == (1, 100)
    assert found.players["in_cycle"].tolist() == [True, True, True]


def test_a_season_is_diagnosed_alike_alone_and_among_others():
    together = kf.diagnose(WAAGTOREN, ["knsb", "freekeizer-0.5"], starts=20, seed=3)
    alone = kf.diagnose(WAAGTOREN.select("2021-22"), ["knsb", "freekeizer-0.5"], starts=20, seed=3)
    for name in ("summary", "players", "tables"):
        frame = getattr(together, name)
        part = frame[frame["season"] == "2021-22"].reset_index(drop=True)
        pd.testing.assert_frame_equal(part, getattr(alone, name))
    other = kf.diagnose(WAAGTOREN.select("2021-22"), "knsb", starts=20, seed=4)
    spans = alone.players[alone.players["rules"] == "knsb"]
    assert not other.players.equals(spans.reset_index(drop=True))


def test_places_and_outcome_are_those_of_score():
    found = kf.diagnose(WAAGTOREN, ["knsb", "keizerforclubs-2.0"], starts=3)
    table = kf.score(WAAGTOREN, ["knsb", "keizerforclubs-2.0"])
    assert found.players["player"].tolist() == table["player"].tolist()
    assert found.players["place"].tolist() == table["place"].tolist()
    assert (found.players["best"] <= found.players["place"]).all()
    assert (found.players["worst"] >= found.players["place"]).all()
    firsts = table.groupby(["season", "rules"], sort=False)["iterations"].first()
    assert found.summary["iterations"].tolist() == firsts.tolist()


def test_no_start_orders_and_a_negative_number():
    found = kf.diagnose(WAAGTOREN.select("2021-22"), "knsb", starts=0)
    assert found.summary[["starts", "tables", "champion_kept"]].iloc[0].tolist() == [0, 0, 0]
    with pytest.raises(kf.RulesError, match="starts = -1"):
        kf.diagnose(WAAGTOREN, "knsb", starts=-1)


# --- what_if


def edited(season, row, result):
    games = season.games.astype({"result": "str"})
    games.loc[row, "result"] = result
    return kf.Season(games, season.players, season.rounds)


@drawn
@given(season=strategies.seasons(), rules=strategies.rule_sets(), pick=st.randoms(use_true_random=False))
def test_what_if_is_score_of_the_season_with_that_result(season, rules, pick):
    data = kf.Season(*strategies.frames(*season))
    found = kf.what_if(data, {"drawn": rules})
    if found.empty:
        return
    row = found.iloc[pick.randrange(len(found))]
    games = data.games
    at = games.index[(games["round"] == row["round"]) & (games["white"] == row["white"])][0]
    before = kf.score(data, rules).set_index("player")
    after = kf.score(edited(data, at, row["instead"]), rules).set_index("player")
    moves = before["place"] - after["place"].reindex(before.index)
    assert row["moved"] == (moves != 0).sum()
    assert row["largest_move"] == moves.abs().max()
    if len(after):
        assert row["champion"] == after["place"].idxmin()
        assert row["same_champion"] == (before["place"].idxmin() == after["place"].idxmin())
    for colour in ("white", "black"):
        player = row[colour]
        if player in after.index:
            assert row[f"{colour}_place"] == after.loc[player, "place"]
            change = after.loc[player, "score"] - before.loc[player, "score"]
            assert row[f"{colour}_score_change"] == pytest.approx(change, abs=1e-9)


def test_every_game_has_its_other_results():
    season = WAAGTOREN.select("2018-19")
    found = kf.what_if(season, "knsb")
    games = season.games[season.games["black"].notna()]
    played = games["result"].isin(["1-0", "0-1", "1/2-1/2"]).sum()
    assert len(found) == 2 * played + 3 * (len(games) - played)
    assert (found["result"] != found["instead"]).all()


def test_edits_are_tried_one_by_one_and_faulty_ones_listed():
    season = WAAGTOREN.select("2018-19")
    edits = pd.DataFrame({"round": [1, 1], "white": ["W022", "W136"], "result": ["0-1", "½-½"]})
    found = kf.what_if(season, ["knsb", "classic"], edits=edits)
    assert found["rules"].tolist() == ["knsb", "knsb", "classic", "classic"]
    assert found["instead"].tolist() == ["0-1", "1/2-1/2"] * 2
    every = kf.what_if(season, "knsb")
    same = every[(every["round"] == 1) & (every["white"] == "W022") & (every["instead"] == "0-1")]
    pd.testing.assert_frame_equal(found.iloc[:1], same.reset_index(drop=True))
    bad = pd.DataFrame({"round": [1, 99, 1], "white": ["W022", "W022", "W022"], "result": ["2-0", "1-0", "bye"]})
    with pytest.raises(kf.RulesError) as caught:
        kf.what_if(season, "knsb", edits=bad)
    assert [problem.split(":")[0] for problem in caught.value.problems] == [
        "edit 0 (round 1, white W022)",
        "edit 1 (round 99, white W022)",
        "edit 2 (round 1, white W022)",
    ]
    with pytest.raises(kf.RulesError, match="no column result"):
        kf.what_if(season, "knsb", edits=bad.drop(columns="result"))


# --- sentences


def ledger_of(rows):
    """Return a ledger of a change, as `explain` makes them, from what the sentences need."""
    columns = ["cause", "round", "kind", "value_number_before", "value_number", "points", "reason"]
    ledger = pd.DataFrame(rows, columns=columns).astype({"round": "Int16"})
    return ledger.assign(season="s", rules="r", player="p", since=6)


def test_the_sentence_of_the_members_commonest_complaint():
    ledger = ledger_of(
        [("revaluation", 2, "game", 44.0, 38.0, -6.0, ""), ("own value", None, "own value", 12.0, 11.5, -0.5, "")]
    )
    assert kf.sentences(ledger)["sentence"].item() == (
        "-6.5 since round 6: your round-2 opponent fell from 44 to 38 (-6), own value -0.5."
    )
    assert kf.sentences(ledger, "nl")["sentence"].item() == (
        "-6,5 sinds ronde 6: uw tegenstander van ronde 2 daalde van 44 naar 38 (-6), eigen waarde -0,5."
    )


def test_what_is_new_is_told_with_the_reason_for_nothing():
    rows = [("new", 7, "game", np.nan, 40.0, 20.0, ""), ("new", 8, "absence", np.nan, 12.0, 0.0, "limit")]
    assert kf.sentences(ledger_of(rows))["sentence"].item() == (
        "+20 since round 6: your game in round 7 (+20), your absence in round 8 (0: beyond the absence limit)."
    )


def test_small_revaluations_are_summed():
    rows = [
        ("revaluation", r, "game", 20.0, 20.0 + step, float(step), "") for r, step in enumerate((1, -2, 3, -4, 5), 1)
    ]
    assert kf.sentences(ledger_of(rows))["sentence"].item() == (
        "+3 since round 6: your round-5 opponent rose from 20 to 25 (+5), your round-4 opponent fell from 20 to 16 "
        "(-4), your round-3 opponent rose from 20 to 23 (+3), 2 other opponents -1."
    )


def test_a_whole_ledger_is_told_by_kind():
    games = pd.DataFrame(
        {"round": [1, 2, 3], "white": ["a"] * 3, "black": ["b", None, None], "result": ["1-0", "excused", "excused"]}
    )
    season = kf.Season(games, pd.DataFrame({"player": ["a", "b"], "rating": [2, 1]}))
    ledger = kf.explain(season, kf.Rules(absence_limit=1, absent_penalty_fraction=0, recalculation="static"))
    told = kf.sentences(ledger).set_index("player")["sentence"]
    # a: own 2, win over b 1, absence 0.35 * 2 = 0.7 -> 0.5 rounded to half points.
    assert (
        told["a"]
        == "3.5 points: own value 2; games (1) 1; absences (2) 0.5; unpaid, beyond the absence limit: round 3."
    )


@pytest.mark.parametrize("lang", ["en", "nl", "de", "fr"])
def test_real_ledgers_can_be_told(lang):
    season = WAAGTOREN.select("2023-24")
    for options in ({}, {"since": 12}):
        ledger = kf.explain(season, ["knsb", "keizerforclubs-2.0"], **options)
        told = kf.sentences(ledger, lang)
        assert len(told) == 2 * 92
        assert told["sentence"].str.endswith(".").all()


@pytest.mark.parametrize(("lang", "said"), [("en", "same champion (W134)"), ("fr", "même champion (W134)")])
def test_the_sentence_for_the_meeting(lang, said):
    comparison = kf.compare(WAAGTOREN.select("2018-19"), ["keizerforclubs", "knsb", "keizerforclubs-2.0"])
    told = comparison.sentences(lang, starts=20)["sentence"].tolist()
    assert told[0].startswith(said)
    assert "W022" in told[1]


# --- what a review found


def frame(rows, *extra):
    return pd.DataFrame(rows, columns=[*extra, "round", "white", "black", "result"])


def test_a_place_in_a_category_is_that_of_its_round():
    people = pd.DataFrame({"player": list("abc"), "rating": [3, 2, 1], "category": list("xxy")})
    tables = kf.replay(kf.Season(frame([(1, "a", "b", "1-0"), (2, "a", "c", "1-0")]), people), "classic")
    assert tables[tables["player"] == "a"]["place_in_category"].tolist() == [1, 1]


@pytest.mark.parametrize("name", ["nothing", "outside", "unpaid-absence", "left-win"])
def test_what_no_row_spells_cannot_be_paid_for(name):
    with pytest.raises(kf.RulesError, match="no outcome"):
        kf.Rules(extra={name: {"of": "fixed", "amount": 5}})


def test_the_order_of_the_rounds_frame_changes_no_part():
    games = frame([(1, "c", "a", "1-0"), (2, "c", "b", "1-0"), (3, "a", "b", "1/2-1/2"), (4, "b", "c", "1-0")])
    people = pd.DataFrame({"player": list("abc"), "rating": [3, 2, 1]})
    rounds = pd.DataFrame({"round": [1, 2, 3, 4], "part": ["I", "I", "II", "II"]})
    both = [kf.score(kf.Season(games, people, one), "classic", by="part") for one in (rounds, rounds.iloc[::-1])]
    pd.testing.assert_frame_equal(*both)
    assert both[0]["part"].tolist() == ["I"] * 3 + ["II"] * 3


def test_each_season_has_its_parts_in_its_own_order():
    rows = [(s, r, w, b, "1-0") for s in "xy" for r, w, b in ((1, "c", "a"), (2, "b", "c"))]
    parts = pd.DataFrame({"season": list("xxyy"), "round": [1, 2, 1, 2], "part": ["I", "II", "II", "I"]})
    season = kf.Season(frame(rows, "season"), rounds=parts)
    together = kf.score(season, "classic", by="part")
    alone = pd.concat([kf.score(season.select(one), "classic", by="part") for one in "xy"], ignore_index=True)
    pd.testing.assert_frame_equal(together, alone)


def test_absences_of_a_part_that_comes_back_are_counted_on():
    games = frame([(r, "a", None, "excused") for r in range(1, 7)])
    rounds = pd.DataFrame({"round": range(1, 7), "part": ["I", "II"] * 3})
    rules = kf.Rules(excused_absent_fixed_value=1, absence_limit=2, limit_scope="part", own_value="none")
    assert kf.score(kf.Season(games, rounds=rounds), rules)["score"].tolist() == [4]


def test_a_total_rounded_up_to_where_32_bits_end_ranks_as_it_should():
    rules = kf.Rules(
        rounding="whole",
        rounding_of="total",
        own_value="none",
        missing_row="none",
        extra={"bye": {"of": "fixed", "amount": "536870401/10000000"}},
    )
    people = pd.DataFrame({"player": list("abcd"), "rating": [1, 4, 3, 2]})
    table = kf.score(kf.Season(frame([(1, "a", None, "bye"), (1, "c", "d", "1-0")]), people), rules)
    assert table.set_index("player").loc["c", "score"] == 1


def test_the_champion_of_a_comparison_is_that_of_the_table():
    games = frame([(1, "a", "b", "1-0"), (2, "a", "c", "1-0"), (3, "b", "c", "1-0")])
    people = pd.DataFrame({"player": list("abc"), "rating": [3, 2, 1], "withdrawn_after": [2, None, None]})
    rules = {"keep": kf.Rules(), "void": kf.Rules(withdrawn="void")}
    row = kf.compare(kf.Season(games, people), rules).summary.iloc[0]
    assert (row["champion"], row["champion_against"], row["same_champion"]) == ("a", "b", False)


def test_the_sentence_is_about_the_rounds_that_were_compared():
    season = WAAGTOREN.select("2018-19")
    told = kf.compare(season, ["classic", "freekeizer-0.5"], through=1).sentences(starts=30)["sentence"].item()
    kept, whole = (
        kf.diagnose(season, "classic", starts=30, through=through).summary["champion_kept"].item()
        for through in (1, None)
    )
    assert kept != whole
    assert f"unchanged in {kept} of 30" in told


def test_who_is_outside_the_table_has_no_place():
    games = frame([(1, "a", "b", "1-0"), (2, "b", "c", "1-0"), (3, "c", "b", "1-0")])
    people = pd.DataFrame({"player": list("abc"), "rating": [3, 2, 1], "withdrawn_after": [1, None, None]})
    season, rules = kf.Season(games, people), kf.Rules(withdrawn="void")
    found = kf.diagnose(season, rules, starts=20)
    assert sorted(found.players["player"]) == sorted(kf.score(season, rules)["player"]) == ["b", "c"]
    assert found.players["worst"].max() == 2
    assert kf.what_if(season, rules).query("white == 'a'")["white_place"].isna().all()


@pytest.mark.parametrize("ask", [kf.what_if, kf.diagnose, kf.replay, kf.explain])
def test_a_season_without_players_can_be_asked_about(ask):
    ask(kf.Season(frame([])), "knsb")


@pytest.mark.parametrize("cells", [1, 300, 6_000_000])
def test_an_edit_belongs_to_its_table_however_the_batches_are_cut(cells, monkeypatch):
    rows = []
    for label, players in (("s0", "abcd"), ("s1", "ab"), ("s2", "abcd")):
        rows += [(label, 1, "a", "b", "1-0"), (label, 2, "b", "a", "1/2-1/2")]
        rows += [(label, 1, "c", "d", "0-1"), (label, 2, "d", "c", "1-0")] if len(players) > 2 else []
    whole = kf.Season(frame(rows, "season"))
    alone = pd.concat([kf.what_if(whole.select(one), "knsb") for one in whole.labels], ignore_index=True)
    monkeypatch.setattr(entries, "_BATCH_CELLS", cells)
    pd.testing.assert_frame_equal(kf.what_if(whole, "knsb"), alone)


@pytest.mark.parametrize("cells", [1, 300, 6_000_000])
def test_replay_of_seasons_of_different_sizes_and_rounds(cells, monkeypatch):
    rows = []
    for label, players, rounds in (
        ("s0", "abcd", (1, 2, 5)),
        ("s1", "ab", (2, 3)),
        ("s2", "abcd", (1, 4, 5, 6)),
        ("s3", "abc", (1,)),
    ):
        for n, r in enumerate(rounds):
            rows += [(label, r, players[n % 2], players[1 - n % 2], "1-0")]
            rows += [(label, r, players[3], players[2], "1/2-1/2")] if len(players) > 3 else []
    monkeypatch.setattr(entries, "_BATCH_CELLS", cells)
    assert replay_is_score(kf.Season(frame(rows, "season")), {name: kf.get_rules(name) for name in ("knsb", "classic")})


def test_a_row_of_a_cycle_shares_the_mean_value_number():
    games = pd.DataFrame({"round": [1, 2, 3], "white": list("abc"), "black": list("bca"), "result": ["1-0"] * 3})
    ledger = kf.explain(kf.Season(games), "keizerforclubs")
    assert ledger["value_number"].tolist() == [2.0] * len(ledger)
    assert (ledger[(ledger["kind"] == "game") & (ledger["share"] == "1")]["points"] == 2.0).all()


@pytest.mark.parametrize("limit", range(1, 13))
def test_a_cycle_keeps_its_length_when_the_rows_that_look_two_back_give_up(limit):
    rows = [(s, r, w, b, "1-0") for s in "uvw" for r, (w, b) in enumerate(("ab", "bc", "ca"), 1)]
    named = {"two": kf.Rules(on_cycle="average-two", max_iterations=limit), "whole": kf.Rules()}
    table = kf.score(kf.Season(frame(rows, "season")), named)
    assert table[table["rules"] == "whole"]["cycle_length"].tolist() == [6] * 9


def test_ties_by_start_order_in_print_follow_the_order_of_the_table():
    season = kf.Season(frame([(1, "a", "b", "*")]), pd.DataFrame({"player": list("abc"), "rating": [3, 2, 1]}))
    plain = kf.Rules(own_value="none", missing_row="none", value_ties=["start"])
    counts = [
        kf.diagnose(season, rules, starts=50).summary["tables"].item()
        for rules in (plain, plain.replace(place_ties=["start"]))
    ]
    assert counts[0] == counts[1] > 1


def test_ids_out_of_a_spreadsheet_are_found():
    games = frame([(1, 1, 2, "1-0"), (2, 2, 3, "1-0")])
    season = kf.Season(games)
    assert set(kf.explain(season, "knsb", player=[1.0])["player"]) == {"1"}
    assert set(kf.explain(season, "knsb", player=np.int64(2))["player"]) == {"2"}
    edits = pd.DataFrame({"round": [1.0], "white": [1], "black": [2.0], "result": ["0-1"]})
    assert kf.what_if(season, "knsb", edits=edits)["instead"].tolist() == ["0-1"]
