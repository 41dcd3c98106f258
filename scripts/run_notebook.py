"""Runs docs/notebook.ipynb from top to bottom and saves the outputs.

Run ``python -m scripts.run_notebook`` after changing the notebook or what it shows. It needs the
extra ``test`` and, for the last picture, ``agl1k models install yamnet``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[1] / "docs" / "notebook.ipynb"


def run(path: Path) -> Any:
    """The notebook with new outputs; raises ``CellExecutionError`` if a cell fails."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=300,
        record_timing=False,
        resources={"metadata": {"path": str(path.parent)}},
    )
    client.execute()
    return notebook


def main() -> None:
    """Write the outputs into the notebook."""
    notebook = run(NOTEBOOK)
    notebook.metadata["language_info"] = {"name": "python"}
    nbformat.write(notebook, NOTEBOOK)


if __name__ == "__main__":
    main()
