"""Seeded synthetic seasons as plain frames, the size of real ones."""

from __future__ import annotations

import numpy as np
import pandas as pd

KINDS = np.array(["excused", "absent", "club"])


def make_frames(
    seasons: int,
    players: int,
    rounds: int,
    *,
    attendance: float = 0.85,
    noted: float = 0.5,
    seed: int = 1,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return (games, players): neighbours in strength meet, the odd one has a bye, who stays away a row.

    Only the share `noted` of the absences has a row; the others are what a club did not write down.
    """
    rng = np.random.default_rng(seed)
    strength = rng.normal(1700, 250, (seasons, players))
    parts = []
    for number in range(1, rounds + 1):
        here = rng.random(strength.shape) < attendance
        form = np.where(here, strength + rng.normal(0, 150, strength.shape), -np.inf)
        order = np.argsort(-form, axis=1)
        pairs = here.sum(axis=1) // 2
        s, board = np.nonzero(np.arange(players // 2) < pairs[:, None])
        white, black = order[s, 2 * board], order[s, 2 * board + 1]
        odd = np.flatnonzero(here.sum(axis=1) % 2)
        away_season, away = np.nonzero(~here & (rng.random(here.shape) < noted))
        parts += [
            (s, number, white, black, _results(rng, strength[s, white] - strength[s, black])),
            (odd, number, order[odd, 2 * pairs[odd]], np.full(len(odd), -1), np.full(len(odd), "bye")),
            (
                away_season,
                number,
                away,
                np.full(len(away), -1),
                rng.choice(KINDS, len(away), p=[0.5, 0.25, 0.25]),
            ),
        ]
    season, white, black, result = (np.concatenate([part[i] for part in parts]) for i in (0, 2, 3, 4))
    number = np.repeat([part[1] for part in parts], [len(part[0]) for part in parts])
    ids = np.array([f"P{i:03d}" for i in range(players)] + [None], dtype=object)
    labels = np.array([f"S{i:05d}" for i in range(seasons)], dtype=object)
    games = pd.DataFrame(
        {
            "season": pd.Series(labels[season], dtype="str"),
            "round": number.astype("int16"),
            "white": pd.Series(ids[white], dtype="str"),
            "black": pd.Series(ids[black], dtype="str"),
            "result": pd.Series(result, dtype="str"),
        }
    )
    people = pd.DataFrame(
        {
            "season": pd.Series(np.repeat(labels, players), dtype="str"),
            "player": pd.Series(np.tile(ids[:-1], seasons), dtype="str"),
            "rating": strength.round().astype("int32").ravel(),
        }
    )
    return games, people


def _results(rng: np.random.Generator, difference: np.ndarray) -> np.ndarray:
    expected = 1 / (1 + 10 ** (-difference / 400))
    chance = rng.random(len(difference))
    return np.where(chance < 0.8 * expected, "1-0", np.where(chance < 0.8 * expected + 0.2, "1/2-1/2", "0-1"))
