"""Simulates mechanical systems with integrators derived from the principle of least action.

You write the energies; ``leastaction`` differentiates them, discretises the action, and steps, so that the energy stays bounded and the
momenta stay exact for as long as you run.

>>> import numpy as np, leastaction as la
>>> def lagrangian(q, v, p):
...     x, y = p.l * np.cumsum(np.sin(q)), -p.l * np.cumsum(np.cos(q))
...     vx, vy = p.l * np.cumsum(np.cos(q) * v), p.l * np.cumsum(np.sin(q) * v)
...     return 0.5 * p.m * np.sum(vx**2 + vy**2) - p.m * p.g * np.sum(y)
>>> pendulum = la.System(lagrangian, n=3, parameters=dict(m=1.0, l=0.5, g=9.81))
>>> sol = la.simulate(pendulum, q=[1, 0.5, 0], v=0, until=10, step=0.01, method="lobatto8")
>>> sol.success and sol.summary["energy"]["max_relative_error"] < 1e-10
True
"""

from ._analysis import Certificate, Convergence, certify, converge, methods, reproduce, systems
from ._cite import cite
from ._compare import compare
from ._core import Expression
from ._core import version as _version
from ._ensemble import Ensemble, ensemble
from ._errors import (
    Error,
    InputError,
    InternalError,
    Interrupted,
    LeastActionWarning,
    SimulationError,
    TracingError,
)
from ._simulate import resume, simulate
from ._solution import Solution, State
from ._symbols import coordinates, dot, parameters, sign, t
from ._system import System

__version__ = _version()

__all__ = [
    "Certificate",
    "Convergence",
    "Ensemble",
    "Error",
    "Expression",
    "InputError",
    "InternalError",
    "Interrupted",
    "LeastActionWarning",
    "SimulationError",
    "Solution",
    "State",
    "System",
    "TracingError",
    "certify",
    "cite",
    "compare",
    "converge",
    "coordinates",
    "dot",
    "ensemble",
    "methods",
    "parameters",
    "reproduce",
    "resume",
    "sign",
    "simulate",
    "systems",
    "t",
]
