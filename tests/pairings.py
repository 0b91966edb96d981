"""The reference's own pairings and schedules, and a slow oracle for the matching, written from the rules alone."""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import networkx as nx
import pandas as pd

import keizerframe as kf
from tests import goldens
from tests.proof import season_of

CODE_OF = {code: bye for bye, code in goldens.BYES.items()}


def pair(season: kf.Season, rules, **wishes) -> pd.DataFrame:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kf.KeizerWarning)
        return kf.pair(season, rules, **wishes)


# --- top-down: the reference's pairings


def pairing_states(*, every: int = 1) -> Iterator[dict]:
    """Yield the non-exempt states of the chesspairing file."""
    for state in goldens.lines("chesspairing_pairing.jsonl.gz"):
        if state["family"] not in goldens.EXEMPT_FAMILIES and state["id"] % every == 0:
            yield state


def top_down(state: dict) -> Iterator[tuple[int, dict, bool]]:
    """Yield (state, options, equal) of every case in boards, colours, byes and notes."""
    season, last, byes = season_of(state), last_round(state), byes_of(state)
    for case in state["cases"]:
        sheet = pair(
            season,
            kf.rules_from_chesspairing(case["options"]),
            roster_round=state["currentRound"] or None,
            method="top-down",
            # The reference counts from the round it was given, also from 0 and from a round already played.
            rematch_gap=gap_of(case["options"], last + 1 - state["currentRound"]),
            byes=byes,
        )
        games, alone = sheet[sheet["black"].notna()], sheet[sheet["black"].isna()]
        # Rows of byes given before come first among the byes; their notes are ours.
        notes = [note for note in [*alone["note"][len(byes) :], *games["note"]] if note]
        equal = (
            list(map(list, zip(games["board"], games["white"], games["black"], strict=True))) == case["pairings"]
            and [[player, CODE_OF[code]] for player, code in zip(alone["white"], alone["result"], strict=True)]
            == case["byes"]
            and notes == case.get("notes", [])
        )
        yield state["id"], case["options"], equal


def last_round(state: dict) -> int:
    return max((r["number"] for r in state["rounds"]), default=0)


def byes_of(state: dict) -> dict[str, str]:
    return {bye["player"]: goldens.BYES[bye["type"]] for bye in state["preAssignedByes"]}


def gap_of(options: dict, late: int = 0) -> int | str:
    if options.get("allowRepeatPairings") is False:
        return "season"
    return int(options.get("minRoundsBetweenRepeats", 3)) - 1 + late


# --- round robin: the reference's schedules


def schedules(*, every: int = 1) -> Iterator[tuple[int, int, bool]]:
    """Yield (file line, round, equal) of every round in boards, colours and byes; errors are errors."""
    for golden in goldens.lines("chesspairing_roundrobin.jsonl.gz"):
        if golden["tags"][0] in ("windows", "preassigned") or golden["id"] % every:
            continue
        ids = [player["id"] for player in golden["players"]]
        for case in golden["cases"]:
            options = case["options"]
            try:
                schedule = kf.round_robin(
                    ids,
                    cycles=options.get("cycles", 1),
                    color_balance=options.get("colorBalance", True),
                    swap_last_two_rounds=options.get("swapLastTwoRounds", True),
                )
            except kf.PairingError:
                schedule = None
            rounds = None if schedule is None else _rounds_of(schedule)
            for expected in case["result"]:
                wanted = None if "error" in expected else (expected["pairings"], expected["byes"])
                # With one player or none the reference knows no last round.
                number = expected["round"] if len(ids) > 1 else 1
                found = None if rounds is None else rounds.get(number, None if ids else ([], []))
                yield golden["id"], expected["round"], found == wanted


def _rounds_of(schedule: pd.DataFrame) -> dict[int, tuple[list, list]]:
    """Return boards and byes of every round."""
    rounds: dict[int, tuple[list, list]] = {}
    for row in schedule.itertuples():
        games, byes = rounds.setdefault(row.round, ([], []))
        if isinstance(row.black, str):
            games.append([row.board, row.white, row.black])
        else:
            byes.append([row.white, "PAB"])
    return rounds


# --- matching: an oracle


