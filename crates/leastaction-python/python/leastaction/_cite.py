"""How to cite."""

from __future__ import annotations

from . import _core


def cite() -> str:
    """This program and the papers whose methods and experiments it has, as BibTeX.

    >>> import leastaction as la
    >>> la.cite().startswith("@software{leastaction")
    True
    """
    own = (
        "@software{leastaction,\n"
        "  title = {leastaction: mechanical systems simulated with variational integrators},\n"
        f"  version = {{{_core.version()}}}\n"
        "}"
    )
    return "\n".join([own, *(_entry(*paper) for paper in _core.papers())])


def _entry(number: str, authors: str, title: str, year: int) -> str:
    names = authors.replace(", ", " and ")
    return f"@misc{{paper{number},\n  author = {{{names}}},\n  title = {{{{{title}}}}},\n  year = {{{year}}}\n}}"
