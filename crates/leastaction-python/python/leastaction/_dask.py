"""Ensembles on a cluster of Dask: shards out, columns back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from . import _core
from ._errors import InputError, SimulationError
from ._types import Report

if TYPE_CHECKING:
    from ._ensemble import Columns, Starts

#: A shard is tried anew so often when its worker is gone.
RETRIES = 10

#: The last ensembles of this worker, so that its shards share machine code.
_made: dict[str, _core.EnsembleWork] = {}


def check(client: Any) -> None:
    """Whether this is a client that can be used."""
    if not hasattr(client, "submit") or not hasattr(client, "status"):
        raise TypeError(f"client must be a dask.distributed.Client, but is {type(client).__name__}")
    if getattr(client, "asynchronous", False):
        raise InputError("the client is asynchronous; use an ordinary dask.distributed.Client")
    if client.status != "running":
        raise InputError(f"the client is {client.status}; connect a new one")
    if not client.scheduler_info()["workers"]:
        raise InputError("the cluster has no workers; start some, or wait for them with client.wait_for_workers(1)")


def compute(run: str, starts: Starts | None, index: int, count: int) -> Columns:
    """One shard, on a worker: everything follows from the run and the list of starts."""
    rows = b"" if starts is None else starts.rows.tobytes()
    key = sha256(run.encode() + rows).hexdigest()
    if key not in _made:
        if len(_made) > 4:
            _made.clear()
        system = _core.System.of_toml(run)
        _made[key] = _core.ensemble(system, {}) if starts is None else _core.ensemble(system, {}, starts.names, starts.rows)
    # one thread: the cluster gives every thread of a worker a shard of its own
    columns, _ = _made[key].run(1, (index, count), _stop_if_cancelled())
    return columns


class Cancelled(Exception):
    """Nobody waits for this shard any more."""


def _stop_if_cancelled() -> Report | None:
    """Ends a shard that was cancelled, which would keep its worker from other work to its end; None where that cannot be known."""
    try:
        from distributed.worker import get_worker, thread_state

        tasks, key = get_worker().state.tasks, thread_state.key
    except (ImportError, ValueError, AttributeError):
        return None

    def look(_done: int, _total: int) -> None:
        task = tasks.get(key)
        if task is None or task.state == "cancelled":
            raise Cancelled(key)

    return look


def _same(starts: Starts) -> Starts:
    return starts


def shards(client: Any, run: str, starts: Starts | None, wanted: Iterable[int], count: int) -> Iterator[tuple[int, Columns]]:
    """Sends shards and yields each once, as they arrive. What a lost worker had is computed again by another."""
    from distributed import CancelledError, as_completed
    from distributed.comm import CommClosedError

    # a task of its own, which is done again if those who had its result are gone; scattered data would be lost with them
    shared = None if starts is None else client.submit(_same, starts, retries=RETRIES, pure=False)
    futures = {}
    for index in wanted:
        future = client.submit(compute, run, shared, index, count, retries=RETRIES, pure=False)
        futures[future] = index
    try:
        for future in as_completed(list(futures)):
            columns = future.result()
            yield futures.pop(future), columns
            # the cluster may forget it
            future.release()
    except (CancelledError, CommClosedError) as error:
        raise _lost(len(futures), count) from error
    finally:
        if client.status == "running":
            client.cancel(list(futures))


def _lost(missing: int, count: int) -> SimulationError:
    return SimulationError(
        f"the client or its cluster was closed while {missing} of {count} shards were missing\n"
        "  connect a new one and call again; with out=… what is there is not computed again"
    )
