"""SymPy expressions as formulas."""

from __future__ import annotations

from functools import reduce
from operator import add, mul
from typing import Any

from ._core import Expression
from ._errors import TracingError
from ._symbols import t

FUNCTIONS = {
    "sin": "sin", "cos": "cos", "tan": "tan", "asin": "arcsin", "acos": "arccos", "atan": "arctan", "sinh": "sinh", "cosh": "cosh",
    "tanh": "tanh", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh", "exp": "exp", "log": "log", "Abs": "__abs__",
    "sign": "sign",
}  # fmt: skip


def convert(expression: Any) -> Expression:
    """A formula of a SymPy expression: functions of time are coordinates, other symbols parameters."""
    import sympy

    if not isinstance(expression, sympy.Basic):
        raise TypeError(f"from_sympy takes a SymPy expression, not {type(expression).__name__}")
    functions = expression.atoms(sympy.core.function.AppliedUndef)
    times = {argument for function in functions for argument in function.args}
    if not functions:
        raise TracingError("no function of time occurs in the expression\n  write coordinates as sympy.Function('q')(t)")
    if len(times) != 1:
        raise TracingError(f"coordinates are functions of one time, but these depend on {sorted(map(str, times))}")
    time = times.pop()
    # in the order of their names, so that the same expression gives the same system
    made: dict[Any, Expression] = {time: t}
    for function in sorted(functions, key=lambda function: str(function.func)):
        made[function] = Expression.symbol("coordinate", str(function.func))
    for symbol in sorted(expression.free_symbols - {time}, key=str):
        made[symbol] = Expression.symbol("parameter", str(symbol))
    for node in sympy.postorder_traversal(expression):
        if node not in made and not isinstance(node, (sympy.Tuple, sympy.core.containers.Tuple)):
            made[node] = _node(node, made, time)
    return made[expression]


def _node(node: Any, made: dict[Any, Expression], time: Any) -> Any:
    import sympy

    if isinstance(node, sympy.Derivative):
        if node.variables != (time,) or node.expr not in made:
            raise TracingError(f"{node} cannot be used: a Lagrangian has first derivatives of coordinates with respect to {time}")
        return made[node.expr].rate()
    if isinstance(node, sympy.Rational):
        return _number(node.p) if node.q == 1 else _number(node.p) / node.q
    if node.is_number and node.is_real and not node.args:
        return _number(float(node))
    operands = [made[argument] for argument in node.args]
    if isinstance(node, sympy.Add):
        return reduce(add, operands)
    if isinstance(node, sympy.Mul):
        return reduce(mul, operands)
    if isinstance(node, sympy.Pow):
        return _power(node, made)
    name = type(node).__name__
    if name == "atan2":
        return operands[0].arctan2(operands[1])
    if name in FUNCTIONS and len(operands) == 1:
        return getattr(operands[0], FUNCTIONS[name])()
    raise TracingError(f"{name} cannot be used in a Lagrangian here: {node}\n  known functions: {', '.join(FUNCTIONS)}")


def _power(node: Any, made: dict[Any, Expression]) -> Any:
    import sympy

    base, exponent = node.args
    if exponent == sympy.Rational(1, 2):
        return made[base].sqrt()
    if exponent.is_Integer:
        return made[base] ** int(exponent)
    return made[base] ** made[exponent]


def _number(x: float) -> Expression:
    return Expression.number(float(x))
