"""keizerframe: re-score chess-club seasons under any Keizer rule set.

Dataframes in, dataframes out. Start with ``kf.score(kf.load_dataset("waagtoren"), "knsb")``.
"""

from keizerframe.catalog import get_rules, presets
from keizerframe.errors import KeizerError, KeizerWarning, RulesError, SeasonError, UnknownNameError
from keizerframe.rules import Award, Rules, rules_from_chesspairing
from keizerframe.scoring import score
from keizerframe.season import Season, concat

__all__ = [
    "Award",
    "KeizerError",
    "KeizerWarning",
    "Rules",
    "RulesError",
    "Season",
    "SeasonError",
    "UnknownNameError",
    "concat",
    "get_rules",
    "presets",
    "rules_from_chesspairing",
    "score",
]
