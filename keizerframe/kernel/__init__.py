"""The arrays behind the scores: a season as a grid, the points table, the recalculation.

Numpy only: no frames, no strings, no dates. Letters: S seasons, R rounds, N players, V rule sets,
C codes. Scores are integers in *units* throughout.
"""
