"""The notebooks run, and what they show is what is stored in them."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted(Path(__file__).parent.parent.joinpath("notebooks").glob("*.ipynb"))


def shown(notebook):
    """Return the text outputs of every code cell."""
    return [
        [output.get("text") or output.get("data", {}).get("text/plain") for output in cell.outputs]
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # zmq and asyncio, not ours
def test_the_notebook_shows_what_it_says(path):
    stored = nbformat.read(path, as_version=4)
    fresh = nbformat.read(path, as_version=4)
    NotebookClient(fresh, timeout=120, kernel_name="python3").execute()
    assert shown(fresh) == shown(stored)
