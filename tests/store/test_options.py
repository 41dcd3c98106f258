"""Environment variables that configure the store."""

from __future__ import annotations

from pathlib import Path

import pytest

from agl1k_core.errors import Agl1kError
from store.options import StoreOptions


def test_by_default_the_database_is_in_the_data_folder_and_nothing_is_published(
    tmp_path: Path,
) -> None:
    options = StoreOptions.from_env({"AGL1K_DATA": str(tmp_path)})
    assert options.database == f"sqlite:///{tmp_path / 'agl1k.db'}"
    assert options.hub.dataset == ""


def test_the_token_is_found_under_either_name_and_not_printed() -> None:
    env = {"AGL1K_HUB_DATASET": "a/b", "HF_TOKEN": "tell-nobody"}
    options = StoreOptions.from_env(env)
    assert options.hub.token == "tell-nobody"
    assert "tell-nobody" not in repr(options)
    assert StoreOptions.from_env({**env, "AGL1K_HUB_TOKEN": "other"}).hub.token == "other"


@pytest.mark.parametrize(
    ("env", "message"),
    [
        ({"AGL1K_HUB_DATASET": "no-owner", "HF_TOKEN": "t"}, "is not the name of a dataset"),
        ({"AGL1K_HUB_DATASET": "a/b"}, "no token to write to it"),
        ({"AGL1K_HUB_INTERVAL_S": "0"}, "from 0.1"),
        ({"AGL1K_HUB_MAX_WAITING": "0"}, "between 1 and"),
        ({"AGL1K_HUB_FLUSH_S": "1e9"}, "between 0 and 3600"),
    ],
)
def test_nonsense_is_refused_with_what_to_set(env: dict[str, str], message: str) -> None:
    with pytest.raises(Agl1kError) as error:
        StoreOptions.from_env(env)
    assert message in str(error.value)
