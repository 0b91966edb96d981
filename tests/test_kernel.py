"""The kernel against the slow oracle, and what must not change a table."""

from __future__ import annotations

import dataclasses
import random
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import keizerframe as kf
from keizerframe import scoring
from keizerframe.kernel import contraction
from tests import goldens, strategies
from tests.oracle import Oracle, Player
from tests.proof import season_of

pytestmark = pytest.mark.filterwarnings("ignore::keizerframe.KeizerWarning")
relaxed = settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])
small_seasons = strategies.seasons(most_players=8, most_rounds=6)
NOBODY = st.sampled_from([([], [(1, [])]), ([], [(1, []), (2, [])])])

#: Column -> the outcomes it collects, written out here so that the kernel's own table is not its judge.
PARTS = {
    "from_byes": {"bye", "half-bye", "full-bye", "zero-bye"},
    "from_absences": {"absent", "excused", "late-start", "handicap"},
    "from_club": {"club", "club-win", "club-draw", "club-loss"},
}
ALL_PARTS = ["from_own_value", "from_games", *PARTS]


def rows_of(frame: pd.DataFrame) -> dict[str, tuple]:
    """Return the exact content of one table: rank, score and value number of each player."""
    return {
        row.player: (
            row.rank,
            Fraction(row.units, row.per_point),
            Fraction(row.value_number).limit_denominator(10**6),
        )
        for row in frame.itertuples()
    }


def parts_of(oracle: Oracle, order: list[str]) -> dict[str, dict[str, int]]:
    """Return the half points of each player by part of the score, valued by the ranking `order`."""
    rank = {me: number for number, me in enumerate(order, 1)}
    parts = {me: dict.fromkeys(ALL_PARTS, 0) for me in order}
    absences = dict.fromkeys(order, 0)
    for me, units in oracle.own(rank).items():
        parts[me]["from_own_value"] = units
    for claims in oracle.claims:
        for me in order:
            outcome, other = claims[me]
            absences[me] += oracle.absence(outcome)
            base = outcome.split(":")[0]
            part = next((name for name, outcomes in PARTS.items() if base in outcomes), "from_games")
            parts[me][part] += oracle.pay(outcome, absences[me], rank[me], rank.get(other, 0))
    return parts


@relaxed
@given(
    season=small_seasons,
    rules=strategies.rule_sets(),
    ahead=st.integers(0, 2),
    given_round=st.booleans(),
    namesakes=st.booleans(),
)
def test_the_kernel_equals_the_oracle(season, rules, ahead, given_round, namesakes):
    players, rounds = season
    if namesakes:
        players = [dataclasses.replace(player, name="n") for player in players]
    roster_round = len(rounds) + ahead if given_round and rounds else None
    frame = kf.score(kf.Season(*strategies.frames(players, rounds)), rules, roster_round=roster_round)
    oracle = Oracle(players, rounds, rules, roster_round)
    table = oracle.table()
    expected = {me: (rank, table.scores[me], table.values[me]) for rank, me in enumerate(table.order, 1)}
    assert rows_of(frame) == expected
    if len(frame):
        assert frame["outcome"].unique().tolist() == [table.outcome]
        assert frame["cycle_length"].unique().tolist() == [table.cycle]
        if rules.on_cycle == "average-two" or table.outcome != "cycle":
            assert frame["iterations"].unique().tolist() == [table.steps]


def test_every_field_is_drawn():
    fields = {field.name for field in dataclasses.fields(kf.Rules)}
    assert fields - {"label", "source", "max_iterations"} == set(strategies.FIELDS)


@relaxed
@given(season=small_seasons, rules=strategies.rule_sets())
def test_the_parts_add_up(season, rules):
    frame = kf.score(kf.Season(*strategies.frames(*season)), rules)
    assert (frame[[*ALL_PARTS, "rounding"]].sum(axis=1) == frame["units"]).all()
    if rules.on_cycle == "average-two":
        return
    # Only a mean rounded to half points leaves anything over.
    assert (frame["rounding"] == 0).all()
    if season[1]:
        for row in frame.itertuples():
            own = rows_of(frame)[row.player][2] if rules.own_value == "current" else 0
            assert Fraction(row.from_own_value, row.per_point) == own


@relaxed
@given(season=small_seasons, rules=strategies.rule_sets())
def test_each_part_of_a_settled_score_is_what_its_rows_pay(season, rules):
    """The sum alone proves little: the part of the games is what the other parts leave."""
    frame = kf.score(kf.Season(*strategies.frames(*season)), rules)
    oracle = Oracle(*season, rules)
    table = oracle.table()
    if table.outcome == "converged":
        found = {row["player"]: {name: row[name] for name in ALL_PARTS} for row in frame.to_dict("records")}
        assert found == parts_of(oracle, table.order)


@relaxed
@given(season=small_seasons, rules=strategies.rule_sets(), seed=st.integers(0, 99), namesakes=st.booleans())
def test_the_order_of_rows_changes_nothing(season, rules, seed, namesakes):
    games, people, rounds = strategies.frames(*season)
    if namesakes:
        people = people.assign(name="n", rating=1500)
    shuffled = kf.Season(
        games.sample(frac=1, random_state=seed), people.sample(frac=1, random_state=seed), rounds[::-1]
    )
    expected = kf.score(kf.Season(games, people, rounds), rules)
    pd.testing.assert_frame_equal(kf.score(shuffled, rules), expected)


