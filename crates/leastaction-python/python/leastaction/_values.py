"""Values that users give, as plain numbers and paths; what they are instead is told by the name of the argument."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import numpy as np
import numpy.typing as npt

from ._errors import InputError

Key = TypeVar("Key")
Value = TypeVar("Value")


class Fixed(dict[Key, Value]):
    """A dict that cannot be changed, because the change would reach nobody; the error says what does.

    ``advice`` may contain ``{key}`` and ``{value}``, which stand for what was to be set.
    """

    def __init__(self, values: Any, advice: str) -> None:
        super().__init__(values)
        self._advice = advice

    def _refuse(self, *values: Any, **named: Any) -> NoReturn:
        """Refuses to set a key and a value, or what is in a dict, or to remove something."""
        given = {**(values[0] if values and isinstance(values[0], dict) else {}), **named}
        key, value = next(iter(given.items()), (*values, None, None)[:2])
        advice = self._advice.format(key=repr("name" if key is None else key), value="…" if value is None else repr(value))
        raise TypeError(f"this dict cannot be changed\n  {advice}")

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return Fixed, (dict(self), self._advice)


def plain(what: str, value: Any, names: Sequence[str] | None = None) -> Any:
    """A value without what other packages add to numbers: units and masks are told of, and so are labels that are not ``names``."""
    if value is None or isinstance(value, (float, int, str, list, tuple)):
        return value
    if hasattr(value, "to_numpy"):
        _check_labels(what, value, names)
        return value.to_numpy()
    if _has_unit(value):
        raise TypeError(f"{what} has a unit, but must be plain numbers, in the units of the system\n  convert it, and give its magnitude")
    if isinstance(value, np.ma.MaskedArray):
        if np.any(value.mask):
            raise InputError(f"{what} has masked entries, which have no value\n  leave them out, or fill them with `.filled(…)`")
        return value.data
    is_list = isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray, memoryview))
    return list(value) if is_list else value


def _has_unit(value: Any) -> bool:
    owner = value if isinstance(value, np.ndarray) else type(value)
    return hasattr(owner, "unit") or hasattr(owner, "units")


def _check_labels(what: str, value: Any, names: Sequence[str] | None) -> None:
    """Whether the labels of a table or of a series are the names, in their order."""
    if names is None:
        return
    labels = list(value.columns if hasattr(value, "columns") else getattr(value, "index", ()))
    if not labels or not all(isinstance(label, str) for label in labels):
        return
    if labels not in (list(names), [f"{what}_{name}" for name in names]):
        raise InputError(
            f"{what} has the labels {', '.join(labels[:8])}, but the coordinates are {', '.join(names[:8])}\n"
            f"  put them in this order, or give the numbers alone: {what}.to_numpy()"
        )


def reals(what: str, value: Any, names: Sequence[str] | None = None) -> npt.NDArray[np.float64]:
    """An array of real numbers."""
    value = plain(what, value, names)
    try:
        array = np.asarray(value)
    except ValueError:
        raise InputError(f"{what} must be an array of numbers, but its rows have different lengths") from None
    if array.dtype.kind not in "iufO" and array.size:
        raise InputError(f"{what} must be real numbers, but has the type {array.dtype}")
    try:
        return array.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{what} must be an array of numbers: {error}") from None


def text(what: str, value: Any) -> str:
    """A string."""
    if not isinstance(value, str):
        raise TypeError(f"{what} must be a string, but is {value!r:.60}")
    return value


def path(what: str, value: Any) -> Path:
    """The path of a file or a folder."""
    if not isinstance(value, (str, os.PathLike)) or not isinstance(os.fspath(value), str):
        raise TypeError(f"{what} must be a path, as a string or a pathlib.Path, but is {value!r:.60}")
    if not os.fspath(value):
        raise InputError(f"{what} is an empty string, but must be a path")
    return Path(value)


def listed(what: str, values: Any) -> list[Any]:
    """A list of whatever can be iterated, but of no string."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise TypeError(f"{what} must be a list, but is {values!r:.60}")
    return list(values)
