"""keizerframe: re-score chess-club seasons under any Keizer rule set.

Dataframes in, dataframes out. Start with ``kf.score(kf.load_dataset("waagtoren"), "knsb")``.
"""

from keizerframe.awards import Award
from keizerframe.batch import Progress, Rescored, rescore
from keizerframe.catalog import get_rules, presets
from keizerframe.comparison import Comparison, compare
from keizerframe.datasets import load_dataset
from keizerframe.errors import (
    BatchError,
    KeizerError,
    KeizerWarning,
    RulesError,
    ScoreRangeError,
    SeasonError,
    UnknownNameError,
)
from keizerframe.io import read, to_parquet
from keizerframe.io.chesspairing import rules_from_chesspairing
from keizerframe.io.keizerforclubs import rules_from_keizerforclubs
from keizerframe.rules import Rules
from keizerframe.scoring import score
from keizerframe.season import Season, concat

__all__ = [
    "Award",
    "BatchError",
    "Comparison",
    "KeizerError",
    "KeizerWarning",
    "Progress",
    "Rescored",
    "Rules",
    "RulesError",
    "ScoreRangeError",
    "Season",
    "SeasonError",
    "UnknownNameError",
    "compare",
    "concat",
    "get_rules",
    "load_dataset",
    "presets",
    "read",
    "rescore",
    "rules_from_chesspairing",
    "rules_from_keizerforclubs",
    "score",
    "to_parquet",
]
