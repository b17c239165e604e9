"""What users get wrong: a Python exception that names the culprit, never a crash, and the interpreter goes on."""

import math
import subprocess
import sys
import threading

import numpy as np
import pytest
import sympy as sp

import leastaction as la

PENDULUM = "double-pendulum"


def mechanism(function=None, **keywords):
    """A system of two coordinates, or one that a wrong function makes."""
    good = lambda q, v, p: 0.5 * p.m * np.sum(v**2) - np.sum(q**2)  # noqa: E731
    return la.System(function or good, **{"n": 2, "parameters": {"m": 1.0}, **keywords})


def branching(q, v):
    if q[0] > 0:
        return v @ v
    return v @ v - q @ q


def truth(q, v):
    return v @ v if q[0] else q @ q


def raising(q, v):
    raise ZeroDivisionError("my own mistake")


class Stubborn:
    """Something that answers every question with an exception."""

    def __getattr__(self, name):
        raise RuntimeError("no")

    def __repr__(self):
        raise RuntimeError("no")


def read_only():
    q = np.array([1.0, 0.5])
    q.setflags(write=False)
    return q


SIMULATE = {
    "too few coordinates": (lambda: la.simulate(PENDULUM, q=[1.0]), ValueError, "q1, q2"),
    "too many coordinates": (lambda: la.simulate(PENDULUM, q=[1, 2, 3]), ValueError, "3 were given|needs 2"),
    "no coordinates": (lambda: la.simulate(PENDULUM, q=[]), ValueError, "needs 2|0 were"),
    "a matrix of coordinates": (lambda: la.simulate(PENDULUM, q=np.ones((2, 2))), ValueError, r"shape \[2, 2\].*\n.*ensemble"),
    "a nested list": (lambda: la.simulate(PENDULUM, q=[[1, 2]]), TypeError, r"q\[0\] must be a number"),
    "NaN": (lambda: la.simulate(PENDULUM, q=[np.nan, 0]), ValueError, r"q\[0\].*NaN"),
    "NaN in an array": (lambda: la.simulate(PENDULUM, q=np.array([0, np.nan])), ValueError, r"q\[1\].*NaN"),
    "infinity": (lambda: la.simulate(PENDULUM, v=[0, math.inf]), ValueError, r"v\[1\].*inf"),
    "velocities and momenta": (lambda: la.simulate(PENDULUM, v=0, p=0), ValueError, "both velocities and momenta"),
    "complex numbers": (lambda: la.simulate(PENDULUM, q=[1j, 0]), TypeError, r"q\[0\].*1j"),
    "a complex array": (lambda: la.simulate(PENDULUM, q=np.array([1j, 0])), TypeError, r"q\[0\]"),
    "booleans": (lambda: la.simulate(PENDULUM, q=[True, False]), TypeError, r"q\[0\].*True"),
    "None inside": (lambda: la.simulate(PENDULUM, q=[None, 1]), TypeError, r"q\[0\].*None"),
    "objects": (lambda: la.simulate(PENDULUM, q=np.array([object(), 1], dtype=object)), TypeError, r"q\[0\].*object"),
    "bytes": (lambda: la.simulate(PENDULUM, q=b"12"), TypeError, "q must be a number"),
    "a dict for q": (lambda: la.simulate(PENDULUM, q={"q1": 1}), TypeError, "q must be a number"),
    "an empty formula": (lambda: la.simulate(PENDULUM, q=["", "1"]), ValueError, r"q\[0\] is an empty string"),
    "a broken formula": (lambda: la.simulate(PENDULUM, q=["1 +", "1"]), ValueError, r"q\[0\]"),
    "an unknown name": (lambda: la.simulate(PENDULUM, q=["pi*gg", "1"]), ValueError, "unknown name `gg`"),
    "a formula that is infinite": (lambda: la.simulate(PENDULUM, q=["1/0", "1"]), ValueError, "not a finite number"),
    "a negative step": (lambda: la.simulate(PENDULUM, step=-0.1), ValueError, r"step must be positive.*\n.*try"),
    "no step": (lambda: la.simulate(PENDULUM, step=0), ValueError, "step must be positive"),
    "a step of NaN": (lambda: la.simulate(PENDULUM, step=math.nan), ValueError, "step must be a finite number"),
    "a step of words": (lambda: la.simulate(PENDULUM, step="small"), ValueError, "unknown name `small`"),
    "an end before the start": (lambda: la.simulate(PENDULUM, until=-1), ValueError, "end time"),
    "too many steps": (lambda: la.simulate(PENDULUM, until=1e300, step=1e-300), ValueError, "steps"),
    "too much to record": (lambda: la.simulate(PENDULUM, until=1e9, step=0.01, every=1), ValueError, "every"),
    "half a count": (lambda: la.simulate(PENDULUM, every=0.5), ValueError, "every must be a whole number"),
    "a negative count": (lambda: la.simulate(PENDULUM, every=-1), ValueError, "every must be a whole number"),
    "a boolean count": (lambda: la.simulate(PENDULUM, dense=True), ValueError, "dense must be a whole number"),
    "no points a step": (lambda: la.simulate(PENDULUM, dense=0), ValueError, "dense must be a whole number"),
    "too many digits": (lambda: la.simulate(PENDULUM, precision=10_000), ValueError, "precision must be"),
    "a huge number": (lambda: la.simulate(PENDULUM, every=10**40), ValueError, "every must be a whole number"),
    "a huge integer as coordinate": (lambda: la.simulate(PENDULUM, q=[10**400, 0]), TypeError, r"q\[0\]"),
    "an unknown method": (lambda: la.simulate(PENDULUM, method="gaus8"), ValueError, r"did you mean `gauss8`.*\n.*la\.methods\(\)"),
    "a method that is no string": (lambda: la.simulate(PENDULUM, method=8), TypeError, "method must be a string"),
    "a method that does not fit": (lambda: la.simulate(PENDULUM, method="split4"), ValueError, "does not fit"),
    "an unknown system": (lambda: la.simulate("duoble-pendulum"), ValueError, "did you mean `double-pendulum`"),
    "a file that is not there": (lambda: la.simulate("nowhere/mine.toml"), ValueError, "cannot read `nowhere/mine.toml`"),
    "a folder": (lambda: la.simulate("."), ValueError, "cannot read"),
    "a number for a system": (lambda: la.simulate(3), TypeError, "the system must be a System"),
    "a function for a system": (lambda: la.simulate(branching), TypeError, r"la\.System\(function"),
    "an unknown parameter": (lambda: la.simulate(PENDULUM, parameters={"gg": 1}), ValueError, "no parameter `gg`"),
    "parameters as a list": (lambda: la.simulate(PENDULUM, parameters=[1, 2]), TypeError, "parameters must be a dict"),
    "a parameter of NaN": (lambda: la.simulate(PENDULUM, parameters={"g": math.nan}), ValueError, "parameter `g`"),
    "a negative mass": (lambda: la.simulate(PENDULUM, parameters={"m1": -1}), ValueError, "positive"),
    "a huge parameter": (lambda: la.simulate(PENDULUM, parameters={"g": 10**400}), (ValueError, TypeError), "parameter `g`"),
    "a name that no file can have": (lambda: la.simulate("x" * 300), la.InputError, "unknown system|no system"),
    "a name with a zero byte": (lambda: la.simulate("a\0b"), la.InputError, "system"),
    "times of words": (lambda: la.simulate("pendulum", until=1)(["soon"]), la.InputError, "times must be"),
    "a huge time": (lambda: la.simulate("pendulum", until=1)(10**400), la.InputError, "times must be"),
    "a size out of range": (lambda: la.simulate("n-pendulum", parameters={"n": 10**6}), ValueError, "from 1 to 500"),
    "a numeral as name": (lambda: la.simulate(PENDULUM, parameters={1: 2}), TypeError, "name of a parameter"),
    "a tolerance too small": (lambda: la.simulate(PENDULUM, tolerance=1e-30), ValueError, "tolerance"),
    "an unknown keyword": (lambda: la.simulate(PENDULUM, stepsize=1), TypeError, "stepsize"),
    "an unknown back end": (lambda: la.simulate(PENDULUM, backend="gpu"), ValueError, "no back end"),
    "an event without formula": (lambda: la.simulate(PENDULUM, events={"hit": {"stop": 1}}), ValueError, "`hit` has no formula"),
    "an event with a typo": (lambda: la.simulate(PENDULUM, events={"hit": {"off": "q1"}}), ValueError, "did you mean `of`"),
    "a wrong direction": (
        lambda: la.simulate(PENDULUM, events={"hit": {"of": "q1", "direction": "up"}}),
        ValueError,
        "rising, falling or both",
    ),
    "an output of nothing": (lambda: la.simulate(PENDULUM, outputs={"x": "q3"}), ValueError, "unknown name `q3`"),
    "an output with a taken name": (lambda: la.simulate(PENDULUM, outputs={"q1": "q2"}), ValueError, "q1"),
    "throw as a string": (lambda: la.simulate(PENDULUM, throw="no"), TypeError, "throw must be True or False"),
    "progress as a number": (lambda: la.simulate(PENDULUM, progress=3), TypeError, "progress must be"),
    "a stubborn object": (lambda: la.simulate(PENDULUM, step=Stubborn()), (TypeError, RuntimeError), "step|no"),
    "a time outside": (lambda: la.simulate("pendulum", until=1)(2.0), ValueError, "outside of what was computed, 0 to 1"),
    "a time of NaN": (lambda: la.simulate("pendulum", until=1)(math.nan), ValueError, "NaN"),
    "a matrix of times": (lambda: la.simulate("pendulum", until=1)(np.ones((2, 2))), ValueError, "shape"),
    "nothing between": (lambda: la.simulate("pendulum", until=1, every=0)(0.5), ValueError, "nothing was recorded"),
}

