"""Systems from names, texts, files, symbols, functions and SymPy: all the same thing."""

import pickle
import time

import numpy as np
import pytest
import sympy as sp
from conftest import chain

import leastaction as la

TEXT = """
coordinates = ["r", "theta"]
[parameters]
m = 1
g = 9.81
k = 40
[definitions]
x = "r*sin(theta)"
y = "-r*cos(theta)"
[lagrangian]
expression = "m/2*(dot(x)^2 + dot(y)^2) - m*g*y - k/2*(r - 1)^2"
[initial]
q = [1.2, "pi/6"]
v = [0, 0]
"""

START = {"q": [1.2, np.pi / 6], "v": [0, 0], "until": 5, "step": 0.01, "method": "gauss8"}


def elastic(q, v, p):
    r, theta = q
    kinetic = p.m / 2 * (v[0] ** 2 + (r * v[1]) ** 2)
    return kinetic + p.m * p.g * r * np.cos(theta) - p.k / 2 * (r - 1) ** 2


PARAMETERS = {"m": 1, "g": 9.81, "k": 40}


def by_text(tmp_path):
    return la.System(TEXT)


def by_file(tmp_path):
    path = tmp_path / "elastic.toml"
    path.write_text(TEXT)
    return la.System(path)


def by_function(tmp_path):
    return la.System(elastic, coordinates="r theta", parameters=PARAMETERS)


def by_symbols(tmp_path):
    r, theta = la.coordinates("r theta")
    m, g, k = la.parameters("m g k")
    x, y = r * np.sin(theta), -r * np.cos(theta)
    lagrangian = m / 2 * (la.dot(x) ** 2 + la.dot(y) ** 2) - m * g * y - k / 2 * (r - 1) ** 2
    return la.System(lagrangian, parameters={m: 1, g: 9.81, k: 40})


def by_sympy(tmp_path):
    t, m, g, k = sp.symbols("t m g k")
    r, theta = (sp.Function(name)(t) for name in ("r", "theta"))
    x, y = r * sp.sin(theta), -r * sp.cos(theta)
    lagrangian = m * (x.diff(t) ** 2 + y.diff(t) ** 2) / 2 - m * g * y - sp.Rational(1, 2) * k * (r - 1) ** 2
    return la.System.from_sympy(lagrangian, parameters={m: 1, g: 9.81, k: 40})


@pytest.mark.parametrize("make", [by_text, by_file, by_function, by_symbols, by_sympy])
def test_the_same_system_however_it_is_written(make, tmp_path):
    expected = la.simulate(by_function(tmp_path), **START)
    system = make(tmp_path)
    assert system.coordinates == ("r", "theta")
    assert system.parameters == PARAMETERS
    found = la.simulate(system, **START)
    np.testing.assert_allclose(found.q, expected.q, atol=1e-11)
    np.testing.assert_allclose(found.energy, expected.energy, atol=1e-11)


def test_names_of_the_catalogue():
    assert la.simulate("kepler", until=1).success
    sized = la.System("n-pendulum", parameters={"n": 3})
    assert sized.n == 3
    assert la.simulate("n-pendulum", parameters={"n": 7}, until=0.1).q.shape[1] == 7
    assert {row["name"] for row in la.systems()} >= {"kepler", "fput", "lagrange-top"}


def test_the_text_of_a_traced_system_is_the_system(pendulum):
    again = la.System(pendulum.definition)
    start = {"q": [1, 0.5, 0], "v": 0, "until": 3, "step": 0.01, "method": "lobatto8"}
    np.testing.assert_array_equal(la.simulate(again, **start).q, la.simulate(pendulum, **start).q)


def test_a_function_is_called_once():
    calls = []

    def lagrangian(q, v):
        calls.append(len(q))
        return 0.5 * np.sum(v**2) - 0.5 * np.sum(q**2)

    system = la.System(lagrangian, n=2)
    for _ in range(3):
        la.simulate(system, q=1, v=0, until=1)
    assert calls == [2]


