"""Ensembles on a real cluster on this machine: a scheduler and two worker processes, one of which is killed half way."""

import os
import signal
import threading
import time

import numpy as np
import pytest

import leastaction as la

distributed = pytest.importorskip("distributed")

MANY = {"vary": {"q1": "-2..2:40", "q2": "-2..2:50"}, "until": 10, "step": 0.01, "method": "gauss8"}


@pytest.fixture(scope="module")
def cluster():
    made = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=None, memory_limit=None
    )
    yield made
    made.close()


@pytest.fixture(scope="module")
def whole():
    return la.ensemble("double-pendulum", **MANY)


def same(a, b):
    assert list(a) == list(b)
    for name in a:
        np.testing.assert_array_equal(a[name], b[name], err_msg=name)


def test_a_killed_worker_loses_nothing_and_doubles_nothing(cluster, whole):
    with distributed.Client(cluster) as client:
        workers = client.scheduler_info()["workers"]
        victim = client.run(os.getpid, workers=[next(iter(workers))])
        told = []

        def kill_half_way(done, total):
            told.append(done)
            if done == total // 2:
                os.kill(next(iter(victim.values())), signal.SIGKILL)

        found = la.ensemble("double-pendulum", **MANY, client=client, shards=16, progress=kill_half_way)
    assert told == list(range(1, 17))
    assert len(found) == 2000
    same(found.columns, whole.columns)


def test_all_workers_may_be_lost(cluster):
    """Their successors are sent what they need again, the list of starts too."""
    q = np.random.default_rng(4).uniform(-2, 2, (1000, 2))
    start = {"q": q, "p": 0, "until": 10, "step": 0.01, "method": "gauss8"}
    with distributed.Client(cluster) as client:
        client.wait_for_workers(2)
        victims = client.run(os.getpid)

        def kill_all(done, total):
            if done == total // 2:
                for victim in victims.values():
                    os.kill(victim, signal.SIGKILL)

        found = la.ensemble("double-pendulum", **start, client=client, shards=8, progress=kill_all)
    same(found.columns, la.ensemble("double-pendulum", **start).columns)


def test_arrays_and_functions_travel(cluster):
    q = np.random.default_rng(3).uniform(-1, 1, (60, 2))
    system = la.System(lambda q, v, p: 0.5 * np.sum(v**2) - p.k * np.sum(1 - np.cos(q)), n=2, parameters={"k": 2.0})
    start = {"q": q, "v": 0, "until": 3, "step": 0.05, "tolerance": 1e-6}
    with distributed.Client(cluster) as client:
        client.wait_for_workers(1)
        found = la.ensemble(system, **start, client=client, shards=5)
    same(found.columns, la.ensemble(system, **start).columns)


def test_parts_on_a_cluster(cluster, tmp_path):
    few = {"vary": {"q": "-3..3:40"}, "until": 2, "step": 0.05}
    with distributed.Client(cluster) as client:
        client.wait_for_workers(1)
        paths = la.ensemble("pendulum", **few, client=client, shards=3, out=tmp_path)
    import pyarrow.parquet as pq

    ends = np.concatenate([pq.read_table(path)["q_end"].to_numpy() for path in paths])
    np.testing.assert_array_equal(ends, la.ensemble("pendulum", **few).q[:, 0])


def test_clients_that_cannot_be_used(cluster):
    client = distributed.Client(cluster)
    client.close()
    time.sleep(0.05)
    with pytest.raises(la.InputError, match="closed"):
        la.ensemble("pendulum", vary={"q": "0..1:4"}, client=client)
    with pytest.raises(TypeError, match=r"dask\.distributed\.Client"):
        la.ensemble("pendulum", vary={"q": "0..1:4"}, client="localhost")


def test_a_client_that_is_closed_on_the_way_is_told(cluster):
    client = distributed.Client(cluster)
    client.wait_for_workers(1)

    def close(done, total):
        if done == 2:
            client.close()

    with pytest.raises(la.SimulationError, match=r"closed while \d+ of 16 shards were missing\n.*out="):
        la.ensemble("double-pendulum", **MANY, client=client, shards=16, progress=close)


def test_workers_are_free_after_control_c(cluster):
    """Shards that nobody waits for any more would keep them busy: for an hour here."""
    long = {"vary": {"q1": "-2..2:300", "q2": "-2..2:200"}, "until": 1000, "step": 0.001, "method": "gauss8"}
    with distributed.Client(cluster) as client:
        client.wait_for_workers(2)
        threading.Timer(2.0, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.raises(la.Interrupted):
            la.ensemble("double-pendulum", **long, client=client, shards=16)
        assert client.submit(len, "free", pure=False).result(timeout=20) == 4
