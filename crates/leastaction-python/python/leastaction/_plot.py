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
#: The colour of what must not be overlooked.
ALERT = "#ba1824"
#: What is drawn over what.
TRACES, RODS, BODIES = 2, 3, 4


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
    ends = np.concatenate([places[-1], np.zeros((1, 3))])
    for start, end in links:
        rod = ends[[start, end], :dimension].T
        axes.plot(*rod, color="0.25", lw=1.6, zorder=RODS)
    for k, name in enumerate(names[:MOST_LINES]):
        path = places[:, k, :dimension].T
        axes.plot(*path, lw=0.8, alpha=0.7, color=f"C{k}", label=name, zorder=TRACES)
        axes.plot(*path[:, -1:], "o", ms=6, color=f"C{k}", zorder=BODIES)
    axes.set(xlabel=with_unit("x", unit), ylabel=with_unit("y", unit), title="motion")
    labelled = 1 < len(names) <= MOST_LINES
    if not flat:
        draw_space(axes, np.concatenate([places.reshape(-1, 3), ends]) if links else places.reshape(-1, 3), sphere, unit)
        if labelled:
            # below the axes, whose corners are not empty
            axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.06), ncols=4, columnspacing=1.0, handlelength=1.4, fontsize="small")
        return
    axes.set_aspect("equal", adjustable="datalim")
    if labelled:
        _legend_above(axes, len(names))


def draw_space(axes: Any, points: Array, sphere: float | None, unit: str) -> None:
    """Equal scales in space around all points, and a sphere if everything moves on one."""
    from matplotlib.ticker import MaxNLocator

    # by what it is, not by its distance: a sphere in front of its body would be drawn over it
    axes.computed_zorder = False
    if sphere is not None:
        u, w = np.mgrid[0 : 2 * np.pi : 25j, 0 : np.pi : 13j]
        grid = sphere * np.array([np.cos(u) * np.sin(w), np.sin(u) * np.sin(w), np.cos(w)])
        axes.plot_wireframe(*grid, color="0.85", lw=0.4, zorder=0)
        points = np.concatenate([points, [[-sphere] * 3, [sphere] * 3]])
    low, high = points.min(axis=0), points.max(axis=0)
    reach = 0.52 * float(np.max(high - low)) or 1.0
    limits = [(centre - reach, centre + reach) for centre in (low + high) / 2]
    axes.set(xlim=limits[0], ylim=limits[1], zlim=limits[2], zlabel=with_unit("z", unit))
    axes.set_box_aspect((1, 1, 1), zoom=0.9)
    for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
        # numbers of two axes would meet in a corner
        first, last = axis.get_view_interval()
        edge = 0.08 * (last - first)
        axis.set_ticks([x for x in MaxNLocator(5, steps=[1, 2, 5, 10]).tick_values(first, last) if first + edge < x < last - edge])
    axes.tick_params(labelsize="small", pad=0)


def _path(solution: Solution, axes: Any, rows: npt.NDArray[np.intp]) -> None:
    system = solution._core.system()
    names, units = solution.system.coordinates, system.units
    q = solution.q[rows]
    columns = q[:, :2] if q.shape[1] > 1 else np.stack([q[:, 0], solution.v[rows, 0]], axis=1)
    axes.plot(*columns.T, lw=0.8)
    # in another colour than the path, in which it would not be seen
    axes.plot(*columns[-1:].T, "o", color="C0", mec="black", zorder=BODIES)
    if q.shape[1] == 1:
        speed = f"{units[0]}/{system.time_unit}" if units[0] and system.time_unit else ""
        axes.set(xlabel=with_unit(names[0], units[0]), ylabel=with_unit(f"v_{names[0]}", speed), title="motion")
        return
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
    label = shown[0][1] if len(shown) == 1 else "q"
    axes.set(xlabel=with_unit("t", system.time_unit), ylabel=with_unit(label, _common(system.units, shown)))
    axes.set_title("coordinates")
    _over_time(axes)
    _legend(axes, shown, solution)


def _phase(solution: Solution, axes: Any) -> None:
    """Momenta over coordinates."""
    rows = thinned(len(solution.t))
    shown = _shown(solution)
    for i, name in shown:
        axes.plot(solution.q[rows, i], solution.p[rows, i], lw=0.7, alpha=0.8, label=name)
    system = solution._core.system()
    name = shown[0][1] if len(shown) == 1 else "q"
    momentum = f"p_{name}" if len(shown) == 1 else "p"
    axes.set(
        xlabel=with_unit(name, _common(system.units, shown)),
        ylabel=with_unit(momentum, _common(system.momentum_units, shown)),
        title="phase portrait",
    )
    _legend(axes, shown, solution)


def _common(units: list[str], shown: list[tuple[int, str]]) -> str:
    """The unit of all that is shown, if they have one."""
    found = {units[i] for i, _ in shown}
    return found.pop() if len(found) == 1 else ""


def _over_time(axes: Any) -> None:
    """From the first time to the last, with few enough numbers that large ones have room."""
    axes.margins(x=0)
    axes.locator_params(axis="x", nbins=7)


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
    _over_time(axes)
    _legend_above(axes, len(axes.lines), columns=2)


def _legend(axes: Any, shown: list[tuple[int, str]], solution: Solution) -> None:
    if len(shown) > 1:
        _legend_above(axes, len(shown), f"{len(shown)} of {solution.system.n}" if len(shown) == MOST_LINES < solution.system.n else None)


