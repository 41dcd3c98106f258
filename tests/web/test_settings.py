"""Environment variables that configure the server."""

from __future__ import annotations

from pathlib import Path

import pytest

from agl1k_core.errors import Agl1kError
from web.settings import Settings


def test_defaults_serve_this_machine_only() -> None:
    settings = Settings.from_env({})
    assert (settings.host, settings.port) == ("127.0.0.1", 7860)
    assert settings.tiles == ""


def test_a_space_listens_to_the_outside() -> None:
    assert Settings.from_env({"SPACE_ID": "a/b"}).host == "0.0.0.0"


def test_everything_can_be_set(tmp_path: Path) -> None:
    env = {"PORT": "8", "AGL1K_DATA": str(tmp_path), "AGL1K_MAX_UPLOAD_MB": "0.5"}
    settings = Settings.from_env(env)
    assert (settings.port, settings.max_upload_mb) == (8, 0.5)
    assert settings.max_upload_bytes == 2**19
    assert settings.config.data_dir == tmp_path
    assert settings.store.database.endswith(f"{tmp_path}/agl1k.db")


def test_all_unusable_variables_of_all_floors_are_named_once() -> None:
    env = {
        "PORT": "http", "AGL1K_MAX_UPLOAD_MB": "-1", "AGL1K_TABLE_URL": "junk",
        "AGL1K_HUB_DATASET": "no-owner", "AGL1K_SECRET": "short",
    }  # fmt: skip
    with pytest.raises(Agl1kError) as error:
        Settings.from_env(env)
    message = str(error.value)
    assert "PORT='http'" in message
    assert "between 0 and 65535" in message
    assert "AGL1K_MAX_UPLOAD_MB='-1'" in message
    assert [message.count(f"{name}=") for name in ("PORT", "AGL1K_TABLE_URL")] == [1, 1]
    assert all(name in message for name in env)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("PORT", "1.5", "whole number"), ("PORT", "nan", "between 0 and 65535"),
        ("AGL1K_MAX_UPLOAD_MB", "inf", "between 0.001 and 100000"),
        ("AGL1K_ROUNDS_PER_HOUR", "0", "between 1 and"),
        ("AGL1K_ROUNDS_PER_PLAYER", "0", "between 1 and"),
        ("AGL1K_ROUNDS_PER_ADDRESS", "0", "between 1 and"),
        ("AGL1K_TRUSTED_PROXIES", "10.0.0.0/8, nginx", "'nginx' is not an address"),
        ("AGL1K_TRUSTED_PROXIES", "10.0.0.1/8", "'10.0.0.1/8' is not an address"),
        ("AGL1K_TRUSTED_PROXIES", "*", "'*' is not an address"),
        ("AGL1K_PUBLISH_PER_HOUR", "-1", "between 0 and"),
        ("AGL1K_ROOT_PATH", "arena", "one like /arena"),
        ("AGL1K_ROOT_PATH", "/a?b", "is not a path"),
        ("AGL1K_TILES", "javascript:alert(1)", "is not an address"),
        ("AGL1K_TILES", "http://[", "is not an address"),
    ],
)  # fmt: skip
def test_nonsense_is_refused_with_what_to_set(name: str, value: str, message: str) -> None:
    with pytest.raises(Agl1kError) as error:
        Settings.from_env({name: value})
    assert name in str(error.value)
    assert message in str(error.value)


def test_a_slash_at_the_end_of_the_root_path_is_dropped() -> None:
    assert Settings.from_env({"AGL1K_ROOT_PATH": "/a/b/"}).root_path == "/a/b"


def test_a_short_secret_is_refused_and_not_printed() -> None:
    with pytest.raises(Agl1kError, match="AGL1K_SECRET is too short") as error:
        Settings.from_env({"AGL1K_SECRET": "tell-nobody"})
    assert "tell-nobody" not in str(error.value)
    settings = Settings.from_env({"AGL1K_SECRET": "0123456789abcdef"})
    assert settings.secret == "0123456789abcdef"
    assert settings.secret not in repr(settings)


@pytest.mark.parametrize(
    ("text", "address"),
    [("", None), ("127.0.0.1:9100", ("127.0.0.1", 9100)), ("[::1]:80", ("::1", 80))],
)
def test_the_address_of_metrics(text: str, address: tuple[str, int] | None) -> None:
    assert Settings.from_env({"AGL1K_METRICS_ADDRESS": text}).metrics_address == address


@pytest.mark.parametrize("text", ["9100", ":9100", "here", "a:b", "a:99999", "a b:1", "a:1/x"])
def test_an_unusable_address_or_token_of_metrics(text: str) -> None:
    with pytest.raises(Agl1kError, match=r"AGL1K_METRICS_ADDRESS='.*Set one like 127.0.0.1:9100"):
        Settings.from_env({"AGL1K_METRICS_ADDRESS": text})
    with pytest.raises(Agl1kError, match="at least 16 random letters and digits") as refused:
        Settings.from_env({"AGL1K_METRICS_TOKEN": f"short-{text}"})
    assert "short-" not in str(refused.value)


def test_nobody_is_believed_without_a_setting() -> None:
    assert Settings.from_env({}).trusted_proxies == ()
    assert "10.0.0.0/8" in Settings.from_env({"SPACE_ID": "a/b"}).trusted_proxies


def test_proxies_are_also_named_as_a_server_on_ipv6_sees_them() -> None:
    settings = Settings.from_env({"AGL1K_TRUSTED_PROXIES": " 192.0.2.0/24,2001:db8::1 "})
    assert settings.trusted_proxies == (
        "192.0.2.0/24", "::ffff:192.0.2.0/120", "2001:db8::1/128",
    )  # fmt: skip


def test_the_share_of_an_address_follows_the_limit_of_all() -> None:
    assert Settings.from_env({}).rounds_per_address == 600
    assert Settings.from_env({"AGL1K_ROUNDS_PER_HOUR": "7"}).rounds_per_address == 1
    assert Settings.from_env({"AGL1K_ROUNDS_PER_ADDRESS": "9"}).rounds_per_address == 9
