"""The bar on stderr: seasons, rate, time left. The one module of batch that needs rich."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text


class _Rate(ProgressColumn):
    """Seasons a second."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:,.0f} seasons/s")


@contextmanager
def bar(total: int | None) -> Iterator[Callable[[int], None]]:
    """Show a bar on a terminal, and give the function that moves it to a number of seasons."""
    columns = TextColumn("seasons"), BarColumn(), MofNCompleteColumn(), _Rate(), TimeRemainingColumn()
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as shown:
        task = shown.add_task("seasons", total=total)
        yield lambda seasons: shown.update(task, completed=seasons)
