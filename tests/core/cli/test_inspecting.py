"""``agl1k inspect`` without Inspect; with it, see ``tests/core/models/test_inspect.py``."""

from __future__ import annotations

import sys

import pytest
from typer.testing import CliRunner

from agl1k_core.cli.main import app


def test_without_inspect_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "inspect_ai", None)
    refused = CliRunner().invoke(app, ["inspect", "-b", "demo"])
    assert refused.exit_code == 1
    assert "pip install 'agl1k[inspect]'" in refused.stderr
    assert refused.stderr.count("\n") == 1
