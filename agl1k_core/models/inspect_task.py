"""A task for Inspect: a benchmark's clips, our prompt, our parser, the geoscore.

``inspect eval`` loads this file by its path. It needs the extra ``inspect``, so nothing imports it.
"""

from __future__ import annotations

import base64
from functools import partial
from pathlib import Path
from typing import Any, Literal

from anyio import to_thread
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessage, ChatMessageUser, ContentAudio, ContentText
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, generate, solver

from agl1k_core.benchmarks import Benchmark, Clip, find_recording, load_benchmark
from agl1k_core.config import Config
from agl1k_core.errors import Agl1kError
from agl1k_core.models import Sound, Treatment, default_prompt, prepare, read_prompt
from agl1k_core.predictions import read_predictions
from agl1k_core.scoring import SCORER_VERSION, evaluate

_METRICS = ("geoscore", "distance_km", "country_accuracy")


@task  # type: ignore[untyped-decorator,unused-ignore]
def agl1k(
    benchmark: str = "",
    prompt_file: str = "",
    max_seconds: float | None = None,
    audio_format: Literal["wav", "mp3"] = "wav",
) -> Task:
    """Where on Earth was each clip recorded?

    Parameters
    ----------
    benchmark
        ``demo``, ``agl1k``, a table or a folder; by default ``AGL1K_BENCHMARK``.
    prompt_file
        Another prompt than ours.
    max_seconds
        Longer recordings are truncated.
    audio_format
        The format that is sent: one channel at 16 kHz without tags, as by ``agl1k run``.
    """
    config = Config.from_env()
    on = load_benchmark(benchmark or config.benchmark, config)
    prompt = read_prompt(Path(prompt_file)) if prompt_file else default_prompt()
    treatment = Treatment(audio_format, max_seconds)
    found = _recordings(on)
    samples = [_sample(on.clip(key), prompt.text) for key in found]
    return Task(
        dataset=MemoryDataset(samples, name=on.slug),
        solver=[hearing(found, treatment), generate()],
        scorer=geoscore(on),
        metadata={
            "benchmark": on.slug,
            "benchmark_hash": on.content_hash,
            "clips_without_recording": len(on) - len(found),
            "prompt_sha256": prompt.sha256,
            "scorer_version": SCORER_VERSION,
        },
    )


def _recordings(on: Benchmark) -> dict[str, Path]:
    folder = on.audio_dir
    found = {
        clip.key: path
        for clip in on.clips
        if folder and (path := find_recording(on, clip, folder)) is not None
    }
    if not found:
        raise Agl1kError(f"{on.name} has no recordings here. Run: agl1k fetch --recordings")
    return found


def _sample(clip: Clip, prompt: str) -> Sample:
    return Sample(
        id=clip.key,
        input=[ChatMessageUser(content=[ContentText(text=prompt)])],
        target=f"{clip.lat}, {clip.lon}",
    )


@solver  # type: ignore[untyped-decorator,unused-ignore]
def hearing(found: dict[str, Path], treatment: Treatment) -> Solver:
    """Adds the sound to the question once its turn has come: all of them would fill the memory."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        path = found[str(state.sample_id)]
        sound = await to_thread.run_sync(partial(prepare, path, treatment))
        state.messages[-1] = _with_sound(state.messages[-1], sound)
        return state

    return solve


def _with_sound(question: ChatMessage, sound: Sound) -> ChatMessage:
    data = base64.b64encode(sound.data).decode()
    kind = "mp3" if sound.format == "mp3" else "wav"
    heard = ContentAudio(audio=f"data:audio/{kind};base64,{data}", format=kind)
    return ChatMessageUser(content=[ContentText(text=question.text), heard])


@scorer(  # type: ignore[untyped-decorator,unused-ignore]
    metrics={
        "geoscore": [mean(), stderr()],
        "distance_km": [mean(), stderr()],
        "country_accuracy": [mean(), stderr()],
    }
)
def geoscore(on: Benchmark) -> Scorer:
    """Scores as the board does: an answer without a point is 10,000 km away."""

    async def score(state: TaskState, target: Target) -> Score:
        return Score(**scored(on, str(state.sample_id), state.output.completion))

    return score


def scored(on: Benchmark, key: str, answer: str) -> dict[str, Any]:
    """The score of one raw answer, as fields of Inspect's ``Score``."""
    read = read_predictions([{"key": key, "model_output": answer}], on)
    rows = evaluate(on, read, intervals=False).rows
    assert rows is not None  # a new evaluation has its rows
    status, lat, lon = str(read.status[0]), float(read.lat[0]), float(read.lon[0])
    return {
        "value": {name: float(rows.column(name)[0]) for name in _METRICS},
        "answer": f"{lat}, {lon}" if status == "answered" else status,
        "explanation": answer,
        "metadata": {"status": status, "country": str(read.country[0])},
    }
