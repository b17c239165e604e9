"""Runs that are saved on their way and continued."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import leastaction as la


def lagrangian(q, v, p):
    return 0.5 * p.m * v[0] ** 2 + p.m * p.g * np.cos(q[0])


def traced():
    return la.System(lagrangian, n=1, parameters=dict(m=2.0, g=9.81))


SETTINGS = dict(q=[1.0], v=0.0, until=50, step=0.01, method="gauss6", every=7, events={"low": "q1"})


def interrupt_at(steps: int):
    def report(done: int, total: int) -> None:
        if done >= steps:
            raise RuntimeError("enough")

    return report


def same(a: la.Solution, b: la.Solution) -> bool:
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in ("t", "q", "v", "p", "energy"))


def test_a_run_that_was_interrupted_goes_on_to_the_same_bits(tmp_path: Path) -> None:
    whole = la.simulate(traced(), **{**SETTINGS, "until": 20000})
    path = tmp_path / "run.check"
    with pytest.raises(RuntimeError, match="enough"):
        la.simulate(traced(), **{**SETTINGS, "until": 20000}, checkpoint=path, checkpoint_every="5000steps", progress=interrupt_at(1))
    resumed = la.resume(path)
    assert same(whole, resumed)
    assert resumed.success
    assert np.array_equal(whole.t_events["low"], resumed.t_events["low"])
    # what is over stays so
    assert same(whole, la.resume(path))


def test_a_killed_interpreter_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "run.check"
    settings = dict(method="gauss8", step=0.01, until=5000, every=100, events={"down": "q1"})
    code = (
        "import os, leastaction as la\n"
        "def report(done, total):\n"
        "    if done > 200000: os.kill(os.getpid(), 9)\n"
        f"la.simulate('double-pendulum', **{settings!r}, checkpoint={str(path)!r}, checkpoint_every=0.02, progress=report)\n"
    )
    killed = subprocess.run([sys.executable, "-c", code], check=False)
    assert killed.returncode == -9
    with pytest.raises(la.InputError, match="has a run at step") as told:
        la.simulate("pendulum", checkpoint=path)
    # it was on its way
    step = int(str(told.value).split("at step ")[1].split()[0])
    assert 0 < step < 500_000
    resumed = la.resume(path)
    whole = la.simulate("double-pendulum", **settings)
    assert resumed.success
    assert len(whole.t) == 5001
    assert same(whole, resumed)
    assert np.array_equal(whole.t_events["down"], resumed.t_events["down"])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (dict(checkpoint="no/such/folder/run.check"), "cannot write the checkpoint"),
        (dict(checkpoint_every="soon", checkpoint="x.check"), "give a time such as 30s"),
        (dict(checkpoint_every=-3, checkpoint="x.check"), "give a time such as 30s"),
    ],
)
def test_mistakes_are_told(given: dict, words: str) -> None:
    with pytest.raises(la.InputError, match=words):
        la.simulate("pendulum", until=1, **given)


def test_files_that_are_no_checkpoints_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.check"
    with pytest.raises(la.InputError, match="cannot read"):
        la.resume(path)
    path.write_text("dear diary")
    with pytest.raises(la.InputError, match="it is no checkpoint"):
        la.resume(path)
    with pytest.raises(la.InputError, match="it is no checkpoint"):
        la.simulate("pendulum", checkpoint=path)
    assert path.read_text() == "dear diary"
    with pytest.raises(TypeError):
        la.resume(3)  # type: ignore[arg-type]
