"""The programs' own numbers: what each golden season says, and what we make of it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pandas as pd

import keizerframe as kf
from tests import goldens


def season_from(rows, players, rounds=None) -> kf.Season:
    """Return a Season of rows (round, white, black or None, result)."""
    games = pd.DataFrame(rows, columns=["round", "white", "black", "result"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kf.KeizerWarning)
        return kf.Season(games, players, rounds)


def score(season: kf.Season, rules: kf.Rules, **options) -> pd.DataFrame:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kf.KeizerWarning)
        return kf.score(season, rules, **options)


# --- FreeKeizer: a table after every round


def freekeizer_rows(golden: dict) -> list[tuple]:
    codes = {0: "0-1", 1: "1-0", 2: "1/2-1/2", 3: "bye"}
    names = golden["players"]
    return [
        (number, names[row[1]], names[row[2]] if len(row) > 2 else None, codes[row[0]])
        for number, listed in enumerate(golden["rounds"], 1)
        for row in listed
    ]


def freekeizer_season(golden: dict) -> kf.Season:
    names = golden["players"]
    people = pd.DataFrame({"player": names, "start_rank": range(1, len(names) + 1)})
    return season_from(freekeizer_rows(golden), people, list(range(1, len(golden["rounds"]) + 1)))


def freekeizer() -> Iterator[tuple[dict, int, bool]]:
    """Yield (competition, round, equal) in points, order and next values; ties by library sort apart."""
    for golden in goldens.lines("freekeizer.jsonl.gz"):
        rows, season = freekeizer_rows(golden), freekeizer_season(golden)
        rules = kf.get_rules("freekeizer-0.5").replace(value_number_base=golden["top_value"])
        count = len(golden["rounds"])
        for number in range(1, count + 1):
            expected = golden["tables"][number]
            if golden["ties_by_library_sort"]:
                frame = given_the_table_before(golden, rows, rules, number)
                found = dict(zip(frame["player"], frame["score"], strict=True))
                yield golden, number, found == {name: float(points) for name, points, _ in expected}
            else:
                frame = score(season, rules, through=number)
                columns = [
                    frame["player"].tolist(),
                    frame["score"].tolist(),
                    frame["next_value_number"].tolist(),
                ]
                yield golden, number, [list(row) for row in zip(*columns, strict=True)] == expected


def given_the_table_before(golden: dict, rows: list, rules: kf.Rules, number: int) -> pd.DataFrame:
    """Score one table of more than 16 players, valued by the golden table before it.

    Valuing all rounds by a start order that is the golden order is mode static; the own value number is then
    that of the true start order, so it is exchanged.
    """
    before = [name for name, _, _ in golden["tables"][number - 1]]
    people = pd.DataFrame({"player": before, "start_rank": range(1, len(before) + 1)})
    played = [row for row in rows if row[0] <= number]
    season = season_from(played, people, list(range(1, number + 1)))
    frame = score(season, rules.replace(recalculation="static", own_value="none"))
    start = {name: golden["top_value"] - i for i, name in enumerate(golden["players"])}
    return frame.assign(score=frame["score"] + frame["player"].map(start))


# --- KeizerForClubs: sums, ranks and next values of the last table, points of its rows

KFC_CODES = {1: "1-0", 2: "1/2-1/2", 3: "0-1", 8: "1-0f", 9: "0-1f", 10: "0-0f", 11: "adjourned", -1: "*"}
KFC_ROWS = {4: "bye", 5: "club", 6: "excused", 7: "absent", 12: "late-start"}


def kfc_season(golden: dict) -> kf.Season:
    people = pd.DataFrame(golden["players"], columns=["player", "name", "rating", "state", "r", "s", "v"])
    people = people.assign(withdrawn_after=np.where(people["state"] == 9, 0, None))
    rows = [
        (
            number,
            str(white),
            None if black < 0 else str(black),
            (KFC_ROWS if black < 0 else KFC_CODES)[result],
        )
        for number, _, white, black, result, *_ in golden["pairings"]
        if black >= 0 or result in KFC_ROWS
    ]
    columns = ["player", "name", "rating", "withdrawn_after"]
    return season_from(rows, people[columns])


def keizerforclubs() -> Iterator[tuple[str, bool]]:
    """Yield (season, equal) in sums, ranks and next values, to a thousandth."""
    for golden in goldens.lines("keizerforclubs.jsonl.gz"):
        if "columns" in golden:
            continue
        frame = score(kfc_season(golden), kf.rules_from_keizerforclubs(golden["config"]))
        expected = {
            str(player): (rank, total, value)
            for player, _, _, state, rank, total, value in golden["players"]
            if state != 9
        }
        found = {row.player: (row.rank, row.score, row.next_value_number) for row in frame.itertuples()}
        same = set(found) == set(expected) and all(
            np.allclose(found[player], expected[player], rtol=0, atol=1e-3) for player in found
        )
        yield golden["id"], same


# --- One pass: exact fractions after every round


def one_pass() -> Iterator[tuple[str, str, bool]]:
    """Yield (season, rules, equal) of every table: order, exact score, value number used, next value number."""
    waagtoren = kf.load_dataset("waagtoren")
    for golden in goldens.lines("one_pass.jsonl.gz"):
        rules = kf.get_rules(golden["rules"])
        if "data" in golden:
            season = with_parts(waagtoren.select(golden["id"]), golden["parts"])
            tables = {None: golden["table"]}
        else:
            people = pd.DataFrame({"player": golden["start_order"]})
            people = people.assign(start_rank=range(1, len(people) + 1))
            last = max((one[1] for one in golden["parts"].values()), default=0)
            season = with_parts(
                season_from([tuple(row) for row in golden["entries"]], people, list(range(1, last + 1))),
                golden["parts"],
            )
            changes: dict = {"start_order": "given"}
            if golden["rules"] == "caissa-2014":
                changes["values_from"] = rules.values_from.replace(start_order="given")
            if golden["rules"] == "classic":
                changes["value_number_base"] = golden["top"]
            rules = rules.replace(**changes)
            tables = dict(enumerate(golden["tables"], 1))
        for through, expected in tables.items():
            frame = score(season, rules, through=through)
            found = [
                [row.player, Fraction(row.units, row.per_point), row.value_number, row.next_value_number]
                for row in frame.itertuples()
            ]
            yield golden["id"], golden["rules"], found == [[p, Fraction(s), u, n] for p, s, u, n in expected]


def with_parts(season: kf.Season, parts: dict | None) -> kf.Season:
    """Return the season with the part of every round."""
    if not parts:
        return season
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kf.KeizerWarning)
        return season.with_parts(parts)


def row_points(season: kf.Season, rules: kf.Rules) -> dict[tuple[int, str], float]:
    """Return what each player earned in each round in the last table, by the ledger."""
    ledger = kf.explain(season, rules)
    ledger = ledger[ledger["round"].notna()]
    return dict(zip(zip(ledger["round"], ledger["player"], strict=True), ledger["points"], strict=True))


def keizerforclubs_rows() -> Iterator[tuple[str, bool]]:
    """Yield (season, equal) in the points of every row, to a thousandth."""
    for golden in goldens.lines("keizerforclubs.jsonl.gz"):
        if "columns" in golden:
            continue
        found = row_points(kfc_season(golden), kf.rules_from_keizerforclubs(golden["config"]))
        gone = {str(player) for player, _, _, state, *_ in golden["players"] if state == 9}
        equal = True
        for number, _, white, black, _, points_white, points_black in golden["pairings"]:
            for player, points in ((white, points_white), (black, points_black)):
                if player >= 0 and str(player) not in gone:
                    equal &= abs(found.get((number, str(player)), 0.0) - points) <= 1e-3
        yield golden["id"], equal


def keizerforclubs_real() -> pd.DataFrame:
    """Return KeizerForClubs' rows of the seven real seasons beside ours."""
    expected = pd.read_csv(goldens.HERE / "waagtoren_programs.csv", dtype={"season": "str"})
    expected = expected[expected["program"].str.startswith("KeizerForClubs")]
    frame = score(kf.load_dataset("waagtoren"), kf.get_rules("keizerforclubs-2.0"))
    return frame.merge(expected, on=["season", "player"], how="outer", suffixes=("", "_expected"))