def test_numpy_on_traced_arrays():
    """Every way to write ½ vᵀMv − ½ qᵀKq gives the same motion."""
    mass, stiffness = np.array([[2.0, 0.5], [0.5, 1.0]]), np.array([[3.0, -1.0], [-1.0, 2.0]])
    written = [
        lambda q, v: 0.5 * v @ mass @ v - 0.5 * q @ stiffness @ q,
        lambda q, v: 0.5 * np.einsum("i,ij,j", v, mass, v) - 0.5 * np.einsum("i,ij,j", q, stiffness, q),
        lambda q, v: 0.5 * np.linalg.norm(np.linalg.cholesky(mass).T @ v) ** 2 - 0.5 * q @ stiffness @ q,
        lambda q, v: 0.5 * np.dot(v, np.dot(mass, v)) - 0.5 * np.dot(q, np.dot(stiffness, q)),
        lambda q, v: 0.5 * np.sum(np.outer(v, v) * mass) - 0.5 * np.sum(np.outer(q, q) * stiffness),
        lambda q, v: 0.5 * np.sum(v[:, None] * mass * v[None, :]) - 0.5 * np.trace(np.outer(q, q) @ stiffness),
        lambda q, v: 0.5 * sum(v[i] * mass[i, j] * v[j] for i in range(2) for j in range(2)) - 0.5 * np.inner(q, stiffness @ q),
    ]
    runs = [la.simulate(la.System(L, n=2), q=[1, 0.3], v=[0.1, 0], until=3, step=0.05, method="gauss6") for L in written]
    for run in runs[1:]:
        np.testing.assert_allclose(run.q, runs[0].q, atol=1e-12)


@pytest.mark.parametrize(
    ("function", "value"),
    [
        (np.sin, 0.3), (np.cos, 0.3), (np.tan, 0.3), (np.arcsin, 0.3), (np.arccos, 0.3), (np.arctan, 0.3), (np.sinh, 0.3),
        (np.cosh, 0.3), (np.tanh, 0.3), (np.exp, 0.3), (np.log, 0.3), (np.sqrt, 0.3), (np.abs, -0.3), (np.square, 0.3),
        (np.exp2, 0.3), (np.expm1, 0.3), (np.log1p, 0.3), (np.log2, 0.3), (np.log10, 0.3), (np.deg2rad, 0.3), (np.degrees, 0.3),
        (np.negative, 0.3), (np.positive, 0.3), (np.reciprocal, 0.3), (la.sign, -0.3),
        (lambda x: np.arctan2(x, 2.0), 0.3), (lambda x: np.arctan2(2.0, x), 0.3), (lambda x: np.hypot(x, 2.0), 0.3),
        (lambda x: x**3, 0.3), (lambda x: 2.0**x, 0.3), (lambda x: x**-1.5, 0.3), (lambda x: np.power(x, 0.5), 0.3),
        (lambda x: np.float64(3) - x, 0.3), (lambda x: np.array([1.0, 2.0]) @ np.array([x, x**2]), 0.3),
        (lambda x: 1 - (2 - (3 - x)), 0.3), (lambda x: 8 / (4 / (2 / x)), 0.3), (lambda x: -(x**2), 0.3), (lambda x: (-x) ** 2, 0.3),
        (lambda x: -1.5 * x + -2.5, 0.3), (lambda x: np.mean(np.array([x, 2 * x])), 0.3), (lambda x: np.prod([x, x, 2.0]), 0.3),
    ],
)  # fmt: skip
def test_every_function_gives_what_numpy_gives(function, value):
    """An output records the formula at the start of a run."""
    system = la.System(lambda q, v: 0.5 * v[0] ** 2, n=1)
    found = la.simulate(system, q=value, v=0, until=1, step=1, outputs={"y": lambda q, v: function(q[0])})
    expected = float(function(np.array(value)) if function is not la.sign else np.sign(value))
    assert found.outputs["y"][0] == pytest.approx(expected, rel=1e-15)


def test_time_and_vectors_of_parameters():
    def driven(q, v, t, p):
        return 0.5 * np.sum(p.m * v**2) - 0.5 * np.sum(p["k"] * q**2) + p.f * np.cos(p.w * t) * q[0]

    system = la.System(driven, n=2, parameters={"m": [1.0, 2.0], "k": np.array([1.0, 3.0]), "f": 0.1, "w": "2*pi"})
    found = la.simulate(system, q=0, v=0, until=2, step=0.01, method="gauss8")
    # x'' + x = 0.1 cos(wt), from rest
    w = 2 * np.pi
    exact = 0.1 / (1 - w**2) * (np.cos(w * found.t) - np.cos(found.t))
    np.testing.assert_allclose(found.q[:, 0], exact, atol=1e-12)
    heavier = la.simulate(system, q=1, v=0, until=1, parameters={"m": [4.0, 2.0]})
    assert heavier.system.parameters["m[1]"] == 4.0


def test_long_sums_and_deep_formulas_are_traced():
    """A million terms would be a million nodes one within the other."""
    n = 500

    def lattice(q, v):
        stretch = np.diff(np.concatenate([[0.0], q, [0.0]]))
        return 0.5 * np.sum(v**2) - np.sum(0.5 * stretch**2 + 0.25 * stretch**4)

    system = la.System(lattice, n=n)
    expected = la.simulate("fput", parameters={"n": n}, until=0.1, step=0.05)
    assert la.simulate(system, q=np.sin(np.arange(n)), v=0, until=0.1, step=0.05).success
    assert expected.success
    x = la.coordinates("x")
    total = x
    for k in range(200_000):
        total = total + k * x
    del total


