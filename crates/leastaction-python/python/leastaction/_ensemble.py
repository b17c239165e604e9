"""Ensembles: many members of one run that differ in parameters and initial states."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from . import _core
from ._errors import InputError, Interrupted, LeastActionWarning
from ._progress import watcher
from ._simulate import keywords
from ._system import System, as_system
from ._types import Event, Number, Numbers, Quantity, Report, Values
from ._values import path as as_path
from ._values import plain, reals

if TYPE_CHECKING:
    import distributed
    import pandas
    import pyarrow

Array = npt.NDArray[Any]
Columns = dict[str, Array]


class Starts(NamedTuple):
    """A list of starts: names and a row of values for each member."""

    names: list[str]
    rows: npt.NDArray[np.float64]


class Ensemble:
    """What came out of an ensemble: arrays with one entry for each member.

    >>> import numpy as np, leastaction as la
    >>> result = la.ensemble("pendulum", q=np.linspace(0.1, 1, 10)[:, None], v=0, until=1)
    >>> result.q.shape, bool(result.success.all())
    ((10, 1), True)
    """

    def __init__(self, work: _core.EnsembleWork, columns: Columns) -> None:
        # numbers and words alone, so that a result can be kept and sent around
        self._axes = work.grid
        #: The run with its ensemble, as the text of a file.
        self.run: str = work.run_toml()
        #: What else there is to know.
        self.notes: list[str] = work.notes
        #: Every column by its name, as the command's files have them.
        self.columns: Columns = columns
        words = np.array(work.statuses())
        names = work.coordinates
        codes = columns["status"].astype(np.intp)
        #: How each member ended: ``done``, ``stopped``, ``not reached``, or why it failed.
        self.status: Array = words[codes]
        #: Whether each member went as far as it was meant to.
        self.success: Array = np.array(work.complete())[codes]
        #: The time each member reached.
        self.t: Array = columns["t_end"]
        #: The step of each member.
        self.step: Array = columns["step"]
        #: Coordinates at the end, by member and coordinate.
        self.q: Array = np.stack([columns[f"{name}_end"] for name in names], axis=1)
        #: Momenta at the end, by member and coordinate.
        self.p: Array = np.stack([columns[f"p_{name}_end"] for name in names], axis=1)
        #: The energy at the start.
        self.energy: Array = columns["energy"]
        #: The largest relative error of the energy.
        self.energy_error: Array = columns["energy_error"]
        #: What varied, by name.
        self.values: Columns = {name: columns[name] for name in work.varied}
        #: How often each event happened, by name.
        self.counts: Columns = {name: columns[f"{name}_count"] for name in work.events}
        #: When each event happened first (NaN if never), by name.
        self.t_events: Columns = {name: columns[f"{name}_first"] for name in work.events}

    def grid(self, column: str | Array) -> Array:
        """A column, or any array with an entry for each member, in the shape of the grid: the first name of ``vary`` first.

        >>> import leastaction as la
        >>> found = la.ensemble("double-pendulum", vary={"q1": "-1..1:5", "q2": "0..1:3"}, until=1)
        >>> found.grid("energy_error").shape, found.grid(found.q).shape
        ((5, 3), (5, 3, 2))
        """
        axes = self._axes
        if axes is None:
            raise InputError("the members are not a grid; give all that varies as `vary`")
        if isinstance(column, str) and column not in self.columns:
            raise InputError(f"there is no column {column!r}; there are {', '.join(self.columns)}")
        values = self.columns[column] if isinstance(column, str) else np.asarray(column)
        if values.shape[:1] != (len(self),):
            raise InputError(f"an array with an entry for each of {len(self)} members is needed, but it has the shape {values.shape}")
        return values.reshape(*(count for _, count in axes), *values.shape[1:])

    def to_pandas(self) -> pandas.DataFrame:
        """A table with a row for each member.

        >>> import leastaction as la
        >>> la.ensemble("pendulum", vary={"q": "0..1:4"}, until=1).to_pandas()["status"].unique().tolist()
        ['done']
        """
        import pandas as pd

        return pd.DataFrame({**self.columns, "status": self.status}).set_index("index")

    def to_arrow(self) -> pyarrow.Table:
        """An Arrow table with a row for each member, the run in its metadata.

        >>> import leastaction as la
        >>> la.ensemble("pendulum", vary={"q": "0..1:4"}, until=1).to_arrow().num_rows
        4
        """
        import pyarrow as pa

        return pa.table({**self.columns, "status": self.status.tolist()}, metadata={"leastaction.run": self.run})

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The table for everything that reads Arrow's C interface."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        failed = int((~self.success).sum())
        varied = f": {', '.join(self.values)} vary" if self.values else ""
        return f"<Ensemble of {len(self)} members, {failed} failed{varied}>"


@overload
def ensemble(
    system: System | str | os.PathLike[str],
    *,
    q: Numbers | None = None,
    v: Numbers | None = None,
    p: Numbers | None = None,
    parameters: Values | None = None,
    vary: Mapping[str, Numbers] | None = None,
    draw: Mapping[str, str] | None = None,
    members: int | None = None,
    seed: int | None = None,
    t0: Number | None = None,
    until: Number | None = None,
    step: Number | None = None,
    method: str | None = None,
    tolerance: Number | None = None,
    outputs: Mapping[str, Quantity] | None = None,
    events: Mapping[str, Quantity | Event] | None = None,
    backend: str | None = None,
    threads: int | None = None,
    client: distributed.Client | None = None,
    shards: int | None = None,
    out: None = None,
    progress: bool | Report | None = None,
) -> Ensemble: ...
@overload
def ensemble(
    system: System | str | os.PathLike[str],
    *,
    q: Numbers | None = None,
    v: Numbers | None = None,
    p: Numbers | None = None,
    parameters: Values | None = None,
    vary: Mapping[str, Numbers] | None = None,
    draw: Mapping[str, str] | None = None,
    members: int | None = None,
    seed: int | None = None,
    t0: Number | None = None,
    until: Number | None = None,
    step: Number | None = None,
    method: str | None = None,
    tolerance: Number | None = None,
    outputs: Mapping[str, Quantity] | None = None,
    events: Mapping[str, Quantity | Event] | None = None,
    backend: str | None = None,
    threads: int | None = None,
    client: distributed.Client | None = None,
    shards: int | None = None,
    out: str | os.PathLike[str],
    progress: bool | Report | None = None,
) -> list[Path]: ...
def ensemble(
    system: System | str | os.PathLike[str],
    *,
    q: Numbers | None = None,
    v: Numbers | None = None,
    p: Numbers | None = None,
    parameters: Values | None = None,
    vary: Mapping[str, Numbers] | None = None,
    draw: Mapping[str, str] | None = None,
    members: int | None = None,
    seed: int | None = None,
    t0: Number | None = None,
    until: Number | None = None,
    step: Number | None = None,
    method: str | None = None,
    tolerance: Number | None = None,
    outputs: Mapping[str, Quantity] | None = None,
    events: Mapping[str, Quantity | Event] | None = None,
    backend: str | None = None,
    threads: int | None = None,
    client: distributed.Client | None = None,
    shards: int | None = None,
    out: str | os.PathLike[str] | None = None,
    progress: bool | Report | None = None,
) -> Ensemble | list[Path]:
    """Runs many members that differ in parameters and initial states, and returns an :class:`Ensemble`.

    Arrays make members: ``q``, ``v`` and ``p`` of the shape (members, n), ``parameters`` of the shape (members,), all of the same length;
    numbers and one-dimensional states are the same for all. Or ``vary`` gives a grid, names with values or ranges
    (``{"q1": "-pi..pi:100"}``), and ``draw`` distributions (``{"q1": "uniform(-1, 1)"}``) of which ``members`` are drawn. All combine.

    Members depend on their numbers alone: threads, shards and machines change no bit.

    :param outputs: quantities as of :func:`leastaction.simulate`; the value at the end of each member is the column ``NAME_end``
    :param threads: threads to compute with; by default one for each core
    :param client: a ``dask.distributed.Client`` to compute with; see the page on clusters in the guide
    :param shards: how many parts to send to the cluster or to write
    :param out: a folder for Parquet files, one a shard; parts that are there are not computed again, and the paths are returned
    :param progress: as for :func:`leastaction.simulate`

    >>> import numpy as np, leastaction as la
    >>> found = la.ensemble("double-pendulum", q=np.full((30, 2), 0.5), v=0, parameters={"g": np.linspace(1, 10, 30)}, until=5)
    >>> found.q.shape, bool(found.energy_error.max() < 1e-4)
    ((30, 2), True)
    """
    system = as_system(system)
    starts, fixed = _starts(system, {"q": q, "v": v, "p": p}, parameters)
    _check_variation(system, starts, vary, draw, members, seed)
    given = keywords(
        system, **fixed, vary=vary, draw=draw, members=members, seed=seed, t0=t0, until=until, step=step, method=method,
        tolerance=tolerance, outputs=outputs, events=events, backend=backend,
    )  # fmt: skip
    threads = _count("threads", threads, 4096)
    shards = _count("shards", shards, 1_000_000)
    if client is not None:
        from . import _dask

        _dask.check(client)
    folder = None if out is None else as_path("out", out)
    work = _work(system._core, given, starts)
    doubt = Doubt(work.tolerance)
    try:
        result = _computed(work, starts, threads, client, shards, folder, progress, doubt)
    except KeyboardInterrupt as interrupt:
        # the compiled half says so itself; waiting for a cluster does not
        raise interrupt if isinstance(interrupt, Interrupted) else Interrupted("interrupted before there was a result") from None
    for warning in [*work.warnings, *doubt.words()]:
        warnings.warn(warning, LeastActionWarning, stacklevel=2)
    return result


def _computed(
    work: _core.EnsembleWork,
    starts: Starts | None,
    threads: int | None,
    client: Any,
    shards: int | None,
    out: Path | None,
    progress: bool | Report | None,
    doubt: Doubt,
) -> Ensemble | list[Path]:
    """All members: here or on a cluster, as arrays or as files."""
    if client is None and out is None:
        with watcher(progress, "members") as report:
            columns, _ = work.run(threads, None, report)
        doubt.look(columns)
        return Ensemble(work, columns)
    count = min(shards or _usual_shards(client), work.count)
    kept = None if out is None else Parts(out, work, count)
    missing = range(1, count + 1) if kept is None else kept.missing()
    if client is None:
        found: Iterator[tuple[int, Columns]] = ((i, work.run(threads, (i, count))[0]) for i in missing)
    else:
        from . import _dask

        found = _dask.shards(client, work.run_toml(), starts, missing, count)
    with watcher(progress, "shards") as report:
        return _collect(work, found, count, kept, report, doubt)


class Doubt:
    """Whether members keep to the tolerance, as far as they were looked at."""

    def __init__(self, tolerance: float | None) -> None:
        self.tolerance = tolerance
        self.missed = 0
        self.worst = (0.0, 0)

    def look(self, columns: Columns) -> None:
        """Looks at some members. Those that failed have no error, and say so themselves."""
        if self.tolerance is None:
            return
        errors = np.nan_to_num(columns["energy_error"], nan=0.0, posinf=0.0)
        self.missed += int((errors > self.tolerance).sum())
        if len(errors):
            place = int(np.argmax(errors))
            self.worst = max(self.worst, (float(errors[place]), int(columns["index"][place])))

    def words(self) -> list[str]:
        """What to say of it."""
        if not self.missed:
            return []
        error, member = self.worst
        return [
            f"{self.missed} members miss the tolerance of {self.tolerance:.1e}; the energy error of member {member} is {error:.1e}\n"
            "  try a smaller step to begin with, or a method of higher order"
        ]


def _check_variation(system: System, starts: Starts | None, vary: Any, draw: Any, members: Any, seed: Any) -> None:
    if system._core.varies:
        return
    if starts is None and not vary and not draw:
        raise InputError(
            "nothing varies\n  give arrays (q of the shape (members, n), a parameter of the shape (members,)), a grid "
            '(vary={"q1": "0..1:100"}) or draws (draw={"q1": "uniform(0, 1)"}, members=100)'
        )
    if members is not None and not draw:
        raise InputError(
            "members says how often to draw, but nothing is drawn\n  leave it out, or draw something: draw={'q1': 'uniform(0, 1)'}"
        )
    if seed is not None and not draw:
        raise InputError("seed says which draws, but nothing is drawn\n  leave it out, or draw something: draw={'q1': 'uniform(0, 1)'}")


def _work(core: _core.System, given: dict[str, Any], starts: Starts | None) -> _core.EnsembleWork:
    return _core.ensemble(core, given) if starts is None else _core.ensemble(core, given, starts.names, starts.rows)


def _count(what: str, value: Any, most: int) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 1 <= value <= most:
        raise InputError(f"{what} must be a whole number from 1 to {most}, but is {value!r}")
    return int(value)


def _usual_shards(client: Any) -> int:
    """Several for each thread of the cluster, so that a fast one does not wait for a slow one."""
    if client is None:
        return 1
    workers = client.scheduler_info()["workers"].values()
    threads = sum(int(worker["nthreads"]) for worker in workers)
    return 4 * max(1, threads)


def _starts(system: System, states: dict[str, Any], parameters: Mapping[Any, Any] | None) -> tuple[Starts | None, dict[str, Any]]:
    """Arrays of members as columns, and what is the same for all."""
    columns: dict[str, npt.NDArray[np.float64]] = {}
    fixed: dict[str, Any] = {}
    for letter, value in states.items():
        if value is None:
            continue
        value = plain(letter, value, system.coordinates)
        if _depth(letter, value) < 2:
            fixed[letter] = value
            continue
        table = reals(letter, value)
        if table.ndim != 2 or table.shape[1] != system.n:
            raise InputError(
                f"{letter} must have the shape (members, {system.n}), a column for each of {', '.join(system.coordinates[:8])}, "
                f"but has {table.shape}"
            )
        prefix = "" if letter == "q" else f"{letter}_"
        columns.update({prefix + name: table[:, i] for i, name in enumerate(system.coordinates)})
        if len(table):
            # the run that is not varied
            fixed[letter] = table[0]
    if parameters is not None:
        if not isinstance(parameters, Mapping):
            raise TypeError(f"parameters must be a dict of names and values, but are {parameters!r}")
        fixed["parameters"] = _varied_parameters(system, parameters, columns)
    if not columns:
        return None, fixed
    lengths = {name: len(column) for name, column in columns.items()}
    count = next(iter(lengths.values()))
    for name, length in lengths.items():
        if length != count:
            raise InputError(f"`{name}` has {length} members, but `{next(iter(lengths))}` has {count}")
    return Starts(list(columns), np.ascontiguousarray(np.stack(list(columns.values()), axis=1))), fixed


def _varied_parameters(system: System, parameters: Mapping[Any, Any], columns: dict[str, npt.NDArray[np.float64]]) -> dict[str, Any]:
    """The parameters that are the same for all; columns for the others."""
    fixed = {}
    known = system.parameters
    for key, value in parameters.items():
        name = getattr(key, "name", key)
        vector = f"{name}[1]" in known
        value = plain(f"parameter `{name}`", value)
        depth = _depth(f"parameter `{name}`", value)
        if depth == int(vector):
            fixed[name] = value
        elif depth == 1:
            columns[name] = reals(f"parameter `{name}`", value)
        elif depth == 2 and vector:
            table = reals(f"parameter `{name}`", value)
            columns.update({f"{name}[{i + 1}]": table[:, i] for i in range(table.shape[1])})
        else:
            raise InputError(
                f"parameter `{name}` must be a number or an array with one for each member, but has the shape {np.shape(value)}"
            )
    return fixed


def _depth(what: str, value: Any) -> int:
    try:
        return 0 if isinstance(value, str) else np.ndim(value)
    except ValueError:
        raise InputError(f"{what} must be an array of numbers, but its rows have different lengths") from None


def _collect(
    work: _core.EnsembleWork,
    found: Iterator[tuple[int, Columns]],
    count: int,
    kept: Parts | None,
    report: Report | None,
    doubt: Doubt,
) -> Ensemble | list[Path]:
    """Puts shards in their places as they arrive, or writes them."""
    table: Columns = {}
    done = 0
    if kept is not None:
        there = set(range(1, count + 1)).difference(kept.missing())
        done = len(there)
        for index in there if doubt.tolerance is not None else ():
            doubt.look(kept.read(index, ["index", "energy_error"]))
        if report is not None:
            report(done, count)
    for index, columns in found:
        done += 1
        doubt.look(columns)
        if kept is not None:
            kept.write(index, columns)
        else:
            first, end = work.shard(index, count)
            for name, values in columns.items():
                place = table.setdefault(name, np.empty(work.count, dtype=values.dtype))
                place[first:end] = values
        if report is not None:
            report(done, count)
    return Ensemble(work, table) if kept is None else kept.paths()


def _read(note: Path) -> Any:
    try:
        return json.loads(note.read_text())
    except ValueError:
        raise InputError(
            f"`{note}` cannot be read; choose another folder for out, or remove it if the parts beside it are of this run"
        ) from None


class Parts:
    """A folder with a Parquet file for each shard. A file appears when it is complete, so that a broken-off run goes on from there."""

    def __init__(self, folder: Path, work: _core.EnsembleWork, count: int) -> None:
        self.folder, self.work, self.count = folder, work, count
        if folder.exists() and not folder.is_dir():
            raise InputError(f"out must be a folder, but `{folder}` is a file")
        folder.mkdir(parents=True, exist_ok=True)
        note = folder / "ensemble.json"
        own = {"run": work.run_toml(), "members": work.count, "shards": count}
        if not note.exists():
            # moved to its place, so that it is never half of itself
            unfinished = note.with_suffix(f".unfinished-{os.getpid()}")
            unfinished.write_text(json.dumps(own))
            unfinished.replace(note)
        elif _read(note) != own:
            raise InputError(f"`{folder}` has parts of another ensemble, or of other shards; choose another folder for out")

    def path(self, index: int) -> Path:
        """Where a shard goes."""
        width = len(str(self.count))
        return self.folder / f"part-{index:0{width}}-of-{self.count}.parquet"

    def paths(self) -> list[Path]:
        """All of them, in their order."""
        return [self.path(index) for index in range(1, self.count + 1)]

    def missing(self) -> list[int]:
        """Shards that are not there yet."""
        return [index for index, path in enumerate(self.paths(), 1) if not path.exists()]

    def read(self, index: int, names: list[str]) -> Columns:
        """Some columns of a shard that is there."""
        import pyarrow.parquet as pq

        table = pq.read_table(self.path(index), columns=names)
        return {name: table[name].to_numpy() for name in names}

    def write(self, index: int, columns: Columns) -> None:
        """Writes a shard and moves it to its place."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        words = np.array(self.work.statuses())[columns["status"].astype(np.intp)]
        table = pa.table({**columns, "status": words.tolist()}, metadata={"leastaction.run": self.work.run_toml()})
        path = self.path(index)
        unfinished = path.with_suffix(f".unfinished-{os.getpid()}")
        pq.write_table(table, unfinished)
        unfinished.replace(path)
