"""Acknowledged rows are published exactly once, even if server and Hub fail.

``python -m tests.support.hub_kills`` does the same for longer.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.hub_kills import Outcome, kill_often


def check(outcome: Outcome) -> None:
    assert outcome.acknowledged >= 100
    assert (outcome.lost, outcome.doubled, outcome.waiting) == (0, 0, 0)
    assert outcome.differing == 0
    assert outcome.published_but_not_stored == 0


@pytest.mark.server
def test_two_servers_on_one_dataset_that_are_killed(tmp_path: Path) -> None:
    check(kill_often([f"sqlite:///{tmp_path / name}.db" for name in "ab"], 1))


@pytest.mark.postgres
def test_two_processes_on_one_database_that_are_killed(postgres_server: Any) -> None:
    postgres_server.execute("CREATE SCHEMA hub_kills")
    check(kill_often([postgres_server.url("hub_kills")] * 2, 1))
