"""What comes out of a run."""

from __future__ import annotations

import json
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _core
from ._errors import InputError
from ._system import System
from ._types import Array, Numbers
from ._values import Fixed, reals

if TYPE_CHECKING:
    import pandas
    import pyarrow
    import xarray
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ._animate import Animation

#: What ``status`` is for each outcome, as in SciPy: 0 reached the end, 1 an event ended it, negative it did not get there.
STATUS = {"done": 0, "not reached": 0, "stopped": 1, "failed": -1, "interrupted": -2}


#: What to do instead of changing what was recorded.
RECORDED = "it holds what the run recorded; change a copy, dict(…), or record more: la.simulate(…, outputs={{{key}: formula}})"


class State(NamedTuple):
    """Coordinates, velocities, momenta and energy at one time, or at many: time is the first axis."""

    t: Array
    q: Array
    v: Array
    p: Array
    energy: Array


class Solution:
    """The result of a run, complete or not.

    Arrays have time as their first axis: ``t`` and ``energy`` have the shape (rows,), ``q``, ``v`` and ``p`` the shape (rows, n), with
    columns in the order of ``system.coordinates``. They are the numbers the run recorded, not copies, and cannot be changed.

    >>> import leastaction as la
    >>> sol = la.simulate("pendulum", until=1)
    >>> sol.t.shape, sol.q.shape, sol.status
    ((101,), (101, 1), 0)
    >>> sol(0.123).q.shape
    (1,)
    """

    def __init__(self, core: _core.Solution) -> None:
        self._core = core
        #: Times.
        self.t: Array = core.t
        #: Coordinates.
        self.q: Array = core.q
        #: Velocities.
        self.v: Array = core.v
        #: Momenta.
        self.p: Array = core.p
        #: Energies.
        self.energy: Array = core.energy
        #: Energies minus the initial one, subtracted before rounding.
        self.energy_change: Array = core.energy_change
        #: Recorded outputs by name.
        self.outputs: dict[str, Array] = Fixed(core.outputs, RECORDED)
        #: ``done``, ``stopped`` (by an event), ``not reached`` (no event ended it that was to), ``interrupted`` or ``failed``.
        self.outcome: str = core.outcome
        #: 0: reached the end; 1: ended by an event; −1: failed; −2: interrupted.
        self.status: int = STATUS[core.outcome]
        #: Whether the run went as far as it was meant to.
        self.success: bool = self.status >= 0
        #: How it ended, in words.
        self.message: str = core.message

    @cached_property
    def system(self) -> System:
        """The system, with the parameters of this run as its defaults."""
        return System._of(self._core.system())

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The numbers that matter, as the command's ``--summary json``."""
        return Fixed(json.loads(self._core.summary_json()), RECORDED)

    @cached_property
    def run(self) -> str:
        """The run with every default filled in, as the text of a file that repeats it."""
        return self._core.run_toml()

    @property
    def notes(self) -> list[str]:
        """What else there is to know: what was picked, what was not recorded, events that never happened."""
        return self._core.notes

    @cached_property
    def _events(self) -> dict[str, tuple[Array, Array, Array, Array]]:
        events = {name: (t, q, v, p) for name, t, q, v, p in self._core.events}
        for found in events.values():
            for array in found:
                array.setflags(write=False)
        return events

    @property
    def t_events(self) -> dict[str, Array]:
        """Times of the events, by name.

        >>> import leastaction as la
        >>> sol = la.simulate("pendulum", until=10, events={"bottom": "q"})
        >>> len(sol.t_events["bottom"]), sol.q_events["bottom"].shape
        (17, (17, 1))
        """
        return Fixed({name: found[0] for name, found in self._events.items()}, RECORDED)

    @property
    def q_events(self) -> dict[str, Array]:
        """Coordinates at the events, by name."""
        return Fixed({name: found[1] for name, found in self._events.items()}, RECORDED)

    @property
    def v_events(self) -> dict[str, Array]:
        """Velocities at the events, by name."""
        return Fixed({name: found[2] for name, found in self._events.items()}, RECORDED)

    @property
    def p_events(self) -> dict[str, Array]:
        """Momenta at the events, by name."""
        return Fixed({name: found[3] for name, found in self._events.items()}, RECORDED)

    @cached_property
    def invariants(self) -> dict[str, Array]:
        """What should be conserved, over time: the energy if it is, and momenta by name."""
        energy = {"energy": self.energy} if self.summary["energy"]["conserved"] else {}
        return {**energy, **dict(self._core.momenta())}

    @property
    def energy_error(self) -> Array:
        """The relative error of the energy over time."""
        error: Array = self.energy_change / self.summary["energy"]["scale"]
        # computed anew each time, so that a change would be lost
        error.setflags(write=False)
        return error

    @property
    def _alert(self) -> str:
        """That it did not come to its end, and when; nothing if it did."""
        if self.outcome in ("done", "stopped") or not len(self.t):
            return ""
        unit = self._core.system().time_unit
        return f"{self.outcome.upper()} at t = {self.t[-1]:.6g} {unit}".rstrip()

    @property
    def end(self) -> State:
        """The state in which the run ended: at the event that ended it, else the last one.

        Events are found within steps, and a run that one ends takes the whole of that step: ``t[-1]`` lies at the event or behind it.

        >>> import leastaction as la
        >>> sol = la.simulate("pendulum", until=10, events={"bottom": {"of": "q", "stop": 1}})
        >>> sol.status, bool(sol.t[-2] < sol.end.t < sol.t[-1]), bool(abs(sol.end.q[0]) < 1e-12)
        (1, True, True)
        """
        name = self._core.stopped
        if name is not None:
            t, q, v, p = (found[-1] for found in self._events[name])
            (energy,) = self._core.energies(np.array([t]), q[None], v[None])
            return State(t, q, v, p, energy)
        if not len(self.t):
            raise InputError("nothing was recorded; simulate with every=1, or look at summary")
        return State(self.t[-1], self.q[-1], self.v[-1], self.p[-1], self.energy[-1])

    def __call__(self, t: Numbers) -> State:
        """The state at any time of the run, or at many: the end of a partial step from the recorded state before it, with the full
        order of the method.

        >>> import leastaction as la
        >>> sol = la.simulate("double-pendulum", until=2, step=0.1, method="gauss12")
        >>> sol(1.234).q.shape, sol([0.5, 1.5]).q.shape
        ((2,), (2, 2))
        """
        times = _times(t)
        if times.ndim > 1:
            raise InputError(f"times must be a number or a list of them, but have the shape {times.shape}")
        if np.isnan(times).any():
            raise InputError("a time is not a number (NaN)")
        q, v, p, energy = self._core.at(np.atleast_1d(times))
        if times.ndim == 0:
            return State(times, q[0], v[0], p[0], energy[0])
        return State(times, q, v, p, energy)

    def positions(self, t: Numbers | None = None) -> Array:
        """Positions of the bodies, by time, body and x, y, z: at the recorded times, or at others.

        >>> import leastaction as la
        >>> la.simulate("double-pendulum", until=1).positions([0, 0.5]).shape
        (2, 2, 3)
        """
        if t is None:
            found = self._core.positions(self.t, self.q, self.v)
        else:
            state = self(np.atleast_1d(_times(t)))
            found = self._core.positions(state.t, state.q, state.v)
        if found is None:
            raise InputError(
                f"the system `{self.system.name}` does not say where its bodies are\n  give positions=… to la.System, or [plot] in the text"
            )
        return found

    def _columns(self) -> dict[str, Array]:
        """Every recorded number by the name of its column, as the command's files have them."""
        names = self.system.coordinates
        columns: dict[str, Array] = {"t": self.t}
        for prefix, table in (("", self.q), ("v_", self.v), ("p_", self.p)):
            columns.update({prefix + name: table[:, i] for i, name in enumerate(names)})
        columns.update({"energy": self.energy, **self.outputs})
        return columns

    def to_pandas(self) -> pandas.DataFrame:
        """A table with time as index and a column for each coordinate, velocity (``v_x``), momentum (``p_x``), the energy and
        outputs.

        >>> import leastaction as la
        >>> list(la.simulate("pendulum", until=1).to_pandas().columns)
        ['q', 'v_q', 'p_q', 'energy']
        """
        import pandas as pd

        columns = self._columns()
        index = pd.Index(columns.pop("t"), name="t")
        return pd.DataFrame(columns, index=index, copy=False)

    def to_xarray(self) -> xarray.Dataset:
        """A dataset over time and coordinate, with units; the arrays are not copied.

        >>> import leastaction as la
        >>> dict(la.simulate("double-pendulum", until=1).to_xarray().sizes)
        {'t': 101, 'coordinate': 2}
        """
        import xarray as xr

        core = self._core.system()
        dims = ("t", "coordinate")
        variables: dict[str, Any] = {
            "q": (dims, self.q),
            "v": (dims, self.v),
            "p": (dims, self.p),
            "energy": (("t",), self.energy, {"units": core.energy_unit}),
        }
        variables.update({name: (("t",), values) for name, values in self.outputs.items()})
        coordinates = {
            "t": ("t", self.t, {"units": core.time_unit}),
            "coordinate": list(core.coordinates),
            "unit": ("coordinate", core.units),
        }
        return xr.Dataset(variables, coordinates, {"system": core.name, "run": self.run})

    def to_arrow(self) -> pyarrow.Table:
        """An Arrow table: ``t``, ``q``, ``v``, ``p`` as lists of n numbers, the energy and outputs; nothing is copied. The run is in its
        metadata.

        >>> import leastaction as la
        >>> la.simulate("pendulum", until=1).to_arrow().column_names
        ['t', 'q', 'v', 'p', 'energy']
        """
        import pyarrow as pa

        n = self.q.shape[1]

        def lists(table: Array) -> Any:
            return pa.FixedSizeListArray.from_arrays(pa.array(table.reshape(-1)), n)

        columns = {"t": pa.array(self.t), "q": lists(self.q), "v": lists(self.v), "p": lists(self.p)}
        columns["energy"] = pa.array(self.energy)
        columns.update({name: pa.array(values) for name, values in self.outputs.items()})
        metadata = {"leastaction.run": self.run, "leastaction.coordinates": json.dumps(self.system.coordinates)}
        return pa.table(columns, metadata=metadata)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The table for everything that reads Arrow's C interface, such as Polars and DuckDB."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def plot(self, what: str = "overview", *, axes: Axes | None = None) -> Figure:
        """Draws the solution with matplotlib and returns the figure.

        :param what: ``"overview"``, or one of ``"motion"``, ``"series"``, ``"phase"``, ``"invariants"``
        :param axes: axes to draw one panel into; the motion of a system in space needs axes with ``projection="3d"``

        >>> import leastaction as la
        >>> figure = la.simulate("double-pendulum", until=5).plot()
        >>> [axes.get_title() for axes in figure.axes]
        ['motion', 'coordinates', 'phase portrait', 'invariants']
        """
        from ._plot import plot

        return plot(self, what, axes=axes)

    def animate(self, *, seconds: float = 8.0, fps: int = 25, trace: float = 0.15, speed: float | None = None) -> Animation:
        """The motion as an animation, which a notebook plays and ``save`` writes.

        :param seconds: how long it takes at most
        :param fps: frames a second
        :param trace: how much of the run the trace behind a body shows, from 0 to 1
        :param speed: units of time a second; by default the whole run in ``seconds``

        >>> import leastaction as la
        >>> movie = la.simulate("pendulum", until=2).animate(seconds=1, fps=10)
        >>> movie
        <Animation of 10 frames, 10 a second>
        >>> "<img" in movie._repr_html_()
        True
        """
        from ._animate import animate

        return animate(self, seconds=seconds, fps=fps, trace=trace, speed=speed)

    def __len__(self) -> int:
        return len(self.t)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self._core.state(),)

    def __str__(self) -> str:
        return self._core.summary_text()

    def __repr__(self) -> str:
        summary = self.summary
        return f"<Solution of {summary['system']!r} with {summary['method']}: {self.message.splitlines()[0]}>"


def _restored(state: dict[str, Any]) -> Solution:
    return Solution(_core.Solution.of_state(state))


def _times(t: Any) -> Array:
    return reals("times", t)