def _legend_above(axes: Any, count: int, title: str | None = None, columns: int = 4) -> None:
    """A legend in rows above everything that is drawn, which it would hide otherwise."""
    rows = -(-count // columns)
    columns = -(-count // rows)
    axes.legend(
        fontsize="small", loc="upper right", ncols=columns, columnspacing=1.0, handlelength=1.4, title=title, title_fontsize="small"
    )
    low, high = axes.get_ylim()
    room = (0.05 + 0.08 * (rows + (title is not None))) * (high - low)
    # as if something were drawn there: limits that are set would be in the way of equal scales
    axes.update_datalim([(axes.get_xlim()[0], high + room)], updatex=False)
    axes.autoscale_view()


PANELS: dict[str, Callable[[Any, Any], None]] = {
    "motion": _motion,
    "series": _series,
    "phase": _phase,
    "invariants": _invariants,
}


def _is_spatial(solution: Solution, what: str) -> bool:
    drawn = solution._core.bodies()
    return what == "motion" and drawn is not None and drawn[2] == 3


def _check_axes(axes: Any, spatial: bool) -> None:
    _pyplot()
    from matplotlib.axes import Axes

    if not isinstance(axes, Axes):
        raise TypeError(f"axes must be one Axes of matplotlib, such as plt.figure().add_subplot(), but is {type(axes).__name__}")
    if spatial and axes.name != "3d":
        raise InputError('this motion is one in space; make the axes with projection="3d"')


def plot(solution: Solution, what: str = "overview", *, axes: Axes | None = None) -> Figure:
    """Draws a solution and returns the figure; see :meth:`leastaction.Solution.plot`."""
    wanted = list(PANELS) if what == "overview" else [what]
    if what != "overview" and what not in PANELS:
        raise InputError(f"there is no plot {what!r}; try overview, {', '.join(PANELS)}")
    _recorded(solution)
    if axes is not None:
        if len(wanted) != 1:
            raise InputError("an overview has axes of its own; choose one panel to draw into given axes")
        _check_axes(axes, _is_spatial(solution, what))
        PANELS[what](solution, axes)
        _alert(solution, axes)
        # the whole one, also where the axes are part of a part
        whole: Figure = axes.figure.canvas.figure
        return whole
    figure: Figure = _pyplot().figure(figsize=(10, 7.5) if len(wanted) == 4 else (6.5, 5), layout="constrained")
    for k, panel in enumerate(wanted, 1):
        shape = (2, 2, k) if len(wanted) == 4 else (1, 1, 1)
        projection = "3d" if _is_spatial(solution, panel) else None
        own = figure.add_subplot(*shape, projection=projection)
        PANELS[panel](solution, own)
        if what != "overview":
            _alert(solution, own)
    if what == "overview":
        summary = solution.summary
        unit = solution._core.system().time_unit
        figure.suptitle(
            f"{solution.system.title}: {summary['method']} (order {summary['order']}), "
            f"{summary['steps']} steps of {summary['step']:.6g} {unit}".rstrip()
        )
        if solution._alert:
            # in the corner below, where nothing else is
            figure.supxlabel(solution._alert, color=ALERT, weight="bold")
    return figure


def _alert(solution: Solution, axes: Any) -> None:
    """Says above a panel that the run did not come to its end."""
    if solution._alert:
        axes.set_title(f"{axes.get_title()}: {solution._alert}", color=ALERT)


def plot_comparison(solutions: Mapping[str, Solution], *, coordinate: int | str = 0) -> Figure:
    """One coordinate of several solutions and their energy errors, or their energies where these are not conserved."""
    plt = _pyplot()
    first = next(iter(solutions.values()))
    names = first.system.coordinates
    place = names.index(coordinate) if isinstance(coordinate, str) and coordinate in names else coordinate
    if isinstance(place, bool) or not isinstance(place, (int, np.integer)) or not 0 <= place < len(names):
        raise InputError(f"there is no coordinate {coordinate!r}; there are {', '.join(names)}")
    unit = first._core.system().time_unit
    conserved = all(solution.summary["energy"]["conserved"] for solution in solutions.values())
    figure: Figure
    figure, (upper, lower) = plt.subplots(2, 1, figsize=(9, 7), layout="constrained", sharex=True)
    for label, solution in solutions.items():
        _recorded(solution)
        name = f"{label} ({solution._alert})" if solution._alert else label
        upper.plot(*envelope(solution.t, solution.q[:, place]), lw=0.9, label=name)
        # what is zero to the last bit is drawn where rounding is; at the start it always is
        drawn = np.maximum(np.abs(solution.energy_error[1:]), 1e-17) if conserved else solution.energy
        lower.plot(*envelope(solution.t[1:] if conserved else solution.t, drawn), lw=0.8, label=label)
    upper.set(ylabel=with_unit(names[place], first._core.system().units[place]), title=first.system.title)
    if conserved:
        lower.set(yscale="log", ylabel="relative energy error")
    else:
        lower.set(ylabel=with_unit("energy (not conserved)", first._core.system().energy_unit))
    lower.set_xlabel(with_unit("t", unit))
    for axes in (upper, lower):
        _over_time(axes)
    lower.grid(alpha=0.3)
    # colours are the same in both
    upper.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.01, 1))
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
