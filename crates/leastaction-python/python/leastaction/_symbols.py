"""Symbols, and functions of them that NumPy does not have."""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from typing import Any

import numpy as np

from ._core import Expression
from ._errors import InputError
from ._values import listed as as_list


def _symbols(role: str, names: str | Iterable[str]) -> Any:
    listed = names.replace(",", " ").split() if isinstance(names, str) else as_list(f"names of {role}s", names)
    if not listed:
        raise InputError(f"no names were given for the {role}s, such as 'q1 q2'")
    for name in listed:
        if not isinstance(name, str) or not name.isidentifier():
            raise InputError(f"{name!r} is not a name: letters, digits and _ only, not a digit first")
        if listed.count(name) > 1:
            raise InputError(f"the name `{name}` is given twice")
    made = tuple(Expression.symbol(role, name) for name in listed)
    return made[0] if len(made) == 1 else made


def coordinates(names: str | Iterable[str]) -> Any:
    """Symbols for coordinates: one, or a tuple of them.

    >>> import leastaction as la
    >>> x, y = la.coordinates("x y")
    >>> x**2 + y
    x^2 + y
    """
    return _symbols("coordinate", names)


def parameters(names: str | Iterable[str]) -> Any:
    """Symbols for parameters: one, or a tuple of them.

    >>> import leastaction as la
    >>> m, g = la.parameters("m g")
    >>> m * g
    m*g
    """
    return _symbols("parameter", names)


#: The time in formulas.
t: Expression = Expression.symbol("time", "t")


def dot(x: Any) -> Any:
    """The time derivative of a formula, by the chain rule; of arrays entry by entry.

    >>> import numpy as np, leastaction as la
    >>> q = la.coordinates("q")
    >>> la.dot(np.sin(q))
    dot(sin(q))
    """
    if isinstance(x, Expression):
        return x.rate()
    array = np.asarray(x, dtype=object)
    _check_numbers("dot", array)
    rates = [entry.rate() if isinstance(entry, Expression) else 0.0 for entry in array.ravel()]
    return _array(rates).reshape(array.shape) if array.shape else rates[0]


def sign(x: Any) -> Any:
    """−1, 0 or 1 by the sign of a formula or a number; of arrays entry by entry. ``np.sign`` would compare.

    >>> import leastaction as la
    >>> la.sign(la.coordinates("x")), float(la.sign(-2.0))
    (sign(x), -1.0)
    """
    if isinstance(x, Expression):
        return x.sign()
    array = np.asarray(x)
    _check_numbers("sign", array.astype(object))
    if array.dtype != object:
        return np.sign(array)
    signs = [entry.sign() if isinstance(entry, Expression) else np.sign(entry) for entry in array.ravel()]
    return _array(signs).reshape(array.shape) if array.shape else signs[0]


def _array(entries: list[Any]) -> Any:
    """An array of objects, whatever they are."""
    array = np.empty(len(entries), dtype=object)
    array[:] = entries
    return array


def _check_numbers(function: str, array: Any) -> None:
    for entry in array.ravel():
        if not isinstance(entry, (Expression, numbers.Real)):
            raise TypeError(f"la.{function} takes formulas and numbers, but not {entry!r:.60}")
