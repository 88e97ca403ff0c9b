"""How much of some work is done, and how much time is left, drawn by rich; loaded where a terminal is there to see."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich import progress as rich
from rich.console import Console
from rich.text import Text


class TimeLeft(rich.ProgressColumn):
    """What is left, at the pace so far: reckoned anew with each telling, and counted down in between."""

    def __init__(self, spent: float) -> None:
        super().__init__()
        self.spent = spent  # seconds, before the bar began
        self._reckoned, self._end = 0.0, 0.0

    def render(self, task: rich.Task) -> Text:
        """Hours, minutes and seconds; dashes while there is no pace, or where it turned out to be slower."""
        now, done = time.monotonic(), task.completed
        if task.total and done != self._reckoned:
            spent = self.spent + (task.elapsed or 0.0)
            self._reckoned, self._end = done, now + spent * max(0.0, task.total - done) / done
        left = self._end - now
        known = done > 0 and (left > 0 or task.finished)
        minutes, seconds = divmod(round(max(left, 0.0)), 60)
        return Text(f"{minutes // 60}:{minutes % 60:02}:{seconds:02} left" if known else "-:--:-- left")


@contextmanager
def elapsing(what: str) -> Iterator[None]:
    """Show for how long some work has been going on."""
    with _drawn(what, rich.TimeElapsedColumn()):
        yield


@contextmanager
def filling(what: str, total: float | None, done: float = 0.0, spent: float = 0.0) -> Iterator[Callable[..., None]]:
    """Show a bar; see `output.progress`, of work that has gone on for `spent` seconds before."""
    with _drawn(what, rich.BarColumn(), rich.TaskProgressColumn(), TimeLeft(spent)) as bar:
        task = bar.add_task(what, total=total, visible=False)
        bar.update(task, completed=done, visible=True)

        def tell(done: float, of: float | None = None) -> None:
            # the last block of a file may reach over its end
            end = total if of is None else of
            bar.update(task, completed=done if end is None else min(done, end), total=end)

        yield tell


@contextmanager
def _drawn(what: str, *end: rich.ProgressColumn) -> Iterator[rich.Progress]:
    words = rich.TextColumn("{task.description}", markup=False)
    # what is printed for stdout goes there and nowhere else; a remark goes above the bar
    bar = rich.Progress(
        rich.SpinnerColumn(), words, *end, console=Console(stderr=True), transient=True, redirect_stdout=False
    )
    with bar:
        if len(end) == 1:
            bar.add_task(what, total=None)
        yield bar
