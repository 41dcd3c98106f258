"""The public API: every name resolves, is documented, and costs nothing until it is used."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import agl1k_core as ag

CORE = Path(ag.__file__).parent
DOORS = sorted(path.parent.name for path in CORE.glob("*/__init__.pyi"))


def listed(stub: Path) -> list[str]:
    """``__all__`` of a stub."""
    for node in ast.parse(stub.read_text("utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return list(ast.literal_eval(node.value))
    raise AssertionError(f"{stub} has no __all__")


def documented(module: object) -> Iterator[tuple[str, object]]:
    """The functions and classes that a door offers."""
    for name in dir(module):
        value = getattr(module, name)
        if inspect.isfunction(value) or inspect.isclass(value):
            yield name, value


def parameters_of(value: object) -> set[str]:
    if not inspect.isfunction(value):
        return set()
    return set(inspect.signature(value).parameters)


def section(value: object, title: str) -> str:
    """The text of a numpydoc section, empty if there is none."""
    text = inspect.getdoc(value) or ""
    found = re.search(rf"^{title}\n-+\n(.*?)(?=^\w[\w ]*\n-+\n|\Z)", text, re.DOTALL | re.MULTILINE)
    return found[1] if found else ""


@pytest.mark.parametrize("door", ["", *DOORS])
def test_a_door_offers_what_its_stub_lists(door: str) -> None:
    module = import_module(f"agl1k_core.{door}".rstrip("."))
    names = listed(CORE / door / "__init__.pyi")
    assert len(names) == len(set(names))
    assert set(names) == set(dir(module))
    assert [name for name in names if not hasattr(module, name)] == []


@pytest.mark.parametrize("door", DOORS)
def test_everything_at_a_door_says_what_it_is(door: str) -> None:
    module = import_module(f"agl1k_core.{door}")
    assert (module.__doc__ or "").strip()
    silent = [
        name
        for name, value in documented(module)
        if not inspect.getdoc(value) or (inspect.getdoc(value) or "").startswith(f"{name}(")
    ]
    assert silent == []


@pytest.mark.parametrize("name", [name for name, _ in documented(ag)])
def test_a_public_name_is_documented_with_an_example(name: str) -> None:
    value = getattr(ag, name)
    assert ">>> " in section(value, "Examples")
    if inspect.isfunction(value):
        explained = section(value, "Parameters")
        for parameter in parameters_of(value):
            assert re.search(rf"^(.*, )?{parameter}\b.*$", explained, re.MULTILINE), parameter
        assert section(value, "Returns")


def test_the_names_of_the_public_face() -> None:
    names = (
        "load_benchmark", "Benchmark", "Clip", "read_predictions", "Predictions", "parse_answer",
        "Answer", "Status", "evaluate", "Evaluation", "compare", "Comparison", "baseline",
        "Protocol", "STRICT", "PAPER", "PEOPLE", "country_code", "geodesic_km", "geoscore",
        "Agl1kError", "FileRefusedError", "Problem",
    )  # fmt: skip
    assert set(dir(ag)) == {*names, *DOORS}


def in_a_new_process(script: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=CORE.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@pytest.mark.server
def test_importing_loads_nothing_before_a_name_is_used() -> None:
    script = (
        "import sys, agl1k_core as ag;"
        "heavy = {'numpy', 'pandas', 'scipy', 'pyproj', 'httpx', 'typer', 'av'};"
        "print(sorted(heavy & set(sys.modules)));"
        "ag.parse_answer; print('agl1k_core.answers' in sys.modules, 'pandas' in sys.modules)"
    )
    assert in_a_new_process(script).splitlines() == ["[]", "True False"]


@pytest.mark.server
def test_importing_is_quick() -> None:
    script = (
        "import time; t = time.process_time(); import agl1k_core; print(time.process_time() - t)"
    )
    assert min(float(in_a_new_process(script)) for _ in range(3)) < 0.3
