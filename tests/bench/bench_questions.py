"""Speed of the questions asked of a season: ``OPENBLAS_NUM_THREADS=1 python -m tests.bench.bench_questions``.

One season of 60 players and 30 rounds; medians of 7 runs after one that does not count.
"""

from __future__ import annotations

from fractions import Fraction

import keizerframe as kf
from tests.bench.bench_score import RULES, median
from tests.bench.seasons import make_frames

#: 25 x 20 = 500 rule sets.
GRID = {"loss_fraction": [Fraction(k, 100) for k in range(25)], "absence_limit": list(range(20))}
#: 500 that differ in their value numbers only.
TOPS = {"value_number_base": list(range(61, 561))}


class Questions:
    """What is asked, each a method."""

    def __init__(self) -> None:
        self.season = kf.Season(*make_frames(1, 60, 30, seed=2))
        self.table = kf.score(self.season, "classic,value_number_base=100")[["player", "score"]].round(1)
        self.grid = kf.sweep(self.season, "knsb", win_fraction=[1, "1/2"], loss_fraction=[0, "1/2", "4/5"])

    def sweep_500(self) -> object:
        return kf.sweep(self.season, "knsb", **GRID)

    def sweep_500_previous(self) -> object:
        return kf.sweep(self.season, "freekeizer-0.5", **GRID)

    def sweep_500_single_precision(self) -> object:
        return kf.sweep(self.season, "keizerforclubs-2.0", **GRID)

    def sweep_500_tops(self) -> object:
        return kf.sweep(self.season, "knsb", **TOPS)

    def break_evens(self) -> object:
        # A fresh one: the answer is kept.
        fresh = kf.sweep(self.season, "knsb", win_fraction=[1, "1/2"], loss_fraction=[0, "1/2", "4/5"])
        return fresh.break_evens

    def replay_8(self) -> object:
        return kf.replay(self.season, RULES)

    def explain(self) -> object:
        return kf.explain(self.season, "knsb")

    def diagnose_1000(self) -> object:
        return kf.diagnose(self.season, "knsb", starts=1000)

    def diagnose_1000_previous(self) -> object:
        return kf.diagnose(self.season, "freekeizer-0.5", starts=1000)

    def what_if_all(self) -> object:
        return kf.what_if(self.season, "knsb")

    def what_if_all_previous(self) -> object:
        return kf.what_if(self.season, "freekeizer-0.5")

    def identify(self) -> object:
        return kf.identify(self.season, self.table)


if __name__ == "__main__":
    asked = Questions()
    print(f"{len(asked.grid.break_evens)} break-evens in the grid for them")
    for name in (name for name in vars(Questions) if not name.startswith("_")):
        print(f"{name:28s}{median(getattr(asked, name), 7) * 1000:10.1f} ms")
