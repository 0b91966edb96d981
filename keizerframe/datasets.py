"""`load_dataset`: the real seasons that come with keizerframe."""

from __future__ import annotations

from pathlib import Path

from keizerframe.errors import UnknownNameError
from keizerframe.io import read
from keizerframe.season import Season


def dataset_folder() -> Path:
    """Return the folder of the data sets: inside the installed package, or beside it in a checkout."""
    inside = Path(__file__).parent / "_data"
    return inside if inside.is_dir() else Path(__file__).parent.parent / "data"


def load_dataset(name: str) -> Season:
    """Return a data set that comes with keizerframe.

    Parameters
    ----------
    name
        ``waagtoren``: seven real seasons of a Dutch club, 2018-19 to 2024-25, pseudonymised.

    Raises
    ------
    UnknownNameError
        If there is no such data set.

    Examples
    --------
    >>> load_dataset("waagtoren")
    <Season: 7 seasons, 551 players, 164 rounds, 9490 rows>
    """
    folder = dataset_folder()
    known = sorted(path.name for path in folder.iterdir() if path.is_dir())
    if name not in known:
        raise UnknownNameError("data set", name, known)
    return read(folder / name)
