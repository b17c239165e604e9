"""The numbers of the systems in systems/*.toml, and energies in extended precision, for contestants written in Python.

States are rows of (q, p) in the form that peers/src/motion.rs explains: momenta over m l² for the double pendulum and over
I for the top, whose other momenta are constants.
"""

import math

import numpy as np

W2 = 4 * math.pi**2
GRAVITY = 9.81
ALPHA = 0.25

TOP_I, TOP_I3 = 2.33e-3, 1.25e-4
TOP_WEIGHT = 0.1 * GRAVITY * 0.15 / TOP_I
TOP_SPIN = TOP_I3 / TOP_I * (252 + 9.2 * math.cos(math.pi / 3))
TOP_VERTICAL = math.sin(math.pi / 3) ** 2 * 9.2 + TOP_SPIN * math.cos(math.pi / 3)

GRAVITATION = 2.95912208286e-4
MASSES = [1.00000597682, 0.000954786104043, 0.000285583733151, 0.0000437273164546, 0.0000517759138449, 1 / 1.3e8]
POSITIONS = [
    0.0, 0.0, 0.0, -3.5023653, -3.8169847, -1.5507963, 9.0755314, -3.0458353, -1.6483708,
    8.3101420, -16.2901086, -7.2521278, 11.4707666, -25.7294829, -10.8169456, -15.5387357, -25.2225594, -3.1902382,
]  # fmt: skip
VELOCITIES = [
    0.0, 0.0, 0.0, 0.00565429, -0.00412490, -0.00190589, 0.00168318, 0.00483525, 0.00192462,
    0.00354178, 0.00137102, 0.00055029, 0.00288930, 0.00114527, 0.00039677, 0.00276725, -0.00170702, -0.00136504,
]  # fmt: skip


def start(system):
    """The initial state."""
    if system == "double-pendulum":
        return np.array([math.pi / 4, math.pi / 3, 0, 0])
    if system == "lagrange-top":
        return np.array([0, math.pi / 3, 0, 0])
    if system == "pendulum":
        return np.array([math.pi / 2, 0])
    if system == "outer-solar-system":
        return np.array(POSITIONS + VELOCITIES)
    if system.startswith("fput-"):
        n = int(system.removeprefix("fput-"))
        return np.concatenate([0.3 * np.sin(np.arange(1.0, n + 1) ** 2), np.zeros(n)])
    raise ValueError(f"no equations of motion for {system}")


def double_pendulum_energy(y, shift=0):
    cosine = np.cos(y[:, 0] - y[:, 1])
    kinetic = (y[:, 2] ** 2 - 2 * cosine * y[:, 2] * y[:, 3] + 2 * y[:, 3] ** 2) / (2 * (2 - cosine**2))
    return kinetic + W2 * (shift - 2 * np.cos(y[:, 0]) - np.cos(y[:, 1]))


def top_energy(y):
    sine, cosine = np.sin(y[:, 1]), np.cos(y[:, 1])
    across = (TOP_VERTICAL - TOP_SPIN * cosine) / sine
    return (y[:, 3] ** 2 + across**2 + np.longdouble(TOP_SPIN) ** 2 * TOP_I / TOP_I3) / 2 + TOP_WEIGHT * cosine


def pendulum_energy(y):
    return y[:, 1] ** 2 / 2 + W2 * (1 - np.cos(y[:, 0]))


def chain_energy(y):
    n = y.shape[1] // 2
    d = np.diff(np.pad(y[:, :n], ((0, 0), (1, 1))), axis=1)
    return (d**2 / 2 + ALPHA / 3 * d**3).sum(axis=1) + (y[:, n:] ** 2).sum(axis=1) / 2


def solar_energy(y):
    q, v = y[:, :18].reshape(-1, 6, 3), y[:, 18:].reshape(-1, 6, 3)
    energy = (np.array(MASSES) * (v**2).sum(axis=2)).sum(axis=1) / 2
    for i in range(6):
        for j in range(i):
            energy = energy - GRAVITATION * MASSES[i] * MASSES[j] / np.sqrt(((q[:, i] - q[:, j]) ** 2).sum(axis=1))
    return energy


ENERGIES = {
    "double-pendulum": double_pendulum_energy,
    "lagrange-top": top_energy,
    "pendulum": pendulum_energy,
    "outer-solar-system": solar_energy,
    "fput-1000": chain_energy,
    "fput-10000": chain_energy,
}


def largest_error(energies):
    """The largest relative change of energies since the first."""
    error = np.max(np.abs(energies / energies[0] - 1))
    return float("inf") if np.isnan(error) else float(error)


def energy_error(system, states):
    """The largest relative energy error of some states, the first of which is the start; in extended precision."""
    return largest_error(ENERGIES[system](np.asarray(states).astype(np.longdouble)))
