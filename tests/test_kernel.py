"""The kernel against the slow oracle, and what must not change a table."""

from __future__ import annotations

import contextlib
import dataclasses
import random
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, assume, given, reject, settings
from hypothesis import strategies as st

import keizerframe as kf
from keizerframe import entries
from keizerframe.errors import ScoreRangeError
from keizerframe.kernel import contraction
from tests import goldens, strategies
from tests.oracle import Oracle, Player
from tests.proof import season_of

pytestmark = pytest.mark.filterwarnings("ignore::keizerframe.KeizerWarning")
relaxed = settings(
    deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow], report_multiple_bugs=False
)
small_seasons = strategies.seasons(most_players=8)
NOBODY = st.sampled_from([([], [(1, [])]), ([], [(1, []), (2, [])])])

#: Column -> the outcomes it collects, written out here so that the kernel's own table is not its judge.
COLLECTS = {
    "from_byes": {"bye", "half-bye", "full-bye", "zero-bye"},
    "from_absences": {"absent", "excused", "late-start", "handicap"},
    "from_club": {"club", "club-win", "club-draw", "club-loss"},
}
ALL_PARTS = ["from_own_value", "from_games", *COLLECTS]
COUNTS = {
    "played": {"win", "draw", "loss"},
    "wins": {"win", "forfeit-win"},
    "draws": {"draw"},
    "losses": {"loss", "forfeit-loss", "double-forfeit"},
    "byes": COLLECTS["from_byes"],
    "absences": {"absent", "excused"},
}
#: Fields that act on one another: a few at random seldom meet.
CROWD = (
    "absence_decay",
    "absence_limit",
    "arithmetic",
    "decay_rounding",
    "late_join_handicap",
    "missing_row",
    "on_cycle",
    "own_value",
    "recalculation",
    "roster",
    "value_number_base",
    "withdrawn",
)


def score(*given, **scope) -> pd.DataFrame:
    """Score; a refusal for want of 64-bit range is an answer too, but not one to compare."""
    try:
        return kf.score(*given, **scope)
    except ScoreRangeError:
        reject()


@st.composite
def crowded_rules(draw) -> kf.Rules:
    """Draw a rule set with all of these fields drawn; what contradicts is dropped, field by field."""
    rules = draw(strategies.rule_sets())
    for name in draw(st.permutations(CROWD)):
        with contextlib.suppress(kf.RulesError):
            rules = rules.replace(**{name: draw(strategies.FIELDS[name])})
    return rules


any_rules = strategies.rule_sets() | crowded_rules()


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


def parts_of(oracle: Oracle, orders: list[list[str]]) -> dict[str, dict[str, Fraction]]:
    """Return the mean points of each player by part of the score, over tables valued by these rankings."""
    parts = {me: dict.fromkeys(ALL_PARTS, Fraction(0)) for me in oracle.start}
    for order in orders:
        rank = oracle.ranks(order)
        for me, points in oracle.own(rank, len(oracle.rounds)).items():
            parts[me]["from_own_value"] += points / len(orders)
        for number, row in oracle.numbered():
            for claim in row:
                base = claim[0].split(":")[0]
                part = next((name for name, outcomes in COLLECTS.items() if base in outcomes), "from_games")
                parts[claim[1]][part] += oracle.pay(claim, number, rank) / len(orders)
    return parts


@relaxed
@given(
    season=small_seasons,
    rules=any_rules,
    ahead=st.integers(0, 2),
    given_round=st.booleans(),
    namesakes=st.booleans(),
)
def test_the_kernel_equals_the_oracle(season, rules, ahead, given_round, namesakes):
    players, rounds = season
    if namesakes:
        players = [dataclasses.replace(player, name="n") for player in players]
    roster_round = len(rounds) + ahead if given_round and rounds else None
    frame = score(kf.Season(*strategies.frames(players, rounds)), rules, roster_round=roster_round)
    oracle = Oracle(players, rounds, rules, roster_round, strategies.PARTS)
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
@given(season=small_seasons, rules=any_rules)
def test_counts_are_those_of_the_claims(season, rules):
    # Games against those who left have outcomes of their own under "share".
    assume(rules.withdrawn != "share")
    frame = score(kf.Season(*strategies.frames(*season)), rules)
    oracle = Oracle(*season, rules, None, strategies.PARTS)
    for row in frame.to_dict("records"):
        claimed = [claims[row["player"]][0].split(":")[0] for claims in oracle.claims]
        expected = {name: sum(one in outcomes for one in claimed) for name, outcomes in COUNTS.items()}
        assert {name: row[name] for name in COUNTS} == expected


