"""Motions as animations: rods and masses where the system says where its bodies are, else a point on its path."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._errors import InputError
from ._plot import BODIES, RODS, TRACES, _pyplot, _recorded, draw_space, with_unit
from ._values import path as as_path

if TYPE_CHECKING:
    from matplotlib.animation import FuncAnimation
    from matplotlib.figure import Figure

    from ._solution import Solution

#: Bodies whose traces are drawn.
MOST_TRACES = 8
#: Points of a trace for each frame, so that it is round where bodies are fast: at least, and at most.
FINE = (8, 64)
#: More would take hours to draw.
MOST_FRAMES = 10_000


class Animation:
    """An animation: a notebook plays it, ``save`` writes it as .gif, .html or, with ffmpeg, .mp4."""

    def __init__(self, animation: FuncAnimation, figure: Figure, fps: int, frames: int) -> None:
        #: The animation of matplotlib.
        self.animation: FuncAnimation = animation
        self.figure = figure
        self.fps = fps
        self.frames = frames

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes it, by the ending of the file."""
        target = as_path("path", path)
        ending = target.suffix.lower()
        if ending == ".gif":
            self.animation.save(target, writer="pillow", fps=self.fps)
        elif ending == ".html":
            target.write_text(self.animation.to_jshtml(fps=self.fps))
        elif ending == ".mp4":
            from matplotlib.animation import writers

            if not writers.is_available("ffmpeg"):
                raise InputError("an .mp4 needs the program ffmpeg, which is not found here; install it, or write a .gif or .html")
            self.animation.save(target, writer="ffmpeg", fps=self.fps)
        else:
            raise InputError(f"an animation is written as .gif, .html or .mp4, not as {ending or 'a file without ending'!r}")
        return target

    def __repr__(self) -> str:
        return f"<Animation of {self.frames} frames, {self.fps} a second>"

    def _repr_html_(self) -> str:
        html: str = self.animation.to_jshtml(fps=self.fps)
        _pyplot().close(self.figure)
        return html


