"""Systems: from a name, a text, a file, symbols, or a Python function."""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from . import _core, _trace
from ._core import Expression
from ._core import System as Compiled
from ._errors import InputError, LeastActionWarning, TracingError
from ._symbols import t
from ._types import Number, Numbers, Values
from ._values import Fixed, plain
from ._values import listed as as_list
from ._values import text as text_of

#: What a text of the size that is read can define; more would be written for half a minute and then refused.
MOST_COORDINATES = 100_000


class System:
    """A mechanical system: coordinates, parameters and a Lagrangian with all its derivatives.

    It is made, differentiated and compiled once; other parameters and initial states use the same machine code.

    ``source`` is

    - the name of a system of the catalogue (see :func:`leastaction.systems`);
    - a text in TOML, or the path of a file with one;
    - a function ``L(q, v, p)`` or ``L(q, v, t, p)`` of arrays of coordinates and velocities, the time, and the parameters as
      attributes of ``p``. It is called once, with numbers that remember what is done with them, and never again;
    - a formula of symbols made by :func:`leastaction.coordinates` and :func:`leastaction.parameters`.

    Functions and symbols take ``n`` or names of ``coordinates``, values of ``parameters`` (numbers, formulas, or lists for vectors), and
    as defaults of runs ``q`` with ``v`` or ``p``, ``t0``, ``method``, ``step`` and ``until``. ``positions`` says how to draw the system: a
    function of ``q`` (and ``p``) that returns a row x, y or x, y, z for each body; ``links`` are pairs of bodies by number, or
    ``"origin"``, between which rods are drawn, or ``"chain"``.

    >>> import numpy as np, leastaction as la
    >>> def lagrangian(q, v, p):
    ...     return 0.5 * p.m * np.sum(v**2) - 0.5 * p.k * np.sum(q**2)
    >>> oscillator = la.System(lagrangian, coordinates=["x", "y"], parameters=dict(m=1.0, k=4.0))
    >>> oscillator.coordinates
    ('x', 'y')
    """

    _core: Compiled

    def __init__(
        self,
        source: str | os.PathLike[str] | Expression | Callable[..., Any],
        *,
        n: int | None = None,
        coordinates: Iterable[str | Expression] | str | None = None,
        parameters: Values | None = None,
        q: Numbers | None = None,
        v: Numbers | None = None,
        p: Numbers | None = None,
        t0: Number | None = None,
        method: str | None = None,
        step: Number | None = None,
        until: Number | None = None,
        positions: Callable[..., Any] | None = None,
        links: str | Sequence[tuple[int | str, int]] | None = None,
        name: str | None = None,
        title: str | None = None,
    ) -> None:
        start = {"q": q, "v": v, "p": p, "t": t0}
        run = {"method": method, "step": step, "until": until}
        for what, word in {"name": name, "title": title, "method": method}.items():
            if word is not None:
                text_of(what, word)
        own = {
            "n": n,
            "coordinates": coordinates,
            **start,
            **run,
            "positions": positions,
            "links": links,
            "title": title,
        }
        values = _parameters(parameters)
        if isinstance(source, System):
            raise InputError("this is a System already; use it as it is, with parameters=… in simulate")
        if isinstance(source, (str, os.PathLike)):
            given = [key for key, value in own.items() if value is not None]
            if given:
                raise TypeError(f"{given[0]} is not for a name, a text or a file, which say it themselves\n  give it to simulate instead")
            self._core = _from_text(source, name, values)
        else:
            values = {key: plain(f"parameter `{key}`", value) for key, value in values.items()}
            names, formula, bodies = _record(source, n, coordinates, values, positions)
            start = {key: plain(key, value, names) for key, value in start.items()}
            text = _definition(names, formula, bodies, links, values, start, run, title)
            label = name or _label(source)
            self._core = _core.System.written(label, text)
        for warning in self._core.warnings:
            warnings.warn(warning, LeastActionWarning, stacklevel=2)

    def __setattr__(self, name: str, value: Any) -> None:
        if name != "_core":
            raise AttributeError(
                f"a System cannot be changed, and `{name}` would be seen by no run\n"
                "  give it to the run: la.simulate(system, …), with the keywords of help(la.simulate), such as parameters={'m': 2} or q=…"
            )
        super().__setattr__(name, value)

    @classmethod
    def _of(cls, core: Compiled) -> System:
        system = cls.__new__(cls)
        system._core = core
        return system

    @classmethod
    def from_sympy(cls, lagrangian: Any, *, parameters: Values | None = None, **keywords: Any) -> System:
        """A system from a SymPy expression of functions of time, their derivatives, and symbols.

        Functions of ``t`` are the coordinates; every other symbol is a parameter and needs a value.

        >>> import sympy as sp, leastaction as la
        >>> t, m, g, l = sp.symbols("t m g l")
        >>> theta = sp.Function("theta")(t)
        >>> L = m * l**2 * theta.diff(t) ** 2 / 2 + m * g * l * sp.cos(theta)
        >>> la.System.from_sympy(L, parameters={m: 1, g: 9.81, l: 0.5}).coordinates
        ('theta',)
        """
        from ._sympy import convert

        values = None if parameters is None else {str(name): value for name, value in parameters.items()}
        return cls(convert(lagrangian), parameters=values, **keywords)

    @property
    def name(self) -> str:
        """Its name."""
        return self._core.name

    @property
    def title(self) -> str:
        """Its name, as printed."""
        return self._core.title

    @property
    def n(self) -> int:
        """How many coordinates there are."""
        return len(self._core.coordinates)

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The names of the coordinates, in the order of the columns of q, v and p."""
        return tuple(self._core.coordinates)

    @property
    def parameters(self) -> dict[str, float]:
        """The parameters and their values. A run with others has them as an argument: ``la.simulate(system, parameters={"m": 2})``."""
        return Fixed(self._core.parameters, "give another value to the run: la.simulate(system, parameters={{{key}: {value}}})")

    @property
    def definition(self) -> str | None:
        """The text that defines the system, as a file for the command would; None for systems of the catalogue."""
        return self._core.definition

    def describe(self) -> dict[str, Any]:
        """All there is to know: the Lagrangian and its parts, momenta, mass matrix, what is conserved.

        >>> import leastaction as la
        >>> sorted(la.System("kepler").describe())[:3]
        ['conserved', 'coordinates', 'equal_mass']
        """
        described: dict[str, Any] = json.loads(self._core.describe_json())
        return described

    def __str__(self) -> str:
        return self._core.describe()

    def __repr__(self) -> str:
        values = [f"{name}={value:.6g}" for name, value in self.parameters.items()]
        parts = {"coordinates": self.coordinates, "parameters": values, "conserved": self._core.conserved}
        return f"<System {self.name!r}: {'; '.join(f'{what} {_few(names)}' for what, names in parts.items() if names)}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self._core.run_toml,)


def _few(words: Sequence[str], most: int = 8) -> str:
    return ", ".join([*words[:most], *(["…"] if len(words) > most else [])])


def _restored(run_toml: str) -> System:
    return System._of(_core.System.of_toml(run_toml))


def as_system(system: Any) -> System:
    """A system, or what one can be made of."""
    if isinstance(system, System):
        return system
    if isinstance(system, (str, os.PathLike)):
        return System(system)
    raise TypeError(
        f"the system must be a System, a name, a text or a path, but is {type(system).__name__}\n"
        "  make one of a function with la.System(function, n=…, parameters=…)"
    )


def _parameters(parameters: Mapping[Any, Any] | None) -> dict[str, Any]:
    if parameters is None:
        return {}
    if not isinstance(parameters, Mapping):
        raise TypeError(f"parameters must be a dict of names and values, but are {parameters!r}")
    return {key.name or str(key) if isinstance(key, Expression) else key: value for key, value in parameters.items()}


def _from_text(source: str | os.PathLike[str], name: str | None, values: dict[str, Any]) -> _core.System:
    text = os.fspath(source)
    if isinstance(source, str) and "\n" in text:
        return _core.System.written(name or "system", text, values)
    is_path = not isinstance(source, str) or any(mark in text for mark in "/\\.") or _is_file(text)
    if name is not None:
        raise TypeError("name is for functions, formulas and texts; systems of the catalogue and files have one")
    if is_path:
        return _core.System.open(Path(text), values)
    return _core.System.named(text, values)


def _is_file(text: str) -> bool:
    """Whether there is such a file; what cannot be the name of one is none."""
    try:
        return Path(text).is_file()
    except (OSError, ValueError):
        return False


def _label(source: Any) -> str:
    """A name for a system made of a function; what every Lagrangian is called says nothing."""
    name = getattr(source, "__name__", "system")
    says_something = re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", name) and name.lower() not in ("lagrangian", "l")
    return name if says_something else "system"


def _names(n: int | None, coordinates: Any) -> list[str] | None:
    if coordinates is not None:
        listed = coordinates.replace(",", " ").split() if isinstance(coordinates, str) else as_list("coordinates", coordinates)
        if not listed:
            raise InputError("no coordinates are named\n  name them, coordinates=['x', 'y'], or say how many there are, n=2")
        names = [x.name or "" if isinstance(x, Expression) else x for x in listed]
        if not all(isinstance(name, str) for name in names):
            raise TypeError(f"coordinates must be names, but are {coordinates!r}")
        if n is not None and n != len(names):
            raise InputError(f"n = {n}, but {len(names)} coordinates are named")
        return names
    if n is None:
        return None
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)):
        raise TypeError(f"n must be a whole number of coordinates, but is {n!r}")
    if not 1 <= n <= MOST_COORDINATES:
        raise InputError(f"n must be from 1 to {MOST_COORDINATES}, but is {n}")
    return [f"q{i}" for i in range(1, n + 1)]


Bodies = list[list[Expression]]


def _record(
    source: Any, n: int | None, coordinates: Any, values: dict[str, Any], positions: Callable[..., Any] | None
) -> tuple[list[str], Expression, Bodies]:
    """Coordinates, the Lagrangian and positions of bodies as formulas."""
    names = _names(n, coordinates)
    symbols = _trace.parameter_symbols([name for key, value in values.items() for name in _entries(key, value)])
    if isinstance(source, Expression):
        found, needed, _ = _core.symbols_in([source])
        names = names or found
        missing = [name for name in needed if name not in values]
        if missing:
            raise InputError(f"the parameter `{missing[0]}` has no value\n  give it with parameters=dict({missing[0]}=…)")
        formula = source
    elif callable(source):
        if names is None:
            raise TypeError("say how many coordinates the function has: n=3, or coordinates=['x', 'y']")
        formula = _trace.lagrangian(source, names, symbols)
        _check_symbols([formula], names, symbols, "the function")
    else:
        raise TypeError(f"a System is made of a name, a text, a path, a function or a formula of symbols, not of {type(source).__name__}")
    if positions is not None and not callable(positions):
        raise TypeError(f"positions must be a function of q (and p), but is {positions!r:.60}")
    bodies = [] if positions is None else _trace.positions(positions, names, symbols)
    _check_symbols([x for body in bodies for x in body], names, symbols, "positions")
    return names, formula, bodies


def _check_symbols(formulas: list[Expression], names: list[str], parameters: _trace.Parameters, label: str) -> None:
    """Whether all symbols are those of the system, not some that were kept from elsewhere."""
    found, needed, _ = _core.symbols_in(formulas)
    declared, known = {name.partition("[")[0] for name in parameters}, set(names)
    strange = [x for x in found if x not in known] + [x for x in needed if x.partition("[")[0] not in declared]
    if strange:
        raise TracingError(
            f"{label} uses a symbol `{strange[0]}` that was made elsewhere, not one of its arguments\n"
            f"  coordinates here: {', '.join(names[:8])}; parameters: {', '.join(declared) or 'none'}"
        )


def _entries(name: Any, value: Any) -> list[str]:
    """Names of the entries of a vector, or of a number."""
    if not isinstance(name, str) or not name.isidentifier():
        raise InputError(f"{name!r} is not a name for a parameter: letters, digits and _ only, not a digit first")
    if isinstance(value, str) or np.ndim(value) == 0:
        return [name]
    if np.ndim(value) != 1 or len(value) == 0:
        raise InputError(f"parameter `{name}` must be a number or a list of numbers, but has the shape {np.shape(value)}")
    return [f"{name}[{i}]" for i in range(1, len(value) + 1)]


def _number(what: str, value: Any) -> str:
    """A number or a formula, as TOML."""
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, (bool, Expression)) or getattr(getattr(value, "dtype", None), "kind", "f") not in "iufO":
        raise TypeError(f"{what} must be a number or a formula in a string, but is {value}")
    try:
        number = float(value)
    except TracingError:
        raise
    except OverflowError:
        raise InputError(f"{what} is too large for a number of 64 bits; try other units") from None
    except (TypeError, ValueError):
        raise TypeError(f"{what} must be a number or a formula in a string, but is {value}") from None
    if not np.isfinite(number):
        raise InputError(f"{what} must be a finite number, but is {number}")
    return repr(number)


def _quoted(value: Any) -> str:
    """Texts and lists of them as TOML, which is that of JSON."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", r"\u007f")


