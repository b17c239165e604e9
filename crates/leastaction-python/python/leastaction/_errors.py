"""What goes wrong, and what is doubtful."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._solution import Solution


class Error(Exception):
    """Everything that leastaction raises on its own."""


class InputError(Error, ValueError):
    """The input was at fault, and nothing was computed. The message names the culprit and what to try.

    >>> import leastaction as la
    >>> try:
    ...     la.simulate("duoble-pendulum")
    ... except la.InputError as error:
    ...     print("did you mean `double-pendulum`" in str(error))
    True
    """


class TracingError(InputError, TypeError):
    """A function cannot be recorded. The message names the line and what to write instead.

    >>> import leastaction as la
    >>> try:
    ...     la.System(lambda q, v: v @ v - (q[0] if q[0] > 0 else 0), n=1)
    ... except la.TracingError as error:
    ...     print(str(error).split(" (")[0])
    a comparison with a traced number
    """


class SimulationError(Error, RuntimeError):
    """A run stopped on its way. ``solution`` has what was computed before.

    >>> import leastaction as la
    >>> try:
    ...     la.simulate("double-pendulum", step=0.5, until=100)
    ... except la.SimulationError as error:
    ...     print(error.solution.status, error.solution.t[:3])
    -1 [0.  0.5 1. ]
    """

    def __init__(self, message: str, solution: Solution | None = None) -> None:
        super().__init__(message)
        self.solution = solution


class Interrupted(KeyboardInterrupt):
    """Ctrl-C while something was computed. After :func:`leastaction.simulate`, ``solution`` has what was computed before; elsewhere
    there is nothing to keep, and it is None."""

    def __init__(self, message: str, solution: Solution | None = None) -> None:
        super().__init__(message)
        self.solution = solution


class InternalError(Error):
    """A mistake in leastaction itself; please report it."""


class LeastActionWarning(UserWarning):
    """Something that makes a result doubtful, such as a step that is too large."""
