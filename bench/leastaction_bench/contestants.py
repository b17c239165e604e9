"""Who takes part, and what each can be set to, from loose to tight."""

import itertools
from dataclasses import dataclass, field

from .process import Worker

OURS = "leastaction"
# our own scan: what the best setting would be, whatever is picked
SCAN = "leastaction, best setting"
# no competitors: they show the scale
RK4, SPLITTING, SPLITTING_AVX2 = "rk4", "splitting by hand", "splitting by hand, AVX2"
YARDSTICKS = (RK4, SPLITTING, SPLITTING_AVX2)
NO_PEERS = (OURS, SCAN, *YARDSTICKS)

GAUSS = [f"gauss{order}" for order in (8, 12, 16, 20)]
LOBATTO = ["simpson", "lobatto12"]
FINER = 1.19  # between the step sizes of a scan
# the same program twice: equations derived by hand for it, and the Lagrangian that leastaction reads
HEYOKA, HEYOKA_TYPED = "heyoka", "heyoka, as typed"
# systems whose text has neither lists nor sums
TYPED = ("double-pendulum", "lagrange-top", "pendulum")
HEYOKA_FLAGS = ("default", "fast_math", "high_accuracy", "compact_mode")
HEYOKA_ORDERS = range(8, 25)


@dataclass
class Contestant:
    name: str
    worker: Worker
    # curves(case): families of settings, each from loose to tight
    curves: callable
    version: str = ""
    # whether it is asked for a setting for each error
    picks: bool = False
    # what it could not do: case → reasons
    failures: dict = field(default_factory=dict)


def steps(name, coarse, suffix=""):
    """Ever more steps. Odd numbers are less often simple fractions of a period, with which steps would resonate."""
    for k in itertools.count():
        yield f"{name}:{int(coarse * FINER**k) | 1}{suffix}"


def tolerances(name, first=1e-6):
    for k in range(37):
        yield f"{name}:{first * 10 ** (-k / 4):.3e}"


def leastaction(fitting, when):
    """Scans of the methods that may be the best for a case, where `when` holds. `fitting` says which methods fit a system."""

    def curves(case):
        # members of an ensemble have steps of their own
        if not when(case) or case.system == "ensemble":
            return {}
        chosen = [m for m in fitting(case.system) if m.startswith("split")]
        if case.system.startswith("fput"):
            chosen += ["gauss8"]
        else:
            chosen += [*GAUSS, *LOBATTO]
        return {m: steps(m, case.coarse if high_order(m) else case.coarse_low) for m in chosen}

    return curves


def high_order(method):
    digits = "".join(c for c in method if c.isdigit())
    return bool(digits) and int(digits) >= 8 and not method.startswith("split")


def orders(flags, which, suffix=""):
    for order in which:
        yield f"{flags}:{order}{suffix}"


def batches(*flags):
    """Curves of heyoka for the ensemble."""
    variants = itertools.product(flags, (4, 8))
    return {f"{flags}, batch of {b}": orders(flags, range(11, 16), f":{b}") for flags, b in variants}


def heyoka(case):
    if case.system == "ensemble":
        return batches("default/SI", "fast_math/SI")
    if case.system.startswith("fput"):
        # without compact mode, compiling takes minutes
        return {flags: orders(flags, HEYOKA_ORDERS) for flags in ("compact_mode", "compact_mode+fast_math")}
    units = ("", "/SI") if case.system == "double-pendulum" else ("",)
    return {f + unit: orders(f + unit, HEYOKA_ORDERS) for f in HEYOKA_FLAGS for unit in units}


def heyoka_typed(case):
    """The same flags and orders."""
    if case.system == "ensemble":
        return batches("default", "fast_math")
    return {f: orders(f, HEYOKA_ORDERS) for f in HEYOKA_FLAGS} if case.system in TYPED else {}


def one_trajectory(curves):
    """The curves of those who have nothing of their own for ensembles."""
    return lambda case: {} if case.system == "ensemble" else curves(case)


def rk4(case):
    return {"rk4": steps("rk4", case.coarse_low)}


def splitting(method):
    """The yardstick for chains: a method by hand."""
    return lambda case: {method: steps(method, case.coarse_low)} if case.system.startswith("fput") else {}


def tolerance_curves(*names):
    return one_trajectory(lambda case: {name: tolerances(name) for name in names})


def mujoco(case):
    return {"RK4": steps("rk4", case.coarse_low)} if case.system == "double-pendulum" else {}
