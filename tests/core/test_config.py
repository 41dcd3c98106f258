"""Environment variables that configure the science."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agl1k_core.config import Config, Environment
from agl1k_core.errors import Agl1kError


def test_everything_has_a_default() -> None:
    config = Config.from_env({})
    assert (config.benchmark, config.audio_dir, config.judge_key) == ("demo", None, "")
    assert config.data_dir.name == "agl1k"


def test_everything_can_be_set(tmp_path: Path) -> None:
    env = {
        "AGL1K_DATA": str(tmp_path), "AGL1K_BENCHMARK": "agl1k", "AGL1K_AUDIO": "sounds",
        "AGL1K_TABLE_URL": "http://a/t.csv", "AGL1K_AUDIO_URL": "http://a/{key}",
        "AGL1K_JUDGE_KEY": "k",
    }  # fmt: skip
    assert Config.from_env(env) == Config(
        tmp_path, "agl1k", Path("sounds"), "http://a/t.csv", "http://a/{key}", "k"
    )


def test_the_key_is_not_printed() -> None:
    assert "tell-nobody" not in repr(Config.from_env({"AGL1K_JUDGE_KEY": "tell-nobody"}))


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("AGL1K_TABLE_URL", "junk", "https:// or http://, or unset"),
        ("AGL1K_TABLE_URL", "file:///etc/passwd", "is not an address"),
        ("AGL1K_AUDIO_URL", "http://a/{", "with {key} and {file_name} in it"),
        ("AGL1K_AUDIO_URL", "http://a/{other}", "is not an address"),
        ("AGL1K_AUDIO_URL", "http://a/{key.x}", "is not an address"),
    ],
)
def test_nonsense_is_refused_with_what_to_set(name: str, value: str, message: str) -> None:
    with pytest.raises(Agl1kError) as error:
        Config.from_env({name: value})
    assert name in str(error.value)
    assert message in str(error.value)


@given(st.text(max_size=20), st.integers(-5, 5), st.integers(0, 5))
def test_a_number_is_within_its_limits_or_reported(text: str, lowest: int, width: int) -> None:
    """The caller gets a number within the limits even before problems are raised."""
    environment = Environment({"N": text})
    number = environment.number("N", lowest, lowest=lowest, highest=lowest + width)
    assert lowest <= number <= lowest + width
    try:
        usable = not text or lowest <= float(text) <= lowest + width
    except ValueError:
        usable = False
    if usable:
        environment.raise_problems()
    else:
        with pytest.raises(Agl1kError, match=r"^N="):
            environment.raise_problems()


def test_the_first_variable_that_is_set_counts() -> None:
    environment = Environment({"A": "", "B": "b", "C": "c"})
    assert environment.text("A", "B", "C") == "b"
    assert environment.text("A", default="d") == "d"
