"""The programs' own numbers: golden seasons, published tables, and Sharly's unit cases."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import islice

import pandas as pd
import pytest

import keizerframe as kf
from keizerframe.tariffs import value_numbers
from tests import goldens, programs

PUBLISHED = goldens.HERE / "published"


def published(name: str) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    return tuple(pd.read_csv(PUBLISHED / f"{name}_{kind}.csv") for kind in ("games", "players", "standings"))


def test_freekeizer():
    tables = list(islice(programs.freekeizer(), 400))
    assert [(golden["id"], number) for golden, number, equal in tables if not equal] == []


def test_keizerforclubs():
    assert [name for name, equal in islice(programs.keizerforclubs(), 60) if not equal] == []
    assert [name for name, equal in islice(programs.keizerforclubs_rows(), 60) if not equal] == []


def test_keizerforclubs_on_real_seasons():
    both = programs.keizerforclubs_real()
    assert len(both) == 551
    assert ((both["score"] - both["score_expected"]).abs() <= 1e-3).all()
    assert (both["rank"] == both["rank_expected"]).all()
    assert ((both["next_value_number"] - both["next_value"]).abs() <= 1e-3).all()


def test_one_pass_in_exact_fractions():
    tables = list(islice(programs.one_pass(), 150))
    assert [(name, rules) for name, rules, equal in tables if not equal] == []


@pytest.mark.parametrize(
    ("name", "rules"),
    [
        ("ex01", kf.get_rules("classic").replace(value_number_base=50, start_order="given")),
        ("ex03", kf.get_rules("classic").replace(value_number_base=7, place_ties=["rating"])),
        ("ex05", kf.get_rules("esg").replace(start_order="given")),
    ],
)
def test_published_tables(name, rules):
    games, people, expected = published(name)
    people = people[[column for column in ("player", "rating", "start_rank") if column in people]]
    season = kf.Season(games, people)
    for through, table in expected.groupby("after_round"):
        frame = kf.score(season, rules, through=int(through)).set_index("player")
        table = table.set_index("player")
        assert frame["score"].to_dict() == table["total"].to_dict()
        assert frame["place"].to_dict() == table["place"].to_dict()
        if "new_value" in table and table["new_value"].notna().all():
            assert frame["next_value_number"].to_dict() == table["new_value"].to_dict()


def test_published_keizerforclubs_sample():
    games, people, expected = published("ex06")
    people = people.assign(withdrawn_after=[0 if state == "retired" else None for state in people["state_now"]])
    renamed = games.assign(result=games["result"].replace({"unexcused": "absent"}))
    season = kf.Season(renamed, people[["player", "rating", "withdrawn_after"]])
    frame = kf.score(season, "keizerforclubs-2.0").set_index("player")
    table = expected[expected["player"] != "P8"].set_index("player")
    assert frame["score"].to_dict() == pytest.approx(table["total"].to_dict(), abs=1e-3)
    assert frame["next_value_number"].to_dict() == table["new_value"].to_dict()


def test_sharly_unit_cases():
    cases = json.loads((PUBLISHED / "sharly_and_values.json").read_text(encoding="utf-8"))["sharly_unit"]
    people = pd.DataFrame({"player": cases["start_order"], "start_rank": cases["start_order"]})
    results = {1: "1-0", 0.5: "1/2-1/2", 0: "0-1"}
    for case in cases["cases"]:
        rows = [(r, first, second, results[score]) for r, first, second, score in case.get("games", [])]
        rows += [(r, player, None, "half-bye") for r, player, _ in case.get("byes", [])]
        last = max((row[0] for row in rows), default=0)
        season = programs.season_from(rows, people, list(range(1, last + 1)))
        for through, expected in case["expected"].items():
            rules = kf.get_rules("sharly-chess").replace(start_order="given")
            frame = programs.score(season, rules, through=int(through)).set_index("player")
            for player, points in expected.items():
                exact = sum(Fraction(part) for part in str(points).split("+"))
                row = frame.loc[player]
                assert Fraction(int(row["units"]), int(row["per_point"])) == exact, case["name"]


def test_top_values():
    tops = {
        case["source"]: case["tops"]
        for case in json.loads((PUBLISHED / "sharly_and_values.json").read_text(encoding="utf-8"))["values"]["cases"]
        if "tops" in case
    }
    assert len(tops) == 2
    for source, by_size in tops.items():
        rules = kf.get_rules("sharly-chess" if "Sharly" in source else "keizerforclubs-2.0")
        assert {size: value_numbers(rules, int(size))[0] for size in by_size} == by_size


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"value_ratio": 3, "value_number_base": 50}, "keep one"),
        ({"value_list": "normalised"}, "needs value_ratio"),
        ({"value_list": [5, 6]}, "must not rise"),
        ({"freeze_after": 3}, "set recalculation = 'previous'"),
        ({"own_value": "none", "own_value_fades": [1]}, "nothing to fade"),
        ({"arithmetic": "float32"}, "set rounding = 'none'"),
        ({"extra": {"bye": {"of": "own", "amount": 1, "cap": -1}}}, "from 0"),
        ({"extra": {"bye": {"of": "opponent", "amount": 1}}}, "there is none"),
        ({"extra": {"byee": {"of": "own", "amount": 1}}}, "no outcome"),
        ({"extra": {"bye": {"of": "own", "amount": 1, "rounds": [7, 1]}}}, "first and the last"),
        ({"changes": {"5": {"own_value": "none"}}}, "cannot change in mid-season"),
        ({"changes": {"5": {"loss_fraction": "half"}}}, "must be a share"),
        ({"values_from": {"values_from": {}}}, "only one list"),
        ({"values_from": {"roster": "all"}}, "make them equal"),
    ],
)
def test_senseless_rules_are_refused_with_the_way_out(fields, said):
    with pytest.raises(kf.RulesError, match=said):
        kf.Rules(**fields)


def test_a_list_shorter_than_the_roster_is_refused():
    with pytest.raises(kf.RulesError, match="lengthen it"):
        kf.score(kf.load_dataset("waagtoren"), kf.Rules(value_list=[3, 2, 1]))


def test_a_table_for_each_part_carries_the_order_over():
    season = programs.with_parts(kf.load_dataset("waagtoren").select("2018-19"), {"1": [1, 15], "2": [16, 30]})
    rules = kf.get_rules("classic")
    frame = kf.score(season, rules, by="part")
    first = kf.score(season, rules, through=15, roster_round=30)
    assert frame[frame["part"] == "1"]["score"].tolist() == first["score"].tolist()
    second = frame[frame["part"] == "2"]
    # Only rounds 16 to 30 count, and the leader of part 1 starts part 2 with the highest value number.
    leader = frame[(frame["part"] == "1") & (frame["place"] == 1)]["player"].item()
    alone = kf.score(season, rules, by="part", carry_over=False)
    assert second["played"].sum() == alone[alone["part"] == "2"]["played"].sum()
    assert leader in second["player"].tolist()
    with pytest.raises(kf.RulesError, match="no round has a part"):
        kf.score(kf.Season(season.games, season.players), rules, by="part")


def test_a_minimum_of_games_changes_places_only():
    season = kf.load_dataset("waagtoren").select("2018-19")
    plain, strict = kf.score(season, "knsb"), kf.score(season, "knsb", min_games=10)
    assert strict.set_index("player")["rank"].to_dict() == plain.set_index("player")["rank"].to_dict()
    enough = strict["played"] >= 10
    assert enough.tolist() == sorted(enough, reverse=True)
