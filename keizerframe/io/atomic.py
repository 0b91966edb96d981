"""Writing a file so that it appears whole or not at all."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a stream that becomes `path` once it is closed without an error: temporary name, sync, rename."""
    # A link stays a link: the file it points to is replaced.
    path = path.resolve()
    waiting = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
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
