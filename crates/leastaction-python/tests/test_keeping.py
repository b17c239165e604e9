"""Results can be pickled and copied, and are the same afterwards."""

import copy
import pickle

import matplotlib as mpl
import numpy as np
import pytest

import leastaction as la

mpl.use("agg")
ARRAYS = ("t", "q", "v", "p", "energy", "energy_change")
WAYS = {
    "pickle": lambda x: pickle.loads(pickle.dumps(x)),
    "protocol 2": lambda x: pickle.loads(pickle.dumps(x, protocol=2)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}
kept = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)


def assert_same(found, expected):
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)
        assert not getattr(found, name).flags.writeable
    for name in ("status", "success", "message", "notes", "summary", "run", "outcome"):
        assert getattr(found, name) == getattr(expected, name), name
    assert str(found) == str(expected)
    assert found.system.coordinates == expected.system.coordinates
    for mine, other in ((found.outputs, expected.outputs), (found.t_events, expected.t_events), (found.p_events, expected.p_events)):
        assert list(mine) == list(other)
        for name in mine:
            np.testing.assert_array_equal(mine[name], other[name])


@kept
def test_solutions_survive(way, pendulum):
    events = {"low": {"of": "q1", "stop": 2}}
    first = la.simulate(pendulum, q=[1, 0.5, 0], v=0, until=5, step=0.01, outputs={"both": "q1 + q2"}, events=events)
    found = way(first)
    assert_same(found, first)
    times = np.linspace(0.1, first.t[-1], 7)
    for mine, other in zip(found(times), first(times), strict=True):
        np.testing.assert_array_equal(mine, other)
    for mine, other in zip(found.end, first.end, strict=True):
        np.testing.assert_array_equal(mine, other)
    assert list(found.invariants) == list(first.invariants)
    assert len(found.plot().axes) == 4
    # once more, from what was restored
    assert_same(way(found), first)


@kept
@pytest.mark.parametrize("system", ["lagrange-top", "n-pendulum", "kepler"])
def test_solutions_of_the_catalogue_survive(way, system):
    first = la.simulate(system, until=1)
    found = way(first)
    assert_same(found, first)
    np.testing.assert_array_equal(found.positions(), first.positions())


def test_a_pickled_solution_is_its_data_and_little_more():
    first = la.simulate("double-pendulum", until=100, step=0.01)
    data = sum(getattr(first, name).nbytes for name in ARRAYS)
    assert len(pickle.dumps(first)) < data + 20_000


@kept
def test_ensembles_survive(way):
    first = la.ensemble("double-pendulum", vary={"q1": "-1..1:4", "q2": "0..1:3"}, until=1, events={"low": "q1"})
    found = way(first)
    for name, column in first.columns.items():
        np.testing.assert_array_equal(found.columns[name], column)
    assert (found.run, found.notes, len(found)) == (first.run, first.notes, 12)
    assert found.grid("energy_error").shape == (4, 3)
    np.testing.assert_array_equal(found.status, first.status)
    np.testing.assert_array_equal(found.t_events["low"], first.t_events["low"])


@kept
def test_failures_keep_their_solution(way):
    with pytest.raises(la.SimulationError) as caught:
        la.simulate("double-pendulum", step=0.5, until=100)
    found = way(caught.value)
    assert type(found) is la.SimulationError
    assert str(found) == str(caught.value)
    assert_same(found.solution, caught.value.solution)


def test_what_was_not_kept_by_a_solution_is_refused():
    state = la.simulate("double-pendulum", until=1)._core.state()
    for wrong in ({"q": np.zeros((3, 2))}, {"p": np.zeros((101, 5))}, {"energy": np.zeros(7)}, {"q": np.zeros((2, 101)).T}):
        with pytest.raises(la.InputError, match="not the arrays of a solution"):
            type(la.simulate("double-pendulum", until=1)._core).of_state({**state, **wrong})
