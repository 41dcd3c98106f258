"""Models in this process, named ``module:function``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from agl1k_core.benchmarks import Benchmark
from agl1k_core.errors import Agl1kError
from agl1k_core.http import Patience
from agl1k_core.models import LocalModel, RunLimits, RunSettings, load_function, run_model
from agl1k_core.models.messages import Samples

LIMITS = RunLimits(patience=Patience(attempts=1), concurrency=3)


def counting(samples: Samples | None, prompt: str) -> str:
    """Hears: counts beeps by their envelope; says where everything is."""
    if "beeps" not in prompt:
        return '{"latitude": 1, "longitude": 2}'
    if samples is None:
        return "0"
    blocks = samples[: len(samples) // 800 * 800].reshape(-1, 800)
    loud = np.abs(blocks).max(axis=1) > 0.1
    return str(np.count_nonzero(loud[1:] & ~loud[:-1]))


def run(small: Benchmark, folder: Path, ask: object) -> tuple[dict[str, int], str]:
    model = LocalModel(ask, "mine:ask")  # type: ignore[arg-type]
    result, stopped = run_model(small, model, RunSettings("mine", "mine:ask"), folder, LIMITS)
    return result.provenance["clips"], stopped


def test_a_function_is_asked_about_every_clip(small: Benchmark, tmp_path: Path) -> None:
    durations: list[float] = []

    def ask(samples: Samples | None, prompt: str) -> str:
        if samples is not None and "beeps" not in prompt:
            assert samples.dtype == np.float32
            durations.append(len(samples) / 16000)
        return counting(samples, prompt)

    clips, stopped = run(small, tmp_path / "run", ask)
    assert (clips["answered"], stopped) == (6, "")
    assert sorted(durations) == pytest.approx([0.5, 1.0, 1.5, 2.0, 2.5, 3.0], abs=0.01)


def test_a_function_that_does_not_hear_ends_the_run(small: Benchmark, tmp_path: Path) -> None:
    with pytest.raises(Agl1kError, match="does not hear"):
        run(small, tmp_path / "run", lambda samples, prompt: "48.9, 2.4")


def test_what_a_function_raises_is_kept_and_asked_again(small: Benchmark, tmp_path: Path) -> None:
    broken = {"fails": True}

    def ask(samples: Samples | None, prompt: str) -> str:
        if broken["fails"] and samples is not None and len(samples) == 8000:
            raise ValueError("too short")
        return counting(samples, prompt)

    clips, stopped = run(small, tmp_path / "run", ask)
    assert (clips["answered"], clips["failed"], stopped) == (5, 1, "")
    assert "ValueError: too short" in (tmp_path / "run" / "predictions.jsonl").read_text()
    broken["fails"] = False
    assert run(small, tmp_path / "run", ask)[0]["answered"] == 6


def test_a_function_must_return_text(small: Benchmark, tmp_path: Path) -> None:
    def ask(samples: Samples | None, prompt: str) -> object:
        return counting(samples, prompt) if "beeps" in prompt else {"latitude": 1}

    _, stopped = run(small, tmp_path / "run", ask)
    assert "must return the answer as text; it returned dict" in stopped


@pytest.mark.parametrize(
    ("ask", "converses"),
    [
        (lambda audio, prompt: "", False),
        (lambda audio, prompt, beams=1: "", False),
        (lambda messages: "", True),
        (lambda messages, beams=1, **more: "", True),
        (lambda *anything: "", False),
    ],
)
def test_one_argument_means_a_conversation(ask: Callable[..., str], converses: bool) -> None:
    assert LocalModel(ask, "mine:ask").converses is converses


def test_functions_are_imported_from_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my_model_1.py").write_text("def ask(audio, prompt):\n    return 'x'\n")
    (tmp_path / "my_model_2.py").write_text("import nothing_like_this\n")
    monkeypatch.chdir(tmp_path)
    assert load_function("my_model_1:ask")(None, "") == "x"
    for spec, words in [
        ("my_model_1:other", "has no function other"),
        ("my_model_2:ask", "cannot be imported: ModuleNotFoundError"),
        ("my_model_9:ask", "cannot be imported"),
        ("my_model_1", "is not module:function"),
    ]:
        with pytest.raises(Agl1kError, match=words):
            load_function(spec)
