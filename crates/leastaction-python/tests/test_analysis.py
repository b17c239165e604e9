"""Orders, certificates, the papers, listings."""

import numpy as np
import pytest

import leastaction as la


def test_orders(pendulum):
    steps = [0.04, 0.02, 0.01]
    found = la.converge(pendulum, q=[1, 0.5, 0], v=0, until=0.4, steps=steps, methods=["midpoint", "simpson"], of=["q", "energy"])
    assert found.orders["q", "midpoint"] == pytest.approx(2, abs=0.2)
    assert found.orders["q", "simpson"] == pytest.approx(4, abs=0.2)
    np.testing.assert_array_equal(found.steps, steps)
    assert found.to_pandas().shape == (3, 4)
    assert "midpoint" in repr(found)


def test_references():
    exact = la.converge("pendulum", methods="simpson", until=1, steps=[0.1, 0.05], reference="exact")
    assert exact.reference == "the exact solution"
    with pytest.raises(la.InputError, match="neither `exact` nor a method"):
        la.converge("pendulum", reference="exactly")


def test_certificates():
    good = la.certify("pendulum", method="gauss4", step=0.01, until=2)
    assert good.passed
    assert "verdict" in good.report
    assert "symplectic" in str(good)
    bad = la.certify("pendulum", method="rk4", step=0.02, until=2)
    assert not bad.passed
    with pytest.raises(la.SimulationError, match="certificate fails"):
        la.certify("pendulum", method="rk4", step=0.02, until=2, throw=True)


def test_the_papers():
    entries = la.reproduce("003.T1")
    assert entries
    assert {"printed", "computed", "verdict"} <= set(entries[0])
    with pytest.raises(la.InputError, match="not a table"):
        la.reproduce("999")


def test_listings():
    names = [row["name"] for row in la.methods()]
    assert {"midpoint", "simpson", "gauss16", "rk4"} <= set(names)
    assert {row["name"]: row["order"] for row in la.methods()}["gauss16"] == 16
    assert la.cite().count("@") == 6
    assert la.__version__