@dataclass
class State:
    """What the oracle knows of a round to pair: those present in ranking order, and their past."""

    order: list[str]
    number: int
    gap: int | None
    met: dict[frozenset, int] = field(default_factory=dict)
    balance: dict[str, int] = field(default_factory=dict)
    byes: dict[str, int] = field(default_factory=dict)
    apart: set[frozenset] = field(default_factory=set)

    def remember(self, rounds: list[tuple[int, list[tuple[str, str | None, str]]]]) -> State:
        for number, rows in rounds:
            for white, black, result in rows:
                if black is None:
                    self.byes[white] = self.byes.get(white, 0) + (result == "bye")
                elif result in ("1-0", "0-1", "1/2-1/2", "*"):
                    pair_met = frozenset((white, black))
                    self.met[pair_met] = max(number, self.met.get(pair_met, 0))
                    self.balance[white] = self.balance.get(white, 0) + 1
                    self.balance[black] = self.balance.get(black, 0) - 1
        return self

    def repeat(self, one: str, other: str) -> bool:
        met = self.met.get(frozenset((one, other)))
        return met is not None and (self.gap is None or self.number - met <= self.gap)

    def cost(self, line: list[str], i: int, j: int) -> int:
        """Return the cost of the pair at places i < j of those to be paired."""
        one, other = self.balance.get(line[i], 0), self.balance.get(line[j], 0)
        colour = min(abs(one + 1) + abs(other - 1), abs(one - 1) + abs(other + 1))
        return 10 * (j - i - 1) ** 2 + 1_000_000 * self.repeat(line[i], line[j]) + colour

    def candidates(self) -> list[str | None]:
        if len(self.order) % 2 == 0:
            return [None]
        may = [player for player in self.order if frozenset((player, None)) not in self.apart]
        return sorted(may, key=lambda player: (self.byes.get(player, 0), -self.order.index(player)))

    def line(self, bye: str | None) -> list[str]:
        return [player for player in self.order if player != bye]

    def total(self, bye: str | None, pairs: list[frozenset]) -> int:
        line = self.line(bye)
        return sum(self.cost(line, *sorted(line.index(player) for player in one)) for one in pairs)

    def age(self, pairs: list[frozenset]) -> int:
        return sum(self.met.get(one, 0) for one in pairs)

    def repeats(self, pairs: list[frozenset]) -> int:
        return sum(self.repeat(*one) for one in pairs)

    def cheapest(self, bye: str | None) -> list[frozenset]:
        """Return a cheapest pairing by networkx."""
        line, graph = self.line(bye), nx.Graph()
        for j in range(len(line)):
            for i in range(j):
                graph.add_edge(i, j, weight=10**8 - self.cost(line, i, j))
        return [frozenset(line[i] for i in one) for one in nx.max_weight_matching(graph, maxcardinality=True)]

    def best(self) -> tuple[str | None, list[frozenset]]:
        """Return the bye and the pairs: fewest repeats, then the first candidate, then the cost."""
        found: tuple[str | None, list[frozenset]] | None = None
        for bye in self.candidates():
            pairs = self.cheapest(bye)
            if found is None or self.repeats(pairs) < self.repeats(found[1]):
                found = bye, pairs
            if not self.repeats(found[1]):
                break
        assert found is not None
        return found

    def best_of_all(self) -> tuple[int, int, int, int] | None:
        """Return repeats, rank of the bye, cost and age of the best pairing there is; None = there is none."""
        return min(
            (
                (self.repeats(pairs), rank, self.total(bye, pairs), self.age(pairs))
                for rank, bye in enumerate(self.candidates())
                for pairs in _pairings(self.line(bye))
                if not self.apart.intersection(pairs)
            ),
            default=None,
        )


def _pairings(line: list[str]) -> Iterator[list[frozenset]]:
    if not line:
        yield []
    for k in range(1, len(line)):
        for rest in _pairings(line[1:k] + line[k + 1 :]):
            yield [frozenset((line[0], line[k])), *rest]


