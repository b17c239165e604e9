"""Solutions side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ._errors import InputError
from ._solution import Solution


def compare(solutions: Sequence[Solution] | Mapping[str, Solution], **keywords: Any) -> Any:
    """Draws the energy errors and the motions of solutions side by side with matplotlib and returns the figure.

    :param solutions: solutions of systems with the same coordinates, in a list, or in a dict with labels
    """
    if isinstance(solutions, Mapping):
        labelled = dict(solutions)
    else:
        listed = list(solutions) if not isinstance(solutions, Solution) else [solutions]
        if not all(isinstance(solution, Solution) for solution in listed):
            raise TypeError("compare takes a list of solutions, or a dict of labels and solutions")
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

    return plot_comparison(labelled, **keywords)
