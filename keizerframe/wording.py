"""A rule set in plain sentences, in the order a club regulation has them.

The sentences are data (``wording.toml``, one table for all languages); here is only which of them a rule
set needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from keizerframe.voice import Voice

if TYPE_CHECKING:
    from keizerframe.rules import Rules

# Sentence, field of the share.
_GAMES = (
    ("win", "win_fraction"),
    ("draw", "draw_fraction"),
    ("loss", "loss_fraction"),
    ("forfeit-win", "forfeit_win_fraction"),
    ("forfeit-loss", "forfeit_loss_fraction"),
    ("double-forfeit", "double_forfeit_fraction"),
)
# Sentence, field of the share, field of the points that replace it.
_BYES = (
    ("bye", "bye_value_fraction", "bye_fixed_value"),
    ("half-bye", "half_bye_fraction", "half_bye_fixed_value"),
    ("zero-bye", "zero_bye_fraction", "zero_bye_fixed_value"),
)
_ABSENCES = (
    ("absent", "absent_penalty_fraction", "absent_fixed_value"),
    ("excused", "excused_absent_fraction", "excused_absent_fixed_value"),
)
_CLUB = (("club", "club_commitment_fraction", "club_commitment_fixed_value"),)

#: A topic, which a rule set has one sentence on at most, and that sentence.
_Line = tuple[str, str]


def describe(rules: Rules, lang: str = "en") -> str:
    """Return `rules` in plain sentences, one a line: what `Rules.describe` says.

    Raises
    ------
    UnknownNameError
        If there are no sentences in that language.
    """
    voice = Voice(lang, "wording")
    lines = [sentence for _, sentence in _all_topics(rules, voice)]
    if rules.label:
        lines.insert(0, voice.say("label", label=rules.label))
    if rules.source:
        lines.append(voice.say("source", source=rules.source))
    return "\n".join(lines)


def _numbers(voice: Voice, values: Iterable[Any]) -> str:
    texts = [voice.number(value) for value in values]
    # A comma between numbers is no longer a separator once the decimals have one.
    return ("; " if any("," in text for text in texts) else ", ").join(texts)


def _pay(voice: Voice, of: str, amount: Any) -> str:
    """Return what an award pays: a share of a value number, or points."""
    exact = Fraction(amount)
    if exact == 0:
        return voice.say("pay.nothing")
    if of == "fixed":
        single = abs(exact) < 2 if voice.lang == "fr" else abs(exact) == 1
        return voice.say("pay.point" if single else "pay.points", points=voice.number(exact))
    if exact == 1:
        return voice.say(f"pay.{of}.full")
    return voice.say(f"pay.{of}.{'times' if exact.denominator == 1 else 'share'}", share=exact)


def _keys(voice: Voice, names: Iterable[str]) -> str:
    return voice.say("then").join(voice.say(f"key.{name}") for name in names)


def _all_topics(rules: Rules, voice: Voice) -> Iterator[_Line]:
    yield from _scoring(rules, voice)
    yield from _changes(rules, voice)
    if rules.values_from is not None:
        yield from _second_list(rules, voice)
    yield from _settling(rules, voice)


def _scoring(rules: Rules, voice: Voice) -> Iterator[_Line]:
    """Yield what a round earns: all that may change in mid-season."""
    for section in (_value_numbers, _own_value, _games, _byes, _absences, _others, _extra):
        yield from section(rules, voice)


def _settling(rules: Rules, voice: Voice) -> Iterator[_Line]:
    """Yield how the table is made of it."""
    for section in (_rounding, _order, _cycles):
        yield from section(rules, voice)
    yield "roster", voice.say(f"roster.{rules.roster}")
    yield "empty_season", voice.say(f"empty_season.{rules.empty_season}")


def _value_numbers(rules: Rules, voice: Voice) -> Iterator[_Line]:
    ratio = None if rules.value_ratio is None else voice.number(rules.value_ratio)
    if rules.value_list == "normalised":
        yield "base", voice.say("base.normalised", ratio=ratio)
        return
    if isinstance(rules.value_list, tuple):
        yield "base", voice.say("base.list", values=_numbers(voice, rules.value_list))
        return
    if rules.value_per_player is not None:
        yield "base", voice.say("base.per_player", factor=voice.number(rules.value_per_player))
    elif ratio is not None:
        yield "base", voice.say("base.ratio", ratio=ratio)
        yield "ratio_rounding", voice.say(f"ratio_rounding.{rules.value_ratio_rounding}")
    elif rules.value_number_base is not None:
        yield "base", voice.say("base.given", base=rules.value_number_base)
    else:
        yield "base", voice.say("base.players")
    if rules.value_list == "pairs":
        yield "step", voice.say("step.pairs", step=2 * rules.value_number_step)
    else:
        yield "step", voice.say("step.each", step=rules.value_number_step)


def _own_value(rules: Rules, voice: Voice) -> Iterator[_Line]:
    yield "own", voice.say(f"own.{rules.own_value}")
    if rules.own_value != "none" and rules.own_value_fades is not None:
        yield "own_fades", voice.say("own_fades", shares=", ".join(map(str, rules.own_value_fades)))
    yield "recalculation", voice.say(f"recalculation.{rules.recalculation}")
    if rules.recalculation == "frozen" and rules.own_value != "none":
        yield "own_last", voice.say("own_last")
    if rules.freeze_after is not None:
        yield "freeze_after", voice.say("freeze_after", round=rules.freeze_after)


def _games(rules: Rules, voice: Voice) -> Iterator[_Line]:
    for key, share in _GAMES:
        if key not in rules.extra:
            yield key, voice.say(key, pay=_pay(voice, "opponent", getattr(rules, share)))
    if "unfinished" not in rules.extra:
        yield "unfinished", voice.say("unfinished", pay=voice.say("pay.nothing"))


def _own_shares(rules: Rules, voice: Voice, awards: Iterable[tuple[str, str, str]]) -> Iterator[_Line]:
    for key, share, points in awards:
        if key in rules.extra:
            continue
        fixed = getattr(rules, points)
        pay = _pay(voice, "own", getattr(rules, share)) if fixed is None else _pay(voice, "fixed", fixed)
        yield key, voice.say(key, pay=pay)


def _byes(rules: Rules, voice: Voice) -> Iterator[_Line]:
    yield from _own_shares(rules, voice, _BYES)


def _absences(rules: Rules, voice: Voice) -> Iterator[_Line]:
    yield from _own_shares(rules, voice, _ABSENCES)
    limit = rules.absence_limit
    yield "limit", voice.say("limit.some" if limit else "limit.none", limit=limit)
    if limit or rules.absence_decay:
        yield "scope", voice.say(f"scope.{rules.limit_scope}")
    yield "exempt", voice.say("exempt")
    if rules.absence_decay:
        yield "decay", voice.say("decay")
        if rules.rounding != "none" or rules.decay_rounding != "once":
            yield "decay_rounding", voice.say(f"decay_rounding.{rules.decay_rounding}")
    if rules.absence_needs_game:
        yield "needs_game", voice.say("needs_game")
    yield "missing_row", voice.say(f"missing_row.{rules.missing_row}")


def _others(rules: Rules, voice: Voice) -> Iterator[_Line]:
    yield from _own_shares(rules, voice, _CLUB)
    yield "handicap", voice.say("handicap", pay=_pay(voice, "fixed", rules.late_join_handicap))
    yield "withdrawn", voice.say(f"withdrawn.{rules.withdrawn}", share=rules.withdrawn_share)


def _extra(rules: Rules, voice: Voice) -> Iterator[_Line]:
    for code, award in rules.extra.items():
        # An award of its own for a usual outcome is told as that outcome is.
        key = next((key for key in (code, f"extra.{code}") if voice.knows(key)), "extra.other")
        yield code, voice.say(key, code=code, pay=_pay(voice, award.of, award.amount))
        if award.cap is not None:
            times = voice.say("times.one" if award.cap == 1 else "times.more", times=award.cap)
            yield f"cap {code}", voice.say(f"cap.{award.cap_scope}", code=code, times=times)
        if award.rounds is not None:
            first, last = award.rounds
            yield f"window {code}", voice.say("window", code=code, first=first, last=last)
        # What refines an absence would be taken to count; of all else only the exception needs a word.
        if award.counts_as_absence or code.partition(":")[0] in ("absent", "excused"):
            yield f"counts {code}", voice.say("counts.yes" if award.counts_as_absence else "counts.no", code=code)


def _changes(rules: Rules, voice: Voice) -> Iterator[_Line]:
    before = rules.replace(changes={})
    for number, changed in sorted(rules.changes.items()):
        after = before.replace(**changed)
        old, new = (dict(_scoring(state, voice)) for state in (before, after))
        for topic, key, sentence in _differences(old, new, "change", "change_ends"):
            yield f"{topic} from {number}", voice.say(key, round=number, sentence=sentence)
        before = after


def _second_list(rules: Rules, voice: Voice) -> Iterator[_Line]:
    own = rules.replace(values_from=None)
    score_list, value_list = (dict(_all_topics(state, voice)) for state in (own, rules.values_from or own))
    found = list(_differences(score_list, value_list, "value_list", "value_list_lacks"))
    yield "values_from", voice.say("values_from.other" if found else "values_from.same")
    for topic, key, sentence in found:
        yield f"value list {topic}", voice.say(key, sentence=sentence)


def _differences(
    old: Mapping[str, str], new: Mapping[str, str], added: str, ended: str
) -> Iterator[tuple[str, str, str]]:
    """Yield topic, key to say it with, and sentence: what `new` says otherwise, then what it drops."""
    for topic, sentence in new.items():
        if old.get(topic) != sentence:
            yield topic, added, sentence
    for topic, sentence in old.items():
        if topic not in new:
            yield topic, ended, sentence


def _rounding(rules: Rules, voice: Voice) -> Iterator[_Line]:
    if rules.rounding == "none":
        yield "rounding", voice.say("rounding.none")
    else:
        unit = voice.say(f"unit.{rules.rounding}")
        yield "rounding", voice.say(f"rounding.{rules.rounding_of}", unit=unit)
        yield "rounding_ties", voice.say(f"rounding_ties.{rules.rounding_ties}")
    yield "arithmetic", voice.say(f"arithmetic.{rules.arithmetic}")


def _order(rules: Rules, voice: Voice) -> Iterator[_Line]:
    yield "start_order", voice.say(f"start_order.{rules.start_order}")
    yield "value_ties", voice.say("value_ties", keys=_keys(voice, rules.value_ties))
    if rules.place_ties is None or tuple(rules.place_ties) == tuple(rules.value_ties):
        yield "place_ties", voice.say("place_ties.same")
    else:
        yield "place_ties", voice.say("place_ties.other", keys=_keys(voice, rules.place_ties))


def _cycles(rules: Rules, voice: Voice) -> Iterator[_Line]:
    if rules.recalculation != "fixed-point":
        return
    yield "on_cycle", voice.say(f"on_cycle.{rules.on_cycle}")
    yield "max_iterations", voice.say("max_iterations", count=rules.iterations_allowed)
