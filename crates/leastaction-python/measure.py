"""Measures what the documents say about time: python measure.py COMMAND

A million steps in the package against the same in the command, alternating, the median of their ratios, and from a function to its
first step. Ratios are those of the processor's time, which other work on the machine hardly changes.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import leastaction as la

ROUNDS = 7


def lagrangian(q, v, p):
    y = -p.l * np.cumsum(np.cos(q))
    vx = p.l * np.cumsum(np.cos(q) * v)
    vy = p.l * np.cumsum(np.sin(q) * v)
    return 0.5 * p.m * np.sum(vx**2 + vy**2) - p.m * p.g * np.sum(y)


PARAMETERS = {"m": 1.0, "l": 0.5, "g": 9.81}


def first_step():
    before = time.perf_counter()
    system = la.System(lagrangian, n=3, parameters=PARAMETERS)
    la.simulate(system, q=[1, 0.5, 0], v=0, until=0.01, step=0.01, method="lobatto8")
    return time.perf_counter() - before


def seconds(call, clock):
    before = clock()
    call()
    return clock() - before


def ratios(command):
    """The whole call here, against the whole command."""
    system = la.System(lagrangian, n=3, parameters=PARAMETERS)
    start = {"q": [1, 0.5, 0], "v": 0, "until": 10_000, "step": 0.01, "method": "lobatto8", "every": 0}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.toml"
        path.write_text(la.simulate(system, **start).run)
        arguments = [command, "simulate", str(path), "--summary", "json"]
        for _ in range(ROUNDS):
            ours = seconds(lambda: la.simulate(system, **start), time.process_time)
            theirs = seconds(lambda: subprocess.run(arguments, capture_output=True, check=True), lambda: os.times().children_user)
            print(f"  a million steps: {ours:.3f} s here, {theirs:.3f} s in the command")
            yield ours / theirs


def main():
    print(f"function to first step: {1000 * min(first_step() for _ in range(20)):.2f} ms")
    print(f"ratio to the command: {statistics.median(ratios(sys.argv[1])):.3f}")


if __name__ == "__main__":
    main()
