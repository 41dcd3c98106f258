"""The notebook runs from top to bottom, and has outputs fit to be published."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import nbformat
import pytest

from scripts.run_notebook import NOTEBOOK, run

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
def test_every_cell_of_the_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGL1K_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("MPLCONFIGDIR", str(tmp_path / "matplotlib"))
    (tmp_path / "docs").mkdir()
    copy = tmp_path / "docs" / NOTEBOOK.name
    shutil.copy(NOTEBOOK, copy)
    cells = run(copy).cells
    assert all(cell.execution_count for cell in cells if cell.cell_type == "code")


def test_the_notebook_keeps_its_outputs_small_and_names_no_folder_of_a_machine() -> None:
    text = NOTEBOOK.read_text("utf-8")
    cells = [cell for cell in nbformat.read(NOTEBOOK, 4).cells if cell.cell_type == "code"]
    assert sum(bool(cell.outputs) for cell in cells) >= 8
    assert len(text) < 300_000
    assert "image/png" in text
    assert not re.search("/(?:home|root|work|tmp|Users)/", text)
    assert "Traceback" not in text
