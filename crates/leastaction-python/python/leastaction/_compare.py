"""Solutions side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ._errors import InputError
from ._solution import Solution

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def compare(solutions: Solution | Iterable[Solution] | Mapping[str, Solution], *, coordinate: int | str = 0) -> Figure:
    """Draws the energy errors and the motions of solutions side by side with matplotlib and returns the figure.

    Where something drives the system and its energy is not conserved, the energies are drawn instead of their errors.

    :param solutions: solutions of systems with the same coordinates, in a list, or in a dict with labels
    :param coordinate: the coordinate that is drawn, by name or number

    >>> import leastaction as la
    >>> runs = [la.simulate("pendulum", until=5, method=method) for method in ("midpoint", "simpson")]
    >>> [axes.get_ylabel() for axes in la.compare(runs).axes]
    ['q [rad]', 'relative energy error']
    """
    given = [solutions] if isinstance(solutions, Solution) else solutions
    listed = list(given.values() if isinstance(given, Mapping) else given) if isinstance(given, Iterable) else [given]
    if not all(isinstance(solution, Solution) for solution in listed):
        raise TypeError("compare takes a list of solutions, or a dict of labels and solutions")
    if isinstance(given, Mapping):
        labelled = {str(label): solution for label, solution in given.items()}
    else:
        labelled = {}
        for solution in listed:
            summary = solution.summary
            label = f"{summary['method']}, h = {summary['step']:.4g}"
            labelled[label if label not in labelled else f"{label} ({len(labelled) + 1})"] = solution
    if not labelled:
        raise InputError("there is nothing to compare; give one solution at least")
    names = {solution.system.coordinates for solution in labelled.values()}
    if len(names) > 1:
        raise InputError(f"the solutions have different coordinates: {sorted(names)}")
    from ._plot import plot_comparison

    return plot_comparison(labelled, coordinate=coordinate)
