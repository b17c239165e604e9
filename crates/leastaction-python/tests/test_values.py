"""What looks like numbers and is something else, or something more: never taken for what it is not."""

import collections
import decimal
import fractions
import time

import numpy as np
import pandas as pd
import pytest
import sympy as sp
import xarray as xr

import leastaction as la
from leastaction import _system, _trace

PENDULUM = "double-pendulum"


class Quantity:
    """A number with a unit, as several packages have them; some say what the number is if they are asked for one."""

    units = "degree"

    def __init__(self, value):
        self.value = value

    def __float__(self):
        return float(self.value)

    def tolist(self):
        return np.asarray(self.value).tolist()

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.value, dtype=dtype)


class Angles(np.ndarray):
    """An array with a unit of its own."""


def angles(values):
    array = np.asarray(values, dtype=float).view(Angles)
    array.unit = "deg"
    return array


def start(**keywords):
    return la.simulate(PENDULUM, **{"v": 0, "until": 0.1, **keywords})


def members(**keywords):
    return la.ensemble(PENDULUM, **{"v": 0, "until": 0.1, **keywords})


def mechanism(function=None, **keywords):
    return la.System(function or (lambda q, v: v @ v / 2 - q @ q), **({} if "coordinates" in keywords else {"n": 2}), **keywords)


def event(q, v):
    return q[0]


event.terminal = True
MASKED = np.ma.array([[1.0, 2.0], [3.0, 4.0]], mask=[[False, True], [False, False]])
SWAPPED = pd.DataFrame({"q2": [1.0, 2.0], "q1": [5.0, 6.0]})
SOLUTION = la.simulate(PENDULUM, until=1)

