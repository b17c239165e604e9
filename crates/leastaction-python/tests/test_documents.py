"""Docstrings, pages of the guide and the README run; stubs and types are right; the code is formatted."""

import doctest
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import matplotlib as mpl
import pytest

import leastaction as la

mpl.use("agg")
HERE = Path(__file__).parent
ROOT = HERE.parents[2]
PAGES = [ROOT / "README.md", HERE.parent / "README.md", *sorted((ROOT / "book/src").glob("python*.md"))]


@pytest.mark.parametrize("module", ["leastaction", *(f"leastaction.{m.name}" for m in pkgutil.iter_modules(la.__path__))])
def test_docstrings(module):
    found = doctest.testmod(importlib.import_module(module))
    assert found.failed == 0


def blocks(path):
    """The Python code of a page, in its order; blocks marked `no-run` need what is not here."""
    return re.findall(r"^```python\n(.*?)^```", path.read_text(), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}/{page.name}")
def test_pages_run(page, tmp_path, monkeypatch):
    import matplotlib.pyplot as plt

    monkeypatch.chdir(tmp_path)
    found = blocks(page)
    assert found, "the page has no Python code"
    names = {"__name__": "__main__"}
    for code in found:
        exec(compile(code, str(page), "exec"), names)
    plt.close("all")


def test_every_public_name_has_a_docstring_with_an_example():
    for name in la.__all__:
        public = getattr(la, name)
        assert public.__doc__, name
        # what is only raised, or is no function, has none
        if name not in ("Error", "Expression", "InternalError", "Interrupted", "LeastActionWarning", "State", "t"):
            assert ">>> " in public.__doc__, name


def test_every_method_that_does_something_has_an_example():
    for kind in (la.Solution, la.Ensemble, la.Convergence, la.System):
        for name, method in vars(kind).items():
            if inspect.isfunction(method) and not name.startswith("_"):
                assert ">>> " in (method.__doc__ or ""), f"{kind.__name__}.{name}"


def tool(*arguments):
    found = subprocess.run([sys.executable, "-m", *arguments], capture_output=True, text=True, cwd=HERE.parent, check=False)
    assert found.returncode == 0, found.stdout + found.stderr


def test_stubs_are_those_of_the_compiled_module():
    tool("mypy.stubtest", "leastaction._core")


def test_types():
    tool("mypy")


def test_format():
    tool("ruff", "format", "--check", ".")
    tool("ruff", "check", ".")
