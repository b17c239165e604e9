"""What comes out of a run, and how it ends."""

import json
import subprocess
import sys
import threading

import numpy as np
import pytest

import leastaction as la


def test_shapes_and_words(pendulum):
    found = la.simulate(pendulum, q=[1, 0.5, 0], v=0, until=1, step=0.01, method="lobatto8")
    assert found.t.shape == (101,)
    assert found.q.shape == found.v.shape == found.p.shape == (101, 3)
    assert (found.status, found.success, found.outcome) == (0, True, "done")
    assert "reached t = 1 in 100 steps" in found.message
    assert found.summary["steps"] == 100
    assert "lobatto8 (order 8)" in str(found)
    with pytest.raises(ValueError, match="read-only"):
        found.q[0, 0] = 1.0


def test_the_run_of_a_solution_repeats_it(pendulum, tmp_path):
    found = la.simulate(pendulum, q=[1, 0.5, 0], v=0, until=1, step=0.01, method="gauss6", parameters={"g": 1.62})
    path = tmp_path / "run.toml"
    path.write_text(found.run)
    np.testing.assert_array_equal(la.simulate(path).q, found.q)
    np.testing.assert_array_equal(la.simulate(found.system).q, found.q)


@pytest.mark.parametrize(
    ("method", "step", "order"), [("gauss8", 0.8, 8), ("simpson", 0.2, 4), ("rk4", 0.2, 4), ("verlet", 0.04, 2), ("split6", 0.4, 6)]
)
def test_dense_output_has_the_order_of_the_method(method, step, order):
    """States between steps are as good as those at their ends: halving the step divides their error by 2^order."""
    times = np.linspace(0.05, 7.95, 43)
    sharp = la.simulate("henon-heiles", until=8, step=0.002, method="gauss16")(times).q
    errors = [np.abs(la.simulate("henon-heiles", until=8, step=h, method=method)(times).q - sharp).max() for h in (step, step / 2)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.2)


def test_dense_output_where_not_every_step_is_recorded():
    every = la.simulate("double-pendulum", until=2, step=0.01, every=1)
    some = la.simulate("double-pendulum", until=2, step=0.01, every=20)
    assert len(some) == 11
    np.testing.assert_allclose(some(every.t).q, every.q, atol=1e-12)
    one = every(0.5)
    assert one.q.shape == (2,)
    np.testing.assert_array_equal(one.q, every.q[50])
    assert one.energy == pytest.approx(every.energy[50])


def test_events_outputs_and_invariants():
    found = la.simulate(
        "kepler",
        until=30,
        outputs={"r": "sqrt(x^2 + y^2)", "x2": lambda q, v: 2 * q[0]},
        events={"near": {"of": lambda q, v: q @ v, "direction": "rising", "stop": 3}, "axis": "y"},
    )
    assert (found.status, found.outcome) == (1, "stopped")
    assert found.t_events["near"].shape == (3,)
    assert found.q_events["near"].shape == found.p_events["near"].shape == found.v_events["near"].shape == (3, 2)
    np.testing.assert_allclose(np.diff(found.t_events["near"]), 2 * np.pi, atol=1e-3)
    np.testing.assert_allclose(found.outputs["r"], np.hypot(*found.q.T), rtol=1e-15)
    np.testing.assert_array_equal(found.outputs["x2"], 2 * found.q[:, 0])
    x, y = found.q.T
    np.testing.assert_allclose(found.invariants["x*p_y - y*p_x"], x * found.p[:, 1] - y * found.p[:, 0], atol=1e-15)
    never = la.simulate("kepler", until=1, events={"far": "x - 1000"})
    assert any(note.startswith("`far` never happened; its formula came nearest to zero") for note in never.notes)
    assert never.t_events["far"].shape == (0,)


FALL = {"until": 10, "step": 0.5, "method": "simpson"}


def falling():
    """Two bodies that fall into each other."""
    return la.System(lambda q, v: 0.5 * v[0] ** 2 + 1 / np.sqrt(q[0] ** 2), coordinates="x"), {"q": 1.0, "v": 0.0, **FALL}


def test_failures_keep_what_was_computed():
    system, start = falling()
    with pytest.raises(la.SimulationError, match="step") as caught:
        la.simulate(system, **start)
    partial = caught.value.solution
    assert not partial.success
    assert partial.status == -1
    assert 1 <= len(partial.t) < 21
    assert isinstance(caught.value, RuntimeError)
    quiet = la.simulate(system, **start, throw=False)
    np.testing.assert_array_equal(quiet.t, partial.t)
    assert quiet.outcome == "failed"
    assert "try" in quiet.message


def test_tolerance_picks_method_and_step():
    found = la.simulate("double-pendulum", until=10, tolerance=1e-9)
    assert found.summary["energy"]["max_error"] <= 1e-9
    assert found.notes[0].startswith("picked gauss")