WRONG = {
    "a unit": (lambda: start(q=Quantity([30.0, 60.0])), TypeError, "q has a unit"),
    "an array with a unit": (lambda: start(q=angles([30, 60])), TypeError, "q has a unit.*\n.*magnitude"),
    "an end with a unit": (lambda: start(until=Quantity(1)), TypeError, "until has a unit"),
    "a parameter with a unit": (lambda: start(parameters={"g": Quantity(9.81)}), TypeError, "parameter `g` has a unit"),
    "members with a unit": (lambda: members(q=Quantity([[30.0, 60.0]])), TypeError, "q has a unit"),
    "a varied unit": (lambda: members(vary={"q1": Quantity([1.0])}), TypeError, "vary `q1` has a unit"),
    "times with a unit": (lambda: SOLUTION(Quantity(0.5)), TypeError, "times has a unit"),
    "a parameter of a system with a unit": (lambda: mechanism(parameters={"m": Quantity(1)}), TypeError, "parameter `m` has a unit"),
    "a mask": (lambda: start(q=MASKED[0]), la.InputError, "q has masked entries"),
    "masked whole numbers": (lambda: start(q=np.ma.array([1, 2], mask=[0, 1])), la.InputError, "q has masked entries"),
    "masked members": (lambda: members(q=MASKED), la.InputError, "q has masked entries"),
    "masked times": (lambda: SOLUTION(np.ma.array([0.5, 0.6], mask=[1, 0])), la.InputError, "masked"),
    "labels in another order": (lambda: start(q=pd.Series({"q2": 1.0, "q1": 2.0})), la.InputError, "labels q2, q1.*q1, q2"),
    "columns in another order": (lambda: members(q=SWAPPED), la.InputError, "labels q2, q1, but the coordinates are q1, q2"),
    "a table for a start": (lambda: start(q=SWAPPED[["q1", "q2"]]), la.InputError, "shape.*\n.*ensemble"),
    "a missing value": (lambda: start(q=pd.array([1.0, None], dtype="Float64")), (TypeError, ValueError), r"q\[1\]"),
    "a truth value": (lambda: start(step=np.True_), TypeError, "step must be a number"),
    "an array of no dimension with one": (lambda: start(step=np.array(True)), TypeError, "step must be a number"),
    "a truth value in a list": (lambda: start(q=[np.True_, 1]), TypeError, r"q\[0\]"),
    "a truth value as default": (lambda: mechanism(step=np.True_), TypeError, "step must be a number"),
    "a complex number of NumPy": (lambda: start(until=np.complex128(1)), TypeError, "until must be a number"),
    "a duration": (lambda: start(until=np.timedelta64(1, "s")), TypeError, "until must be a number"),
    "complex times": (lambda: SOLUTION(np.array([0.5 + 1j])), la.InputError, "times must be real numbers"),
    "a truth value as time": (lambda: SOLUTION(True), la.InputError, "times must be real numbers"),
    "a text as time": (lambda: SOLUTION("0.5"), la.InputError, "times must be real numbers"),
    "a generator": (lambda: start(q=(x for x in (1, 2))), TypeError, "a list or an array with one for each"),
    "a set": (lambda: start(q={1, 2}), TypeError, "a list or an array with one for each"),
    "a span of time": (lambda: start(until=(0, 1)), TypeError, "until must be a number"),
    "rows of different lengths": (lambda: members(q=[[1, 2], [3]]), la.InputError, "q must.*different lengths"),
    "parameters of different lengths": (lambda: members(parameters={"g": [[1, 2], [3]]}), la.InputError, "`g` must.*different lengths"),
    "no names": (lambda: mechanism(coordinates=[]), la.InputError, "no coordinates are named"),
    "a number of names": (lambda: mechanism(coordinates=2), TypeError, "coordinates must be a list"),
    "nothing for names": (lambda: la.coordinates(None), TypeError, "must be a list"),
    "a symbol twice": (lambda: la.coordinates("x x"), la.InputError, "`x` is given twice"),
    "a name of a system": (lambda: mechanism(name=5), TypeError, "name must be a string"),
    "a title": (lambda: mechanism(title=5), TypeError, "title must be a string"),
    "a method": (lambda: mechanism(method=4), TypeError, "method must be a string"),
    "positions that are no function": (lambda: mechanism(positions=[1, 2]), TypeError, "positions must be a function"),
    "positions in ragged rows": (lambda: mechanism(positions=lambda q: [[q[0]], [q[0], q[1]]]), la.TracingError, "x, y or x, y, z"),
    "positions of words": (lambda: mechanism(positions=lambda q: [["a", "b"]]), la.TracingError, "formulas of coordinates"),
    "a number of links": (lambda: mechanism(positions=lambda q: q, links=3), la.InputError, "links = 3"),
    "links of truth values": (lambda: mechanism(positions=lambda q: [q, q], links=[(False, True)]), la.InputError, "not a link"),
    "a parameter that is set": (lambda: mechanism(setting, parameters={"m": 1.0}), la.TracingError, r"sets p\.m"),
    "a text as a factor": (lambda: mechanism(lambda q, v: v @ v - q[0] * "2"), la.TracingError, "repeat a text"),
    "the rate of a text": (lambda: la.dot("x"), TypeError, r"la\.dot takes formulas"),
    "the sign of a text": (lambda: la.sign("x"), TypeError, r"la\.sign takes formulas"),
    "an event with attributes": (lambda: start(events={"a": event}), la.InputError, "`terminal`.*\n.*stop"),
    "a checkpoint of a number": (lambda: start(checkpoint=3), TypeError, "checkpoint must be a path"),
    "a checkpoint without a name": (lambda: start(checkpoint=""), la.InputError, "checkpoint is an empty string"),
    "a checkpoint without a place": (lambda: start(checkpoint_every=3), la.InputError, "but not where"),
    "a number to resume": (lambda: la.resume(5), TypeError, "path must be a path"),
    "a number as folder": (lambda: members(vary={"q1": [1]}, out=5), TypeError, "out must be a path"),
    "a file as folder": (lambda: members(vary={"q1": [1]}, out=__file__), la.InputError, "is a file"),
    "a grid of another size": (lambda: members(vary={"q1": [1, 2]}).grid(np.ones(5)), la.InputError, "each of 2 members"),
    "a grid of a number": (lambda: members(vary={"q1": [1, 2]}).grid(5), la.InputError, "each of 2 members"),
    "one step that is no list": (lambda: la.converge("pendulum", steps=0.1), TypeError, "steps must be a list"),
    "a relative word": (lambda: la.converge("pendulum", relative="yes"), TypeError, "relative must be True"),
    "half a refinement": (lambda: la.converge("pendulum", refine=1.5), la.InputError, "refine must be a whole number"),
    "a number over": (lambda: la.converge("pendulum", over=3), TypeError, "over must be a string"),
    "a reference of a number": (lambda: la.converge("pendulum", reference=3), TypeError, "reference must be a string"),
    "an error in words": (lambda: la.certify("pendulum", until=1, energy_error="small"), TypeError, "energy_error must be a number"),
    "a number to reproduce": (lambda: la.reproduce(3), TypeError, "what must be a list"),
    "numbers to reproduce": (lambda: la.reproduce([3]), la.InputError, "what must be names"),
    "nothing to reproduce": (lambda: la.reproduce([]), la.InputError, "what must be names"),
    "a figure to reproduce": (lambda: la.reproduce("002.F1"), la.InputError, "002.F1 is a figure.*command"),
    "half a digit": (lambda: la.reproduce("003.T1", precision=20.5), la.InputError, "precision must be a whole number"),
    "a coordinate by truth": (lambda: la.compare([SOLUTION], coordinate=True), la.InputError, "no coordinate True"),
    "a film in a number": (lambda: SOLUTION.animate(seconds=0.2).save(3), TypeError, "path must be a path"),
    "a matrix of SymPy": (lambda: la.System.from_sympy(sp.Matrix([1])), TypeError, "SymPy expression"),
}


