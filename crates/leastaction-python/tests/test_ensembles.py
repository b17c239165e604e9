"""Ensembles: arrays in, arrays out, the same bits as single runs and whoever computes them."""

import numpy as np
import pytest

import leastaction as la

RUN = {"until": 2, "step": 0.02, "method": "gauss6"}


def test_members_are_single_runs(pendulum):
    rng = np.random.default_rng(1)
    q, g = rng.uniform(-1, 1, (20, 3)), rng.uniform(1, 10, 20)
    found = la.ensemble(pendulum, q=q, v=0, parameters={"g": g, "m": 2.0}, **RUN)
    assert found.q.shape == found.p.shape == (20, 3)
    assert found.success.all()
    assert set(found.status) == {"done"}
    for i in (0, 7, 19):
        alone = la.simulate(pendulum, q=q[i], v=0, parameters={"g": g[i], "m": 2.0}, **RUN)
        np.testing.assert_array_equal(found.q[i], alone.q[-1])
        np.testing.assert_array_equal(found.p[i], alone.p[-1])
        assert found.energy[i] == alone.energy[0]
    np.testing.assert_array_equal(found.values["g"], g)
    np.testing.assert_array_equal(found.columns["index"], np.arange(20))


def test_grids_and_draws():
    grid = la.ensemble("double-pendulum", vary={"q1": "-1..1:5", "q2": [0.0, 0.5, "pi/4"]}, until=1)
    assert len(grid) == 15
    assert grid.grid("energy_error").shape == (5, 3)
    assert grid.grid(grid.q).shape == (5, 3, 2)
    np.testing.assert_array_equal(grid.grid("q2")[0], [0.0, 0.5, np.pi / 4])
    drawn = [la.ensemble("pendulum", draw={"q": "uniform(-1, 1)"}, members=50, seed=s, until=0.1) for s in (1, 1, 2)]
    np.testing.assert_array_equal(drawn[0].values["q"], drawn[1].values["q"])
    assert (drawn[0].values["q"] != drawn[2].values["q"]).any()
    with pytest.raises(la.InputError, match="not a grid"):
        drawn[0].grid("q")
    with pytest.raises(la.InputError, match="no column 'nothing'"):
        grid.grid("nothing")


def test_velocities_momenta_and_vectors(pendulum):
    v = np.array([[0.0, 0, 0], [1, 0, 0]])
    found = la.ensemble(pendulum, q=[1, 0.5, 0], v=v, **RUN)
    np.testing.assert_array_equal(found.q[1], la.simulate(pendulum, q=[1, 0.5, 0], v=v[1], **RUN).q[-1])
    by_momenta = la.ensemble(pendulum, q=[1, 0.5, 0], p=v, **RUN)
    np.testing.assert_array_equal(by_momenta.q[1], la.simulate(pendulum, q=[1, 0.5, 0], p=v[1], **RUN).q[-1])
    masses = la.System(lambda q, v, p: 0.5 * np.sum(p.m * v**2) - 0.5 * np.sum(q**2), n=2, parameters={"m": [1.0, 2.0]})
    m = np.array([[1.0, 2.0], [3.0, 4.0]])
    found = la.ensemble(masses, q=1, v=0, parameters={"m": m}, **RUN)
    np.testing.assert_array_equal(found.q[1], la.simulate(masses, q=1, v=0, parameters={"m": m[1]}, **RUN).q[-1])


def test_threads_and_failures_change_nothing():
    many = {"vary": {"q": "-3..3:40"}, "until": 2, "step": 0.05}
    one, two = (la.ensemble("pendulum", threads=threads, **many) for threads in (1, 2))
    for name, column in one.columns.items():
        np.testing.assert_array_equal(column, two.columns[name])
    fall = la.System(lambda q, v: 0.5 * v[0] ** 2 + 1 / np.sqrt(q[0] ** 2), coordinates="x")
    mixed = la.ensemble(fall, q=np.array([[1.0], [100.0]]), v=0, until=10, step=0.5, method="simpson")
    assert mixed.success.tolist() == [False, True]
    assert mixed.status[1] == "done"
    assert mixed.t[0] < mixed.t[1] == 10