@relaxed
@given(season=small_seasons, rules=any_rules)
def test_the_parts_add_up(season, rules):
    frame = score(kf.Season(*strategies.frames(*season)), rules)
    assert (frame[[*ALL_PARTS, "rounding"]].sum(axis=1) == frame["units"]).all()
    if rules.on_cycle != "average-two" and rules.arithmetic != "float32" and rules.rounding_of == "item":
        assert (frame["rounding"] == 0).all()


@relaxed
@given(season=small_seasons, rules=any_rules)
def test_each_part_of_a_score_is_what_its_rows_pay(season, rules):
    """The sum alone proves little: a part may be what the others leave."""
    assume(rules.recalculation == "fixed-point" and rules.values_from is None and season[1])
    assume(rules.arithmetic != "float32" and rules.rounding_of == "item")
    frame = score(kf.Season(*strategies.frames(*season)), rules)
    oracle = Oracle(*season, rules, None, strategies.PARTS)
    table = oracle.table()
    # A mean of two tables is rounded part by part, and where to stop is no question of parts.
    if rules.on_cycle == "average" or table.outcome == "converged":
        found = {
            row["player"]: {name: Fraction(row[name], row["per_point"]) for name in ALL_PARTS}
            for row in frame.to_dict("records")
        }
        assert found == parts_of(oracle, table.inputs)


@relaxed
@given(season=small_seasons, rules=strategies.rule_sets(), seed=st.integers(0, 99), namesakes=st.booleans())
def test_the_order_of_rows_changes_nothing(season, rules, seed, namesakes):
    games, people, rounds = strategies.frames(*season)
    if namesakes:
        people = people.assign(name="n", rating=1500)
    shuffled = kf.Season(
        games.sample(frac=1, random_state=seed), people.sample(frac=1, random_state=seed), rounds.iloc[::-1]
    )
    expected = score(kf.Season(games, people, rounds), rules)
    pd.testing.assert_frame_equal(score(shuffled, rules), expected)


@relaxed
@given(season=small_seasons, rules=strategies.rule_sets(), seed=st.integers(0, 99))
def test_new_ids_change_nothing(season, rules, seed):
    # Names are distinct here; where they do not decide ties, ids do.
    assume({"name", "start"} & set(rules.value_ties) and (rules.place_ties is None or "start" in rules.place_ties))
    games, people, rounds = strategies.frames(*season)
    ids = people["player"].tolist()
    fresh = dict(zip(ids, random.Random(seed).sample(range(100, 999), len(ids)), strict=True))
    renamed = kf.Season(
        games.assign(white=games["white"].map(fresh), black=games["black"].map(fresh)),
        people.assign(player=people["player"].map(fresh)),
        rounds,
    )
    expected = score(kf.Season(games, people, rounds), rules)
    again = score(renamed, rules)
    assert again["player"].tolist() == [str(fresh[me]) for me in expected["player"]]
    pd.testing.assert_frame_equal(again.drop(columns="player"), expected.drop(columns="player"))


@settings(relaxed, max_examples=30)
@given(
    several=st.lists(small_seasons | NOBODY, min_size=2, max_size=5),
    rules=st.lists(any_rules, min_size=1, max_size=4),
    cells=st.sampled_from([1, 200, 6_000_000]),
)
def test_neither_company_nor_portions_change_a_table(several, rules, cells):
    labels = [f"s{i}" for i in range(len(several))]
    named = {f"r{i}": one for i, one in enumerate(rules)}
    parts = []
    for label, season in zip(labels, several, strict=True):
        games, people, rounds = strategies.frames(*season)
        parts.append(tuple(frame.assign(season=label) for frame in (games, people, rounds)))
    together = kf.Season(*(pd.concat(frames, ignore_index=True) for frames in zip(*parts, strict=True)))
    alone = [score(kf.Season(*part), {name: one}) for part in parts for name, one in named.items()]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(entries, "_BATCH_CELLS", cells)
        frame = score(together, named)
    pd.testing.assert_frame_equal(frame, pd.concat(alone, ignore_index=True))


def test_company_changes_no_cycle():
    """Seasons with cycles of many lengths at once: rows settle, drop out and are summed at different times."""
    parts, lengths = [], set()
    rules = {mode: kf.Rules(on_cycle=mode) for mode in ("average", "average-two", "stop")}
    for golden in goldens.scoring_seasons(every=12):
        data, label = season_of(golden), f"{golden['id']:05d}"
        parts.append([part.assign(season=label) for part in (data.games, data.players, data.rounds)])
        lengths |= set(kf.score(data, rules["average"])["cycle_length"])
    together = kf.Season(*(pd.concat(frames, ignore_index=True) for frames in zip(*parts, strict=True)))
    alone = [kf.score(kf.Season(*part), {mode: one}) for part in parts for mode, one in rules.items()]
    alone = [frame for frame in alone if len(frame)]
    assert len(lengths) > 2
    pd.testing.assert_frame_equal(kf.score(together, rules), pd.concat(alone, ignore_index=True))


