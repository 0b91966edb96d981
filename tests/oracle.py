"""A slow scorer written from the rules alone: dictionaries, `Fraction`, no numpy, no code of the kernel."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, field
from fractions import Fraction

from keizerframe.results import GAME_CODES, fallback_chain
from keizerframe.rules import Rules


@dataclass
class Player:
    id: str
    name: str
    rating: int = 0
    joined: int = 0
    left: int | None = None
    start: int | None = None


@dataclass
class Table:
    """One table: players in rank order with exact scores."""

    order: list[str]
    scores: dict[str, Fraction]
    outcome: str
    steps: int
    cycle: int = 1
    values: dict[str, Fraction] = field(default_factory=dict)
    inputs: list[list[str]] = field(default_factory=list)


def half_away(x: Fraction) -> int:
    return math.floor(abs(x) + Fraction(1, 2)) * (1 if x >= 0 else -1)


def go_round(x: float) -> int:
    whole = math.trunc(x)
    return whole + int(math.copysign(1, x)) if abs(x - whole) >= 0.5 else whole


def rating_order(rules):
    """Return a sort key for the start order."""
    behind = [key for key in rules.value_ties if key in ("name", "id")] or ["name", "id"]
    keys = dict.fromkeys(["rating", *behind, "id"])
    return lambda p: [-p.rating if key == "rating" else getattr(p, key) for key in keys]


class Oracle:
    def __init__(self, players, rounds, rules: Rules, roster_round=None, parts=None):
        """`rounds` is a list of (number, [(white, black or None, result)]); `parts` a dict of round to part."""
        self.rules = rules
        self.rounds = rounds
        self.parts = parts or {}
        self.players = players
        self.given_round = roster_round
        last = max((number for number, _ in rounds), default=0)
        if not roster_round:
            roster_round = last + (rules.roster == "joined-next")
        self.left = {p.id for p in players if p.left is not None and p.left < roster_round}
        self.roster = [
            p
            for p in players
            if (rules.roster == "all" or p.joined <= roster_round)
            and not (rules.withdrawn != "keep" and p.id in self.left)
        ]
        by_rating = rating_order(rules)
        far = 10**9
        start = sorted(
            self.roster,
            key=lambda p: ((p.start or far) if rules.start_order == "given" else 0, by_rating(p)),
        )
        self.by_id = {p.id: p for p in self.roster}
        self.start = [p.id for p in start]
        self.claims = [self._claims(number, rows) for number, rows in rounds]

    def tie_key(self, me, ties):
        p = self.by_id[me]
        keys = {"rating": -p.rating, "name": p.name, "id": p.id, "start": self.start.index(me)}
        return [keys[key] for key in ties] + [p.id]

    # --- who claims what in which round, before any value number

    def _claims(self, number, rows):
        """Return {player: (outcome, opponent or None)} of one round."""
        r, claims, spoken = self.rules, {}, set()
        for white, black, result in rows:
            if black is None:
                claims[white] = (result, None)
                continue
            for me, other, outcome in ((white, black, 0), (black, white, 1)):
                claims[me] = self.against(other, GAME_CODES[result][outcome])
        for p in self.roster:
            gone = r.withdrawn == "keep" and p.left is not None and number > p.left
            spoken = claims.get(p.id)
            if spoken is None:
                early = p.joined > 1 and number < p.joined and r.roster != "all"
                missing = "absent" if r.missing_row == "absent" else "nothing"
                claims[p.id] = ("handicap" if early else "nothing" if gone else missing, None)
                if gone and early:
                    claims[p.id] = ("nothing", None)
            elif gone and spoken[1] is None and spoken[0] not in ("unfinished", "outside"):
                claims[p.id] = ("nothing", None)
        return claims

    def against(self, other, outcome):
        """Return what a game outcome becomes against this opponent."""
        if other in self.by_id:
            return outcome, other
        if self.rules.withdrawn == "share" and other in self.left:
            wins, draws = ("win", "forfeit-win"), ("draw", "adjourned")
            return ("left-win" if outcome in wins else "left-draw" if outcome in draws else "left-other"), None
        return "outside", None

    def value(self, rank) -> Fraction:
        r, n = self.rules.values_from or self.rules, len(self.roster)
        if isinstance(r.value_list, tuple):
            return r.value_list[rank - 1]
        if r.value_list == "normalised":
            return self.normalised(r.value_ratio, n)[rank - 1]
        if r.value_ratio is not None:
            top = (n - 1) * r.value_ratio / (r.value_ratio - 1)
            base = math.floor(top) if r.value_ratio_rounding == "floor" else round(top)
        elif r.value_per_player is not None:
            base = half_away(r.value_per_player * n)
        else:
            base = n if r.value_number_base is None else r.value_number_base
        drop = 2 * ((rank - 1) // 2) if r.value_list == "pairs" else rank - 1
        return Fraction(base - drop * r.value_number_step)

    @staticmethod
    def normalised(ratio, n):
        def f32(x):
            return struct.unpack("f", struct.pack("f", x))[0]

        if n < 2:
            return [Fraction(ratio)] * n
        q = float(ratio)
        s = f32(f32(q - 1) / f32(n - 1))
        d = 0
        while not s > 10.0**-d:
            d += 1
        return [Fraction(str(round(f32(q - f32((k - 1) * s)), d))) for k in range(1, n + 1)]

    def stage(self, number) -> Rules:
        """Return the rules that hold for the rows of a round."""
        rules = self.rules
        for first, fields in sorted(self.rules.changes.items()):
            if number >= first:
                rules = rules.replace(changes={}, **fields)
        return rules

    def award(self, outcome, number):
        table = self.stage(number).awards
        return next((table[name] for name in fallback_chain(outcome) if name in table), None)

    def counted(self, outcome):
        award = self.award(outcome, 1)
        return award is not None and award.counts_as_absence

    def pay(self, claim, number, rank) -> Fraction:
        """Return the points of one claim: (outcome, me, opponent, ordinal, nth, paid at all)."""
        outcome, me, other, ordinal, nth, allowed = claim
        r = self.stage(number)
        award = self.award(outcome, number)
        if award is None or not allowed:
            return Fraction(0)
        if award.counts_as_absence and r.absence_limit > 0 and ordinal > r.absence_limit:
            return Fraction(0)
        if award.cap is not None and nth > award.cap:
            return Fraction(0)
        if award.rounds is not None and not award.rounds[0] <= number <= award.rounds[1]:
            return Fraction(0)
        if award.of == "opponent" and other is None:
            return Fraction(0)
        value = Fraction(1) if award.of == "fixed" else self.value(rank[other if award.of == "opponent" else me])
        halvings = ordinal - 1 if r.absence_decay and award.counts_as_absence else 0
        return self.item(value, award.amount, halvings)

    def item(self, value, share, halvings=0) -> Fraction:
        r = self.rules
        if r.arithmetic == "float32":
            single = struct.unpack("f", struct.pack("f", float(value) * float(share)))[0]
            return Fraction(single) / 2**halvings
        grains = {"half": 2, "whole": 1, "none": None}[r.rounding]
        if grains is None or r.rounding_of == "total":
            return value * share / 2**halvings
        if r.arithmetic == "float64":
            units = go_round(float(value) * float(share) * grains)
        elif r.decay_rounding == "once":
            return Fraction(self.rounded(value * share / 2**halvings * grains), grains)
        else:
            units = self.rounded(value * share * grains)
        if r.arithmetic == "float64" and r.decay_rounding == "once":
            return Fraction(go_round(float(value) * float(share) * grains / 2**halvings), grains)
        return Fraction(units >> min(halvings, 63), grains)

    def rounded(self, x) -> int:
        return round(x) if self.rules.rounding_ties == "even" else half_away(x)

    def total(self, points) -> Fraction:
        r = self.rules
        if r.arithmetic == "float32":
            return Fraction(struct.unpack("f", struct.pack("f", float(points)))[0])
        if r.rounding_of == "total" and r.rounding != "none":
            grains = 2 if r.rounding == "half" else 1
            return Fraction(self.rounded(points * grains), grains)
        return points

    def numbered(self):
        """Return per round the claims (outcome, me, opponent, ordinal, nth, allowed)."""
        ordinal, nth, begun, listed = {}, {}, set(), []
        for (number, _), claims in zip(self.rounds, self.claims, strict=True):
            part = self.parts.get(number)
            row = []
            for me in self.start:
                outcome, other = claims[me]
                played = {"win", "draw", "loss", "left-win", "left-draw"}
                if outcome in played:
                    begun.add(me)
                mine = 0
                if self.counted(outcome):
                    key = me, part if self.rules.limit_scope == "part" else None
                    ordinal[key] = mine = ordinal.get(key, 0) + 1
                allowed = not (self.rules.absence_needs_game and self.counted(outcome) and me not in begun)
                scopes = {a.cap_scope for _, s in self.rules.epochs if (a := s.award(outcome)).cap}
                key = me, outcome if allowed else None, part if scopes == {"part"} else None
                nth[key] = nth.get(key, 0) + 1
                row.append((outcome, me, other, mine, nth[key], allowed))
            listed.append((number, row))
        return listed

    # --- tables

    def own(self, rank, table) -> dict[str, Fraction]:
        r = self.rules
        if r.own_value == "none":
            return dict.fromkeys(self.start, Fraction(0))
        fades = r.own_value_fades or (Fraction(1),)
        share = fades[min(max(table, 1), len(fades)) - 1]
        start = {me: i for i, me in enumerate(self.start, 1)}
        return {me: self.item(self.value((start if r.own_value == "start" else rank)[me]), share) for me in self.start}

    def ranked(self, points):
        return sorted(self.start, key=lambda me: (-points[me], self.tie_key(me, self.rules.value_ties)))

    def sources(self, table):
        """Return the ranking that values each round's rows in this table, and the own value number."""
        r = self.rules
        own = table - 1
        if r.recalculation == "static":
            return [0] * table, 0
        if r.recalculation == "frozen":
            return list(range(table)), table
        if r.recalculation == "two-ages":
            return [max(table - 2, 0)] * (table - 1) + [table - 1], own
        if r.freeze_after is not None:
            return [min(table - 1, r.freeze_after)] * table, min(own, r.freeze_after)
        return [table - 1] * table, own

    def sums(self, ranks, own_rank, table, *, with_own=True):
        """Return the totals of one table, its r-th round valued by ranks[r]."""
        points = self.own(own_rank, table) if with_own else dict.fromkeys(self.start, Fraction(0))
        for (number, row), rank in zip(self.numbered()[:table], ranks, strict=True):
            for claim in row:
                points[claim[1]] += self.pay(claim, number, rank)
        return {me: self.total(x) for me, x in points.items()}

    def table(self) -> Table:
        if not self.rounds or not self.start:
            rank = {me: i for i, me in enumerate(self.start, 1)}
            own = self.own(rank, 1) if self.rules.empty_season == "own" else dict.fromkeys(self.start, Fraction(0))
            values = {me: self.value(rank[me]) for me in rank}
            return Table(self.start, own, "direct", 0, 1, values)
        if self.rules.values_from is not None:
            return self.shadow()
        return self.fixed_point() if self.rules.recalculation == "fixed-point" else self.one_pass()

    def ranks(self, order):
        return {me: i for i, me in enumerate(order, 1)}

    def history(self):
        """Return the orders after 0, 1, ... rounds."""
        orders = [self.start]
        for table in range(1, len(self.rounds) + 1):
            sources, own = self.sources(table)
            at_end = self.rules.recalculation == "frozen"
            own_rank = self.ranks(orders[min(own, table - 1)])
            points = self.sums([self.ranks(orders[s]) for s in sources], own_rank, table, with_own=not at_end)
            orders.append(self.ranked(points))
        return orders

    def at_end(self, orders):
        """Return the last table valued by a history of orders, and the value numbers it used."""
        last = len(self.rounds)
        sources, own = self.sources(last)
        rank = self.ranks(orders[own])
        points = self.sums([self.ranks(orders[s]) for s in sources], rank, last)
        return points, {me: self.value(rank[me]) for me in self.start}

    def one_pass(self) -> Table:
        points, values = self.at_end(self.history())
        return Table(self.ranked(points), points, "direct", 1, 1, values)

    def shadow(self) -> Table:
        """Value by the rankings of the other list; its order is the rank, ours the place."""
        other = Oracle(self.players, self.rounds, self.rules.values_from, self.given_round, self.parts)
        if self.rules.recalculation == "fixed-point":
            end = other.fixed_point()
            tables = [
                self.sums([self.ranks(o)] * len(self.rounds), self.ranks(o), len(self.rounds)) for o in end.inputs
            ]
            points = {me: Fraction(sum(t[me] for t in tables), len(tables)) for me in self.start}
            return Table(end.order, points, end.outcome, end.steps, end.cycle, end.values)
        points, values = self.at_end(other.history())
        return Table(other.one_pass().order, points, "direct", 1, 1, values)

    def fixed_point(self) -> Table:
        r, last = self.rules, len(self.rounds)
        allowed = r.max_iterations or (20 if r.on_cycle == "average-two" else 2000)
        orders, tables = [self.start], []
        outcome, cycle = "cap", 1
        while len(tables) < allowed:
            rank = self.ranks(orders[-1])
            tables.append(self.sums([rank] * last, rank, last))
            following = self.ranked(tables[-1])
            if following == orders[-1]:
                outcome = "converged"
            elif r.on_cycle == "average-two":
                if len(orders) > 1 and following == orders[-2]:
                    outcome, cycle = "cycle", 2
            elif following in orders:
                outcome, cycle = "cycle", len(orders) - orders.index(following)
            orders.append(following)
            if outcome != "cap":
                break
        averaged = cycle if r.on_cycle != "stop" else 1
        chosen, inputs = tables[-averaged:], orders[-averaged - 1 : -1]
        total = {me: Fraction(sum(t[me] for t in chosen), averaged) for me in self.start}
        if r.on_cycle == "average-two":
            total = {me: Fraction(half_away(2 * x), 2) for me, x in total.items()}
        values = {me: Fraction(sum(self.value(o.index(me) + 1) for o in inputs), averaged) for me in self.start}
        return Table(self.ranked(total), total, outcome, len(tables), cycle, values, inputs)