def test_events_in_members():
    found = la.ensemble("pendulum", q=np.array([[0.5], [1.0]]), v=0, until=3, events={"low": "q"})
    alone = la.simulate("pendulum", q=[1.0], v=0, until=3, events={"low": "q"})
    assert found.t_events["low"][1] == alone.t_events["low"][0]
    assert found.counts["low"][1] == len(alone.t_events["low"]) > 1


def test_tables(tmp_path):
    found = la.ensemble("pendulum", vary={"q": "0.1..1:6"}, until=1)
    frame = found.to_pandas()
    assert frame.loc[0, "status"] == "done"
    np.testing.assert_array_equal(frame["q_end"], found.q[:, 0])
    assert found.to_arrow().num_rows == 6
    assert "q" in found.run


def test_parts_are_written_once_and_resumed(tmp_path):
    import pandas as pd

    many = {"vary": {"q": "-3..3:40"}, "until": 2, "step": 0.05, "shards": 4}
    whole = la.ensemble("pendulum", **{**many, "shards": None})
    paths = la.ensemble("pendulum", **many, out=tmp_path / "parts")
    assert [path.name for path in paths] == [f"part-{i}-of-4.parquet" for i in range(1, 5)]
    before = {path: path.stat().st_mtime_ns for path in paths}
    paths[2].unlink()
    la.ensemble("pendulum", **many, out=tmp_path / "parts")
    assert [path.stat().st_mtime_ns == before[path] for path in paths] == [True, True, False, True]
    table = pd.concat([pd.read_parquet(path) for path in paths])
    np.testing.assert_array_equal(table["q_end"], whole.q[:, 0])
    with pytest.raises(la.InputError, match="another ensemble"):
        la.ensemble("pendulum", **{**many, "step": 0.1}, out=tmp_path / "parts")


def test_a_tolerance_gives_members_their_steps():
    found = la.ensemble("double-pendulum", vary={"q1": "0.1..2:12"}, until=5, tolerance=1e-8)
    assert found.energy_error.max() < 1e-8
    assert found.notes[0].startswith("picked")


def test_files_may_say_what_varies(tmp_path):
    path = tmp_path / "run.toml"
    path.write_text('system = "pendulum"\n[run]\nuntil = 1\n[ensemble]\nvary = { q = [0.1, 0.2] }\n')
    assert len(la.ensemble(path)) == 2
    path.write_text('system = "pendulum"\n[run]\nuntil = 1\n[ensemble]\nlist = "starts.csv"\n')
    with pytest.raises(la.InputError, match=r"starts\.csv.*\n.*arrays"):
        la.ensemble(path)


@pytest.mark.parametrize("out", [False, True])
def test_a_tolerance_that_is_missed_is_told(out, tmp_path):
    many = {"vary": {"q1": "1..2:6"}, "until": 5, "step": 0.1, "method": "midpoint", "tolerance": 1e-13}
    where = {"out": tmp_path / "parts", "shards": 2} if out else {}
    # the second time all parts are there
    for _ in range(2):
        with pytest.warns(
            la.LeastActionWarning, match=r"6 members miss the tolerance of 1.0e-13; the energy error of member \d is"
        ) as told:
            found = la.ensemble("double-pendulum", **many, **where)
        assert len(told) == 1
    if not out:
        assert f"is {found.energy_error.max():.1e}" in str(told[0].message)


def test_a_tolerance_that_is_kept_is_not_told():
    found = la.ensemble("double-pendulum", vary={"q1": "0.5..1:4"}, until=5, tolerance=1e-6)
    assert found.energy_error.max() <= 1e-6


def test_the_last_report_says_that_all_is_done(tmp_path):
    told = []
    many = {"vary": {"q": "0..1:6"}, "until": 1, "progress": lambda done, total: told.append((done, total))}
    la.ensemble("pendulum", **many)
    assert told[-1] == (6, 6)
    for _ in range(2):
        told.clear()
        la.ensemble("pendulum", **many, out=tmp_path / "parts", shards=3)
        assert told[-1] == (3, 3)
