"""Reading the golden files: seasons as plain rows, and the cases the reference's quirks exempt."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

from tests.oracle import Player

HERE = Path(__file__).parent / "golden"
EXEMPT_FAMILIES = {"dirty", "dirtypre", "optcoerce"}
BYES = {
    "PAB": "bye",
    "Half": "half-bye",
    "Zero": "zero-bye",
    "Absent": "absent",
    "Excused": "excused",
    "ClubCommitment": "club",
}
OUTCOMES = {"converged": "converged", "cycle2": "cycle", "cap": "cap", "frozen": "direct", "": "direct"}


def lines(name: str) -> Iterator[dict]:
    with gzip.open(HERE / name, "rt", encoding="utf-8") as stream:
        for line in stream:
            yield json.loads(line)


def scoring_seasons(*, every: int = 1) -> Iterator[dict]:
    """Yield the non-exempt seasons of the chesspairing file."""
    for season in lines("chesspairing_scoring.jsonl.gz"):
        exempt = season["family"] in EXEMPT_FAMILIES or "unstable" in season["tags"]
        if not exempt and season["id"] % every == 0:
            yield season


def result_of(game: dict) -> str:
    result = {"0.5-0.5": "1/2-1/2"}.get(game["result"], game["result"])
    if game.get("isForfeit") and not result.endswith("f"):
        result += "f"
    return result


def players_of(season: dict) -> list[Player]:
    return [
        Player(p["id"], p["name"], p["rating"], p.get("joinedRound", 0), p.get("withdrawnAfterRound") or None)
        for p in season["players"]
    ]


def rounds_of(season: dict) -> list[tuple[int, list[tuple[str, str | None, str]]]]:
    return [
        (
            r["number"],
            [(g["white"], g["black"], result_of(g)) for g in r["games"]]
            + [(b["player"], None, BYES[b["type"]]) for b in r["byes"]],
        )
        for r in season["rounds"]
    ]


def roster_round_of(season: dict) -> int:
    """Return the roster round, the reference's default spelled out."""
    last = max((r["number"] for r in season["rounds"]), default=0)
    return season["currentRound"] or last + 1
