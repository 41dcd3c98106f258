"""The command line as a whole: its groups, and what it loads."""

from __future__ import annotations

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from agl1k_core import __version__
from agl1k_core.cli.main import app


def test_version() -> None:
    assert CliRunner().invoke(app, ["--version"]).stdout.strip() == __version__


@pytest.mark.parametrize(
    "command",
    ["score", "validate", "baseline", "compare", "fetch", "serve", "review", "filter", "tag",
     "sources", "curate", "models", "models install", "localizability", "localizability rate",
     "localizability fit", "localizability report"],
)  # fmt: skip
def test_every_command_explains_itself(command: str) -> None:
    result = CliRunner().invoke(app, [*command.split(), "--help"])
    assert result.exit_code == 0
    assert f"{command} [OPTIONS]" in " ".join(result.stdout.split())


@pytest.mark.server
@pytest.mark.parametrize(
    "arguments", [["--version"], ["filter", "nowhere.wav"], ["localizability", "fit", "--help"]]
)
def test_only_commands_that_need_pandas_load_it(arguments: list[str]) -> None:
    code = f"""
import sys
from agl1k_core.cli.main import app
try:
    app({arguments!r})
finally:
    assert not {{"pandas", "plotly"}} & {{*sys.modules}}
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "AssertionError" not in done.stderr, done.stderr
