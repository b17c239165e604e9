"""heyoka: Taylor methods compiled for the system. Settings: FLAGS:ORDER, with FLAGS such as default, fast_math or
fast_math+compact_mode; for the ensemble FLAGS:ORDER:BATCH. FLAGS/SI keeps the double pendulum's momenta in SI units: steps are
chosen by the largest number of a state, so that units matter.

The tolerance only chooses the order, so that a scan over orders is a scan over all tolerances. Of the forms tried (Lagrangian
by hand and by heyoka.lagrangian, Hamiltonian with and without the cyclic momenta as states, with units that shorten it), the
Hamiltonian ones here were the fastest.

Called with `typed` behind the folder of the text files, it is given no such form: heyoka.lagrangian derives the equations of motion
from the Lagrangian of the text file, in all its coordinates.
"""

import math
import pathlib
import sys

import heyoka as hy
import numpy as np

import conversation
import motion
import typed

# a run that needs more steps than this has failed; states of all steps are kept while errors are measured
MOST_STEPS = 300_000
MOST_NUMBERS = 50_000_000


SI = (motion.GRAVITY / motion.W2) ** 2


def double_pendulum(unit=1.0):
    """Momenta in a unit: 1 is m l²."""
    q1, q2, p1, p2 = hy.make_vars("q1", "q2", "p1", "p2")
    sine, cosine = hy.sin(q1 - q2), hy.cos(q1 - q2)
    over = 1.0 / (unit * (2.0 - cosine * cosine))
    v1, v2 = (p1 - cosine * p2) * over, (2.0 * p2 - cosine * p1) * over
    coupling = unit * sine * v1 * v2
    force = unit * motion.W2
    return [(q1, v1), (q2, v2), (p1, -coupling - 2 * force * hy.sin(q1)), (p2, coupling - force * hy.sin(q2))]


def top():
    phi, theta, psi, p = hy.make_vars("phi", "theta", "psi", "p")
    sine, cosine = hy.sin(theta), hy.cos(theta)
    precession = (motion.TOP_VERTICAL - motion.TOP_SPIN * cosine) / (sine * sine)
    spin = motion.TOP_SPIN * motion.TOP_I / motion.TOP_I3 - cosine * precession
    force = sine * (motion.TOP_WEIGHT - precession * (motion.TOP_SPIN - cosine * precession))
    return [(phi, precession), (theta, p), (psi, spin), (p, force)]


def pendulum():
    q, p = hy.make_vars("q", "p")
    return [(q, p), (p, -motion.W2 * hy.sin(q))]


def chain(n):
    q = hy.make_vars(*[f"q{i}" for i in range(n)])
    v = hy.make_vars(*[f"v{i}" for i in range(n)])
    wall = hy.expression(0.0)
    stretch = [(q[i] if i < n else wall) - (q[i - 1] if i > 0 else wall) for i in range(n + 1)]
    stretch[0], stretch[n] = q[0], -q[n - 1]
    force = [d + motion.ALPHA * d * d for d in stretch]
    return list(zip(q, v)) + [(v[i], force[i + 1] - force[i]) for i in range(n)]


def solar_system():
    equations = hy.model.nbody(6, masses=motion.MASSES, Gconst=motion.GRAVITATION)
    # its states go body by body: x, y, z, vx, vy, vz
    return equations


def solar_order():
    """Where the states of our order, positions then velocities, are in heyoka's."""
    return [6 * body + axis for body in range(6) for axis in range(3)] + [
        6 * body + 3 + axis for body in range(6) for axis in range(3)
    ]


def equations(system, unit):
    if system.startswith("fput-"):
        return chain(int(system.removeprefix("fput-")))
    made = {
        "double-pendulum": lambda: double_pendulum(unit),
        "lagrange-top": top,
        "pendulum": pendulum,
        "outer-solar-system": solar_system,
    }
    return made[system]()


def unit_of(flags):
    """Flags without their unit, and the unit."""
    flags, _, unit = flags.partition("/")
    return flags, SI if unit else 1.0


def options(flags, order):
    chosen = {} if flags == "default" else {flag: True for flag in flags.split("+")}
    # heyoka's rule is order = ceil(1 - ln(tolerance)/2); in the middle of the tolerances of an order
    return {"tol": math.exp(-2 * (order - 1) + 1), **chosen}


class Kept:
    """A callback that keeps the states of all steps."""

    def __init__(self):
        self.states = []

    def __call__(self, integrator):
        self.states.append(integrator.state.copy())
        return True


