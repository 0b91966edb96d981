"""Hypothesis strategies: small seasons full of odd rows, and rule sets drawn from every field."""

from __future__ import annotations

import contextlib
import dataclasses
from fractions import Fraction

import pandas as pd
from hypothesis import strategies as st

from keizerframe.awards import Award
from keizerframe.errors import RulesError
from keizerframe.results import NON_GAME_CODES
from keizerframe.rules import Rules
from tests.oracle import Player

GAMES = ("1-0", "0-1", "1/2-1/2", "*", "1-0f", "0-1f", "0-0f", "adjourned")
NON_GAMES = (*NON_GAME_CODES, "excused:late", "club:other-day")

SHARES = st.one_of(
    st.sampled_from([Fraction(0), Fraction(1), Fraction(1, 2), Fraction(1, 3), Fraction(2, 3), Fraction(35, 100)]),
    st.fractions(0, 2, max_denominator=12),
)
POINTS = st.none() | st.integers(0, 40)

KNOWN = [field.name for field in dataclasses.fields(Rules)]
FIELDS: dict[str, st.SearchStrategy] = {
    "value_number_base": st.none() | st.integers(-5, 90),
    "value_number_step": st.integers(0, 3),
    **dict.fromkeys([name for name in KNOWN if name.endswith("_fraction")], SHARES),
    **dict.fromkeys([name for name in KNOWN if name.endswith("_fixed_value")], POINTS),
    "absence_limit": st.integers(0, 4),
    "absence_decay": st.booleans(),
    "late_join_handicap": st.sampled_from([0, 2, Fraction(5, 2), Fraction(7, 3)]),
    "own_value": st.sampled_from(["current", "none", "start"]),
    "own_value_fades": st.none() | st.lists(SHARES, min_size=1, max_size=3),
    "value_ratio": st.sampled_from([None, 2, 3, Fraction(5, 2)]),
    "value_ratio_rounding": st.sampled_from(["half-even", "floor"]),
    "value_per_player": st.sampled_from([None, Fraction(3, 2)]),
    "value_list": st.sampled_from([None, "pairs", "normalised", [20, 19, 19, 10, Fraction(5, 2), 1, 1, 0]]),
    "recalculation": st.sampled_from(["fixed-point", "previous", "frozen", "static", "two-ages"]),
    "freeze_after": st.none() | st.integers(0, 3),
    "rounding": st.sampled_from(["half", "whole", "none"]),
    "rounding_of": st.sampled_from(["item", "total"]),
    "rounding_ties": st.sampled_from(["away", "even"]),
    "on_cycle": st.sampled_from(["average", "average-two", "stop"]),
    "arithmetic": st.sampled_from(["exact", "float64", "float32"]),
    "decay_rounding": st.sampled_from(["once", "floor"]),
    "withdrawn": st.sampled_from(["keep", "void", "share"]),
    "withdrawn_share": SHARES,
    "roster": st.sampled_from(["joined", "joined-next", "all"]),
    "missing_row": st.sampled_from(["absent", "none"]),
    "absence_needs_game": st.booleans(),
    "limit_scope": st.sampled_from(["season", "part"]),
    "start_order": st.sampled_from(["rating", "given"]),
    "value_ties": st.sampled_from([["rating", "name", "id"], ["start"], ["rating", "id"], ["name"]]),
    "place_ties": st.sampled_from([None, ["game_points", "rating"], ["start"]]),
    "empty_season": st.sampled_from(["own", "zero"]),
    "extra": st.dictionaries(
        st.sampled_from(["excused:late", "club", "club:other-day", "bye", "adjourned", "late-start", "club-win"]),
        st.builds(
            Award,
            of=st.sampled_from(["own", "fixed"]),
            amount=SHARES,
            cap=st.none() | st.integers(0, 2),
            cap_scope=st.sampled_from(["season", "part"]),
            rounds=st.sampled_from([None, (1, 2), (2, 4)]),
            counts_as_absence=st.booleans(),
        ),
        max_size=2,
    ),
    "changes": st.dictionaries(
        st.integers(2, 4),
        st.fixed_dictionaries({}, optional={"loss_fraction": SHARES, "absence_limit": st.integers(0, 3)}),
        max_size=2,
    ),
    "values_from": st.builds(
        dict,
        loss_fraction=SHARES,
        value_number_base=st.none() | st.integers(5, 60),
        absence_limit=st.integers(0, 2),
    ),
}


@st.composite
def rule_sets(draw) -> Rules:
    """Draw a rule set: some fields away from their default; what contradicts is dropped, field by field."""
    chosen = draw(st.lists(st.sampled_from(sorted(FIELDS)), max_size=9, unique=True))
    rules = Rules()
    for name in chosen:
        value = draw(FIELDS[name])
        if name == "values_from":
            alike = ("recalculation", "freeze_after", "roster", "withdrawn", "start_order")
            value = {**value, **{one: getattr(rules, one) for one in alike}}
        changes = {name: value}
        if name == "freeze_after" and value is not None and rules.values_from is None:
            changes["recalculation"] = "previous"
        if name == "arithmetic" and value == "float32":
            changes |= {"rounding": "none", "on_cycle": "average", "decay_rounding": "once"}
        if name == "value_list" and value == "normalised":
            changes |= {"value_ratio": 3, "value_number_base": None, "value_per_player": None}
        with contextlib.suppress(RulesError):
            rules = rules.replace(**changes)
    return rules


@st.composite
def seasons(draw, most_players: int = 7, most_rounds: int = 5):
    """Draw (players, rounds) as the oracle takes them."""
    count = draw(st.integers(1, most_players))
    last = draw(st.integers(0, most_rounds))
    players = [
        Player(
            f"p{i}",
            f"n{draw(st.integers(0, 99)):02d}{i}",
            draw(st.sampled_from([0, 1500, 1600, 1700])),
            draw(st.sampled_from([0, 0, 0, 1, 2, 3])),
            draw(st.sampled_from([None, None, None, 0, 1, 2])),
            draw(st.sampled_from([None, 1, 2, 3])),
        )
        for i in range(count)
    ]
    rounds = []
    for number in range(1, last + 1):
        order = draw(st.permutations(players))
        rows = []
        while order:
            kind = draw(st.sampled_from(["game", "game", "game", "row", "nothing"]))
            player = order.pop()
            if kind == "row":
                rows.append((player.id, None, draw(st.sampled_from(NON_GAMES))))
            elif kind == "game" and order:
                other = order.pop()
                # A game before joining is a fault of the data.
                if max(player.joined, other.joined) <= number:
                    rows.append((player.id, other.id, draw(st.sampled_from(GAMES))))
        rounds.append((number, rows))
    return players, rounds


#: The part of each round in drawn seasons.
PARTS = {1: "a", 2: "a", 3: "b", 4: "b", 5: "c"}


def frames(players, rounds):
    """Return (games, players, rounds) as `Season` takes them."""
    rows = [(number, *row) for number, listed in rounds for row in listed]
    games = pd.DataFrame(rows, columns=["round", "white", "black", "result"])
    people = pd.DataFrame(
        [(p.id, p.name, p.rating, p.joined, p.left, p.start) for p in players],
        columns=["player", "name", "rating", "joined_round", "withdrawn_after", "start_rank"],
    )
    listed = pd.DataFrame({"round": [number for number, _ in rounds]}, dtype="int16")
    return games, people, listed.assign(part=[PARTS[number] for number in listed["round"]])
