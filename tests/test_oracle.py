"""The oracle meets the golden data, so that it may judge the kernel."""

from __future__ import annotations

import pytest

from keizerframe.io.chesspairing import rules_from_chesspairing
from tests import goldens
from tests.oracle import Oracle


def disagreements(season):
    for case in season["cases"]:
        oracle = Oracle(
            goldens.players_of(season),
            goldens.rounds_of(season),
            rules_from_chesspairing(case["options"]),
            season["currentRound"],
        )
        table = oracle.table()
        got = [[me, float(table.scores[me]), rank] for rank, me in enumerate(table.order, 1)]
        expected = [[me, float(score), rank] for me, score, rank in case["scores"]]
        conv = case["conv"]
        facts = (table.outcome, table.steps)
        if got != expected or facts != (goldens.OUTCOMES[conv["outcome"]], conv["iters"]):
            yield season["id"], case["name"], facts, conv


@pytest.mark.parametrize("rest", range(3))
def test_the_oracle_equals_the_documented_scorer(rest):
    seasons = list(goldens.scoring_seasons(every=12))[rest::3]
    assert seasons
    assert [d for season in seasons for d in disagreements(season)] == []
