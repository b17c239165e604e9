"""Pictures with matplotlib: one solution, several beside each other, errors against steps.

Lines of more points than a picture can show are thinned: curves over time keep the least and the largest value of each piece.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ._analysis import Convergence
    from ._solution import Solution

Array = npt.NDArray[np.float64]

#: So many coordinates are drawn at most.
MOST_LINES = 8
#: So many points a line.
MOST_POINTS = 8000


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError('plots need matplotlib: pip install "leastaction[plot]"') from error
    return plt


def with_unit(name: str, unit: str) -> str:
    """``x [m]``"""
    return f"{name} [{unit}]" if unit else name


def envelope(t: Array, y: Array, most: int = MOST_POINTS) -> tuple[Array, Array]:
    """The least and the largest value of each piece of a long curve, in their order."""
    size = 2 * len(y) // most
    if size < 2:
        return t, y
    pieces = len(y) // size
    table = y[: pieces * size].reshape(pieces, size)
    rows = np.arange(pieces)[:, None] * size
    places = np.sort(np.stack([table.argmin(axis=1), table.argmax(axis=1)], axis=1), axis=1) + rows
    chosen = np.concatenate([places.ravel(), np.arange(pieces * size, len(y))])
    return t[chosen], y[chosen]


def thinned(rows: int, most: int = MOST_POINTS) -> npt.NDArray[np.intp]:
    """Places of about so many rows, first and last among them."""
    if rows <= most:
        return np.arange(rows)
    return np.unique(np.linspace(0, rows - 1, most).astype(np.intp))


def _recorded(solution: Solution) -> None:
    if len(solution.t) < 2:
        raise InputError("nothing was recorded to be drawn; simulate with every=1")


def _motion(solution: Solution, axes: Any) -> None:
    """Paths of the bodies and their rods at the end; without bodies the path of the first two coordinates."""
    rows = thinned(len(solution.t))
    drawn = solution._core.bodies()
    if drawn is None:
        _path(solution, axes, rows)
        return
    names, links, dimension, sphere, unit = drawn
    places = solution._core.positions(solution.t[rows], solution.q[rows], solution.v[rows])
    assert places is not None
    flat = dimension == 2
    for k, name in enumerate(names[:MOST_LINES]):
        path = places[:, k, :dimension].T
        axes.plot(*path, lw=0.8, alpha=0.7, color=f"C{k}", label=name)
        axes.plot(*path[:, -1:], "o", ms=6, color=f"C{k}")
    ends = np.concatenate([places[-1], np.zeros((1, 3))])
    for start, end in links:
        rod = ends[[start, end], :dimension].T
        axes.plot(*rod, color="0.25", lw=1.6, zorder=1)
    if flat:
        axes.set_aspect("equal", adjustable="datalim")
    else:
        _space(axes, places, sphere)
    axes.set(xlabel=with_unit("x", unit), ylabel=with_unit("y", unit), title="motion")
    if 1 < len(names) <= MOST_LINES:
        axes.legend(loc="upper right", fontsize="small")


def _space(axes: Any, places: Array, sphere: float | None) -> None:
    """Equal scales in space, and a sphere if everything moves on one."""
    if sphere is not None:
        u, w = np.mgrid[0 : 2 * np.pi : 25j, 0 : np.pi : 13j]
        grid = sphere * np.array([np.cos(u) * np.sin(w), np.sin(u) * np.sin(w), np.cos(w)])
        axes.plot_wireframe(*grid, color="0.85", lw=0.4)
    reach = sphere or float(np.abs(places).max()) or 1.0
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach), zlim=(-reach, reach), zlabel="z")
    axes.set_box_aspect((1, 1, 1))
    axes.locator_params(nbins=4)
    axes.tick_params(labelsize="small", pad=0)


def _path(solution: Solution, axes: Any, rows: npt.NDArray[np.intp]) -> None:
    names, units = solution.system.coordinates, solution._core.system().units
    q = solution.q[rows]
    if q.shape[1] == 1:
        axes.plot(q[:, 0], solution.v[rows, 0], lw=0.9)
        axes.set(xlabel=with_unit(names[0], units[0]), ylabel=f"v_{names[0]}", title="motion")
        return
    axes.plot(q[:, 0], q[:, 1], lw=0.8)
    axes.plot(*q[-1, :2], "o", color="C0")
    axes.set(
        xlabel=with_unit(names[0], units[0]),
        ylabel=with_unit(names[1], units[1]),
        title="path of the first two coordinates",
    )


def _shown(solution: Solution) -> list[tuple[int, str]]:
    """The coordinates that are drawn: cyclic ones run away from the others, and their momenta are constant."""
    names = list(enumerate(solution.system.coordinates))
    return [(i, name) for i, name in names if f"p_{name}" not in solution.invariants][:MOST_LINES] or names[:MOST_LINES]


def _series(solution: Solution, axes: Any) -> None:
    """Coordinates over time."""
    system = solution._core.system()
    shown = _shown(solution)
    for i, name in shown:
        axes.plot(*envelope(solution.t, solution.q[:, i]), lw=0.9, label=name)
    units = {system.units[i] for i, _ in shown}
    label = shown[0][1] if len(shown) == 1 else "q"
    axes.set(xlabel=with_unit("t", system.time_unit), ylabel=with_unit(label, units.pop()) if len(units) == 1 else label)
    axes.set_title("coordinates")
    axes.margins(x=0)
    _legend(axes, shown)


def _phase(solution: Solution, axes: Any) -> None:
    """Momenta over coordinates."""
    rows = thinned(len(solution.t))
    shown = _shown(solution)
    for i, name in shown:
        axes.plot(solution.q[rows, i], solution.p[rows, i], lw=0.7, alpha=0.8, label=name)
    name = shown[0][1] if len(shown) == 1 else "q"
    axes.set(xlabel=name, ylabel=f"p_{name}" if len(shown) == 1 else "p", title="phase portrait")
    _legend(axes, shown)


def _invariants(solution: Solution, axes: Any) -> None:
    """Relative changes of what should be conserved."""
    system = solution._core.system()
    found = dict(solution.invariants)
    if found.pop("energy", None) is not None:
        axes.plot(*envelope(solution.t, solution.energy_error), lw=0.8, color="C3", label="energy")
    else:
        axes.plot(*envelope(solution.t, solution.energy_change), lw=0.8, color="C3", label="energy (not conserved)")
    for name, values in list(found.items())[: MOST_LINES - 1]:
        scale = float(np.abs(values).max()) or 1.0
        axes.plot(*envelope(solution.t, (values - values[0]) / scale), lw=0.8, label=name)
    axes.set(xlabel=with_unit("t", system.time_unit), ylabel="relative change", title="invariants")
    axes.margins(x=0)
    axes.legend(fontsize="small", loc="upper right")
    low, high = axes.get_ylim()
    # room for the legend
    axes.set_ylim(low, high + 0.15 * (high - low))


def _legend(axes: Any, shown: list[tuple[int, str]]) -> None:
    if len(shown) > 1:
        axes.legend(fontsize="small", loc="upper right", ncols=2 if len(shown) > 4 else 1)


PANELS: dict[str, Callable[[Any, Any], None]] = {
    "motion": _motion,
    "series": _series,
    "phase": _phase,
    "invariants": _invariants,
}


def _is_spatial(solution: Solution, what: str) -> bool:
    drawn = solution._core.bodies()
    return what == "motion" and drawn is not None and drawn[2] == 3


def plot(solution: Solution, what: str = "overview", *, axes: Axes | None = None) -> Figure:
    """Draws a solution and returns the figure; see :meth:`leastaction.Solution.plot`."""
    wanted = list(PANELS) if what == "overview" else [what]
    if what != "overview" and what not in PANELS:
        raise InputError(f"there is no plot {what!r}; try overview, {', '.join(PANELS)}")
    _recorded(solution)
    if axes is not None:
        if len(wanted) != 1:
            raise InputError("an overview has axes of its own; choose one panel to draw into given axes")
        PANELS[what](solution, axes)
        # the whole one, also where the axes are part of a part
        whole: Figure = axes.figure.canvas.figure
        return whole
    figure: Figure = _pyplot().figure(figsize=(10, 7.5) if len(wanted) == 4 else (6.5, 5), layout="constrained")
    for k, panel in enumerate(wanted, 1):
        shape = (2, 2, k) if len(wanted) == 4 else (1, 1, 1)
        projection = "3d" if _is_spatial(solution, panel) else None
        PANELS[panel](solution, figure.add_subplot(*shape, projection=projection))
    if what == "overview":
        summary = solution.summary
        unit = solution._core.system().time_unit
        figure.suptitle(
            f"{solution.system.title}: {summary['method']} (order {summary['order']}), "
            f"{summary['steps']} steps of {summary['step']:.6g} {unit}".rstrip()
        )
    return figure


def plot_comparison(solutions: Mapping[str, Solution], *, coordinate: int | str = 0) -> Figure:
    """One coordinate of several solutions and their energy errors, or their energies where these are not conserved."""
    plt = _pyplot()
    first = next(iter(solutions.values()))
    names = first.system.coordinates
    place = names.index(coordinate) if isinstance(coordinate, str) and coordinate in names else coordinate
    if not isinstance(place, int) or not 0 <= place < len(names):
        raise InputError(f"there is no coordinate {coordinate!r}; there are {', '.join(names)}")
    unit = first._core.system().time_unit
    conserved = all(solution.summary["energy"]["conserved"] for solution in solutions.values())
    figure: Figure
    figure, (upper, lower) = plt.subplots(2, 1, figsize=(9, 7), layout="constrained", sharex=True)
    for label, solution in solutions.items():
        _recorded(solution)
        upper.plot(*envelope(solution.t, solution.q[:, place]), lw=0.9, label=label)
        # what is zero to the last bit is drawn where rounding is
        drawn = np.maximum(np.abs(solution.energy_error), 1e-17) if conserved else solution.energy
        lower.plot(*envelope(solution.t, drawn), lw=0.8, label=label)
    upper.set(ylabel=names[place], title=first.system.title)
    if conserved:
        lower.set(yscale="log", ylabel="relative energy error")
    else:
        lower.set(ylabel=with_unit("energy (not conserved)", first._core.system().energy_unit))
    lower.set_xlabel(with_unit("t", unit))
    upper.margins(x=0)
    lower.grid(alpha=0.3)
    lower.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.01, 1))
    return figure


def plot_convergence(found: Convergence) -> Figure:
    """Errors against steps, a panel for each measure."""
    plt = _pyplot()
    from matplotlib.ticker import NullFormatter

    measures = list(dict.fromkeys(of for of, _ in found.errors))
    figure: Figure
    figure, panels = plt.subplots(1, len(measures), figsize=(4.6 * len(measures), 4.4), layout="constrained", squeeze=False)
    for of, axes in zip(measures, panels[0], strict=True):
        for (measure, method), errors in found.errors.items():
            if measure == of:
                order = found.orders[measure, method]
                label = method if order is None else f"{method} ({order:.2f})"
                axes.loglog(found.steps, errors, "o-", ms=4, lw=1, label=label)
        axes.set(xlabel="step", title=f"error of {of}")
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.set_xticks(found.steps, [f"{step:.3g}" for step in found.steps], fontsize="small", rotation=30)
        axes.grid(alpha=0.3, which="both")
        axes.legend(fontsize="small", title="method (order)", title_fontsize="small")
    figure.suptitle(f"{found.report['system']} until {found.report['until']:g}, compared with {found.reference}")
    return figure
