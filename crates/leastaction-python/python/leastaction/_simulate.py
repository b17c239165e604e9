"""Running a system."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from typing import Any

from . import _core
from ._errors import InputError, Interrupted, LeastActionWarning, SimulationError
from ._progress import watcher
from ._solution import Solution
from ._system import System, as_system, formula
from ._types import Event, Number, Numbers, Quantity, Report, Values
from ._values import path as as_path
from ._values import plain


def keywords(system: System, **given: Any) -> dict[str, Any]:
    """The keywords of a run that were given, with functions among outputs and events as formulas."""
    found = {name: value for name, value in given.items() if value is not None}
    for name in ("outputs", "events"):
        if isinstance(found.get(name), Mapping):
            found[name] = {key: _formulas(system, value) for key, value in found[name].items()}
    for name in ("q", "v", "p"):
        if name in found:
            found[name] = plain(name, found[name], system.coordinates)
    for name in ("t0", "until", "step", "tolerance"):
        if name in found:
            found[name] = plain(name, found[name])
    if isinstance(found.get("parameters"), Mapping):
        named = ((getattr(key, "name", key), value) for key, value in found["parameters"].items())
        found["parameters"] = {name: plain(f"parameter `{name}`", value) for name, value in named}
    if isinstance(found.get("vary"), Mapping):
        found["vary"] = {name: plain(f"vary `{name}`", value) for name, value in found["vary"].items()}
    return found


def _formulas(system: System, value: Any) -> Any:
    if hasattr(value, "terminal") or hasattr(value, "direction"):
        raise InputError(
            "attributes of an event's function, such as `terminal`, are not read here\n"
            '  write {"of": function, "stop": 1, "direction": "rising"}'
        )
    if isinstance(value, Mapping):
        return {key: formula(system, of) if key == "of" else of for key, of in value.items()}
    return formula(system, value)


def simulate(
    system: System | str | os.PathLike[str],
    *,
    q: Numbers | None = None,
    v: Numbers | None = None,
    p: Numbers | None = None,
    t0: Number | None = None,
    until: Number | None = None,
    step: Number | None = None,
    method: str | None = None,
    tolerance: Number | None = None,
    parameters: Values | None = None,
    outputs: Mapping[str, Quantity] | None = None,
    events: Mapping[str, Quantity | Event] | None = None,
    every: int | None = None,
    dense: int | None = None,
    accuracy: bool | None = None,
    precision: int | None = None,
    backend: str | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: float | str | None = None,
    progress: bool | Report | None = None,
    throw: bool = True,
) -> Solution:
    """Simulates a system and returns a :class:`Solution`. What is not given is the system's default.

    :param system: a :class:`System`, or what one can be made of: a name, a text, a path
    :param q: initial coordinates, one value for each, or one for all; numbers or formulas in strings
    :param v: initial velocities
    :param p: initial momenta, instead of velocities
    :param t0: the time at which the initial state is given
    :param until: the end time; a formula such as ``"10*period"`` where a period is known
    :param step: the step size
    :param method: the method, see :func:`leastaction.methods`
    :param tolerance: the relative energy error that is wanted; without a step, one is picked for it, and unless given a method
    :param parameters: parameters that differ from their default
    :param outputs: quantities to record beside the states: names and formulas in strings, or functions of q, v (, t, p)
    :param events: names and formulas whose sign changes are to be found, or dicts ``{"of": …, "direction": "rising", "stop": 1}``; one
        that ends the run does so after the step in which it happens, and ``sol.end`` is the state at the event
    :param every: record every so many steps and the last one, 0 for none; by default as often as a moderate amount of memory allows
    :param dense: record so many points a step, from the step's polynomial
    :param accuracy: estimate the error of the final state, by the same run with half the step; ``sol.summary["accuracy"]`` has it
    :param precision: compute with so many decimal digits
    :param backend: ``"native"`` or ``"interpreter"``; the numbers are the same
    :param checkpoint: a file in which the run is saved on its way, for :func:`resume`
    :param checkpoint_every: how often: seconds, or words such as ``"5min"`` or ``"100000steps"``; every 30 seconds by default
    :param progress: True or False for a bar, or a function of (done, total), which is called now and then and at the end; by default a
        bar where there is somebody to see it
    :param throw: raise :class:`SimulationError` if the run fails on its way; with False look at ``success``

    >>> import leastaction as la
    >>> sol = la.simulate("double-pendulum", until=10, method="gauss8", step=0.02)
    >>> sol.success, sol.q.shape
    (True, (501, 2))
    """
    system = as_system(system)
    if not isinstance(throw, bool):
        raise TypeError(f"throw must be True or False, but is {throw!r}")
    if checkpoint_every is not None and checkpoint is None:
        raise InputError("checkpoint_every says how often to save, but not where\n  give a file as well: checkpoint='run.check'")
    given = keywords(
        system, q=q, v=v, p=p, t0=t0, until=until, step=step, method=method, tolerance=tolerance, parameters=parameters,
        outputs=outputs, events=events, every=every, dense=dense, accuracy=accuracy, precision=precision, backend=backend,
        checkpoint=None if checkpoint is None else str(as_path("checkpoint", checkpoint)), checkpoint_every=checkpoint_every,
    )  # fmt: skip
    with watcher(progress, "steps") as report:
        ended = _core.simulate(system._core, given, report)
    return _checked(ended, throw)


def resume(path: str | os.PathLike[str], *, progress: bool | Report | None = None, throw: bool = True) -> Solution:
    """Continues a run from its checkpoint, whoever began it, to the same bits as if it had not been interrupted.

    :param path: the file
    :param progress: as of :func:`simulate`
    :param throw: as of :func:`simulate`

    >>> import leastaction as la, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "run.check")
    >>> sol = la.simulate("pendulum", until=5, checkpoint=path)
    >>> bool((la.resume(path).q == sol.q).all())
    True
    """
    if not isinstance(throw, bool):
        raise TypeError(f"throw must be True or False, but is {throw!r}")
    with watcher(progress, "steps") as report:
        ended = _core.resume(as_path("path", path), report)
    return _checked(ended, throw)


def _checked(ended: tuple[_core.Solution, BaseException | None], throw: bool) -> Solution:
    """The solution of a run, or the exception that tells why there is none."""
    core, interrupt = ended
    solution = Solution(core)
    if interrupt is not None:
        if isinstance(interrupt, KeyboardInterrupt):
            raise Interrupted(f"{solution.message}; the attribute `solution` of this exception has them", solution) from None
        raise interrupt
    if throw and not solution.success:
        raise SimulationError(solution.message, solution)
    # what failed says why; what did not may still be doubtful
    for warning in core.warnings if solution.success else ():
        warnings.warn(warning, LeastActionWarning, stacklevel=3)
    return solution