def test_systems_travel(pendulum):
    again = pickle.loads(pickle.dumps(pendulum))
    assert again.coordinates == pendulum.coordinates
    assert again.parameters == pendulum.parameters
    changed = la.simulate(pendulum, q=1, v=0, parameters={"g": 1.0}, until=1).system
    assert pickle.loads(pickle.dumps(changed)).parameters["g"] == 1.0


def test_what_is_conserved_is_found():
    def free(q, v):
        return 0.5 * np.sum(v**2) - 1 / np.sqrt(np.sum((q[:2] - q[2:]) ** 2))

    system = la.System(free, coordinates="x1 y1 x2 y2")
    found = la.simulate(system, q=[0, 0, 1, 0], v=[0.1, 0.2, 0, 1], until=2, step=0.01)
    assert set(found.invariants) == {"energy", "total p_x", "total p_y", "total x*p_y - y*p_x"}
    assert np.ptp(found.invariants.pop("energy")) < 1e-8
    for values in found.invariants.values():
        assert np.ptp(values) < 1e-14


def test_systems_print(pendulum):
    assert "q1" in str(pendulum)
    assert repr(pendulum) == "<System 'chain': coordinates q1, q2, q3; parameters m=1, l=0.5, g=9.81; conserved energy>"
    assert repr(la.System("lagrange-top")).endswith("conserved energy, p_phi, p_psi>")
    assert repr(la.System("fput")).count("…") == 1
    assert pendulum.describe()["coordinates"]["count"] == 3
    assert la.System(chain, n=2, parameters={"m": 1, "l": 1, "g": 1}, name="mine", title="My own").title == "My own"


HYPERBOLIC = {
    "arcsinh": (np.arcsinh, [-1e8, -3.0, -1e-9, 0.0, 0.3, 1e5]),
    "arccosh": (np.arccosh, [1.0 + 1e-9, 1.5, 1e6]),
    "arctanh": (np.arctanh, [-0.999999, -0.3, 0.0, 1e-9, 0.9]),
    "cbrt": (np.cbrt, [-27.0, -1e-9, 0.5, 1e12]),
    "expm1": (np.expm1, [-30.0, -1e-12, 0.0, 1e-9, 2.0]),
    "log1p": (np.log1p, [-0.5, 0.0, 1e-9, 2.0]),
}


@pytest.mark.parametrize("name", HYPERBOLIC)
def test_functions_that_formulas_have_in_other_words(name):
    """Values to rounding, relative to one at least, and forces to rounding of their own."""
    function, points = HYPERBOLIC[name]
    exact = {
        "arcsinh": lambda x: 1 / np.hypot(1, x),
        "arccosh": lambda x: 1 / np.sqrt((x - 1) * (x + 1)),
        "arctanh": lambda x: 1 / ((1 - x) * (1 + x)),
        "cbrt": lambda x: 1 / (3 * np.cbrt(x) ** 2),
        "expm1": np.exp,
        "log1p": lambda x: 1 / (1 + x),
    }[name]
    system = la.System(lambda q, v: 0.5 * v @ v + function(q[0]), n=1)
    for x in points:
        found = la.simulate(system, q=x, v=0, until=1e-14, step=1e-14, method="verlet", outputs={"f": lambda q, v: function(q[0])})
        assert found.outputs["f"][0] == pytest.approx(function(x), rel=1e-15, abs=4e-16)
        # the first kick is the force
        assert found.p[-1, 0] == pytest.approx(1e-14 * exact(x), rel=1e-9)
    if name in ("expm1", "cbrt"):
        tiny = la.simulate(system, q=-1e-9, v=0, until=1e-9, step=1e-9, outputs={"f": lambda q, v: function(q[0])})
        assert tiny.outputs["f"][0] == pytest.approx(function(-1e-9), rel=1e-15)


def test_deep_formulas_take_time_in_proportion():
    def nested(depth):
        def lagrangian(q, v):
            x = q[0]
            for _ in range(depth):
                x = np.sin(x)
            return v @ v / 2 + x

        before = time.process_time()
        la.System(lagrangian, n=1)
        return time.process_time() - before

    short, long = (min(nested(depth) for _ in range(3)) for depth in (4_000, 32_000))
    # eight times the depth; it took 16 times as long when products were taken apart to their end, and takes 8.5 times as long
    assert long < 12 * short
