"""What is measured rather than simulated: orders, certificates, the papers, and methods side by side."""

from __future__ import annotations

import json
import numbers
import os
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from ._errors import InputError, LeastActionWarning, SimulationError
from ._progress import watcher
from ._simulate import keywords
from ._system import System, as_system
from ._types import Array, Number, Numbers, Report, Values
from ._values import listed as as_list
from ._values import plain
from ._values import text as text_of

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure


class Convergence:
    """Errors against steps, and the orders they show.

    ``errors[of, method]`` is an array of errors, one for each of ``steps`` (NaN where one failed), ``orders[of, method]`` the fitted order
    (None where errors are rounding).

    >>> import leastaction as la
    >>> la.converge("pendulum", methods=["midpoint"], until=1, steps=[0.1, 0.05], of=["q"])
    <Convergence of 'pendulum': fitted orders midpoint q: 1.96>
    """

    def __init__(self, found: dict[str, Any]) -> None:
        #: Everything as the command's ``--format json`` has it.
        self.report: dict[str, Any] = found
        #: Step sizes.
        self.steps: Array = np.array(found["steps"])
        #: What the runs were compared with.
        self.reference: str = found["reference"]
        series = {(s["of"], s["method"]): s for s in found["series"]}
        #: Errors by measure and method.
        self.errors = {key: np.array([np.nan if e is None else e for e in s["errors"]]) for key, s in series.items()}
        #: Fitted orders by measure and method.
        self.orders: dict[tuple[str, str], float | None] = {key: s["fitted_order"] for key, s in series.items()}

    def to_pandas(self) -> pandas.DataFrame:
        """A table with steps downwards, measures and methods sideways.

        >>> import leastaction as la
        >>> la.converge("pendulum", methods=["simpson"], until=1, steps=[0.1, 0.05], of=["q"]).to_pandas().shape
        (2, 1)
        """
        import pandas as pd

        return pd.DataFrame(self.errors, index=pd.Index(self.steps, name="step"))

    def plot(self) -> Figure:
        """Errors against steps on logarithmic axes; returns the figure.

        >>> import leastaction as la
        >>> figure = la.converge("pendulum", methods=["simpson"], until=1, steps=[0.1, 0.05], of=["q"]).plot()
        >>> figure.axes[0].get_title()
        'error of q'
        """
        from ._plot import plot_convergence

        return plot_convergence(self)

    def __repr__(self) -> str:
        shown = (f"{m} {of}: {'rounding' if o is None else f'{o:.2f}'}" for (of, m), o in self.orders.items())
        return f"<Convergence of {self.report['system']!r}: fitted orders {', '.join(shown)}>"


def converge(
    system: System | str | os.PathLike[str],
    *,
    methods: Sequence[str] | None = None,
    steps: Sequence[Number] | None = None,
    of: Sequence[str] = ("q", "p", "energy"),
    over: str = "sup",
    vector: str = "euclid",
    relative: bool | None = None,
    reference: str | None = None,
    refine: int | None = None,
    reference_precision: int | None = None,
    q: Numbers | None = None,
    v: Numbers | None = None,
    p: Numbers | None = None,
    t0: Number | None = None,
    until: Number | None = None,
    parameters: Values | None = None,
    precision: int | None = None,
    progress: bool | Report | None = None,
) -> Convergence:
    """Measures errors against steps, and the orders they show.

    Each run is compared with the exact solution where there is one, else with a run of higher order, smaller steps and more digits.

    :param methods: methods; by default midpoint, simpson, lobatto and that of the system
    :param steps: step sizes; by default halved five times
    :param of: what is measured: q, p, energy, a coordinate, or a momentum such as p_theta
    :param over: over the steps the largest error ("sup"), the last ("end"), or the root of the mean square ("rms")
    :param vector: over the coordinates the Euclidean length ("euclid") or the largest ("max")
    :param relative: divide errors by the right values; by default those of the energy
    :param reference: "exact", a method, or None for what is best
    :param refine: steps of the reference for each step of the run
    :param reference_precision: decimal digits of the reference

    >>> import leastaction as la
    >>> found = la.converge("pendulum", methods=["simpson"], until=1, steps=[0.1, 0.05, 0.025])
    >>> round(found.orders["q", "simpson"])
    4
    """
    system = as_system(system)
    given = keywords(system, q=q, v=v, p=p, t0=t0, until=until, parameters=parameters, precision=precision)
    named = None if methods is None else _distinct("methods", methods)
    if relative is not None and not isinstance(relative, bool):
        raise TypeError(f"relative must be True, False or None, but is {relative!r}")
    for what, word in {"over": over, "vector": vector, "reference": "" if reference is None else reference}.items():
        text_of(what, word)
    refine, reference_precision = _whole("refine", refine), _whole("reference_precision", reference_precision)
    measured = {
        "of": _distinct("of", of), "over": over, "vector": vector, "relative": relative, "reference": reference,
        "refine": refine, "reference_precision": reference_precision,
    }  # fmt: skip
    sizes = None if steps is None else as_list("steps", plain("steps", steps))
    with watcher(progress, "steps") as report:
        text, doubts, failures = _core.converge(system._core, given, named, sizes, measured, report)
    for doubt in [*doubts, *failures]:
        warnings.warn(doubt, LeastActionWarning, stacklevel=2)
    return Convergence(json.loads(text))


