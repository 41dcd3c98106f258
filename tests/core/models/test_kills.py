"""A run that is killed again and again loses nothing and asks nothing twice."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from agl1k_core.models import read_reply
from agl1k_core.models.failures import EndpointError
from agl1k_core.models.history import raw_reply, read_history
from agl1k_core.models.journal import read_journal
from agl1k_core.predictions import read_predictions
from tests.support.fake_endpoint import FakeEndpoint, Fault, fake_endpoint
from tests.support.model_runs import small_benchmark
from tests.support.processes import ROOT
from tests.support.waiting import PATIENCE_S, eventually

N, N_KILLS, COST = 40, 10, 0.01


def start(fake: FakeEndpoint, folder: Path, output: Path, *more: str) -> subprocess.Popen[bytes]:
    command = [
        sys.executable, "-m", "agl1k_core", "run", "--model", fake.model, "--base-url", fake.url,
        "-b", str(folder), "-o", str(output), "--concurrency", "6", *more,
    ]  # fmt: skip
    env = {**os.environ, "NO_PROXY": "127.0.0.1"}
    return subprocess.Popen(
        command, cwd=ROOT, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )


def killed_after(fake: FakeEndpoint, process: subprocess.Popen[bytes], n_more: int) -> None:
    """Kill a run once it has asked so many more questions."""
    goal = len(fake.requests) + n_more
    eventually(lambda: len(fake.requests) >= goal or process.poll() is not None)
    process.kill()
    process.communicate()
    eventually(lambda: fake.under_way == 0)


def is_answer(event: Mapping[str, Any]) -> bool:
    try:
        return bool(read_reply(raw_reply(event)))
    except EndpointError:
        return False


@pytest.mark.server
@pytest.mark.slow
def test_ten_kills_lose_nothing(tmp_path: Path) -> None:
    folder, rng = tmp_path / "bench", random.Random(4)
    on = small_benchmark(folder, N)
    output = tmp_path / "run"
    faults = [Fault(500, "oops"), Fault(200, b'{"choi'), Fault(429, {}, {"Retry-After": "0"})] * 2
    with fake_endpoint(
        cost=COST, delay_s=lambda number: 0.05 * (number * 7 % 5), faults=faults
    ) as fake:
        for _ in range(N_KILLS):
            killed_after(fake, start(fake, folder, output), rng.randint(1, 5))
        process = start(fake, folder, output)
        _, errors = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 0, errors.decode()

    events = list(read_journal(output))
    replies = [event for event in events if event["line"] == "reply"]
    answers = Counter(event["clip"] for event in replies if is_answer(event))
    assert answers == Counter({f"k{number}": 1 for number in range(N)})
    told = json.loads((output / "provenance.json").read_text())
    assert told["clips"] == {
        "asked": N, "answered": N, "failed": 0, "cut_off": 0, "truncated": 0,
    }  # fmt: skip
    # what was under way at a kill may have been answered, and is counted as lost
    n_given = fake.answered.total()
    n_lost = read_history(output).n_lost
    assert N <= n_given <= N + n_lost
    n_charged = sum('"cost"' in event.get("body", "") for event in events)
    assert told["cost"]["usd"] == pytest.approx(COST * n_charged)
    assert fake.charged - told["cost"]["usd"] <= COST * (n_lost + N_KILLS * 6) + 1e-9
    assert told["lost_requests"] == n_lost
    assert list(read_predictions(output / "predictions.jsonl", on).keys) == list(on.index)


@pytest.mark.server
@pytest.mark.slow
def test_interrupting_keeps_what_is_under_way(tmp_path: Path) -> None:
    folder, output = tmp_path / "bench", tmp_path / "run"
    small_benchmark(folder, 12)
    with fake_endpoint(delay_s=lambda number: 0.3) as fake:
        process = start(fake, folder, output)
        eventually(lambda: len(fake.about_clips) >= 2 or process.poll() is not None)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 1
        assert errors.decode().strip().endswith("The same command resumes it.")
        assert read_history(output).n_lost == 0
        told = json.loads((output / "provenance.json").read_text())
        assert told["clips"]["answered"] == fake.answered.total() > 0


def acts_twice(body: Mapping[str, Any]) -> str:
    """Asks for two segments, then commits."""
    step = sum(turn["role"] == "assistant" for turn in body["messages"])
    action = {"name": "commit"} if step == 2 else {"name": "hear", "start_s": 0, "end_s": 0.4}
    return json.dumps({"latitude": step, "longitude": 1, "action": action})


@pytest.mark.server
@pytest.mark.slow
def test_a_model_that_listens_again_is_killed_in_its_conversations(tmp_path: Path) -> None:
    """No step with an answer on disk is asked for again, and none is skipped."""
    folder, output, rng = tmp_path / "bench", tmp_path / "run", random.Random(7)
    on, n_clips = small_benchmark(folder, 12), 12
    with fake_endpoint(converse=acts_twice, cost=COST,
                       delay_s=lambda number: 0.05 * (number * 7 % 5)) as fake:  # fmt: skip
        for _ in range(4):
            killed_after(fake, start(fake, folder, output, "--agent", "3"), rng.randint(2, 8))
        process = start(fake, folder, output, "--agent", "3")
        _, errors = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 0, errors.decode()

    replies = [event for event in read_journal(output) if event["line"] == "reply"]
    answers = Counter((event["clip"], event["step"]) for event in replies if is_answer(event))
    assert answers == Counter({(f"k{n}", step): 1 for n in range(n_clips) for step in range(3)})
    n_given = fake.answered.total()
    assert 3 * n_clips <= n_given <= 3 * n_clips + read_history(output).n_lost
    assert list(read_predictions(output / "predictions.jsonl", on).lat) == [2.0] * n_clips
