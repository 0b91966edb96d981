"""Saying things in the languages of the clubs: templates are data, one table for all languages."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from keizerframe.errors import UnknownNameError

#: The languages there are sentences in.
LANGUAGES = ("en", "nl", "de", "fr")
Table = Mapping[str, Mapping[str, str]]


@cache
def table(name: str) -> Table:
    """Return a table of sentences: key -> language -> template.

    Examples
    --------
    >>> table("wording")["draw"]["nl"]
    'Remise levert {pay} op.'
    """
    found: Table = tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8"))
    return found


@dataclass(frozen=True, slots=True)
class Voice:
    """The sentences of one table in one language.

    Raises
    ------
    UnknownNameError
        If there are no sentences in that language.
    """

    lang: str
    name: str

    def __post_init__(self) -> None:
        """Refuse a language nobody wrote sentences in."""
        if self.lang not in LANGUAGES:
            raise UnknownNameError("language", self.lang, LANGUAGES)

    def say(self, key: str, **values: object) -> str:
        """Return the sentence `key` with its blanks filled in."""
        return table(self.name)[key][self.lang].format(**values)

    def knows(self, key: str) -> bool:
        """Say whether there is a sentence `key`."""
        return key in table(self.name)

    def decimal(self, text: str) -> str:
        """Return a number with the language's decimal sign."""
        return text if self.lang == "en" else text.replace(".", ",")

    def number(self, value: Any) -> str:
        """Return a number as people write it: a decimal where three places suffice, else a fraction.

        Examples
        --------
        >>> Voice("nl", "wording").number(Fraction(15, 2)), Voice("nl", "wording").number(Fraction(1, 3))
        ('7,5', '1/3')
        """
        exact = Fraction(value)
        if exact.denominator == 1 or 1000 % exact.denominator:
            return str(exact)
        return self.decimal(f"{float(exact):.3f}".rstrip("0"))

    def points(self, value: float, *, signed: bool = False) -> str:
        """Return points to two decimals, as short as they can be.

        Examples
        --------
        >>> Voice("de", "wording").points(-6.5, signed=True), Voice("en", "wording").points(38.0)
        ('-6,5', '38')
        """
        text = f"{value:+.2f}" if signed else f"{value:.2f}"
        text = text.rstrip("0").rstrip(".")
        return self.decimal("0" if text in ("-0", "+0") else text)
