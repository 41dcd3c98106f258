"""The command line with a folder of its own for data."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AGL1K_BENCHMARK", "AGL1K_AUDIO", "AGL1K_TABLE_URL", "AGL1K_JUDGE_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AGL1K_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("COLUMNS", "160")
