"""The task for Inspect, asked by its mock model, and the log that it leaves.

Needs the extra ``inspect``, which is too large for every checkout.
"""

from __future__ import annotations

import base64
import io
import wave
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agl1k_core.benchmarks import Benchmark
from agl1k_core.cli.main import app
from agl1k_core.models import default_prompt
from agl1k_core.predictions import read_predictions
from agl1k_core.scoring import evaluate
from tests.support.model_runs import small_benchmark

inspect_ai = pytest.importorskip("inspect_ai", reason="the extra inspect is not installed")

ANSWERS = [
    '{"latitude": 0, "longitude": 0.5, "country": "France"}',
    "<think>Lagos?</think>I cannot tell where this is.",
    "Latitude: 2.5, Longitude: 3",
]


@pytest.fixture
def on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Benchmark:
    monkeypatch.setenv("AGL1K_DATA", str(tmp_path / "data"))
    return small_benchmark(tmp_path / "bench", 3)


@dataclass
class Mock:
    """Inspect's mock model: gives answers in turn, and keeps what it is asked."""

    answers: list[str]
    asked: list[Any] = field(default_factory=list)

    def answer(self, messages: Any, *_: object) -> Any:
        self.asked.append(messages)
        output = inspect_ai.model.ModelOutput.from_content(
            "mockllm/model", self.answers[len(self.asked) - 1]
        )
        # without usage, the mock model downloads a tokenizer to count tokens
        output.usage = inspect_ai.model.ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    @property
    def model(self) -> Any:
        return inspect_ai.model.get_model("mockllm/model", custom_outputs=self.answer)


def evaluated(on: Benchmark, folder: Path, mock: Mock, **options: Any) -> Any:
    from agl1k_core.models.inspect_task import agl1k

    (log,) = inspect_ai.eval(
        agl1k(benchmark=str(on.audio_dir)), model=mock.model, log_dir=str(folder),
        max_samples=1, display="none", **options,
    )  # fmt: skip
    assert log.status == "success", log.error
    return log


def test_each_clip_is_heard_and_scored_as_on_the_board(on: Benchmark, tmp_path: Path) -> None:
    log = evaluated(on, tmp_path / "logs", Mock(ANSWERS))
    read = read_predictions(Path(log.location), on)
    assert [str(status) for status in read.status] == ["answered", "refused", "answered"]
    expected = evaluate(on, read, intervals=False)
    metrics = {score.name: score.metrics["mean"].value for score in log.results.scores}
    for name in ("geoscore", "distance_km", "country_accuracy"):
        assert metrics[name] == pytest.approx(expected.metrics[name])
    samples = {sample.id: sample for sample in log.samples}
    assert samples["k1"].scores["geoscore"].answer == "refused"


def test_what_is_sent_is_our_prompt_and_the_sound_without_tags(
    on: Benchmark, tmp_path: Path
) -> None:
    mock = Mock(ANSWERS)
    evaluated(on, tmp_path / "logs", mock)
    (message,) = mock.asked[1]
    text, sound = message.content
    assert text.text == default_prompt().text
    content = base64.b64decode(sound.audio.removeprefix("data:audio/wav;base64,"))
    with wave.open(io.BytesIO(content)) as wav:
        assert (wav.getframerate(), wav.getnchannels()) == (16_000, 1)
        assert wav.getnframes() == 16_000  # k1 has one second


def test_a_json_log_and_an_eval_log_are_the_same_predictions(on: Benchmark, tmp_path: Path) -> None:
    logs = [
        evaluated(on, tmp_path / kind, Mock(ANSWERS), log_format=kind, log_shared=False)
        for kind in ("eval", "json")
    ]
    first, second = (read_predictions(Path(log.location), on) for log in logs)
    assert sorted(first.keys) == sorted(second.keys)
    assert dict(zip(first.keys, first.lat, strict=True))["k2"] == 2.5


def test_the_command_for_inspects_own_options_is_printed(on: Benchmark) -> None:
    printed = CliRunner().invoke(app, ["inspect", "-b", str(on.audio_dir), "--limit", "2"])
    assert printed.exit_code == 0, printed.output
    assert "inspect_task.py@agl1k -T benchmark=" in printed.stdout
    assert "--limit 2 --model PROVIDER/MODEL" in printed.stdout
