"""The notebooks run from top to bottom, with small sizes; their outputs are stored with them."""

import os
import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))
SMALL = {"DRAWS": "100", "N": "1000", "SIZES": "[50, 100]"}
"""Constants at the top of a notebook that set how long it runs, and what they are here."""


def test_there_are_notebooks():
    """The parametrised tests below would pass without any."""
    assert len(NOTEBOOKS) == 6


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, tmp_path, monkeypatch):
    """In an empty folder, without the folder of corpora; a cell that raises fails the test."""
    monkeypatch.setitem(os.environ, "BAYESNB_SHARED", str(tmp_path))
    monkeypatch.setitem(os.environ, "PYTHONWARNINGS", "")
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        for name, value in SMALL.items():
            cell.source = re.sub(rf"^{name} = .*$", f"{name} = {value}", cell.source, flags=re.MULTILINE)
    place = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources=place).execute()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_with_its_outputs_and_names_no_machine(path):
    """What readers see without running it: every code cell was executed, in order, and no path of a home folder."""
    notebook = nbformat.read(path, as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert not re.search(r"/(home|root|tmp|work|Users)/", path.read_text(encoding="utf-8"))