def drawn(seed: int, most: int = 20) -> tuple[kf.Season, State, dict]:
    """Return a random season, what the oracle knows of it, and the wishes for the next round."""
    rng = random.Random(seed)
    ids = [f"p{i}" for i in range(rng.randint(1, most))]
    rounds = []
    for number in range(1, rng.randint(1, 3 * len(ids) + 2)):
        here = rng.sample(ids, rng.randint(len(ids) // 2, len(ids)))
        codes = rng.choices(["1-0", "0-1", "1/2-1/2", "*", "1-0f", "0-0f"], [5, 4, 4, 1, 1, 1], k=len(here))
        rows = [(w, b, code) for w, b, code in zip(here[::2], here[1::2], codes, strict=False)]
        if len(here) % 2:
            rows.append((here[-1], None, rng.choice(["bye", "bye", "excused"])))
        rounds.append((number, rows))
    games = pd.DataFrame(
        [(number, *row) for number, rows in rounds for row in rows], columns=["round", "white", "black", "result"]
    )
    players = pd.DataFrame({"player": ids, "rating": rng.sample(range(1000, 2400), len(ids))})
    season = kf.Season(games, players, [number for number, _ in rounds])
    present = rng.sample(ids, rng.randint(0, len(ids)))
    gap = rng.choice([None, None, 1, 3, 6])
    ranking = kf.score(season, "knsb").sort_values("rank")["player"]
    state = State([player for player in ranking if player in present], len(rounds) + 1, gap).remember(rounds)
    return season, state, {"present": present, "rematch_gap": "season" if gap is None else gap}


def pairs_of(sheet: pd.DataFrame) -> tuple[str | None, list[frozenset]]:
    games, alone = sheet[sheet["black"].notna()], sheet[sheet["result"] == "bye"]
    bye = alone["white"].iloc[-1] if len(alone) else None
    return bye, [frozenset(one) for one in zip(games["white"], games["black"], strict=True)]


def as_cheap(seed: int) -> bool:
    """Return whether the pairing of a random state is as cheap as networkx' and has its bye."""
    season, state, wishes = drawn(seed)
    bye, pairs = pairs_of(pair(season, "knsb", **wishes))
    wanted = state.best()
    complete = sorted(player for one in pairs for player in one) == sorted(state.line(bye))
    return complete and bye == wanted[0] and state.total(bye, pairs) == state.total(*wanted)


def as_good_as_any(seed: int) -> bool:
    """Return whether no pairing of a small random state is better; every second one has forbidden pairs."""
    season, state, wishes = drawn(seed, most=8)
    rng = random.Random(seed)
    pairs = [(one, other) for i, one in enumerate(state.order) for other in [None, *state.order[:i]]]
    wishes["forbidden"] = [one for one in pairs if seed % 2 and rng.random() < 0.4]
    state.apart = set(map(frozenset, wishes["forbidden"]))
    wanted = state.best_of_all()
    try:
        bye, found = pairs_of(pair(season, "knsb", **wishes))
    except kf.PairingError:
        return wanted is None
    return wanted == (
        state.repeats(found),
        state.candidates().index(bye),
        state.total(bye, found),
        state.age(found),
    )


def avoidable(golden: dict) -> Iterator[dict[str, int]]:
    """Yield what could have been avoided in the rounds of a golden state, for every case and two gaps."""
    season, number = season_of(golden), last_round(golden) + 1
    for case in golden["cases"]:
        rules = kf.rules_from_chesspairing(case["options"])
        for gap in {gap_of(case["options"]), "season"}:
            wishes = {"roster_round": golden["currentRound"] or None, "rematch_gap": gap, "byes": byes_of(golden)}
            sheet = pair(season, rules, **wishes)
            given = sheet[sheet["black"].isna() & sheet["white"].isin(wishes["byes"])].index
            sheet = sheet.drop(given)
            ranks = {
                player: rank
                for side in ("white", "black")
                for player, rank in zip(sheet[side], sheet[f"{side}_rank"], strict=True)
                if isinstance(player, str)
            }
            order = sorted(ranks, key=lambda player: ranks[player])
            state = State(order, number, None if gap == "season" else gap).remember(goldens.rounds_of(golden))
            yield _avoided(state, *pairs_of(sheet))


def _avoided(state: State, bye: str | None, pairs: list[frozenset]) -> dict[str, int]:
    made = state.repeats(pairs)
    fewest = {other: _fewest_repeats(state, other) for other in ([bye] if made == 0 else state.candidates())}
    least = min(fewest.values(), default=0)
    had = {player: state.byes.get(player, 0) for player in state.order}
    needless = 0
    if bye is not None and had[bye] > min(had.values()):
        better = [player for player in state.order if had[player] < had[bye]]
        needless = int(any(_fewest_repeats(state, player) <= made for player in better))
    return {
        "repeats": made,
        "avoidable given the bye": made - fewest[bye],
        "avoidable over all byes": made - least,
        "needless second byes": needless,
    }


def _fewest_repeats(state: State, bye: str | None) -> int:
    """Return the least number of repeats without `bye`: all pairs less the most new ones."""
    line, fresh = state.line(bye), nx.Graph()
    fresh.add_edges_from(
        (one, other) for j, other in enumerate(line) for one in line[:j] if not state.repeat(one, other)
    )
    return len(line) // 2 - len(nx.max_weight_matching(fresh, maxcardinality=True))


def longest_run(colours: str) -> int:
    """Return how often one colour comes in a row."""
    run = longest = int(bool(colours))
    for before, now in pairwise(colours):
        run = run + 1 if before == now else 1
        longest = max(longest, run)
    return longest
