"""The long proofs, one command each: ``python -m tests.proof scoring``.

scoring   every golden option set of the documented scorer, in compatibility mode
default   the same in default mode: what differs, and which field makes it equal again
freekeizer, keizerforclubs, keizerforclubs-rows, one_pass   the programs' golden tables
identify  how often `identify` names the program from its golden table: first alone, among ties, or not
ledger    every golden season under every preset: ledger rows add up, replay is score round by round
pairing     every golden round of the reference's pairer, method top-down
roundrobin  every golden round of its schedules
matching    1,000 random rounds against networkx, 500 small ones against every pairing there is, and what could
            have been avoided in the golden states of clubs and of Keizer competitions
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


def ledger_adds_up(data: kf.Season, rules: dict[str, kf.Rules]) -> bool:
    """Say whether the rows of the ledger sum to the units of the standings, for every player."""
    keys = ["season", "rules", "player"]
    ledger = kf.explain(data, rules)
    table = kf.score(data, rules)
    found = ledger.groupby(keys)["units"].sum().to_dict()
    expected = dict(zip(zip(*(table[key] for key in keys), strict=True), table["units"], strict=True))
    return {key: found.get(key, 0) for key in expected} == expected and set(found) <= set(expected)


def replay_is_score(data: kf.Season, rules: dict[str, kf.Rules]) -> bool:
    """Say whether the table after each round of the replay is the one that `score` makes."""
    tables = kf.replay(data, rules).drop(columns=["rank_change", "score_change"])
    for number in data.rounds["round"].unique():
        alone = kf.score(data, rules, through=int(number), roster_round=int(number))
        there = tables[tables["round"] == number].drop(columns="round").reset_index(drop=True)
        alone = alone[alone["season"].isin(there["season"])].reset_index(drop=True)
        if not there.equals(alone):
            return False
    return True


def every_point(golden: dict) -> Iterator[tuple[str, bool]]:
    """Yield (what, holds) of one golden season under all presets at once."""
    rules = {name: kf.get_rules(name) for name in kf.presets()["name"]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kf.KeizerWarning)
        data = season_of(golden).with_parts({"1": (1, 9), "2": (10, 9999)})
        yield "ledger", ledger_adds_up(data, rules)
        yield "replay", replay_is_score(data, rules)


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


def identify() -> int:
    """Count how `identify` names the programs; 1 if fewer than 95 of 100 that can be told apart come first.

    A table on which the right candidate and others agree equally is counted apart; one on which others agree better
    is wrong.
    """
    from tests import identified

    def decidable() -> Iterator[tuple[str, str]]:
        return identified.chesspairing(every=5, least_players=6, least_rounds=5)

    failed = False
    for title, seasons in (
        ("FreeKeizer, last tables of at most 16 players after at least 3 rounds", identified.freekeizer),
        ("KeizerForClubs, all golden seasons", identified.keizerforclubs),
        ("chesspairing, every fifth golden season's presets, at least 6 players and 5 rounds", decidable),
        (
            "chesspairing, every twelfth golden season's presets, however small",
            lambda: identified.chesspairing(every=12),
        ),
    ):
        counts = Counter(said for _, said in track(seasons(), title))
        print(f"{title}: {counts.total()} tables")
        for said, count in counts.most_common():
            print(f"{count:6d}  {said}")
        told = counts["first, exact"] + counts["first, best"] + counts["wrong"]
        print(f"        of {told} that can be told apart, {told - counts['wrong']} name the right one first")
        failed |= counts["wrong"] > 0.05 * told
    return int(failed)


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
    if name == "identify":
        return identify()
    if name == "ledger":
        counts = run(every_point)
        print(f"{counts[True]} of {counts.total()} hold (ledger and replay of each season, all presets at once)")
        return int(counts[False] > 0)
    if name in PROGRAMS:
        counts = Counter(row[-1] for row in PROGRAMS[name]())
        print(f"{counts[True]} of {counts.total()} golden tables equal")
        return int(counts[False] > 0)
    if name in ("pairing", "roundrobin", "matching"):
        return _pairing(name)
    if name in BATCH:
        return int(not BATCH[name]())
    print(__doc__)
    return 2


def _pairing(name: str) -> int:
    from tests import pairings

    if name == "matching":
        sides = {"networkx": (pairings.as_cheap, 1000), "every pairing": (pairings.as_good_as_any, 500)}
        wrong = 0
        for against, (check, count) in sides.items():
            equal = sum(check(seed) for seed in track(range(count), f"against {against}"))
            print(f"{equal} of {count} random rounds as cheap as by {against}")
            wrong += count - equal
        states = [state for state in pairings.pairing_states() if state["family"] in ("club", "keizer")]
        rounds = [found for state in track(states, "golden states") for found in pairings.avoidable(state)]
        counts = {key: sum(found[key] for found in rounds) for key in rounds[0]}
        print(f"{len(states)} golden states, {len(rounds)} rounds: {counts}")
        return int(wrong + sum(counts.values()) - counts["repeats"] > 0)
    if name == "pairing":
        found = [row for state in track(list(pairings.pairing_states()), "states") for row in pairings.top_down(state)]
    else:
        found = list(track(pairings.schedules(), "rounds"))
    equal = sum(row[-1] for row in found)
    print(f"{equal} of {len(found)} golden rounds equal")
    return int(equal < len(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else ""))
