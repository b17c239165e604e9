"""The notebooks run from the first cell to the last."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(path, tmp_path):
    book = nbformat.read(path, as_version=4)
    NotebookClient(book, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [output for cell in book.cells if cell.cell_type == "code" for output in cell.outputs]
    kinds = {kind for output in outputs for kind in output.get("data", {})}
    assert "image/png" in kinds
    assert any("<img" in output.data.get("text/html", "") for output in outputs if "data" in output), "no animation"
    # stored without results, so that they are never old ones
    assert all(not cell.outputs for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code")


def test_there_are_two():
    assert [path.stem for path in NOTEBOOKS] == ["first-steps", "the-papers-in-15-minutes"]
