"""keizerframe: re-score chess-club seasons under any Keizer rule set.

Dataframes in, dataframes out. Start with ``kf.score(kf.load_dataset("waagtoren"), "knsb")``.
"""

from keizerframe.awards import Award
from keizerframe.catalog import get_rules, presets
from keizerframe.comparison import Comparison, compare
from keizerframe.datasets import load_dataset
from keizerframe.errors import (
    KeizerError,
    KeizerWarning,
    PublishedTableError,
    RulesError,
    ScoreRangeError,
    SeasonError,
    UnknownNameError,
)
from keizerframe.identification import Identification, identify
from keizerframe.io import read, to_parquet
from keizerframe.io.chesspairing import rules_from_chesspairing
from keizerframe.io.keizerforclubs import rules_from_keizerforclubs
from keizerframe.rules import Rules
from keizerframe.scoring import score
from keizerframe.season import Season, concat
from keizerframe.sweeps import Sweep, sweep

__all__ = [
    "Award",
    "Comparison",
    "Identification",
    "KeizerError",
    "KeizerWarning",
    "PublishedTableError",
    "Rules",
    "RulesError",
    "ScoreRangeError",
    "Season",
    "SeasonError",
    "Sweep",
    "UnknownNameError",
    "compare",
    "concat",
    "get_rules",
    "identify",
    "load_dataset",
    "presets",
    "read",
    "rules_from_chesspairing",
    "rules_from_keizerforclubs",
    "score",
    "sweep",
    "to_parquet",
]
