"""What is measured: systems, lengths of runs, and errors to be reached."""

from dataclasses import dataclass

NUTATION = 1.8467084770816378
ERRORS = (1e-8, 1e-11, 1e-14)


@dataclass(frozen=True)
class Case:
    """Time to reach an energy error."""

    name: str
    title: str
    system: str
    until: float
    # numbers of steps with which scans of fixed steps start: for methods of high order, and for those of order 4
    coarse: int
    coarse_low: int
    # a setting that takes longer than so many seconds ends a scan
    limit: float
    errors: tuple = ERRORS
    # whether leastaction picks its setting for an error itself; if not, its settings are scanned as those of others
    picked: bool = True


@dataclass(frozen=True)
class Steps:
    """Time of a number of steps, whatever their error."""

    name: str
    title: str
    system: str
    until: float
    steps: int
    # contestant → setting; the first is ours, and the ratio is against the second
    settings: tuple


@dataclass(frozen=True)
class Cores:
    """Time of the same work on one thread and on two, by the clock on the wall."""

    name: str
    title: str
    system: str
    until: float
    setting: str
    threads: tuple = (1, 2)


CASES = [
    Case("double-pendulum", "double pendulum, T = 10", "double-pendulum", 10, 29, 500, 0.2),
    Case("double-pendulum-long", "double pendulum, T = 1000", "double-pendulum", 1000, 2900, 50_000, 0.6),
    Case("top", "Lagrange top, 10 periods", "lagrange-top", 10 * NUTATION, 29, 500, 0.2),
    Case("top-long", "Lagrange top, 1000 periods", "lagrange-top", 1000 * NUTATION, 2900, 50_000, 0.6),
    Case("pendulum-long", "pendulum, T = 1000", "pendulum", 1000, 1700, 50_000, 0.4),
    Case("fput-1000", "FPUT chain of 1,000, T = 10", "fput-1000", 10, 11, 40, 0.15, (1e-8, 1e-10, 1e-12)),
    Case("fput-10000", "FPUT chain of 10,000, T = 10", "fput-10000", 10, 11, 40, 1.5, (1e-8, 1e-10, 1e-12)),
    Case("solar-system", "outer solar system, 200,000 days", "outer-solar-system", 200_000, 211, 2000, 1.0),
    Case("ensemble", "10,000 double pendula, T = 10, each member", "ensemble", 10, 501, 1000, 30.0, (1e-8,)),
]

STEPS = [
    Steps("simpson-step", "one Simpson step of the double pendulum, against one RK4 step by hand", "double-pendulum", 10, 1000,
          (("leastaction", "simpson:1000"), ("rk4", "rk4:1000"))),
    Steps("digits-step", "one Simpson step of the double pendulum with 64 digits", "double-pendulum", 1, 100,
          (("leastaction", "simpson:100@64"), ("mpmath", "simpson:100"))),
]  # fmt: skip

CORES = [Cores("two-cores", "10,000 double pendula, T = 10, on two cores", "ensemble", 10, "gauss12:401")]