def _whole(what: str, value: Any) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 1 <= value < 2**32:
        raise InputError(f"{what} must be a whole number, 1 or more, but is {value!r:.40}")
    return int(value)


def _distinct(what: str, names: Sequence[str]) -> list[str]:
    """The same thing twice is measured once."""
    listed = [names] if isinstance(names, str) else as_list(what, names)
    if not listed or not all(isinstance(name, str) for name in listed):
        raise InputError(f"{what} must be names, but are {names!r}")
    return list(dict.fromkeys(listed))


class Certificate:
    """What was measured of one run, with a verdict for each; printing it shows the page.

    >>> import leastaction as la
    >>> la.certify("pendulum", method="gauss4", step=0.05, until=2)
    <Certificate: passed>
    """

    def __init__(self, found: dict[str, Any], text: str, passed: bool) -> None:
        #: Everything as the command's ``--json`` has it.
        self.report: dict[str, Any] = found
        #: The page.
        self.text: str = text
        #: Whether nothing failed.
        self.passed: bool = passed

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        failed = ", ".join(self.report.get("failed", []))
        return f"<Certificate: {'passed' if self.passed else f'failed: {failed}'}>"


def certify(
    system: System | str | os.PathLike[str],
    *,
    energy_error: float | None = None,
    throw: bool = False,
    progress: bool | Report | None = None,
    q: Numbers | None = None,
    v: Numbers | None = None,
    p: Numbers | None = None,
    t0: Number | None = None,
    until: Number | None = None,
    step: Number | None = None,
    method: str | None = None,
    tolerance: Number | None = None,
    parameters: Values | None = None,
) -> Certificate:
    """Measures order, symplecticity, reversibility, momenta, energy drift and more on a run of your own, and judges each.

    :param energy_error: the relative energy error for which a method and a step are recommended
    :param throw: raise :class:`SimulationError` if something failed

    >>> import leastaction as la
    >>> certificate = la.certify("pendulum", method="gauss4", step=0.05, until=2)
    >>> certificate.passed, certificate.report["verdict"]
    (True, 'pass')
    """
    system = as_system(system)
    given = keywords(system, q=q, v=v, p=p, t0=t0, until=until, step=step, method=method, tolerance=tolerance, parameters=parameters)
    if energy_error is not None and (isinstance(energy_error, bool) or not isinstance(energy_error, numbers.Real)):
        raise TypeError(f"energy_error must be a number, but is {energy_error!r}")
    with watcher(progress, "steps") as report:
        text, page, passed = _core.certify(system._core, given, energy_error, report)
    certificate = Certificate(json.loads(text), page, passed)
    if throw and not passed:
        raise SimulationError(f"the certificate fails: {', '.join(certificate.report['failed'])}")
    return certificate


def reproduce(
    what: str | Sequence[str] = "all",
    *,
    until: Number | None = None,
    precision: int | None = None,
    progress: bool | Report | None = None,
) -> list[dict[str, Any]]:
    """Computes tables of the five papers beside what they print: a dict for every printed number, with a verdict.

    :param what: a table ("002.T1"), a paper ("003"), several of them, or "all"
    :param until: only rows that end by this time
    :param precision: decimal digits to compute with

    >>> import leastaction as la
    >>> entries = la.reproduce("003.T1")
    >>> len(entries), sorted({entry["verdict"] for entry in entries})
    (24, ['agrees to the last digit', 'rounding level'])
    """
    names = _distinct("what", what)
    precision = _whole("precision", precision)
    with watcher(progress, "steps") as report:
        found: list[dict[str, Any]] = json.loads(_core.reproduce(names, until, precision, report))
    return found


def methods() -> list[dict[str, Any]]:
    """All methods, with name, aliases, order, largest stable ωh, description and reference.

    >>> import leastaction as la
    >>> [row["order"] for row in la.methods() if row["name"] == "simpson"]
    [4]
    """
    return _core.methods()


def systems() -> list[dict[str, Any]]:
    """All systems of the catalogue, with name, title, summary, coordinates, parameters and sizes.

    >>> import leastaction as la
    >>> [row["coordinates"] for row in la.systems() if row["name"] == "lagrange-top"]
    [['phi', 'theta', 'psi']]
    """
    return _core.systems()