def test_precision():
    found = la.simulate("pendulum", until=0.1, step=0.01, precision=40, method="gauss8")
    assert len(found.summary["digits"]["q"][0]) > 40


def test_doubtful_steps_are_warned_of():
    with pytest.warns(la.LeastActionWarning) as told:
        la.simulate("harmonic-oscillator", method="verlet", step=0.5, until=1)
    assert any("without bound" in str(warning.message) for warning in told)


def test_steps_beyond_stability_fail_and_say_so():
    with pytest.raises(la.SimulationError, match="beyond what the method is stable with") as caught:
        la.simulate("harmonic-oscillator", method="verlet", step=0.5, until=50)
    assert "try a step below 0.3183" in str(caught.value)
    assert len(caught.value.solution.t) == 3


def test_tables():
    found = la.simulate("lagrange-top", until=0.1, outputs={"height": "cos(theta)"})
    frame = found.to_pandas()
    assert list(frame.columns) == [*("phi", "theta", "psi", "v_phi", "v_theta", "v_psi", "p_phi", "p_theta", "p_psi", "energy", "height")]
    np.testing.assert_array_equal(frame["theta"], found.q[:, 1])
    assert frame.index.name == "t"
    data = found.to_xarray()
    np.testing.assert_array_equal(data.p.sel(coordinate="psi"), found.p[:, 2])
    assert data.t.attrs["units"] == "s"
    assert np.shares_memory(data.q.values, found.q)


def test_arrow_shares_memory():
    import pyarrow as pa

    found = la.simulate("lagrange-top", until=0.1, outputs={"height": "cos(theta)"})
    table = pa.table(found)
    assert table.column_names == ["t", "q", "v", "p", "energy", "height"]
    numbers = table["q"].chunk(0).flatten().to_numpy(zero_copy_only=True)
    np.testing.assert_array_equal(numbers.reshape(found.q.shape), found.q)
    assert np.shares_memory(numbers, found.q)
    assert np.shares_memory(table["energy"].chunk(0).to_numpy(zero_copy_only=True), found.energy)
    assert json.loads(table.schema.metadata[b"leastaction.coordinates"]) == ["phi", "theta", "psi"]


def test_arrays_outlive_their_solution():
    found = la.simulate("pendulum", until=100, step=0.01)
    q, copy = found.q, found.q.copy()
    del found
    la.simulate("pendulum", until=100, step=0.01)
    np.testing.assert_array_equal(q, copy)


def test_progress_is_told():
    told = []
    la.simulate("double-pendulum", until=20_000, step=0.01, every=0, progress=lambda done, total: told.append((done, total)))
    assert told
    assert all(0 <= done <= total == 2_000_000 for done, total in told)
    assert told == sorted(told)
    assert told[-1] == (2_000_000, 2_000_000)


@pytest.mark.parametrize(
    "work",
    [
        lambda tell: la.simulate("pendulum", until=1, progress=tell),
        lambda tell: la.simulate("pendulum", until=100, events={"low": {"of": "q", "stop": 1}}, progress=tell),
        lambda tell: la.converge("pendulum", until=1, methods=["simpson"], progress=tell),
        lambda tell: la.certify("pendulum", method="gauss4", step=0.05, until=2, progress=tell),
        lambda tell: la.reproduce("003.T1", progress=tell),
    ],
)
def test_the_last_report_says_that_all_is_done(work):
    told = []
    work(lambda done, total: told.append((done, total)))
    assert told[-1][0] == told[-1][1] > 0


def test_the_last_report_of_a_failed_run_does_not():
    told = []
    la.simulate("double-pendulum", step=0.5, until=100, throw=False, progress=lambda done, total: told.append((done, total)))
    assert told[-1][0] < told[-1][1] == 200


@pytest.mark.parametrize("every", [1, 7, 1000])
def test_the_end_is_recorded(every):
    found = la.simulate("double-pendulum", until=1, step=0.01, every=every)
    whole = la.simulate("double-pendulum", until=1, step=0.01)
    assert found.t[-1] == 1.0
    for name in ("q", "p", "energy"):
        np.testing.assert_array_equal(getattr(found, name)[-1], getattr(whole, name)[-1])
    np.testing.assert_array_equal(found(1.0).q, whole.q[-1])
    np.testing.assert_array_equal(found.end.q, whole.q[-1])
    np.testing.assert_array_equal(found.q[-1], found.summary["q"])


@pytest.mark.parametrize("every", [1, 7, 0])
def test_the_end_at_an_event_is_the_state_there(every):
    found = la.simulate("double-pendulum", until=10, step=0.02, every=every, events={"low": {"of": "q1", "stop": 1}})
    end = found.end
    assert found.status == 1
    assert end.t == found.t_events["low"][-1]
    assert abs(end.q[0]) < 1e-12
    np.testing.assert_array_equal(end.p, found.p_events["low"][-1])
    assert end.energy == pytest.approx(found.summary["energy"]["initial"], rel=1e-4)
    assert "within the step to t = " in found.message
    if every:
        assert found.t[-1] - 0.02 <= end.t <= found.t[-1]
        np.testing.assert_allclose(found(end.t).q, end.q, atol=1e-9)
    else:
        with pytest.raises(la.InputError, match="nothing was recorded"):
            la.simulate("pendulum", until=1, every=0).end  # noqa: B018