def _key(name: str) -> str:
    """A key of TOML: other letters than a to z stand in quotes."""
    return name if name.isascii() else _quoted(name)


def _numbers(what: str, values: Any) -> str:
    return "[" + ", ".join(_number(what, value) for value in values) + "]"


def _definition(
    names: list[str],
    lagrangian: Expression,
    bodies: Bodies,
    links: Any,
    parameters: dict[str, Any],
    start: dict[str, Any],
    run: dict[str, Any],
    title: str | None,
) -> str:
    """The system as the text of a file."""
    formulas = [lagrangian, *(x for body in bodies for x in body)]
    definitions, texts = _core.write(formulas, [*names, *parameters])
    lines = [] if title is None else [f"title = {_quoted(title)}"]
    lines += [f"coordinates = {_quoted(names)}", "", "[parameters]"]
    for name, value in parameters.items():
        what = f"parameter `{name}`"
        plain = isinstance(value, str) or np.ndim(value) == 0
        lines.append(f"{_key(name)} = {_number(what, value) if plain else _numbers(what, value)}")
    lines += ["", "[definitions]", *(f"{_key(name)} = {_quoted(text)}" for name, text in definitions)]
    lines += ["", "[lagrangian]", f"expression = {_quoted(texts[0])}"]
    lines += ["", "[initial]", *_initial(len(names), start)]
    lines += [
        "",
        "[run]",
        *(f"{key} = {_quoted(value) if key == 'method' else _number(key, value)}" for key, value in run.items() if value is not None),
    ]
    lines += _plot(bodies, texts[1:], links)
    return "\n".join(lines) + "\n"


