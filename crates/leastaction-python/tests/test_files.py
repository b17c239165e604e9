"""Result files with NumPy as the judge: what it stumbles over, `verify` notices, and what it writes, `verify` reads."""

import io
import subprocess
import zipfile

import numpy as np
import pytest

import leastaction as la


@pytest.fixture
def verify(command, tmp_path):
    """Whether `verify` finds an archive good."""

    def of(data):
        path = tmp_path / "b.npz"
        path.write_bytes(data)
        return subprocess.run([command, "verify", str(path)], capture_output=True).returncode == 0

    return of


def written(command, tmp_path):
    path = tmp_path / "a.npz"
    run = [command, "simulate", "double-pendulum", "--until", "0.03", "--out", str(path)]
    subprocess.run(run, check=True, capture_output=True)
    return path.read_bytes()


def arrays(data):
    """All arrays as NumPy reads them, or nothing if it does not."""
    try:
        with np.load(io.BytesIO(data)) as found:
            return {name: (found[name].dtype.str, found[name].shape, found[name].tobytes()) for name in found.files}
    except Exception:
        return None


def test_numpy_stumbles_over_nothing_that_verify_calls_good(command, tmp_path, verify):
    good = written(command, tmp_path)
    expected = arrays(good)
    assert verify(good)
    stumbled = []
    for place in range(len(good)):
        for bit in range(8):
            changed = bytearray(good)
            changed[place] ^= 1 << bit
            if arrays(bytes(changed)) != expected:
                stumbled.append(bytes(changed))
    assert len(stumbled) > 10_000
    # every kind of byte: the places advance by a number that shares no factor with eight bits
    assert not any(verify(changed) for changed in stumbled[::29])


def saved(arrays):
    data = io.BytesIO()
    np.savez(data, **arrays)
    return data.getvalue()


LAYOUTS = {
    "as it is": lambda x: x,
    "by columns": np.asfortranarray,
    "big-endian": lambda x: x.astype(x.dtype.newbyteorder(">")),
    "big-endian by columns": lambda x: np.asfortranarray(x.astype(x.dtype.newbyteorder(">"))),
    "transposed twice": lambda x: np.ascontiguousarray(x.T).T,
    "every second of a larger one": lambda x: np.repeat(x, 2, axis=0)[::2] if x.ndim else x,
    "backwards twice": lambda x: x[::-1].copy()[::-1] if x.ndim else x,
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("names", [("q",), ("q", "v", "p"), None])
def test_arrays_of_any_layout_are_read(command, tmp_path, verify, layout, names):
    with np.load(io.BytesIO(written(command, tmp_path))) as found:
        table = {name: LAYOUTS[layout](found[name]) if names is None or name in names else found[name] for name in found.files}
    assert verify(saved(table))
    # and they are compared: rows that are columns are other numbers
    table["q"] = table["q"].T.reshape(table["q"].shape)
    assert not verify(saved(table))


def test_archives_of_other_tools_are_read_or_refused(command, tmp_path, verify):
    data = written(command, tmp_path)
    with zipfile.ZipFile(io.BytesIO(data)) as source:
        parts = {name: source.read(name) for name in source.namelist()}

    def archive(**options):
        new = io.BytesIO()
        with zipfile.ZipFile(new, "w", **options) as target:
            for name, part in parts.items():
                target.writestr(zipfile.ZipInfo(name), part)
        return new.getvalue()

    assert verify(archive())
    assert not verify(archive()[:-1] + b"\1")
    assert not verify(b"#!" + archive())


def frozen(system, sol):
    return {
        "parameters": lambda: system.parameters.__setitem__("m", 2),
        "an update": lambda: system.parameters.update(m=2),
        "removal": lambda: system.parameters.pop("m"),
        "clear": lambda: system.parameters.clear(),
        "a default": lambda: system.parameters.setdefault("x", 1),
        "del": lambda: system.parameters.__delitem__("m"),
        "summary": lambda: sol.summary.__setitem__("steps", 2),
        "outputs": lambda: sol.outputs.__setitem__("x", 2),
        "t_events": lambda: sol.t_events.__setitem__("x", 2),
        "q_events": lambda: sol.q_events.__setitem__("x", 2),
    }


def test_what_is_a_copy_cannot_be_changed():
    system = la.System("pendulum")
    sol = la.simulate(system, until=1, events={"low": "q"})
    for change in frozen(system, sol).values():
        with pytest.raises(TypeError, match=r"cannot be changed\n.*la\.simulate\("):
            change()
    with pytest.raises(TypeError, match=r"la\.simulate\(system, parameters=\{'m': 2\}\)"):
        system.parameters["m"] = 2
    for name in ("q", "method", "step", "m", "until"):
        with pytest.raises(AttributeError, match=r"cannot be changed.*\n.*la\.simulate\("):
            setattr(system, name, 1)
    for array in (sol.energy_error, sol.t_events["low"], sol.q_events["low"], sol.q):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_fixed_dicts_are_dicts():
    import copy
    import json
    import pickle

    parameters = la.System("pendulum").parameters
    for other in (dict(parameters), copy.deepcopy(parameters), pickle.loads(pickle.dumps(parameters)), json.loads(json.dumps(parameters))):
        assert other == parameters
    own = {**parameters, "m": 2.0}
    assert la.simulate("pendulum", until=0.1, parameters=own).system.parameters["m"] == 2


def test_outputs_of_members_are_kept():
    found = la.ensemble("pendulum", vary={"q": "0.1..1:5"}, until=1, outputs={"height": "-cos(q)"})
    assert np.allclose(found.columns["height_end"], -np.cos(found.q[:, 0]), rtol=1e-14, atol=0)
    with pytest.raises(ValueError, match="nothing is drawn"):
        la.ensemble("pendulum", vary={"q": "0.1..1:5"}, until=1, seed=3)


def words(figure):
    return " ".join([*(axes.get_title() for axes in figure.axes), figure.get_supxlabel() if hasattr(figure, "get_supxlabel") else ""])


def test_pictures_of_failed_runs_say_so():
    pytest.importorskip("matplotlib")
    fall = la.simulate("kepler", q=[1, 0], v=[0, 0], until=3, step=0.001, method="verlet", throw=False)
    good = la.simulate("kepler", until=1)
    assert not fall.success
    for what in ("overview", "motion", "series", "phase", "invariants"):
        assert "FAILED at t = 1.11" in words(fall.plot(what)), what
        assert "FAILED" not in words(good.plot(what)), what
