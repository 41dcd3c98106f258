"""The examples in docstrings and documents give the results that they show."""

from __future__ import annotations

import doctest
import pkgutil
import re
from importlib import import_module
from pathlib import Path

import pytest

import agl1k_core

ROOT = Path(__file__).parents[2]
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
MODULES = [
    "agl1k_core",
    *(
        module.name
        for module in pkgutil.walk_packages(agl1k_core.__path__, "agl1k_core.")
        if not module.name.endswith("__main__")
    ),
]
#: Modules that nothing imports unless their extra is installed.
NEEDS = {"agl1k_core.models.inspect_task": "inspect_ai"}
EXAMPLES = re.compile(r"^```pycon\n(.*?)^```$", re.DOTALL | re.MULTILINE)
DOCUMENTS = [
    path
    for path in [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))]
    if EXAMPLES.search(path.read_text("utf-8"))
]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Examples write their files into a folder of their own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AGL1K_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("AGL1K_BENCHMARK", raising=False)


def test_documents_with_examples_are_found() -> None:
    assert {path.name for path in DOCUMENTS} >= {"README.md", "python.md"}


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name: str) -> None:
    if name in NEEDS:
        pytest.importorskip(NEEDS[name], reason="its extra is not installed")
    assert doctest.testmod(import_module(name), optionflags=OPTIONS).failed == 0


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_examples_in_documents(document: Path) -> None:
    text = "".join(match[1] for match in EXAMPLES.finditer(document.read_text("utf-8")))
    test = doctest.DocTestParser().get_doctest(text, {}, document.name, str(document), 0)
    assert test.examples
    assert doctest.DocTestRunner(optionflags=OPTIONS).run(test).failed == 0