def _initial(n: int, start: dict[str, Any]) -> list[str]:
    if start["v"] is not None and start["p"] is not None:
        raise InputError("the initial state gives both velocities and momenta\n  give v or p, not both")
    if start["q"] is None and (start["v"] is not None or start["p"] is not None):
        raise InputError("the initial state has no coordinates; give q as well")
    lines = []
    for key, value in start.items():
        if value is None:
            continue
        if key == "t" or isinstance(value, str) or np.ndim(value) == 0:
            text = _number(key, value)
            lines.append(f"{key} = {text}" if key == "t" else f"{key} = [{', '.join([text] * n)}]")
        else:
            lines.append(f"{key} = {_numbers(key, value)}")
    if start["q"] is not None and start["v"] is None and start["p"] is None:
        lines.append(f"v = [{', '.join(['0'] * n)}]")
    return lines


def _plot(bodies: Bodies, texts: list[str], links: Any) -> list[str]:
    if not bodies:
        if links is not None:
            raise TypeError("links join bodies; say where they are with positions=…")
        return []
    width = len(bodies[0])
    rows = [texts[i : i + width] for i in range(0, len(texts), width)]
    named = ", ".join(f"body{i} = {_quoted(row)}" for i, row in enumerate(rows, 1))
    return ["", "[plot]", f"bodies = {{ {named} }}", f"links = {_quoted(_links(links, len(bodies)))}"]


