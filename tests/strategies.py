"""Hypothesis strategies: small seasons full of odd rows, and rule sets drawn from every field."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import pandas as pd
from hypothesis import strategies as st

from keizerframe.results import NON_GAME_CODES
from keizerframe.rules import Rules
from tests.oracle import Player

GAMES = ("1-0", "0-1", "1/2-1/2", "*", "1-0f", "0-1f", "0-0f", "adjourned")
NON_GAMES = (*NON_GAME_CODES, "excused:late", "club:other-day")

SHARES = st.one_of(
    st.sampled_from(
        [Fraction(0), Fraction(1), Fraction(1, 2), Fraction(1, 3), Fraction(2, 3), Fraction(35, 100)]
    ),
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
    "own_value": st.sampled_from(["current", "none"]),
    "recalculation": st.sampled_from(["fixed-point", "frozen"]),
    "on_cycle": st.sampled_from(["average", "average-two", "stop"]),
    "arithmetic": st.sampled_from(["exact", "float64"]),
    "decay_rounding": st.sampled_from(["once", "floor"]),
    "withdrawn": st.sampled_from(["keep", "void"]),
    "roster": st.sampled_from(["joined", "joined-next"]),
}


@st.composite
def rule_sets(draw) -> Rules:
    """Draw a rule set: a few fields away from their default."""
    names = draw(st.lists(st.sampled_from(sorted(FIELDS)), max_size=8, unique=True))
    return Rules(**{name: draw(FIELDS[name]) for name in names})


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
            draw(st.sampled_from([None, None, None, 1, 2])),
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


def frames(players, rounds):
    """Return (games, players, rounds) as `Season` takes them."""
    rows = [(number, *row) for number, listed in rounds for row in listed]
    games = pd.DataFrame(rows, columns=["round", "white", "black", "result"])
    people = pd.DataFrame(
        [(p.id, p.name, p.rating, p.joined, p.left) for p in players],
        columns=["player", "name", "rating", "joined_round", "withdrawn_after"],
    )
    return games, people, [number for number, _ in rounds]
