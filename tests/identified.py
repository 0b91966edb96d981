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
_COMPUTED = " as chesspairing computes it"


def published(name: str, through: int | None) -> tuple[kf.Season, pd.DataFrame]:
    """Return a published example: its season, and the table after a round (None = the only one) as printed."""
    games, people, table = (
        pd.read_csv(goldens.HERE / "published" / f"{name}_{kind}.csv") for kind in ("games", "players", "standings")
    )
    if "state_now" in people:
        people["withdrawn_after"] = [0 if state == "retired" else None for state in people["state_now"]]
    games["result"] = games["result"].replace({"unexcused": "absent"})
    known = [name for name in ("player", "rating", "start_rank", "withdrawn_after") if name in people]
    if through is not None:
        table = table[table["after_round"] == through]
    table = table.rename(columns={"total": "score", "place": "rank"})[["player", "score", "rank"]]
    return kf.Season(games, people[known]), table.reset_index(drop=True)


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
    if all(name.endswith(_COMPUTED) for name in lead):
        return "first, tied with other presets of the same program"
    return (
        f"{found.verdict}, the right one first of those tied"
        if lead[0] == right
        else f"{found.verdict}, among those tied"
    )


def freekeizer(*, least_rounds: int = 3) -> Iterator[tuple[str, str]]:
    """Yield (competition, what is said) of the last tables of competitions with at most 16 players."""
    for golden in goldens.lines("freekeizer.jsonl.gz"):
        count = len(golden["rounds"])
        if golden["ties_by_library_sort"] or count < least_rounds:
            continue
        table = pd.DataFrame(golden["tables"][-1], columns=["player", "score", "value"])
        table["rank"] = range(1, len(table) + 1)
        name = f"{golden['id']} ({len(table)} players, {count} rounds)"
        yield name, said(programs.freekeizer_season(golden), table, "freekeizer-0.5")


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


def chesspairing(*, every: int = 1, least_players: int = 1, least_rounds: int = 1) -> Iterator[tuple[str, str]]:
    """Yield (season and case, what is said) of the presets of the documented scorer."""
    for golden in goldens.scoring_seasons(every=every):
        if len(golden["rounds"]) < least_rounds:
            continue
        for case in golden["cases"]:
            if case["name"] not in VARIANTS or len(case["scores"]) < least_players:
                continue
            table = pd.DataFrame(case["scores"], columns=["player", "score", "rank"])
            right = f"{VARIANTS[case['name']]}{_COMPUTED}"
            name = f"{golden['id']} {case['name']} ({len(table)} players, {len(golden['rounds'])} rounds)"
            yield name, said(season_of(golden), table, right, roster_round=goldens.roster_round_of(golden))