def setting(q, v, p):
    p.m = 2.0
    return v @ v - p.m * q @ q


@pytest.mark.parametrize("case", WRONG.values(), ids=WRONG)
@pytest.mark.filterwarnings("ignore:Animation was deleted")
def test_values_that_are_something_else_are_told(case):
    call, kind, message = case
    with pytest.raises(kind, match=message) as caught:
        call()
    assert not isinstance(caught.value, la.InternalError)


@pytest.mark.parametrize(
    "q",
    [
        range(1, 3),
        collections.deque([1, 2]),
        np.ma.array([1.0, 2.0]),
        pd.Series([1.0, 2.0]),
        pd.Series({"q1": 1.0, "q2": 2.0}),
        pd.Series({"q_q1": 1, "q_q2": 2}),
        xr.DataArray([1.0, 2.0]),
        np.array([1, 2], dtype=object),
        (np.int8(1), np.float32(2)),
        [fractions.Fraction(1), decimal.Decimal(2)],
        memoryview(np.array([1.0, 2.0])),
    ],
    ids=lambda q: type(q).__name__,
)
def test_values_that_are_numbers_are_taken(q):
    np.testing.assert_array_equal(start(q=q).q[0], [1.0, 2.0])
    np.testing.assert_array_equal(la.simulate(mechanism(q=q), until=0.1).q[0], [1.0, 2.0])


def test_a_solution_as_a_table_is_a_start():
    end = SOLUTION.to_xarray().isel(t=-1)
    np.testing.assert_array_equal(start(q=end.q, v=end.v).q[0], SOLUTION.q[-1])
    table = SOLUTION.to_pandas()
    found = members(q=table[["q1", "q2"]].iloc[:5], v=table[["v_q1", "v_q2"]].iloc[:5])
    np.testing.assert_array_equal(found.values["v_q2"], SOLUTION.v[:5, 1])


def test_names_in_other_letters():
    system = la.System(lambda q, v, p: v @ v / 2 - p.ω**2 * q @ q / 2, coordinates=["θ"], parameters={"ω": 2.0}, title="DEL \x7f")
    angle, frequency = la.coordinates("θ"), la.parameters("ω")
    same = la.System(la.dot(angle) ** 2 / 2 - frequency**2 * angle**2 / 2, parameters={frequency: 2.0})
    found = [la.simulate(x, q=1, v=0, until=1, parameters={"ω": 3}).q for x in (system, same)]
    np.testing.assert_array_equal(*found)
    assert '"ω" = 2.0' in system.definition
    assert la.simulate(la.System(system.definition), q=1, v=0, until=1, parameters={"ω": 3}).q[-1] == found[0][-1]
    assert system.title == "DEL \x7f"


def test_symbols_of_many_coordinates_are_looked_up_at_once():
    """Looking every one up in a list made the time grow with the square: hours for many."""

    def seconds(n):
        names, none = [f"q{i}" for i in range(n)], _trace.parameter_symbols([])
        q, _ = _trace.state_symbols(names)
        formula = q @ q
        before = time.process_time()
        _system._check_symbols([formula], names, none, "the function")
        return time.process_time() - before

    few, many = (min(seconds(n) for _ in range(3)) for n in (5_000, 40_000))
    assert many < 24 * few


def test_links_may_be_arrays():
    system = mechanism(positions=lambda q: [q, q], links=np.array([[0, 1]]))
    assert la.simulate(system, q=1, v=0, until=0.1)._core.bodies()[1] == [(0, 1)]


def test_nothing_but_names_is_public():
    assert sorted(name for name in dir(la) if not name.startswith("_")) == sorted(la.__all__)
