"""What `identify` makes of the programs' golden tables: whether it names the program, alone, tied, or not at all."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import pandas as pd

import keizerframe as kf
from tests import goldens, programs
from tests.proof import season_of

#: The presets among the golden cases of the documented scorer.
VARIANTS = {
    "default": "keizerforclubs",
    "knsb": "knsb",
    "freekeizer": "freekeizer",
    "noself": "no-self-victory",
    "fixedabs": "fixed-absences",
    "decay": "decaying-absences",
}


def said(season: kf.Season, table: pd.DataFrame, right: str, **options) -> str:
    """Return how `identify` names the right candidate: first, tied (first among equals or not), or wrong."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kf.KeizerWarning)
        found = kf.identify(season, table, **options)
    lead = found.candidates[found.candidates["verdict"].notna()]["rules"].tolist()
    if right not in lead:
        return "wrong"
    if len(lead) == 1:
        return f"first, {found.verdict}"
    return (
        f"{found.verdict}, the right one first of those tied"
        if lead[0] == right
        else f"{found.verdict}, among those tied"
    )


def freekeizer(*, least_rounds: int = 3) -> Iterator[tuple[str, str]]:
    """Yield (competition, what is said) of the last tables of competitions with at most 16 players."""
    codes = {0: "0-1", 1: "1-0", 2: "1/2-1/2", 3: "bye"}
    for golden in goldens.lines("freekeizer.jsonl.gz"):
        count = len(golden["rounds"])
        if golden["ties_by_library_sort"] or count < least_rounds:
            continue
        names = golden["players"]
        people = pd.DataFrame({"player": names, "start_rank": range(1, len(names) + 1)})
        rows = [
            (number, names[row[1]], names[row[2]] if len(row) > 2 else None, codes[row[0]])
            for number, listed in enumerate(golden["rounds"], 1)
            for row in listed
        ]
        season = programs.season_from(rows, people, list(range(1, count + 1)))
        table = pd.DataFrame(golden["tables"][-1], columns=["player", "score", "value"])
        table["rank"] = range(1, len(table) + 1)
        yield f"{golden['id']} ({len(names)} players, {count} rounds)", said(season, table, "freekeizer-0.5")


def keizerforclubs() -> Iterator[tuple[str, str]]:
    """Yield (season, what is said); who has left stands in the table with 0 points and no rank."""
    for golden in goldens.lines("keizerforclubs.jsonl.gz"):
        if "columns" in golden:
            continue
        table = pd.DataFrame(golden["players"], columns=["player", "name", "rating", "state", "rank", "score", "value"])
        table["rank"] = table["rank"].where(table["state"] != 9)
        rounds = max(row[0] for row in golden["pairings"])
        name = f"{golden['id']} ({len(table)} players, {rounds} rounds)"
        yield name, said(programs.kfc_season(golden), table, "keizerforclubs-2.0")


def chesspairing(*, every: int = 1) -> Iterator[tuple[str, str]]:
    """Yield (season and case, what is said) of the presets of the documented scorer."""
    for golden in goldens.scoring_seasons(every=every):
        for case in golden["cases"]:
            if case["name"] not in VARIANTS or not case["scores"]:
                continue
            table = pd.DataFrame(case["scores"], columns=["player", "score", "rank"])
            right = f"{VARIANTS[case['name']]} as chesspairing computes it"
            name = f"{golden['id']} {case['name']} ({len(table)} players, {len(golden['rounds'])} rounds)"
            yield name, said(season_of(golden), table, right, roster_round=goldens.roster_round_of(golden))