@relaxed
@given(
    season=small_seasons,
    rules=strategies.rule_sets(),
    through=st.integers(1, 5),
    roster_round=st.integers(1, 9),
)
def test_scoring_through_a_round_is_scoring_what_was_played(season, rules, through, roster_round):
    players, rounds = season
    whole = kf.Season(*strategies.frames(players, rounds))
    part = kf.Season(*strategies.frames(players, [one for one in rounds if one[0] <= through]))
    expected = score(part, rules, roster_round=roster_round)
    pd.testing.assert_frame_equal(score(whole, rules, through=through, roster_round=roster_round), expected)


def test_the_fair_tie_of_a_six_cycle():
    """RULES.md: three players, each misses one of three rounds; the mean over the cycle is 4 2/3 each."""
    rows = [(1, "a", "b", "1-0"), (2, "b", "c", "1-0"), (3, "c", "a", "1-0")]
    games = pd.DataFrame(rows, columns=["round", "white", "black", "result"])
    frame = score(kf.Season(games), "keizerforclubs")
    assert frame["cycle_length"].tolist() == [6, 6, 6]
    assert [Fraction(u, p) for u, p in zip(frame["units"], frame["per_point"], strict=True)] == [Fraction(14, 3)] * 3


@pytest.mark.parametrize("carrier", [np.float32, np.float64, np.int64])
@settings(relaxed, max_examples=40)
@given(season=small_seasons, rules=strategies.rule_sets())
def test_every_carrier_of_integers_gives_the_same_table(carrier, season, rules):
    # Only half points of small values are sure to fit single precision.
    assume(rules.rounding != "none" and rules.rounding_of == "item" and rules.values_from is None)
    data = kf.Season(*strategies.frames(*season))
    expected = score(data, rules)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contraction, "_carrier", lambda *_: np.dtype(carrier))
        pd.testing.assert_frame_equal(score(data, rules), expected)


@pytest.mark.parametrize("recalculation", ["fixed-point", "previous"])
@pytest.mark.parametrize("base", [50, 2**21, 3 * 2**20, 2**26, 10**9, 2**44, 10**16])
def test_large_value_numbers_stay_exact(base, recalculation):
    """Up to, at and beyond the sizes at which single and double precision and 32-bit sort keys run out."""
    rounds = [
        (1, [("a", "b", "1-0"), ("c", "d", "1/2-1/2")]),
        (2, [("a", "c", "0-1"), ("b", None, "bye"), ("d", None, "excused")]),
    ]
    players = [Player(name, name, rating) for name, rating in zip("abcd", (4, 3, 2, 1), strict=True)]
    rules = kf.Rules(value_number_base=base, recalculation=recalculation)
    if base > 2**44 and recalculation == "fixed-point":
        # A whole cycle of such tables would not fit 64 bits.
        with pytest.raises(kf.ScoreRangeError, match="64-bit"):
            kf.score(kf.Season(*strategies.frames(players, rounds)), rules)
        return
    table = Oracle(players, rounds, rules).table()
    frame = kf.score(kf.Season(*strategies.frames(players, rounds)), rules)
    assert {me: score for me, (_, score, _) in rows_of(frame).items()} == table.scores


def test_stop_prints_the_table_at_which_the_ranking_first_repeats():
    rounds = [(1, [("a", "b", "1-0")]), (2, [("b", "c", "1-0")]), (3, [("c", "a", "1-0")])]
    players = [Player(name, name) for name in "abc"]
    rules = kf.Rules(on_cycle="stop")
    table = Oracle(players, rounds, rules).table()
    frame = kf.score(kf.Season(*strategies.frames(players, rounds)), rules)
    assert {me: score for me, (_, score, _) in rows_of(frame).items()} == table.scores


@pytest.mark.parametrize(
    ("arithmetic", "rounding", "units"),
    [
        ("exact", "once", 3 + 1 + 1),
        ("exact", "floor", 3 + 1 + 0),
        ("float64", "floor", 3 + 1 + 0),
        ("float64", "once", 3 + 1 + 1),
    ],
)
def test_decay_by_hand(arithmetic, rounding, units):
    """0.35 of value number 4 is 2.8 half points, then 1.4, then 0.7; or 3 halved and cut to 1, then 0."""
    games = pd.DataFrame({"round": [1, 2, 3], "white": "a", "black": None, "result": "absent"})
    rules = kf.Rules(
        value_number_base=4, absence_decay=True, own_value="none", arithmetic=arithmetic, decay_rounding=rounding
    )
    assert kf.score(kf.Season(games), rules)["units"].tolist() == [units]


