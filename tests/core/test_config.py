"""Environment variables -> settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from agl1k_core.config import Settings
from agl1k_core.errors import Agl1kError


def test_defaults_serve_this_machine_only() -> None:
    settings = Settings.from_env({})
    assert (settings.host, settings.port, settings.benchmark) == ("127.0.0.1", 7860, "demo")
    assert settings.database == f"sqlite:///{settings.data_dir / 'agl1k.db'}"
    assert settings.tiles == ""


def test_a_space_listens_to_the_outside() -> None:
    assert Settings.from_env({"SPACE_ID": "a/b"}).host == "0.0.0.0"


def test_everything_can_be_set(tmp_path: Path) -> None:
    env = {"PORT": "8", "AGL1K_DATA": str(tmp_path), "AGL1K_MAX_UPLOAD_MB": "0.5"}
    settings = Settings.from_env(env)
    assert (settings.port, settings.max_upload_mb) == (8, 0.5)
    assert settings.database.endswith(f"{tmp_path}/agl1k.db")


def test_all_unusable_numbers_are_named() -> None:
    with pytest.raises(Agl1kError) as error:
        Settings.from_env({"PORT": "http", "AGL1K_MAX_UPLOAD_MB": "-1"})
    assert "PORT='http'" in str(error.value)
    assert "between 0 and 65535" in str(error.value)
    assert "AGL1K_MAX_UPLOAD_MB='-1'" in str(error.value)


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("PORT", "1.5", "whole number"), ("PORT", "nan", "between 0 and 65535"),
        ("AGL1K_MAX_UPLOAD_MB", "inf", "between 0.001 and 100000"),
        ("AGL1K_ROUNDS_PER_HOUR", "0", "between 1 and"),
        ("AGL1K_PUBLISH_PER_HOUR", "-1", "between 0 and"),
        ("AGL1K_ROOT_PATH", "arena", "one like /arena"), ("AGL1K_ROOT_PATH", "/a?b", "no path"),
        ("AGL1K_TABLE_URL", "junk", "https:// or http://, or unset"),
        ("AGL1K_TABLE_URL", "file:///etc/passwd", "is no address"),
        ("AGL1K_AUDIO_URL", "http://a/{", "with {key} and {file_name} in it"),
        ("AGL1K_AUDIO_URL", "http://a/{other}", "is no address"),
        ("AGL1K_AUDIO_URL", "http://a/{key.x}", "is no address"),
        ("AGL1K_TILES", "javascript:alert(1)", "is no address"),
        ("AGL1K_TILES", "http://[", "is no address"),
    ],
)  # fmt: skip
def test_nonsense_is_refused_with_what_to_set(name: str, value: str, told: str) -> None:
    with pytest.raises(Agl1kError) as error:
        Settings.from_env({name: value})
    assert name in str(error.value)
    assert told in str(error.value)


def test_a_slash_behind_the_root_path_goes() -> None:
    assert Settings.from_env({"AGL1K_ROOT_PATH": "/a/b/"}).root_path == "/a/b"


def test_a_short_secret_is_refused_without_telling_it() -> None:
    with pytest.raises(Agl1kError, match="AGL1K_SECRET is too short") as error:
        Settings.from_env({"AGL1K_SECRET": "tell-nobody"})
    assert "tell-nobody" not in str(error.value)
    assert Settings.from_env({"AGL1K_SECRET": "0123456789abcdef"}).secret
