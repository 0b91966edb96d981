"""The choices a round leaves open."""

from __future__ import annotations

from typing import Literal

Method = Literal["matching", "top-down"]
Bye = Literal["fewest", "lowest", "none"]
