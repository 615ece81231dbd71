"""The notebook of samples/ runs, and its assertions hold."""

import json
import pathlib

import pytest

NOTEBOOK = pathlib.Path(__file__).parents[2] / "samples" / "python.ipynb"


def test_notebook_runs_in_jupyter():
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    outputs = [cell.outputs for cell in notebook.cells if cell.cell_type == "code"]
    shown = [one.data for output in outputs for one in output if "data" in one]
    assert sum("image/png" in data for data in shown) == 4


def test_notebook_cells_are_python():
    for cell in json.loads(NOTEBOOK.read_text())["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == [] and cell["execution_count"] is None
            compile("".join(cell["source"]), "cell", "exec")
