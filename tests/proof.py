"""The long proofs, one command each: ``python -m tests.proof scoring``.

scoring   every golden option set of the documented scorer, in compatibility mode
default   the same in default mode: what differs, and which field makes it equal again
freekeizer, keizerforclubs, keizerforclubs-rows, one_pass   the programs' golden tables
kill, disk, cluster, readers   batch rescoring (see tests/batch_proofs.py)
"""

from __future__ import annotations

import itertools
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator

import pandas as pd
from rich.progress import track

import keizerframe as kf
from keizerframe.io.chesspairing import COMPATIBILITY
from tests import goldens
from tests.batch_proofs import PROOFS as BATCH

Facts = tuple[dict[str, tuple[float, int]], str | None, int | None]


def season_of(golden: dict) -> kf.Season:
    """Return a golden season as a Season."""
    players = pd.DataFrame(
        [(p.id, p.name, p.rating, p.joined, p.left) for p in goldens.players_of(golden)],
        columns=["player", "name", "rating", "joined_round", "withdrawn_after"],
    )
    rounds = goldens.rounds_of(golden)
    rows = [(number, *row) for number, rows in rounds for row in rows]
    games = pd.DataFrame(rows, columns=["round", "white", "black", "result"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kf.KeizerWarning)
        return kf.Season(games, players, [number for number, _ in rounds])


def tables_of(golden: dict, rules: dict[str, kf.Rules]) -> dict[str, Facts]:
    """Return score and rank of every player, outcome and steps, by label of the rules."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kf.KeizerWarning)
        frame = kf.score(season_of(golden), rules, roster_round=goldens.roster_round_of(golden))
    found: dict[str, Facts] = {label: ({}, None, None) for label in rules}
    for label, rows in frame.groupby("rules"):
        ranks = zip(rows["score"].tolist(), rows["rank"].tolist(), strict=True)
        table = dict(zip(rows["player"].tolist(), ranks, strict=True))
        found[str(label)] = (table, rows["outcome"].iloc[0], int(rows["iterations"].iloc[0]))
    return found


def expected_of(case: dict) -> Facts:
    """Return what the reference says: an empty table has no row to hold outcome and steps."""
    table = {player: (float(score), rank) for player, score, rank in case["scores"]}
    if not table:
        return table, None, None
    return table, goldens.OUTCOMES[case["conv"]["outcome"]], case["conv"]["iters"]


def compatible(golden: dict) -> Iterator[tuple[str, bool]]:
    """Yield (case, equal) of one season in compatibility mode."""
    rules = {case["name"]: kf.rules_from_chesspairing(case["options"]) for case in golden["cases"]}
    found = tables_of(golden, rules)
    for case in golden["cases"]:
        yield case["name"], found[case["name"]] == expected_of(case)


#: Reason -> the fields that then take their compatibility value.
REASONS = {
    "exact ties": ("arithmetic",),
    "decay": ("decay_rounding",),
    "cycle or cap": ("on_cycle",),
    "withdrawal": ("withdrawn",),
}


def reasons(golden: dict) -> Iterator[tuple[str, str]]:
    """Yield (case, reason) of one season in default mode; reason "none" = no difference."""
    for case in golden["cases"]:
        plain = kf.Rules.parse(case["options"], lenient=True)
        choices = {"none": plain}
        for count in range(1, len(REASONS) + 1):
            for names in itertools.combinations(REASONS, count):
                fields = {field: COMPATIBILITY[field] for name in names for field in REASONS[name]}
                choices[" + ".join(names)] = plain.replace(**fields)
        found = tables_of(golden, choices)
        expected = expected_of(case)[0]
        yield case["name"], next((name for name in choices if found[name][0] == expected), "UNEXPLAINED")


def run(check: Callable[[dict], Iterator[tuple[str, object]]]) -> Counter[object]:
    """Count what `check` says of every golden case."""
    seasons = list(goldens.scoring_seasons())
    return Counter(said for season in track(seasons, "golden seasons") for _, said in check(season))


def _programs() -> dict[str, Callable[[], Iterator[tuple[object, ...]]]]:
    from tests import programs

    return {
        "freekeizer": programs.freekeizer,
        "keizerforclubs": programs.keizerforclubs,
        "keizerforclubs-rows": programs.keizerforclubs_rows,
        "one_pass": programs.one_pass,
    }


PROGRAMS = _programs()


def main(name: str) -> int:
    """Run one proof, print its counts, return the exit status."""
    if name == "scoring":
        counts = run(compatible)
        print(f"{counts[True]} of {counts.total()} option sets equal in score, rank, outcome and steps")
        return int(counts[False] > 0)
    if name == "default":
        counts = run(reasons)
        print(f"{counts['none']} of {counts.total()} option sets equal to the documented scorer in default mode")
        for reason, count in counts.most_common():
            if reason != "none":
                print(f"{count:6d}  {reason}")
        return int("UNEXPLAINED" in counts)
    if name in PROGRAMS:
        counts = Counter(row[-1] for row in PROGRAMS[name]())
        print(f"{counts[True]} of {counts.total()} golden tables equal")
        return int(counts[False] > 0)
    if name in BATCH:
        return int(not BATCH[name]())
    print(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else ""))