@pytest.mark.parametrize("recalculation", ["fixed-point", "frozen"])
@pytest.mark.parametrize(
    ("base", "win"),
    [
        (10**9, "1000000007/1000000009"),
        (10**13, "2/3"),
        (10**7, "999999999989/1000000000000"),
        (10**10, "1000000007/1000000009"),
        (10**18, "1"),
    ],
)
def test_a_long_share_is_exact_or_refused(recalculation, base, win):
    assert_exact_or_refused(kf.Rules(recalculation=recalculation, value_number_base=base, win_fraction=win))


@pytest.mark.parametrize("recalculation", ["fixed-point", "previous", "frozen"])
@pytest.mark.parametrize("base", [10**18, 5 * 10**18])
def test_a_huge_base_is_exact_or_refused(recalculation, base):
    assert_exact_or_refused(kf.Rules(recalculation=recalculation, value_number_base=base))


def assert_exact_or_refused(rules):
    rounds = [(1, [("a", "b", "1-0"), ("c", "d", "1/2-1/2")])]
    players = [Player(name, name, rating) for name, rating in zip("abcd", (4, 3, 2, 1), strict=True)]
    try:
        frame = kf.score(kf.Season(*strategies.frames(players, rounds)), rules)
    except kf.KeizerError:
        return
    table = Oracle(players, rounds, rules).table()
    expected = {me: (rank, table.scores[me]) for rank, me in enumerate(table.order, 1)}
    assert {me: found[:2] for me, found in rows_of(frame).items()} == expected


def test_scores_beyond_64_bits_are_refused_with_the_rules_named():
    games = pd.DataFrame({"round": [1], "white": ["a"], "black": ["b"], "result": ["1-0"]})
    people = pd.DataFrame({"player": ["a", "b"], "rating": [2, 1]})
    with pytest.raises(kf.KeizerError, match="64-bit"):
        kf.score(kf.Season(games, people), kf.Rules(value_number_base=10**17, label="huge"))


def test_cycles_have_the_length_the_golden_data_say():
    checked = 0
    for golden in goldens.scoring_seasons(every=6):
        rules = {
            case["name"]: kf.rules_from_chesspairing(case["options"]).replace(on_cycle="average", max_iterations=None)
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


def test_a_cycle_keeps_its_length_while_the_seasons_beside_it_drop_out():
    """Rows that settle leave the batch at different steps; the rankings of the others move with them."""
    cycle = [(1, "a", "b", "1-0"), (2, "b", "c", "1-0"), (3, "c", "a", "1-0")]
    chain = [(r, f"p{i}", f"p{j}", "1-0") for r, (i, j) in enumerate([(7, 0), (6, 1), (5, 2), (4, 3), (7, 6)], 1)]
    rows = [(f"a{n}", *row) for n in range(6) for row in chain[: n % 5 + 1]]
    rows += [("cycle", *row) for row in cycle] + [(f"z{n}", *row) for n in range(6) for row in chain[: 5 - n % 5]]
    games = pd.DataFrame(rows, columns=["season", "round", "white", "black", "result"])
    names = ["keizerforclubs,on_cycle=average-two", "knsb,on_cycle=average-two", "freekeizer", "keizerforclubs"]
    together = kf.score(kf.Season(games), names)
    own = together[(together["season"] == "cycle") & (together["rules"] == "keizerforclubs")]
    assert own["cycle_length"].tolist() == [6, 6, 6]
    assert [Fraction(u, p) for u, p in zip(own["units"], own["per_point"], strict=True)] == [Fraction(14, 3)] * 3
    for label in together["season"].unique():
        alone = kf.score(kf.Season(games[games["season"] == label]), names)
        pd.testing.assert_frame_equal(together[together["season"] == label].reset_index(drop=True), alone)


def test_no_product_over_no_class_is_left_to_numpy(monkeypatch):
    """Where nothing is paid from the own value, numpy's product over no class has returned what was in memory."""
    einsum, matmul = np.einsum, np.matmul

    def garbage(call):
        def product(*operands, **options):
            found = call(*operands, **options)
            empty = any(isinstance(one, np.ndarray) and one.size == 0 for one in operands)
            return np.full_like(found, np.nan) if empty and found.size else found

        return product

    rows = [(1, "a", "b", "1-0"), (2, "b", "c", "1/2-1/2"), (3, "a", None, "excused")]
    season = kf.Season(pd.DataFrame(rows, columns=["round", "white", "black", "result"]))
    names = ["classic", "knsb", "keizerforclubs,recalculation=previous"]
    only_byes = kf.Season(pd.DataFrame([(1, "a", None, "bye")], columns=["round", "white", "black", "result"]))
    expected = [score(one, name) for one in (season, only_byes) for name in names]
    monkeypatch.setattr(np, "einsum", garbage(einsum))
    monkeypatch.setattr(np, "matmul", garbage(matmul))
    found = [score(one, name) for one in (season, only_byes) for name in names]
    for ours, theirs in zip(found, expected, strict=True):
        pd.testing.assert_frame_equal(ours, theirs)
