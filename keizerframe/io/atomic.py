"""Writing a file so that it appears whole or not at all."""

from __future__ import annotations

import os
import shutil
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def replacing(path: Path, work: Path | None = None) -> Iterator[BinaryIO]:
    """Open a stream that becomes `path` once it is closed without an error: temporary name, sync, rename.

    The temporary name is in the folder `work` (on the same disk), or beside `path`.
    """
    # A link stays a link: the file it points to is replaced.
    path = path.resolve()
    waiting = (work or path.parent) / f".{path.name}.{uuid.uuid4().hex}.tmp"
    try:
        with waiting.open("wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if path.exists():
            shutil.copymode(path, waiting)
        waiting.replace(path)
    finally:
        waiting.unlink(missing_ok=True)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder outlive a power cut; where folders cannot be opened there is no need to."""
    if sys.platform != "win32":
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