@relaxed
@given(season=small_seasons, rules=strategies.rule_sets(), seed=st.integers(0, 99))
def test_new_ids_change_nothing(season, rules, seed):
    games, people, rounds = strategies.frames(*season)
    ids = people["player"].tolist()
    fresh = dict(zip(ids, random.Random(seed).sample(range(100, 999), len(ids)), strict=True))
    renamed = kf.Season(
        games.assign(white=games["white"].map(fresh), black=games["black"].map(fresh)),
        people.assign(player=people["player"].map(fresh)),
        rounds,
    )
    expected = kf.score(kf.Season(games, people, rounds), rules)
    again = kf.score(renamed, rules)
    assert again["player"].tolist() == [str(fresh[me]) for me in expected["player"]]
    pd.testing.assert_frame_equal(again.drop(columns="player"), expected.drop(columns="player"))


@settings(relaxed, max_examples=30)
@given(
    several=st.lists(small_seasons | NOBODY, min_size=2, max_size=5),
    rules=st.lists(strategies.rule_sets(), min_size=1, max_size=4),
    cells=st.sampled_from([1, 200, 6_000_000]),
)
def test_neither_company_nor_portions_change_a_table(several, rules, cells):
    labels = [f"s{i}" for i in range(len(several))]
    named = {f"r{i}": one for i, one in enumerate(rules)}
    parts = []
    for label, season in zip(labels, several, strict=True):
        games, people, rounds = strategies.frames(*season)
        listed = pd.DataFrame({"season": label, "round": rounds}, columns=["season", "round"])
        parts.append(
            (games.assign(season=label), people.assign(season=label), listed.astype({"season": "str"}))
        )
    together = kf.Season(*(pd.concat(frames, ignore_index=True) for frames in zip(*parts, strict=True)))
    alone = [kf.score(kf.Season(*part), {name: one}) for part in parts for name, one in named.items()]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scoring, "_BATCH_CELLS", cells)
        frame = kf.score(together, named)
    pd.testing.assert_frame_equal(frame, pd.concat(alone, ignore_index=True))


@relaxed
@given(
    season=small_seasons,
    rules=strategies.rule_sets(),
    through=st.integers(1, 6),
    roster_round=st.integers(1, 9),
)
def test_scoring_through_a_round_is_scoring_what_was_played(season, rules, through, roster_round):
    players, rounds = season
    whole = kf.Season(*strategies.frames(players, rounds))
    part = kf.Season(*strategies.frames(players, [one for one in rounds if one[0] <= through]))
    expected = kf.score(part, rules, roster_round=roster_round)
    pd.testing.assert_frame_equal(
        kf.score(whole, rules, through=through, roster_round=roster_round), expected
    )


def test_the_fair_tie_of_a_six_cycle():
    """RULES.md: three players, each misses one of three rounds; the mean over the cycle is 4 2/3 each."""
    rows = [(1, "a", "b", "1-0"), (2, "b", "c", "1-0"), (3, "c", "a", "1-0")]
    games = pd.DataFrame(rows, columns=["round", "white", "black", "result"])
    frame = kf.score(kf.Season(games), "keizerforclubs")
    assert frame["cycle_length"].tolist() == [6, 6, 6]
    assert [Fraction(u, p) for u, p in zip(frame["units"], frame["per_point"], strict=True)] == [
        Fraction(14, 3)
    ] * 3


@pytest.mark.parametrize("carrier", [np.float32, np.float64, np.int64])
@settings(relaxed, max_examples=40)
@given(season=small_seasons, rules=strategies.rule_sets())
def test_every_carrier_of_integers_gives_the_same_table(carrier, season, rules):
    data = kf.Season(*strategies.frames(*season))
    expected = kf.score(data, rules)
    with pytest.MonkeyPatch.context() as patch:
        # Forced, since no base reaches the 64-bit integers: scores are refused before doubles run out.
        patch.setattr(contraction, "_carrier", lambda bound, width: np.dtype(carrier))
        pd.testing.assert_frame_equal(kf.score(data, rules), expected)


@pytest.mark.parametrize("base", [50, 2**21, 3 * 2**20, 2**26, 10**9, 2**44])
def test_large_value_numbers_stay_exact(base):
    """Up to, at and beyond the sizes at which single precision and 32-bit sort keys run out."""
    rounds = [
        (1, [("a", "b", "1-0"), ("c", "d", "1/2-1/2")]),
        (2, [("a", "c", "0-1"), ("b", None, "bye"), ("d", None, "excused")]),
    ]
    players = [Player(name, name, rating) for name, rating in zip("abcd", (4, 3, 2, 1), strict=True)]
    rules = kf.Rules(value_number_base=base)
    table = Oracle(players, rounds, rules).table()
    frame = kf.score(kf.Season(*strategies.frames(players, rounds)), rules)
    assert {me: score for me, (_, score, _) in rows_of(frame).items()} == table.scores


def test_scores_beyond_64_bits_are_refused_with_the_rules_named():
    games = pd.DataFrame({"round": [1], "white": ["a"], "black": ["b"], "result": ["1-0"]})
    people = pd.DataFrame({"player": ["a", "b"], "rating": [2, 1]})
    with pytest.raises(kf.KeizerError, match="64-bit"):
        kf.score(kf.Season(games, people), kf.Rules(value_number_base=10**17, label="huge"))


def test_cycles_have_the_length_the_golden_data_say():
    checked = 0
    for golden in goldens.scoring_seasons(every=6):
        rules = {
            case["name"]: kf.rules_from_chesspairing(case["options"]).replace(
                on_cycle="average", max_iterations=None
            )
            for case in golden["cases"]
            if case["conv"].get("len", -1) > 0 and case["scores"] and case["conv"]["outcome"] != "frozen"
        }
        if rules:
            lengths = {case["name"]: case["conv"].get("len") for case in golden["cases"]}
            frame = kf.score(season_of(golden), rules, roster_round=goldens.roster_round_of(golden))
            found = frame.groupby("rules")["cycle_length"].first().to_dict()
            assert found == {name: lengths[name] for name in rules}
            checked += len(rules)
    assert checked > 500
