"""What arguments may be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias, TypedDict

import numpy as np
import numpy.typing as npt

from ._core import Expression

#: A number, or a formula of parameters and constants in a string.
Number: TypeAlias = float | str
#: Numbers or formulas: one, a list, or an array.
Numbers: TypeAlias = npt.ArrayLike
#: A quantity of the state: a formula in a string, a formula of symbols, or a function of q, v (, t, p), which is traced.
Quantity: TypeAlias = str | Expression | Callable[..., Any]
#: Values of parameters by names or symbols.
Values: TypeAlias = Mapping[str, Numbers] | Mapping[Expression, Numbers] | Mapping[Any, Any]
#: Is called with how much is done of how much.
Report: TypeAlias = Callable[[int, int], object]
#: Arrays of real numbers.
Array: TypeAlias = npt.NDArray[np.float64]


class Event(TypedDict, total=False):
    """An event with all its details: the quantity whose sign changes, in which direction, and after how many the run ends."""

    of: Quantity
    direction: Literal["rising", "falling", "both"]
    stop: int
