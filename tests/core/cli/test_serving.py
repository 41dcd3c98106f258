"""serve, review and admin: run from a checkout, and their messages without one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

pytestmark = pytest.mark.server


def agl1k(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command line of the package in ``root``, run from an empty folder."""
    environment = os.environ | {"PYTHONPATH": str(root), "COLUMNS": "300", "AGL1K_DATA": str(root)}
    command = [sys.executable, "-m", "agl1k_core", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd="/")


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """The package by itself, as pip installs it."""
    no_sounds = shutil.ignore_patterns("*.mp3", "__pycache__")
    shutil.copytree(ROOT / "agl1k_core", tmp_path / "agl1k_core", ignore=no_sounds)
    return tmp_path


WRONG = '[{"key": "demo_01", "latitude": 0, "longitude": 151, "country": "Nauru"}]'


@pytest.mark.parametrize(
    "arguments",
    [
        ["serve"],
        ["review", "folder"],
        ["wander", "play", "folder"],
        ["admin", "status"],
        ["causes", "{file}", "--review"],
    ],
)
def test_the_package_alone_says_what_to_do(
    installed: Path, tmp_path: Path, arguments: list[str]
) -> None:
    file = tmp_path / "mine.json"
    file.write_text(WRONG)
    done = agl1k(installed, *(argument.format(file=file) for argument in arguments))
    assert done.returncode == 1
    assert done.stdout == ""
    assert "needs a checkout of the repository" in done.stderr
    assert done.stderr.count("\n") == 1


def test_in_a_checkout_the_program_runs(installed: Path) -> None:
    (installed / "app.py").write_text("import sys; print(sys.argv)")
    (installed / "store").mkdir()
    (installed / "store" / "admin.py").touch()
    done = agl1k(installed, "serve", "--port", "0")
    assert done.stdout == "['app', '--port', '0']\n", done.stderr
    assert done.returncode == 0


def test_admin_is_the_stores() -> None:
    done = agl1k(ROOT, "admin", "--help")
    assert done.returncode == 0, done.stderr
    assert "public dataset" in done.stdout