SYSTEMS = {
    "a branch": (lambda: mechanism(branching), la.TracingError, r"test_misuse\.py, line \d+: `if q\[0\] > 0:`\)\n.*np\.abs"),
    "a truth value": (lambda: mechanism(truth), la.TracingError, r"branch.*line \d+"),
    "equality": (lambda: mechanism(lambda q, v: v @ v if q[0] == 0 else q @ q), la.TracingError, "comparison"),
    "math.sin": (lambda: mechanism(lambda q, v: v @ v + math.sin(q[0])), la.TracingError, r"line \d+.*\n.*np\.sin, not math\.sin"),
    "np.maximum": (lambda: mechanism(lambda q, v: v @ v + np.maximum(q[0], 0)), la.TracingError, r"line \d+"),
    "np.linalg.inv": (lambda: mechanism(lambda q, v: v @ np.linalg.inv(np.outer(q, q)) @ v), la.TracingError, r"line \d+"),
    "np.linalg.det": (lambda: mechanism(lambda q, v: np.linalg.det(np.outer(v, v))), la.TracingError, r"line \d+"),
    "np.floor": (lambda: mechanism(lambda q, v: v @ v + np.floor(q[0])), la.TracingError, r"line \d+"),
    "floor division": (lambda: mechanism(lambda q, v: v @ v + q[0] // 2), la.TracingError, "no derivative"),
    "an array of floats": (lambda: mechanism(lambda q, v: np.sum(np.array(v, dtype=float) ** 2)), la.TracingError, "plain one"),
    "an index": (lambda: mechanism(lambda q, v: v @ v + [1, 2, 3][q[0]]), la.TracingError, "index"),
    "NaN in a formula": (lambda: mechanism(lambda q, v: v @ v + np.nan * q[0]), la.TracingError, "NaN in a traced formula"),
    "an exception of its own": (lambda: mechanism(raising), ZeroDivisionError, "my own mistake"),
    "a vector as result": (lambda: mechanism(lambda q, v: v**2 - q**2), la.TracingError, r"shape \(2,\).*\n.*np\.sum"),
    "nothing as result": (lambda: mechanism(lambda q, v: None), la.TracingError, "returns nothing"),
    "a number as result": (lambda: mechanism(lambda q, v: 3.0), la.TracingError, "neither coordinates nor velocities"),
    "no velocities": (lambda: mechanism(lambda q, v: q @ q), ValueError, "no velocity occurs|velocit"),
    "an index too far": (lambda: mechanism(lambda q, v: v @ v + q[5]), IndexError, "out of bounds"),
    "an undeclared parameter": (lambda: mechanism(lambda q, v, p: p.mass * v @ v), la.TracingError, "'mass' that was not declared"),
    "other arguments": (lambda: mechanism(lambda q: q @ q), la.TracingError, r"\(q, v, p\)"),
    "too many arguments": (lambda: mechanism(lambda q, v, a, b, c: q @ q), la.TracingError, r"\(q, v, p\)"),
    "a built-in": (lambda: mechanism(print), la.TracingError, "arguments"),
    "a symbol of another function": (lambda: smuggled(), la.TracingError, "symbol `x` that was made elsewhere.*\n.*a, b"),
    "a symbol from outside": (lambda: mechanism(lambda q, v: v @ v - la.parameters("k") * q @ q), la.TracingError, "symbol `k`"),
    "a symbol in positions": (lambda: mechanism(positions=lambda q: [q[0], la.coordinates("z")]), la.TracingError, "symbol `z`"),
    "a remainder": (lambda: mechanism(lambda q, v: v @ v + q[0] % 2), la.TracingError, r"line \d+.*\n.*np\.sin"),
    "a remainder by it": (lambda: mechanism(lambda q, v: v @ v + 2 % q[0]), la.TracingError, r"line \d+.*\n.*cannot be recorded"),
    "floor division by it": (lambda: mechanism(lambda q, v: v @ v + 2 // q[0]), la.TracingError, r"line \d+.*\n.*cannot be recorded"),
    "round": (lambda: mechanism(lambda q, v: v @ v + round(q[0])), la.TracingError, r"line \d+.*\n.*cannot be recorded"),
    "np.round": (lambda: mechanism(lambda q, v: v @ v + np.round(q) @ q), la.TracingError, r"line \d+.*\n.*cannot be recorded"),
    "an imaginary number": (lambda: mechanism(lambda q, v: v @ v + 1j * q[0]), la.TracingError, r"line \d+.*\n.*Lagrangian is real"),
    "imaginary numbers": (lambda: mechanism(lambda q, v: v @ v + np.sum(1j * q)), la.TracingError, r"line \d+.*\n.*Lagrangian is real"),
    "an unknown method": (lambda: mechanism(lambda q, v: v @ v + q[0].norm()), la.TracingError, r"line \d+"),
    "a huge parameter": (lambda: mechanism(parameters={"m": 10**400}), la.InputError, "parameter `m` is too large"),
    "no number of coordinates": (lambda: la.System(lambda q, v: v @ v), TypeError, "how many coordinates"),
    "no coordinates": (lambda: mechanism(n=0), ValueError, "n must be from 1"),
    "too many coordinates": (lambda: mechanism(n=10**9), ValueError, "n must be from 1 to 100000"),
    "half a coordinate": (lambda: mechanism(n=2.5), TypeError, "whole number of coordinates"),
    "names and number differ": (lambda: mechanism(n=3, coordinates="x y"), ValueError, "n = 3, but 2"),
    "the same name twice": (lambda: mechanism(n=None, coordinates="x x"), ValueError, "used twice|twice"),
    "a reserved name": (lambda: mechanism(n=None, coordinates="t x"), ValueError, "`t`"),
    "a name with a space": (lambda: mechanism(parameters={"my mass": 1}), ValueError, "not a name"),
    "a name of a coordinate": (lambda: mechanism(n=None, coordinates="m x"), ValueError, "`m`|twice"),
    "a matrix of parameters": (lambda: mechanism(parameters={"m": np.ones((2, 2))}), ValueError, r"shape \(2, 2\)"),
    "an infinite parameter": (lambda: mechanism(parameters={"m": math.inf}), ValueError, "parameter `m` must be a finite number"),
    "a parameter of None": (lambda: mechanism(parameters={"m": None}), TypeError, "parameter `m` must be a number"),
    "velocities without coordinates": (lambda: mechanism(v=0), ValueError, "give q as well"),
    "coordinates for a name": (lambda: la.System("kepler", n=3), TypeError, "n is not for a name"),
    "a system of a system": (lambda: la.System(mechanism()), ValueError, "System already"),
    "a list for a system": (lambda: la.System([1, 2]), TypeError, "not of list"),
    "a broken text": (lambda: la.System("coordinates = [\n"), ValueError, "system.toml"),
    "a text with a typo": (lambda: la.System('coordinates = ["x"]\n[lagrangean]\nkinetic = "dot(x)^2"\n'), ValueError, "lagrangian"),
    "a link without bodies": (lambda: mechanism(links="chain"), TypeError, "positions"),
    "a link to nowhere": (lambda: mechanism(positions=lambda q: q, links=[(0, 7)]), ValueError, r"\(0, 7\) is not a link"),
    "positions of one number": (lambda: mechanism(positions=lambda q: q[:1]), la.TracingError, "x, y or x, y, z"),
    "a symbol without value": (lambda: la.System(la.dot(la.coordinates("x")) ** 2 * la.parameters("m")), ValueError, "`m` has no value"),
    "no names": (lambda: la.coordinates(""), ValueError, "no names"),
    "a bad name": (lambda: la.parameters("2x"), ValueError, "not a name"),
    "SymPy without coordinates": (lambda: la.System.from_sympy(sp.Symbol("x") ** 2), la.TracingError, "no function of time"),
    "SymPy that is none": (lambda: la.System.from_sympy("x**2"), TypeError, "SymPy expression"),
    "a second derivative": (
        lambda: la.System.from_sympy(sp.Function("x")(sp.Symbol("t")).diff(sp.Symbol("t"), 2)),
        la.TracingError,
        "first derivatives",
    ),
    "a function SymPy has and formulas have not": (
        lambda: la.System.from_sympy(sp.gamma(sp.Function("x")(sp.Symbol("t")))),
        la.TracingError,
        "gamma cannot be used",
    ),
}

ENSEMBLES = {
    "nothing varies": (lambda: la.ensemble(PENDULUM), ValueError, r"nothing varies\n.*vary="),
    "members of nothing": (lambda: la.ensemble(PENDULUM, vary={"q1": [1]}, members=5), ValueError, "nothing is drawn"),
    "columns that do not fit": (lambda: la.ensemble(PENDULUM, q=np.ones((5, 3))), ValueError, r"\(members, 2\)"),
    "lengths that differ": (
        lambda: la.ensemble(PENDULUM, q=np.ones((5, 2)), parameters={"g": np.ones(4)}),
        ValueError,
        "`g` has 4 members",
    ),
    "no members": (lambda: la.ensemble(PENDULUM, q=np.ones((0, 2))), ValueError, "no rows"),
    "a member of NaN": (lambda: la.ensemble(PENDULUM, q=[[1, 2], [3, math.nan]]), ValueError, "NaN"),
    "words for members": (lambda: la.ensemble(PENDULUM, q=[["a", "b"]]), ValueError, "q must be real numbers"),
    "an unknown name": (lambda: la.ensemble(PENDULUM, vary={"x": [1, 2]}), ValueError, "`x`"),
    "a broken range": (lambda: la.ensemble(PENDULUM, vary={"q1": "0..1"}), ValueError, "how many values"),
    "a wrong distribution": (lambda: la.ensemble(PENDULUM, draw={"q1": "gauss(0, 1)"}), ValueError, "unknown distribution"),
    "no threads": (lambda: la.ensemble(PENDULUM, vary={"q1": [1]}, threads=0), ValueError, "threads must be"),
    "a wrong name for a parameter": (lambda: la.ensemble(PENDULUM, parameters={"gg": np.ones(3)}), ValueError, "`gg`"),
    "a cube of parameters": (lambda: la.ensemble(PENDULUM, parameters={"g": np.ones((2, 2))}), ValueError, r"shape \(2, 2\)"),
    "a wrong seed": (lambda: la.ensemble(PENDULUM, draw={"q1": "uniform(0,1)"}, seed=-1), ValueError, "seed must be"),
}

ANALYSIS = {
    "over nothing": (lambda: la.converge("pendulum", over="all"), ValueError, '"sup", "end" or "rms"'),
    "of nothing": (lambda: la.converge("pendulum", of=[]), ValueError, "of must be names"),
    "of something else": (lambda: la.converge("pendulum", of=["x"]), ValueError, "x"),
    "steps that do not divide": (lambda: la.converge("pendulum", until=1, steps=[0.3]), ValueError, "0.3|divide|whole"),
    "an unknown table": (lambda: la.reproduce("T99"), ValueError, "not a table"),
    "a number to compare": (lambda: la.compare(3), TypeError, "list of solutions"),
    "numbers by name to compare": (lambda: la.compare({"a": 3}), TypeError, "list of solutions"),
    "a wrong list of solutions": (lambda: la.compare([1, 2]), TypeError, "list of solutions"),
}

CASES = {f"{kind}: {name}": case for kind, cases in [
    ("simulate", SIMULATE), ("system", SYSTEMS), ("ensemble", ENSEMBLES), ("analysis", ANALYSIS)
] for name, case in cases.items()}  # fmt: skip


def movie(**keywords):
    return la.simulate("pendulum", until=1).animate(**keywords)


ANIMATIONS = {
    "endless": (lambda: movie(seconds=math.inf), la.InputError, "seconds must be positive and finite, but is inf"),
    "no time": (lambda: movie(seconds=0), la.InputError, "seconds must be positive"),
    "NaN": (lambda: movie(speed=math.nan), la.InputError, "speed must be positive"),
    "words": (lambda: movie(fps="fast"), TypeError, "fps must be a number"),
    "too many frames": (lambda: movie(seconds=1e6), la.InputError, "frames are too many"),
    "too long a trace": (lambda: movie(trace=2), la.InputError, "trace must be from 0 to 1"),
}
CASES.update({f"animation: {name}": case for name, case in ANIMATIONS.items()})


def smuggled():
    kept = []
    la.System(lambda q, v: kept.append(q[0]) or v @ v - q @ q, coordinates="x y")
    return la.System(lambda q, v: v @ v - q @ q - kept[0] ** 2, coordinates="a b")


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_misuse_is_an_exception_that_helps(case):
    call, kind, message = case
    with pytest.raises(kind, match=message) as caught:
        call()
    assert not isinstance(caught.value, la.InternalError)


def test_there_are_enough_cases():
    assert len(CASES) >= 60


def test_read_only_arrays_are_fine():
    assert la.simulate(PENDULUM, q=read_only(), v=0, until=0.1).success
    assert la.simulate(PENDULUM, q=np.array([1, 0], dtype=np.int8), v=0, until=0.1).success
    assert la.simulate(PENDULUM, q=np.array([1, 0.5, 7], dtype=np.float32)[:2], v=0, until=0.1).success
    strided = la.simulate(PENDULUM, q=np.array([1.0, 9.0, 0.5, 9.0])[::2], v=0, until=0.1)
    np.testing.assert_array_equal(strided.q[0], [1.0, 0.5])


def test_misuse_from_many_threads():
    """All cases at once, twice over."""
    wrong = []

    def misuse():
        for name, (call, kind, _) in CASES.items():
            try:
                call()
            except kind:
                continue
            except BaseException as error:
                wrong.append((name, error))
            else:
                wrong.append((name, None))

    threads = [threading.Thread(target=misuse) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_panic_would_be_an_exception(tmp_path):
    """Panics are mistakes; there are none to be had, so this one is asked for."""
    program = "import leastaction as la\nfrom leastaction import _core\n" + (
        "try:\n    _core.panic_for_tests()\nexcept la.InternalError as error:\n    print('caught', error)\nprint('alive')\n"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert found.stdout.startswith("caught a mistake in leastaction"), found.stderr
    assert found.stdout.rstrip().endswith("alive")


@pytest.mark.parametrize(
    ("what", "message"),
    [
        (lambda: la.System(lambda v, q: v @ v - q @ q, n=1), "`v` stands where `q` is given"),
        (lambda: la.System(lambda t, y: y @ y, n=1), "`t` stands where `q` is given"),
        (lambda: la.simulate("pendulum", until=1, events={"hit": lambda t, y: y[0]}), "`t` stands where `q` is given"),
        (lambda: la.simulate("pendulum", until=1, outputs={"a": lambda q, p: p[0]}), "`p` stands where `v` is given"),
    ],
)
def test_arguments_in_the_order_of_others_are_told(what, message):
    with pytest.raises(la.TracingError, match=message):
        what()


def test_a_tolerance_that_is_missed_is_told():
    with pytest.warns(la.LeastActionWarning, match="more than the tolerance of 1.0e-12"):
        la.simulate("double-pendulum", until=10, step=0.1, method="gauss8", tolerance=1e-12)


@pytest.mark.parametrize("values", [np.eye(2) * 1j, np.eye(2) > 0])
def test_members_are_real_numbers(values):
    with pytest.raises(la.InputError, match="real numbers"):
        la.ensemble("double-pendulum", q=values, until=1)
