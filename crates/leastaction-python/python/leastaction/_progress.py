"""A progress bar when it takes long: in a terminal, or in a notebook."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any

from ._types import Report

#: A bar appears after so many seconds.
PATIENCE = 0.5
WIDTH = 40


def watcher(progress: bool | Report | None, unit: str) -> Watcher:
    """Who is told: a bar where there is somebody to see it, a function, or nobody."""
    if progress is not None and not isinstance(progress, bool) and not callable(progress):
        raise TypeError(f"progress must be True, False or a function of (done, total), but is {progress!r}")
    if callable(progress):
        return Watcher(progress)
    if progress is False:
        return Watcher(None)
    if _in_notebook():
        return NotebookBar(unit)
    if progress or sys.stderr.isatty():
        return TerminalBar(unit)
    return Watcher(None)


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    running = shell.get_ipython() if shell is not None else None
    return running is not None and hasattr(running, "kernel")


class Watcher:
    """Passes on how much is done; as a context it cleans up at the end."""

    def __init__(self, report: Report | None) -> None:
        self.report = report

    def __enter__(self) -> Report | None:
        return self.report

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Takes away what was shown."""


class Bar(Watcher):
    """A bar with an estimate of the time that is left."""

    def __init__(self, unit: str) -> None:
        super().__init__(self.tell)
        self.unit = unit
        self.start = time.monotonic()
        self.shown = False

    def tell(self, done: int, total: int) -> None:
        """Shows how much is done, after some patience."""
        if self.shown or time.monotonic() - self.start > PATIENCE:
            self.shown = True
            self.show(min(done / total, 1.0), self.words(done, total))

    def words(self, done: int, total: int) -> str:
        """Numbers for people."""
        spent = time.monotonic() - self.start
        left = f", {spent * (total - done) / done:.0f} s left" if done else ""
        return f"{done:,}/{total:,} {self.unit}{left}"

    def show(self, part: float, words: str) -> None:
        """Draws it."""
        raise NotImplementedError


class TerminalBar(Bar):
    """On one line of standard error."""

    def show(self, part: float, words: str) -> None:
        filled = "█" * round(part * WIDTH)
        print(f"\r\x1b[K{part:4.0%} {filled:<{WIDTH}} {words}", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        if self.shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


class NotebookBar(Bar):
    """Below the cell of a notebook."""

    handle: Any = None

    def show(self, part: float, words: str) -> None:
        from IPython.display import HTML, display

        bar = HTML(f'<progress value="{part:.4f}" max="1" style="width: 20em"></progress> {part:.0%} {words}')
        if self.handle is None:
            self.handle = display(bar, display_id=True)
        else:
            self.handle.update(bar)

    def close(self) -> None:
        if self.handle is not None:
            from IPython.display import HTML

            self.handle.update(HTML(""))
