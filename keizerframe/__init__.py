"""keizerframe: re-score chess-club seasons under any Keizer rule set.

Dataframes in, dataframes out. Start with ``kf.score(kf.load_dataset("waagtoren"), "knsb")``.
"""

from keizerframe.alternatives import what_if
from keizerframe.awards import Award
from keizerframe.batch import Progress, Rescored, rescore
from keizerframe.catalog import get_rules, presets
from keizerframe.comparison import Comparison, compare
from keizerframe.datasets import load_dataset
from keizerframe.diagnosis import Diagnosis, diagnose
from keizerframe.errors import (
    BatchError,
    KeizerError,
    KeizerWarning,
    PairingError,
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
from keizerframe.ledger import explain
from keizerframe.pairing.keizer import pair
from keizerframe.pairing.round_robin import round_robin
from keizerframe.rules import Rules
from keizerframe.scoring import replay, score
from keizerframe.season import Season, concat
from keizerframe.sweeps import Sweep, sweep
from keizerframe.telling import sentences

__all__ = [
    "Award",
    "BatchError",
    "Comparison",
    "Diagnosis",
    "Identification",
    "KeizerError",
    "KeizerWarning",
    "PairingError",
    "Progress",
    "PublishedTableError",
    "Rescored",
    "Rules",
    "RulesError",
    "ScoreRangeError",
    "Season",
    "SeasonError",
    "Sweep",
    "UnknownNameError",
    "compare",
    "concat",
    "diagnose",
    "explain",
    "get_rules",
    "identify",
    "load_dataset",
    "pair",
    "presets",
    "read",
    "replay",
    "rescore",
    "round_robin",
    "rules_from_chesspairing",
    "rules_from_keizerforclubs",
    "score",
    "sentences",
    "sweep",
    "to_parquet",
    "what_if",
]
