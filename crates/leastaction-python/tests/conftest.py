"""What the tests share."""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

import leastaction as la


def chain(q, v, p):
    """The function of the README: a chain of pendula."""
    y = -p.l * np.cumsum(np.cos(q))
    vx = p.l * np.cumsum(np.cos(q) * v)
    vy = p.l * np.cumsum(np.sin(q) * v)
    return 0.5 * p.m * np.sum(vx**2 + vy**2) - p.m * p.g * np.sum(y)


@pytest.fixture(scope="session")
def pendulum():
    return la.System(chain, n=3, parameters={"m": 1.0, "l": 0.5, "g": 9.81})


@pytest.fixture(scope="session")
def command():
    """The command to compare with: that of LEASTACTION_COMMAND, or the one on the path."""
    found = os.environ.get("LEASTACTION_COMMAND") or shutil.which("leastaction")
    if found is None or not Path(found).exists():
        pytest.skip("there is no command to compare with; set LEASTACTION_COMMAND")
    return found
