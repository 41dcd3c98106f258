"""Two servers without sticky sessions: a step with a file works on whichever server it reaches."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.app_help import Visitor, app_process

N_STEPS = 6


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
@pytest.mark.postgres
@pytest.mark.slow
def test_a_file_step_works_on_any_server(tmp_path: Path, database_url: str) -> None:
    env = {"AGL1K_DATABASE": database_url}
    with app_process(tmp_path / "a", env) as first, app_process(tmp_path / "b", env) as second:
        visitors = [Visitor(first.url), Visitor(second.url)]
        table = visitors[0].http.get("/api/leaderboard/example.json").content
        for step in range(N_STEPS):
            file = visitors[step % 2].upload("a.json", table)
            for visitor in visitors:
                answer = visitor.http.post(
                    "/gradio_api/run/dry_run", json={"data": [file, ""], "session_hash": "s"}
                )
                assert answer.json()["data"][0]["accepted"] is True