def test_a_bar_is_drawn_and_taken_away(capsys, monkeypatch):
    monkeypatch.setattr("leastaction._progress.PATIENCE", 0.0)
    la.simulate("double-pendulum", until=20_000, step=0.01, every=0, progress=True)
    drawn = capsys.readouterr().err
    assert "█" in drawn
    assert "/2,000,000 steps" in drawn
    assert drawn.endswith("\r\x1b[K")
    la.simulate("double-pendulum", until=100, step=0.01, every=0, progress=False)
    assert capsys.readouterr().err == ""


def test_an_exception_in_progress_ends_the_run():
    def stop(done, total):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        la.simulate("double-pendulum", until=1e6, step=0.01, every=0, progress=stop)


def test_other_threads_run_meanwhile():
    """The interpreter's lock is free while steps are taken."""
    ticks = 0
    running = threading.Event()
    ended = threading.Event()

    def simulate():
        running.set()
        la.simulate("double-pendulum", until=20_000, step=0.01, every=0)
        ended.set()

    thread = threading.Thread(target=simulate)
    thread.start()
    running.wait()
    while not ended.wait(0.001):
        ticks += 1
    thread.join()
    assert ticks > 20


def test_threads_share_a_system(pendulum):
    start = {"q": [1, 0.5, 0], "v": 0, "until": 5, "step": 0.01, "method": "gauss8"}
    expected = la.simulate(pendulum, **start).q
    found = [None] * 8

    def simulate(i):
        found[i] = la.simulate(pendulum, **start).q

    threads = [threading.Thread(target=simulate, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for q in found:
        np.testing.assert_array_equal(q, expected)


INTERRUPTED = """
import os, signal, sys, threading
import leastaction as la
threading.Timer(0.4, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    la.simulate("double-pendulum", until=1e6, step=0.001, every=10_000)
except KeyboardInterrupt as interrupt:
    assert isinstance(interrupt, la.Interrupted)
    print(interrupt.solution.outcome, interrupt.solution.status, len(interrupt.solution.t) > 1)
print("alive", la.simulate("pendulum", until=1).success)
"""


def test_control_c_ends_a_run_and_keeps_it():
    found = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=60, check=False)
    assert found.stdout.split() == ["interrupted", "-2", "True", "alive", "True"], found.stderr


MANY = """
import os, signal, threading
import leastaction as la
threading.Timer(0.4, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    WORK
except la.Interrupted as interrupt:
    assert interrupt.solution is None
    print("interrupted")
print("alive", la.simulate("pendulum", until=1).success)
"""


@pytest.mark.parametrize(
    "work",
    [
        'la.ensemble("double-pendulum", vary={"q1": "-1..1:1000", "q2": "-1..1:1000"}, until=100, step=0.001)',
        'la.converge("double-pendulum", until=1000, steps=[0.001, 0.0005])',
        'la.reproduce("all", precision=64)',
        'la.certify("double-pendulum", until=1e6, step=0.001)',
    ],
)
def test_control_c_ends_work_of_many_threads(work):
    program = MANY.replace("WORK", work)
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert found.stdout.split() == ["interrupted", "alive", "True"], found.stderr


BETWEEN = """
import os, signal, threading, time
import numpy as np, leastaction as la
found = la.simulate("double-pendulum", until=1000, step=0.01, every=1000, method="gauss8")
times = np.linspace(0, 1000, 2_000_000)
threading.Timer(0.4, os.kill, (os.getpid(), signal.SIGINT)).start()
before = time.monotonic()
try:
    found(times)
except la.Interrupted:
    print("interrupted", time.monotonic() - before < 10)
print("alive", found(3.7).q.shape)
"""


def test_control_c_ends_dense_output():
    found = subprocess.run([sys.executable, "-c", BETWEEN], capture_output=True, text=True, timeout=120, check=False)
    assert found.stdout.split() == ["interrupted", "True", "alive", "(2,)"], found.stderr


def test_an_event_that_is_never_reached_is_an_outcome():
    found = la.simulate("pendulum", until=3, events={"low": {"of": "q", "direction": "rising", "stop": 5}})
    # all steps were taken, as SciPy has it
    assert (found.outcome, found.status, found.success) == ("not reached", 0, True)
    assert found.message.startswith("the run ended at t = 3 before `low` happened 5 times: it happened 2 times\n  try a later end")
    assert found.t_events["low"].shape == (2,)
    assert found.end.t == 3