def _links(links: Any, count: int) -> list[list[str]]:
    """Pairs of names of bodies."""
    if links is None:
        return []
    if isinstance(links, str) and links == "chain":
        links = [("origin", 0), *((i, i + 1) for i in range(count - 1))]
    if isinstance(links, str) or not isinstance(links, Iterable):
        raise InputError(f'links = {links!r}: give pairs such as [("origin", 0), (0, 1)], or "chain"')

    def is_end(end: Any) -> bool:
        whole = isinstance(end, (int, np.integer)) and not isinstance(end, bool)
        return (isinstance(end, str) and end == "origin") or (whole and 0 <= end < count)

    pairs = []
    for pair in links:
        ends = list(pair) if isinstance(pair, (tuple, list, np.ndarray)) else []
        if len(ends) != 2 or not all(map(is_end, ends)) or isinstance(ends[1], str):
            raise InputError(f'{pair!r} is not a link: give the numbers of two of the {count} bodies, or "origin" and a number')
        pairs.append([end if isinstance(end, str) else f"body{end + 1}" for end in ends])
    return pairs


def formula(system: System, function: Any) -> Any:
    """An output or the formula of an event: text as it is, functions and symbols as text."""
    if callable(function) and not isinstance(function, Expression):
        q, v = _trace.state_symbols(system.coordinates)
        values = {"q": q, "v": v, "t": t, "p": _trace.parameter_symbols(list(system.parameters))}
        label = getattr(function, "__name__", "the function")
        function = _trace.scalar(_trace.call(function, ("q", "v"), values), label)
    if isinstance(function, Expression):
        _, (text,) = _core.write([function], [], True)
        return text
    return function
