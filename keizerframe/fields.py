"""The kinds of fields a rule set has: how each is read, checked and written."""

from __future__ import annotations

import dataclasses
import json
import math
import numbers
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any


@dataclass(frozen=True, kw_only=True)
class FieldKind:
    """How a field is read from and written to JSON.

    Parameters
    ----------
    default
        The value when nothing is given.
    read
        Return the exact value, or raise ValueError saying what would be right.
    read_lenient
        The same, as the documented scorer reads it; ValueError = it would ignore the value.
    write
        Return the JSON value.
    """

    default: Any
    read: Callable[[Any], Any]
    read_lenient: Callable[[Any], Any]
    write: Callable[[Any], Any] = lambda value: value


def simplest_fraction(value: float) -> Fraction:
    """Return the fraction with the smallest denominator that rounds to this float.

    Examples
    --------
    >>> simplest_fraction(0.6666666666666666), simplest_fraction(0.35)
    (Fraction(2, 3), Fraction(7, 20))
    """
    if value < 0:
        return -simplest_fraction(-value)
    exact = Fraction(value)
    below = (Fraction(math.nextafter(value, -math.inf)) + exact) / 2
    above = (Fraction(math.nextafter(value, math.inf)) + exact) / 2
    candidate = Fraction(0) if value == 0 else _simplest_between(below, above)
    return candidate if float(candidate) == value else exact


def _simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """Return the fraction of least denominator in the open interval (low, high), low >= 0."""
    whole_part = low.numerator // low.denominator
    if whole_part + 1 < high:
        return Fraction(whole_part + 1)
    if low == whole_part:
        # Nothing between low and the next integer but whole_part + 1/n: the smallest n that fits.
        n = (1 / (high - whole_part)).__floor__() + 1
        return whole_part + Fraction(1, n)
    return whole_part + 1 / _simplest_between(1 / (high - whole_part), 1 / (low - whole_part))


def read_share(value: Any) -> Fraction:
    """Return an exact fraction from a number or text such as ``"1/6"``, ``"0.35"`` or ``"35%"``."""
    if isinstance(value, Fraction):
        return value
    if isinstance(value, str):
        stripped = value.strip()
        try:
            if stripped.endswith("%"):
                return Fraction(stripped[:-1].strip()) / 100
            return Fraction(stripped)
        except (ValueError, ZeroDivisionError):
            raise ValueError('must be a share such as 1/6, 0.35 or "35%"') from None
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise ValueError('must be a share such as 1/6, 0.35 or "35%"')
    if isinstance(value, numbers.Integral):
        return Fraction(int(value))
    if not math.isfinite(value):
        raise ValueError("must be a finite number")
    return simplest_fraction(float(value))


def write_share(value: Fraction) -> int | str:
    """Return a share as JSON holds it: an integer, or text."""
    return int(value) if value.denominator == 1 else str(value)


def _read_whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise ValueError("must be a whole number")
    number: Any = value
    if number != number // 1:
        raise ValueError("must be a whole number")
    # Beyond it no score would fit either.
    if abs(number) >= 2**63:
        raise ValueError("must be below 2^63")
    return int(number)


def _at_least(least: int) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        number = _read_whole(value)
        if number < least:
            raise ValueError(f"must be at least {least}")
        return number

    return read