def animate(solution: Solution, *, seconds: float = 8.0, fps: int = 25, trace: float = 0.15, speed: float | None = None) -> Animation:
    """The motion as an animation; see :meth:`leastaction.Solution.animate`."""
    _recorded(solution)
    for name, value, most in (("seconds", seconds, math.inf), ("fps", fps, math.inf), ("trace", trace, 1.0), ("speed", speed, math.inf)):
        _check_number(name, value, most)
    start, end = float(solution.t[0]), float(solution.t[-1])
    if speed is not None:
        end = min(end, start + speed * seconds)
        seconds = (end - start) / speed
    frames = max(2, round(seconds * fps))
    if frames > MOST_FRAMES:
        raise InputError(f"{frames} frames are too many, at most {MOST_FRAMES}; try fewer seconds or a smaller fps")
    # as many as were recorded, where frames are few
    fine = int(np.clip(len(solution.t) // frames, *FINE))
    times: npt.NDArray[np.float64] = np.linspace(start, end, (frames - 1) * fine + 1, dtype=np.float64)
    state = solution(times)
    drawn = solution._core.bodies()
    if drawn is None:
        scene: _Scene = _Path(solution, state.q)
    else:
        places = solution._core.positions(state.t, state.q, state.v)
        assert places is not None
        scene = _Bodies(solution, places, drawn)
    scene.begin(times, round(trace * len(times)), fine)
    from matplotlib.animation import FuncAnimation

    made = FuncAnimation(scene.figure, scene.draw, frames=frames, interval=1000 / fps, blit=False)
    return Animation(made, scene.figure, fps, frames)


def _check_number(name: str, value: Any, most: float) -> None:
    if value is None and name == "speed":
        return
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
        raise TypeError(f"{name} must be a number, but is {value!r}")
    # a trace may be left out
    right = 0 <= value <= most if name == "trace" else 0 < value <= most
    if not right or not math.isfinite(value):
        limits = "from 0 to 1" if name == "trace" else "positive and finite"
        raise InputError(f"{name} must be {limits}, but is {value!r:.40}")


class _Scene:
    """A figure and what moves in it."""

    def __init__(self, solution: Solution, projection: str | None) -> None:
        plt = _pyplot()
        # an animation shows itself; its figure would be shown a second time
        self.figure = plt.figure(figsize=(5.5, 5.5), layout="constrained")
        plt.close(self.figure)
        self.axes = self.figure.add_subplot(projection=projection)
        self.unit = solution._core.system().time_unit
        alert = f": {solution._alert}" if solution._alert else ""
        self.axes.set_title(solution.system.title + alert, fontsize="medium")

    def begin(self, times: npt.NDArray[np.float64], tail: int, fine: int) -> None:
        """Takes the times of all points of traces, how many of them a trace has, and how many there are for a frame."""
        self.times, self.tail, self.fine = times, tail, fine
        place = self.axes.text2D if hasattr(self.axes, "text2D") else self.axes.text
        self.clock = place(0.02, 0.97, "", transform=self.axes.transAxes, va="top", family="monospace")

    def draw(self, frame: int) -> list[Any]:
        """Draws a frame and returns what has changed."""
        now = frame * self.fine
        self.clock.set_text(f"t = {self.times[now]:.2f} {self.unit}".rstrip())
        return [self.clock, *self.move(now)]

    def move(self, now: int) -> list[Any]:
        """Moves everything to a place among the times."""
        raise NotImplementedError


class _Bodies(_Scene):
    """Bodies, rods between them, and traces behind them."""

    def __init__(self, solution: Solution, places: npt.NDArray[np.float64], drawn: Any) -> None:
        names, self.links, self.dimension, sphere, unit = drawn
        super().__init__(solution, "3d" if self.dimension == 3 else None)
        self.places = places
        axes = self.axes
        axes.set(xlabel=with_unit("x", unit), ylabel=with_unit("y", unit))
        if self.dimension == 3:
            points = places.reshape(-1, 3)
            draw_space(axes, np.concatenate([points, np.zeros((1, 3))]) if self.links else points, sphere, unit)
        else:
            axes.set_aspect("equal")
            self.frame_plane(places)
        blank: list[list[float]] = [[]] * self.dimension
        count = min(len(names), MOST_TRACES)
        # only the last body of a chain leaves a trace that can be read
        ends = set(range(len(names))) - {start for start, _ in self.links}
        traced = [k for k in range(count) if k in ends or len(names) <= 2] or list(range(count))
        self.traces = [(k, axes.plot(*blank, lw=1, alpha=0.6, color=f"C{k}", zorder=TRACES)[0]) for k in traced]
        self.rods = [axes.plot(*blank, color="0.25", lw=2, zorder=RODS)[0] for _ in self.links]
        size = 9 if len(names) <= 10 else 4
        self.bodies = [axes.plot(*blank, "o", ms=size, color=f"C{k % 10}", zorder=BODIES)[0] for k in range(len(names))]

    def frame_plane(self, places: npt.NDArray[np.float64]) -> None:
        """Everything in sight, the fixed point too if something hangs from it."""
        points: npt.NDArray[np.float64] = places[:, :, :2].reshape(-1, 2)
        if any(start == -1 for start, _ in self.links):
            points = np.concatenate([points, [[0.0, 0.0]]])
        low, high = points.min(axis=0), points.max(axis=0)
        margin = 0.08 * float(np.max(high - low) or 1.0)
        self.axes.set(xlim=(low[0] - margin, high[0] + margin), ylim=(low[1] - margin, high[1] + margin))

    def place(self, line: Any, points: npt.NDArray[np.float64]) -> None:
        columns = points[:, : self.dimension].T
        if self.dimension == 3:
            line.set_data_3d(*columns)
        else:
            line.set_data(*columns)

    def move(self, now: int) -> list[Any]:
        points = np.concatenate([self.places[now], np.zeros((1, 3))])
        for k, line in self.traces:
            self.place(line, self.places[max(0, now - self.tail) : now + 1, k])
        for (start, end), line in zip(self.links, self.rods, strict=True):
            self.place(line, points[[start, end]])
        for k, line in enumerate(self.bodies):
            self.place(line, points[[k]])
        return [*(line for _, line in self.traces), *self.rods, *self.bodies]


class _Path(_Scene):
    """A point on the path of the first two coordinates, or of one over time."""

    def __init__(self, solution: Solution, q: npt.NDArray[np.float64]) -> None:
        super().__init__(solution, None)
        names, units = solution.system.coordinates, solution._core.system().units
        self.one = q.shape[1] == 1
        self.q = q
        labels = [with_unit(name, unit) for name, unit in zip(names, units, strict=True)]
        self.axes.set(xlabel=with_unit("t", self.unit) if self.one else labels[0], ylabel=labels[0 if self.one else 1])
        self.path = self.axes.plot([], [], lw=1, alpha=0.6)[0]
        self.point = self.axes.plot([], [], "o", color="C0")[0]

    def begin(self, times: npt.NDArray[np.float64], tail: int, fine: int) -> None:
        super().begin(times, tail, fine)
        columns = [times, self.q[:, 0]] if self.one else [self.q[:, 0], self.q[:, 1]]
        self.points = np.stack(columns, axis=1)
        low, high = self.points.min(axis=0), self.points.max(axis=0)
        margin = 0.05 * np.where(high > low, high - low, 1.0)
        self.axes.set(xlim=(low[0] - margin[0], high[0] + margin[0]), ylim=(low[1] - margin[1], high[1] + margin[1]))

    def move(self, now: int) -> list[Any]:
        self.path.set_data(*self.points[max(0, now - self.tail) : now + 1].T)
        self.point.set_data(*self.points[now : now + 1].T)
        return [self.path, self.point]
