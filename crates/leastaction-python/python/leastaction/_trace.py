"""Recording Python functions: they are called once, with numbers that remember what is done with them."""

from __future__ import annotations

import difflib
import inspect
import os
import re
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ._core import Expression
from ._errors import TracingError
from ._symbols import _array, t


class Parameters:
    """The parameters inside a traced function, as attributes (``p.m``) or items (``p["m"]``)."""

    def __init__(self, values: dict[str, Any]) -> None:
        object.__setattr__(self, "_values", values)

    def __setattr__(self, name: str, value: Any) -> None:
        raise TracingError(f"the function sets p.{name}, but parameters cannot be changed there\n  give another value to la.System")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def __getitem__(self, name: str) -> Any:
        try:
            return self._values[name]
        except KeyError:
            near = difflib.get_close_matches(str(name), self._values, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            known = ", ".join(self._values) or "none are declared"
            raise TracingError(
                f"the function asks for a parameter {name!r} that was not declared{hint}\n"
                f"  declared: {known}; declare it with parameters=dict({name}=…)"
            ) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)


def parameter_symbols(names: Sequence[str]) -> Parameters:
    """Symbols for parameters by their names in a system; ``m[1]``, ``m[2]``, … are an array ``m``."""
    values: dict[str, Any] = {}
    for name in names:
        symbol = Expression.symbol("parameter", name)
        vector, bracket, _ = name.partition("[")
        if bracket:
            values.setdefault(vector, []).append(symbol)
        else:
            values[name] = symbol
    return Parameters({name: _array(v) if isinstance(v, list) else v for name, v in values.items()})


def state_symbols(names: Sequence[str]) -> tuple[Any, Any]:
    """Arrays of coordinates and of velocities."""
    q = [Expression.symbol("coordinate", name) for name in names]
    return _array(q), _array([x.rate() for x in q])


#: Names that say what they stand for.
_KNOWN = {"q", "v", "p", "t", "time", "y"}


def _roles(function: Callable[..., Any], first: Sequence[str]) -> list[str]:
    """What each argument of a function is: the first ones by their place, then `t` by its name and parameters."""
    label = getattr(function, "__name__", repr(function))
    wanted = f"{label}({', '.join(first)}), {label}({', '.join(first)}, p) or {label}({', '.join(first)}, t, p)"
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        raise TracingError(f"{label} does not say what its arguments are; write a function {wanted}") from None
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = [a.name for a in signature.parameters.values() if a.kind in kinds and a.default is a.empty]
    rest = ["t" if name in ("t", "time") else "p" for name in names[len(first) :]]
    required = [a.name for a in signature.parameters.values() if a.kind is a.KEYWORD_ONLY and a.default is a.empty]
    if len(names) < len(first) or rest.count("t") > 1 or rest.count("p") > 1 or required:
        raise TracingError(f"{label}{signature} has other arguments than expected\n  write {wanted}")
    for name, role in zip(names, first, strict=False):
        # what comes first is taken by its place, and another habit would give wrong numbers
        if name != role and name in _KNOWN:
            raise TracingError(f"{label}{signature}: `{name}` stands where `{role}` is given\n  write {wanted}")
    if "v" not in first and any(name in ("v", "velocity") for name in names[len(first) :]):
        raise TracingError(f"{label}{signature} asks for velocities, but positions depend on coordinates\n  write {wanted}")
    return [*first, *rest]


def call(function: Callable[..., Any], first: Sequence[str], values: dict[str, Any]) -> Any:
    """Calls a function with symbols by the roles of its arguments."""
    arguments = [values[role] for role in _roles(function, first)]
    try:
        return function(*arguments)
    except (AttributeError, TypeError) as error:
        if isinstance(error, TracingError) or not (_of_numpy(error) or "leastaction.Expression" in str(error)):
            raise
        words = str(error).replace("leastaction.Expression", "a traced number")
        if "complex" in words:
            raise TracingError(f"{words}{_place(error)}\n  a Lagrangian is real: write real and imaginary parts as coordinates") from error
        raise TracingError(
            f"{words}{_place(error)}\n  this cannot be recorded; use np.sin, np.exp, np.sqrt and the like, sums, products, and plain "
            "operators (+ - * / **), with formulas of q and v first"
        ) from error


def _of_numpy(error: Exception) -> bool:
    """Whether a function of NumPy did not find what it needs."""
    return bool(re.search(r"ufunc|no callable|(int|float)\S* object has no attribute", str(error)))


def _place(error: Exception) -> str:
    """The line of the user's program where an exception comes from."""
    own, frames = str(Path(__file__).parent), traceback.extract_tb(error.__traceback__)
    for frame in reversed(frames):
        if not frame.filename.startswith(own) and f"{os.sep}numpy{os.sep}" not in frame.filename:
            code = f": `{frame.line}`" if frame.line else ""
            return f" ({Path(frame.filename).name}, line {frame.lineno}{code})"
    return ""


def apply(ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
    """What a ufunc gives where a formula is among its inputs: numbers become formulas, so that each of them has the methods NumPy calls."""
    result = getattr(ufunc, method)(*(_lifted(x) for x in inputs), **keywords)
    return result.item() if isinstance(result, np.ndarray) and result.shape == () else result


def _lifted(x: Any) -> Any:
    array = np.asarray(x, dtype=object)
    lifted = np.empty(array.shape, dtype=object)
    for place in np.ndindex(array.shape):
        lifted[place] = as_expression(array[place])
    return lifted


def scalar(result: Any, label: str) -> Expression:
    """The one formula that a traced function must return."""
    if isinstance(result, Expression):
        return result
    array = np.asarray(result, dtype=object)
    found = array.item() if array.shape == () else None
    if isinstance(found, Expression):
        return found
    if result is None:
        raise TracingError(f"{label} returns nothing; end it with `return` and the formula")
    if array.shape == ():
        raise TracingError(f"{label} returns {result!r}, which contains neither coordinates nor velocities")
    raise TracingError(f"{label} returns an array of the shape {array.shape}, but must return one number\n  add up its entries with np.sum")


def lagrangian(function: Callable[..., Any], names: Sequence[str], parameters: Parameters) -> Expression:
    """Records L(q, v), L(q, v, p) or L(q, v, t, p)."""
    q, v = state_symbols(names)
    result = call(function, ("q", "v"), {"q": q, "v": v, "t": t, "p": parameters})
    return scalar(result, getattr(function, "__name__", "the function"))


def positions(function: Callable[..., Any], names: Sequence[str], parameters: Parameters) -> list[list[Expression]]:
    """Records positions of bodies from q: rows of two or three formulas."""
    q, _ = state_symbols(names)
    result = call(function, ("q",), {"q": q, "t": t, "p": parameters})
    try:
        table = np.asarray(result, dtype=object)
        shape = f"the shape {table.shape}"
    except ValueError:
        table, shape = np.empty(0), "rows of different lengths"
    if table.ndim == 1 and not any(isinstance(entry, (list, tuple, np.ndarray)) for entry in table):
        table = table[None, :]
    if table.ndim != 2 or table.shape[1] not in (2, 3) or table.shape[0] == 0:
        raise TracingError(
            f"positions must be a row of x, y or x, y, z for each body, but have {shape}\n  np.stack([x, y], axis=-1) makes such rows"
        )
    try:
        return [[as_expression(entry) for entry in row] for row in table]
    except (TypeError, ValueError) as error:
        raise TracingError(f"positions must be formulas of coordinates or numbers: {error}") from None


def as_expression(value: Any) -> Expression:
    """A number as a formula."""
    return value if isinstance(value, Expression) else Expression.number(float(value))
