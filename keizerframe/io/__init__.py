"""Reading and writing: `read` opens whatever holds a season, `to_parquet` writes seasons and results."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from keizerframe.columns import Origin
from keizerframe.errors import FileFormatError
from keizerframe.io import tables
from keizerframe.io.parquet import read_frame, to_parquet
from keizerframe.rules import Rules
from keizerframe.season import Frames, Season

__all__ = ["read", "to_parquet"]

#: Endings of text files that `read` opens.
TEXTS = (".csv", ".tsv", ".txt")


def read(path: str | Path) -> Season:
    r"""Read a season from a folder or a file.

    Parameters
    ----------
    path
        A folder with ``games.csv`` (and ``players.csv``, ``rounds.csv``) or the same as ``.parquet``; or one
        such games file. A season without a label of its own gets the file's or folder's name.

    Returns
    -------
    Season

    Raises
    ------
    SeasonError
        With every fault, its file and its line.
    FileFormatError
        If the path holds nothing that can be read.
    FileNotFoundError
        If there is no such path.

    Examples
    --------
    >>> import keizerframe as kf, pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp()) / "2024-25"
    >>> folder.mkdir()
    >>> _ = (folder / "games.csv").write_text("round;white;black;result\n1;a;b;½-½\n")
    >>> _ = (folder / "players.csv").write_text("player;rating\na;1800\nb;1700\n")
    >>> kf.read(folder).games.to_dict("records")[0]["result"]
    '1/2-1/2'
    """
    return read_frames(Path(path)).season()


def read_frames(path: Path, label: str | None = None) -> Frames:
    """Return what `read` finds, unchecked; `label` names a season without a label of its own."""
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such file or folder")
    if label is None:
        label = path.stem if path.is_file() else path.resolve().name
    found: dict[str, tuple[pd.DataFrame, Origin]] = {}
    rules: dict[str, Rules] = {}
    for name in ("games", "players", "rounds"):
        file = _file_of(path, name)
        if file is None:
            continue
        if file.suffix.lower() == ".parquet":
            frame, origin, own = read_frame(file)
            found[name], rules = (frame, origin), rules | own
        else:
            found[name] = tables.read_csv(file)
    games_file(path)
    frames = {name: frame for name, (frame, _) in found.items()}
    if not any("season" in frame for frame in frames.values()):
        frames = {name: frame.assign(season=label) for name, frame in frames.items()}
    origins = {name: origin for name, (_, origin) in found.items()}
    return Frames(frames["games"], frames.get("players"), frames.get("rounds"), origins, rules)


def games_file(path: Path) -> Path:
    """Return the file that holds the games of a season.

    Raises
    ------
    FileFormatError
        If there is none.
    """
    file = _file_of(path, "games")
    if file is None:
        raise FileFormatError(
            f"{path}: no games found; a season is a folder with games.csv (and players.csv, rounds.csv) or "
            "games.parquet, or one such file"
        )
    return file


def _file_of(path: Path, name: str) -> Path | None:
    """Return the file that holds one of the three frames."""
    if path.is_file():
        return path if name == "games" and path.suffix.lower() in (*TEXTS, ".parquet") else None
    for suffix in (".csv", ".parquet"):
        if (path / f"{name}{suffix}").is_file():
            return path / f"{name}{suffix}"
    return None
