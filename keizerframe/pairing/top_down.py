"""Pairing from the top down, swapping a partner where two may not meet yet: the reference's method."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from keizerframe.pairing.history import BLACK, WHITE, History

#: How much a player's preference for a colour weighs.
NONE, MILD, STRONG, ABSOLUTE = range(4)


def pairs_from_the_top(
    order: Sequence[int], may_meet: Callable[[int, int], bool]
) -> list[tuple[int, int, int | None, bool]]:
    """Pair neighbours; who may not meet his neighbour gets the first later player he may meet.

    Parameters
    ----------
    order
        The players in the order of the ranking, an even number.
    may_meet
        Whether two of them may play.

    Returns
    -------
    list of tuple
        Per board: the player, his opponent, whom the opponent changed places with (None = nobody), and
        whether they may not meet but had to.
    """
    line = list(order)
    boards: list[tuple[int, int, int | None, bool]] = []
    for i in range(0, len(line), 2):
        top, partner = line[i], line[i + 1]
        if may_meet(top, partner):
            boards.append((top, partner, None, False))
            continue
        later = next((k for k in range(i + 2, len(line)) if may_meet(top, line[k])), None)
        if later is None:
            boards.append((top, partner, None, True))
        else:
            line[i + 1], line[later] = line[later], line[i + 1]
            boards.append((top, line[i + 1], partner, False))
    return boards


def white_first(history: History, board: int, higher: int, lower: int) -> bool:
    """Return whether the higher-ranked of two players gets White.

    Parameters
    ----------
    history
        The rounds before.
    board
        The board's number, from 1: it decides while nobody has had a colour.
    higher, lower
        Two players by number, the higher-ranked first.
    """
    sequences = history.sequence(higher), history.sequence(lower)
    (weight, wish, balance), (other_weight, other_wish, other_balance) = map(_preference, sequences)
    if weight == other_weight == NONE:
        return board % 2 == 1
    if wish != other_wish:
        # Whoever has no wish takes what is left.
        return wish == WHITE if weight != NONE else other_wish == BLACK
    if weight == other_weight == ABSOLUTE and abs(balance) != abs(other_balance):
        mine = abs(balance) > abs(other_balance)
    elif weight != other_weight:
        mine = weight > other_weight
    else:
        for last, other_last in zip(reversed(sequences[0]), reversed(sequences[1]), strict=False):
            if last != other_last:
                return last == BLACK
        mine = True
    return (wish == WHITE) == mine


def _preference(colours: Sequence[int]) -> tuple[int, int, int]:
    """Return how much a player wants a colour, which one, and his balance."""
    if not colours:
        return NONE, 0, 0
    balance = sum(colours)
    fewer = BLACK if balance > 0 else WHITE
    if abs(balance) > 1:
        return ABSOLUTE, fewer, balance
    if len(colours) > 1 and colours[-1] == colours[-2]:
        return ABSOLUTE, -colours[-1], balance
    if balance:
        return STRONG, fewer, balance
    return MILD, -colours[-1], balance
