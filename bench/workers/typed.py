"""The Lagrangian of a text file in systems/, as leastaction reads it, for whatever has sines and cosines: symbols or arrays.

Only what the small systems need: parameters, definitions, arithmetic, `dot` of coordinates, functions of `FUNCTIONS`.
"""

import math
import pathlib
import re
import tomllib

FUNCTIONS = ("sin", "cos", "sqrt", "exp", "log")


class Text:
    """The text of a system without lists and sums."""

    def __init__(self, systems, system):
        self.parts = tomllib.loads((pathlib.Path(systems) / f"{system}.toml").read_text())
        self.names = self.parts["coordinates"]
        if "sizes" in self.parts or any("[" in name for name in (*self.names, *self.parts.get("definitions", {}))):
            raise ValueError(f"{system} has lists, which are not read here")
        self.numbers = {"pi": math.pi}
        for name, value in self.parts.get("parameters", {}).items():
            self.numbers[name] = self.number(value)

    def number(self, value):
        return evaluate(value, self.numbers, math)

    def start(self):
        """Initial coordinates and velocities."""
        initial = self.parts["initial"]
        q = [self.number(x) for x in initial["q"]]
        v = [self.number(x) for x in initial.get("v", [0] * len(q))]
        if any(self.number(x) for x in initial.get("p", ())):
            raise ValueError("initial momenta other than zero are not read here")
        return q, v

    def energies(self, q, v, functions):
        """Kinetic and potential energy at coordinates and velocities, in the functions of a module."""
        known = {**self.numbers, **dict(zip(self.names, q)), **dict(zip(map(velocity, self.names), v))}
        for name, text in self.parts.get("definitions", {}).items():
            known[name] = evaluate(text, known, functions)
        lagrangian = self.parts["lagrangian"]
        return tuple(evaluate(lagrangian[part], known, functions) for part in ("kinetic", "potential"))


def velocity(name):
    """The name of the velocity of a coordinate."""
    return f"dot_{name}"


def evaluate(value, known, functions):
    """A number, or an expression of the text, where powers are written ^ and velocities dot(q)."""
    if not isinstance(value, str):
        return float(value)
    known = {**{name: getattr(functions, name) for name in FUNCTIONS}, **known}
    code = re.sub(r"\bdot\((\w+)\)", lambda found: velocity(found[1]), value.replace("^", "**"))
    return eval(code, {"__builtins__": {}}, known)  # text of this repository