def _optional(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else read(value)


def _read_flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("must be true or false")
    return value


def _read_text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("must be text")
    return value


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise ValueError("not a number")
    return float(value)


def _lenient_share(value: Any) -> Fraction:
    return simplest_fraction(_number(value))


def _lenient_whole(value: Any) -> int:
    return int(_number(value))


def _lenient_points(value: Any) -> Fraction:
    return Fraction(int(_number(value)))


def _field(kind: FieldKind, default: Any = dataclasses.MISSING) -> Any:
    given = kind.default if default is dataclasses.MISSING else default
    return dataclasses.field(default=given, metadata={"kind": kind})


def share(default: int | str) -> Any:
    """A share of a value number."""
    return _field(FieldKind(default=Fraction(default), read=read_share, read_lenient=_lenient_share, write=write_share))


def points(default: int) -> Any:
    """A number of points."""
    return share(default)


def optional_points(default: None) -> Any:
    """A number of points, or None."""
    return _field(
        FieldKind(
            default=default,
            read=_optional(read_share),
            read_lenient=_lenient_points,
            write=_optional(write_share),
        )
    )


def whole(default: int) -> Any:
    """A whole number of any sign."""
    return _field(FieldKind(default=default, read=_read_whole, read_lenient=_lenient_whole))


def optional_whole(default: None) -> Any:
    """A whole number, or None."""
    return _field(FieldKind(default=default, read=_optional(_read_whole), read_lenient=_lenient_whole))


def natural(default: int) -> Any:
    """A whole number from 0."""
    return _field(FieldKind(default=default, read=_at_least(0), read_lenient=lambda v: max(0, _lenient_whole(v))))


def positive(default: None) -> Any:
    """A whole number from 1, or None."""
    return _field(FieldKind(default=default, read=_optional(_at_least(1)), read_lenient=_lenient_whole))


def flag(default: bool) -> Any:
    """True or False."""
    return _field(FieldKind(default=default, read=_read_flag, read_lenient=_read_flag))


def text() -> Any:
    """Free text that does not take part in comparisons."""
    kind = FieldKind(default="", read=_read_text, read_lenient=_read_text)
    return dataclasses.field(default="", compare=False, metadata={"kind": kind})


def choice(*values: str) -> Any:
    """One of several names; the first is the default (None until the rules are complete)."""

    def read(value: Any) -> str:
        if value is None:
            return values[0]
        if value not in values:
            raise ValueError(f"must be one of {', '.join(values)}")
        return str(value)

    return _field(FieldKind(default=values[0], read=read, read_lenient=read), default=None)


def custom(read: Callable[[Any], Any], write: Callable[[Any], Any], default: Any = None) -> Any:
    """A field with a reader and a writer of its own."""
    return _field(FieldKind(default=default, read=read, read_lenient=read, write=write))


def optional_share(least: Fraction | None = None) -> Any:
    """A share, or None; at or above `least`."""

    def read(value: Any) -> Fraction:
        number = read_share(value)
        if least is not None and number < least:
            raise ValueError(f"must be at least {least}")
        return number

    return custom(_optional(read), _optional(write_share))


def optional_natural() -> Any:
    """A whole number from 0, or None."""
    return custom(_optional(_at_least(0)), lambda value: value)


def read_shares(value: Any) -> tuple[Fraction, ...]:
    """Return a non-empty list of shares."""
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise ValueError('must be a list of numbers, such as ["4/5", "3/5", 0]')
    numbers_read = tuple(read_share(one) for one in value)
    if not numbers_read:
        raise ValueError("must not be empty; leave it out instead")
    return numbers_read


def optional_shares() -> Any:
    """A list of shares, or None."""
    return custom(_optional(read_shares), _optional(lambda value: [write_share(one) for one in value]))


def names(allowed: tuple[str, ...], default: tuple[str, ...] | None) -> Any:
    """A list of some of the allowed names, each once."""

    def read(value: Any) -> tuple[str, ...] | None:
        if value is None and default is None:
            return None
        parts = tuple(value.split("+")) if isinstance(value, str) else value
        if not isinstance(parts, list | tuple) or not all(isinstance(part, str) for part in parts):
            raise ValueError(f"must be a list of some of {', '.join(allowed)}, each once")
        parts = tuple(parts)
        if not parts or len(set(parts)) < len(parts) or not set(parts) <= set(allowed):
            raise ValueError(f"must be a list of some of {', '.join(allowed)}, each once")
        return parts

    return custom(read, lambda value: None if value is None else list(value), default)


def toml(value: Any) -> str:
    """Return a JSON value as TOML: scalars and lists are written alike, tables inline."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(str(key))} = {toml(one)}" for key, one in value.items()) + " }"
    # The one letter that JSON writes as it is and TOML does not allow.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def snake(key: str) -> str:
    """Return a camelCase key as snake_case."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in key)


def save(content: str, path: str | Path | None) -> str:
    """Write text to a path if there is one, and return it."""
    if path is not None:
        Path(path).write_text(content, encoding="utf-8")
    return content.rstrip("\n")


def read_leniently(
    values: Mapping[str, Any], known: Mapping[str, FieldKind], spellings: Iterable[str]
) -> dict[str, Any]:
    """Drop what the documented scorer would ignore, truncate what it truncates."""
    kept = {}
    for name, value in values.items():
        if name in spellings:
            if isinstance(value, bool):
                kept[name] = value
        else:
            try:
                kept[name] = known[name].read_lenient(value)
            except (ValueError, OverflowError):
                continue
    return kept
