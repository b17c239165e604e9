"""SciPy's DOP853 and LSODA in their compiled versions (scipy.integrate.ode), with right-hand sides compiled by numba.

Settings: dop853:TOLERANCE, lsoda:TOLERANCE.
"""

import sys

import numba
import numpy as np
from scipy.integrate import ode

import conversation
import motion

POINTS = 1000
MOST_STEPS = 100_000_000

W2, ALPHA, G = motion.W2, motion.ALPHA, motion.GRAVITATION
VERTICAL, SPIN, WEIGHT = motion.TOP_VERTICAL, motion.TOP_SPIN, motion.TOP_WEIGHT
SPIN_RATE = motion.TOP_SPIN * motion.TOP_I / motion.TOP_I3
MASSES = np.array(motion.MASSES)


@numba.njit
def double_pendulum(t, y):
    sine, cosine = np.sin(y[0] - y[1]), np.cos(y[0] - y[1])
    over = 1.0 / (2.0 - cosine * cosine)
    v1, v2 = (y[2] - cosine * y[3]) * over, (2.0 * y[3] - cosine * y[2]) * over
    coupling = sine * v1 * v2
    dy = np.empty(4)
    dy[0], dy[1] = v1, v2
    dy[2], dy[3] = -coupling - 2 * W2 * np.sin(y[0]), coupling - W2 * np.sin(y[1])
    return dy


@numba.njit
def top(t, y):
    sine, cosine = np.sin(y[1]), np.cos(y[1])
    precession = (VERTICAL - SPIN * cosine) / (sine * sine)
    dy = np.empty(4)
    dy[0], dy[1], dy[2] = precession, y[3], SPIN_RATE - cosine * precession
    dy[3] = sine * (WEIGHT - precession * (SPIN - cosine * precession))
    return dy


@numba.njit
def pendulum(t, y):
    dy = np.empty(2)
    dy[0], dy[1] = y[1], -W2 * np.sin(y[0])
    return dy


@numba.njit
def chain(t, y):
    n = y.size // 2
    dy = np.empty(2 * n)
    dy[:n] = y[n:]
    left = y[0] + ALPHA * y[0] * y[0]
    for i in range(n):
        d = (y[i + 1] if i + 1 < n else 0.0) - y[i]
        right = d + ALPHA * d * d
        dy[n + i] = right - left
        left = right
    return dy


@numba.njit
def solar_system(t, y):
    dy = np.zeros(36)
    dy[:18] = y[18:]
    for i in range(6):
        for j in range(i):
            x, z, w = y[3 * i] - y[3 * j], y[3 * i + 1] - y[3 * j + 1], y[3 * i + 2] - y[3 * j + 2]
            square = x * x + z * z + w * w
            pull = G / (square * np.sqrt(square))
            for k, d in enumerate((x, z, w)):
                dy[18 + 3 * i + k] -= MASSES[j] * pull * d
                dy[18 + 3 * j + k] += MASSES[i] * pull * d
    return dy


EQUATIONS = {
    "double-pendulum": double_pendulum,
    "lagrange-top": top,
    "pendulum": pendulum,
    "fput-1000": chain,
    "fput-10000": chain,
    "outer-solar-system": solar_system,
}


class Run:
    def __init__(self, system, until, method, tolerance):
        self.system, self.until, self.start = system, until, motion.start(system)
        self.solver = ode(EQUATIONS[system])
        self.solver.set_integrator(method, rtol=tolerance, atol=tolerance, nsteps=MOST_STEPS)
        EQUATIONS[system](0.0, self.start)

    def reset(self):
        self.solver.set_initial_value(self.start, 0.0)

    def run(self):
        self.reach(self.until)

    def reach(self, t):
        self.solver.integrate(t)
        if not self.solver.successful():
            code = self.solver.get_return_code()
            raise RuntimeError(self.solver._integrator.messages.get(code, f"it ended with code {code}"))

    def error(self):
        states = [self.start]
        # points far enough apart that they hardly shorten the steps
        for t in np.linspace(0, self.until, min(POINTS, int(50 * self.until / POINTS) + 20) + 1)[1:]:
            self.reach(t)
            states.append(self.solver.y.copy())
        return motion.energy_error(self.system, states)


class Scipy:
    def ready(self, system, until, setting):
        method, tolerance = setting.split(":")
        return Run(system, until, method, float(tolerance))


if __name__ == "__main__":
    conversation.answer(Scipy())
