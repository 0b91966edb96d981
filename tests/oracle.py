"""A slow scorer written from the rules alone: dictionaries, `Fraction`, no numpy, no code of the kernel."""

from __future__ import annotations

import math
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


@dataclass
class Table:
    """One table: players in rank order with exact scores."""

    order: list[str]
    scores: dict[str, Fraction]
    outcome: str
    steps: int
    cycle: int = 1
    values: dict[str, Fraction] = field(default_factory=dict)


def half_away(x: Fraction) -> int:
    return math.floor(abs(x) + Fraction(1, 2)) * (1 if x >= 0 else -1)


def go_round(x: float) -> int:
    whole = math.trunc(x)
    return whole + int(math.copysign(1, x)) if abs(x - whole) >= 0.5 else whole


class Oracle:
    def __init__(self, players, rounds, rules: Rules, roster_round=None):
        """`rounds` is a list of (number, [(white, black or None, result)])."""
        self.rules = rules
        self.rounds = rounds
        last = max((number for number, _ in rounds), default=0)
        if not roster_round:
            roster_round = last + (rules.roster == "joined-next")
        self.roster = [
            p
            for p in players
            if p.joined <= roster_round
            and not (rules.withdrawn == "void" and p.left is not None and p.left < roster_round)
        ]
        self.roster.sort(key=lambda p: (-p.rating, p.name, p.id))
        self.by_id = {p.id: p for p in self.roster}
        self.start = [p.id for p in self.roster]
        self.claims = [self._claims(number, rows) for number, rows in rounds]

    # --- who claims what in which round, before any value number

    def _claims(self, number, rows):
        """Return {player: (outcome, opponent or None)} of one round."""
        claims = {}
        for white, black, result in rows:
            if black is None:
                claims[white] = (result, None)
            else:
                outcomes = GAME_CODES[result]
                for me, other, outcome in ((white, black, outcomes[0]), (black, white, outcomes[1])):
                    claims[me] = (outcome, other) if other in self.by_id else ("unfinished", None)
        for p in self.roster:
            gone = self.rules.withdrawn == "keep" and p.left is not None and number > p.left
            if p.id not in claims:
                if p.joined > 1 and number < p.joined:
                    claims[p.id] = ("handicap", None)
                else:
                    claims[p.id] = ("nothing" if gone else "absent", None)
            elif gone and claims[p.id][1] is None and claims[p.id][0] != "unfinished":
                claims[p.id] = ("nothing", None)
        return claims

    def value(self, rank: int) -> int:
        base = self.rules.value_number_base
        return (len(self.roster) if base is None else base) - (rank - 1) * self.rules.value_number_step

    def pay(self, outcome, ordinal, own_rank, opponent_rank) -> int:
        """Half points of one claim."""
        r = self.rules
        table = r.awards
        award = next((table[name] for name in fallback_chain(outcome) if name in table), None)
        if award is None:
            return 0
        if award.counts_as_absence and r.absence_limit > 0 and ordinal > r.absence_limit:
            return 0
        if award.of == "fixed":
            value = 1
        else:
            value = self.value(opponent_rank if award.of == "opponent" else own_rank)
        halvings = ordinal - 1 if r.absence_decay and award.counts_as_absence else 0
        if r.decay_rounding == "once":
            share = award.amount / 2**halvings
            halvings = 0
        else:
            share = award.amount
        if r.arithmetic == "float64":
            units = go_round(float(value) * float(share) * 2)
        else:
            units = half_away(value * share * 2)
        return units >> min(halvings, 63)

    def absence(self, outcome) -> bool:
        table = self.rules.awards
        award = next((table[name] for name in fallback_chain(outcome) if name in table), None)
        return award is not None and award.counts_as_absence

    def add_round(self, units, counters, claims, rank):
        for me in self.start:
            outcome, other = claims[me]
            if self.absence(outcome):
                counters[me] += 1
            units[me] += self.pay(outcome, counters[me], rank[me], rank.get(other, 0))

    def own(self, rank):
        if self.rules.own_value == "none":
            return dict.fromkeys(self.start, 0)
        return {me: 2 * self.value(rank[me]) for me in self.start}

    def ranked(self, units):
        position = {me: i for i, me in enumerate(self.start)}
        return sorted(self.start, key=lambda me: (-units[me], position[me]))

    def table(self) -> Table:
        if not self.rounds:
            values = {me: Fraction(self.value(i)) for i, me in enumerate(self.start, 1)}
            return Table(self.start, dict.fromkeys(self.start, Fraction(0)), "direct", 0, 1, values)
        return self.frozen() if self.rules.recalculation == "frozen" else self.fixed_point()

    def frozen(self) -> Table:
        units, counters, order = dict.fromkeys(self.start, 0), dict.fromkeys(self.start, 0), self.start
        for claims in self.claims:
            rank = {me: i for i, me in enumerate(order, 1)}
            self.add_round(units, counters, claims, rank)
            order = self.ranked(units)
        rank = {me: i for i, me in enumerate(order, 1)}
        own = self.own(rank)
        units = {me: units[me] + own[me] for me in units}
        values = {me: Fraction(self.value(rank[me])) for me in rank}
        return Table(
            self.ranked(units), {me: Fraction(u, 2) for me, u in units.items()}, "direct", 1, 1, values
        )

    def image(self, order):
        """Return the half points of the table valued by `order`."""
        rank = {me: i for i, me in enumerate(order, 1)}
        units, counters = self.own(rank), dict.fromkeys(self.start, 0)
        for claims in self.claims:
            self.add_round(units, counters, claims, rank)
        return units

    def fixed_point(self) -> Table:
        r = self.rules
        if not self.start:
            return Table([], {}, "converged", 1)
        allowed = r.max_iterations or (20 if r.on_cycle == "average-two" else 2000)
        orders, tables = [self.start], []
        outcome, cycle = "cap", 1
        while len(tables) < allowed:
            tables.append(self.image(orders[-1]))
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
        total = {me: Fraction(sum(t[me] for t in chosen), 2 * averaged) for me in self.start}
        if r.on_cycle == "average-two":
            total = {me: Fraction(half_away(2 * x), 2) for me, x in total.items()}
        values = {
            me: Fraction(sum(self.value(o.index(me) + 1) for o in inputs), averaged) for me in self.start
        }
        return Table(self.ranked(total), total, outcome, len(tables), cycle, values)