class One:
    """A single run: of equations from a start, with the energy error of the states of its steps."""

    def __init__(self, equations, start, until, energy_error, flags, order):
        self.start, self.until, self.energy_error = start, until, energy_error
        self.limit = min(MOST_STEPS, MOST_NUMBERS // len(start))
        self.integrator = hy.taylor_adaptive(equations, start.copy(), **options(flags, order))

    def reset(self):
        self.integrator.time = 0.0
        self.integrator.state[:] = self.start

    def run(self, callback=None):
        outcome = self.integrator.propagate_until(self.until, callback=callback, max_steps=self.limit)[0]
        if outcome != hy.taylor_outcome.time_limit:
            raise RuntimeError(f"it ended with {outcome}")

    def error(self):
        kept = Kept()
        self.run(kept)
        return self.energy_error(np.array([self.start, *kept.states]))


def by_hand(system, until, flags, order):
    """A run of the equations above."""
    flags, unit = unit_of(flags)
    where = solar_order() if system == "outer-solar-system" else slice(None)
    start = np.empty_like(motion.start(system))
    start[where] = motion.start(system)

    def energy_error(states):
        if unit != 1:
            states[:, 2:] /= unit
        return motion.energy_error(system, states[:, where])

    return One(equations(system, unit), start, until, energy_error, flags, order)


def derived(text):
    """The equations that heyoka derives from a Lagrangian."""
    q, v = hy.make_vars(*text.names), hy.make_vars(*map(typed.velocity, text.names))
    q, v = (q, v) if isinstance(q, list) else ([q], [v])
    kinetic, potential = text.energies(q, v, hy)
    return hy.lagrangian(kinetic - potential, q, v)


def typed_energies(text, states):
    """The energies of states in coordinates and velocities."""
    half = len(text.names)
    columns = list(states.astype(np.longdouble).T)
    return sum(text.energies(columns[:half], columns[half:], np))


def as_typed(text, until, flags, order):
    """A run of the equations that heyoka derives."""

    def energy_error(states):
        return motion.largest_error(typed_energies(text, states))

    return One(derived(text), np.concatenate(text.start()), until, energy_error, flags, order)


class Ensemble:
    """All members of the ensemble in batches, neighbours in energy together so that lanes need the same steps."""

    def __init__(self, until, flags, order, batch, members, text=None):
        """Of the equations above, or of those that heyoka derives from a text; members are at rest, so both have the same starts."""
        self.until, self.text = until, text
        flags, self.unit = unit_of(flags)
        equations = derived(text) if text else double_pendulum(self.unit)
        angles = np.loadtxt(members, delimiter=",", skiprows=1)
        states = np.hstack([angles, np.zeros_like(angles)])
        states = states[np.argsort(motion.double_pendulum_energy(states, 3))]
        if len(states) % batch:
            raise ValueError(f"{len(states)} members are no whole number of batches of {batch}")
        self.batches = np.ascontiguousarray(states.reshape(-1, batch, 4).transpose(0, 2, 1))
        self.integrator = hy.taylor_adaptive_batch(equations, np.zeros((4, batch)), **options(flags, order))

    def reset(self):
        pass

    def run(self):
        for states in self.batches:
            self.integrator.set_time(0.0)
            self.integrator.state[:] = states
            self.integrator.propagate_until(self.until)

    def error(self):
        worst = 0.0
        for states in self.batches:
            self.integrator.set_time(0.0)
            self.integrator.state[:] = states
            kept = Kept()
            self.integrator.propagate_until(self.until, callback=kept, max_steps=MOST_STEPS)
            path = np.array([states, *kept.states]).astype(np.longdouble)
            path[:, 2:] /= self.unit
            worst = max(worst, *(self.member_error(path[:, :, lane]) for lane in range(path.shape[2])))
        return worst

    def member_error(self, path):
        energies = typed_energies(self.text, path) if self.text else motion.double_pendulum_energy(path, 3)
        return motion.largest_error(energies)


class Heyoka:
    def __init__(self, systems, form="by hand"):
        self.systems, self.form = pathlib.Path(systems), form

    def ready(self, system, until, setting):
        flags, order, *batch = setting.split(":")
        if system == "ensemble":
            text = typed.Text(self.systems, "double-pendulum-from-rest") if self.form == "typed" else None
            return Ensemble(until, flags, int(order), int(batch[0]), self.systems / "ensemble.csv", text)
        if self.form == "typed":
            return as_typed(typed.Text(self.systems, system), until, flags, int(order))
        return by_hand(system, until, flags, int(order))


if __name__ == "__main__":
    conversation.answer(Heyoka(*sys.argv[1:]))
