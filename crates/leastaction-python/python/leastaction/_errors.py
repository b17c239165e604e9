"""What goes wrong, and what is doubtful."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._solution import Solution


class Error(Exception):
    """Everything that leastaction raises on its own."""


class InputError(Error, ValueError):
    """The input was at fault, and nothing was computed. The message names the culprit and what to try."""


class TracingError(InputError, TypeError):
    """A function cannot be recorded. The message names the line and what to write instead."""


class SimulationError(Error, RuntimeError):
    """A run stopped on its way. ``solution`` has what was computed before."""

    def __init__(self, message: str, solution: Solution | None = None) -> None:
        super().__init__(message)
        self.solution = solution


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a run. ``solution`` has what was computed before."""

    def __init__(self, message: str, solution: Solution | None = None) -> None:
        super().__init__(message)
        self.solution = solution


class InternalError(Error):
    """A mistake in leastaction itself; please report it."""


class LeastActionWarning(UserWarning):
    """Something that makes a result doubtful, such as a step that is too large."""
