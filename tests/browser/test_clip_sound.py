"""A real Chromium plays the copies: right duration, seeking by ranges, to the end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.responses import HTMLResponse
from playwright.sync_api import Page

from agl1k_core.benchmarks import Benchmark, Clip
from game.clips import ClipStore, clip_router
from tests.support import sounds

LISTEN = """async () => {
  const sound = document.querySelector('audio');
  const once = name => new Promise(done => sound.addEventListener(name, done, {once: true}));
  if (sound.readyState < 1) await once('loadedmetadata');
  const duration_s = sound.duration;
  await sound.play();
  const seeked = once('seeked');
  sound.currentTime = duration_s - 1;
  await seeked;
  const at_s = sound.currentTime;
  await once('ended');
  return {duration_s, at_s, end_s: sound.currentTime};
}"""


@pytest.mark.parametrize(
    ("suffix", "codec", "duration_s"),
    [("mp3", "mp3", 90), ("m4a", "aac", 90), ("ogg", "libopus", 4), ("wav", "pcm_s16le", 4)],
)
def test_chromium_plays_and_seeks(
    tmp_path: Path,
    serve: Callable[[Any], str],
    page: Page,
    suffix: str,
    codec: str,
    duration_s: float,
) -> None:
    rate_hz = 48000
    tone = sounds.tone(duration_s, 1, rate_hz)
    sounds.encode(tmp_path / f"Essaouira.{suffix}", codec, tone, rate_hz=rate_hz)
    clip = Clip("aporee_1", 31.5, -9.8, file_name=f"Essaouira.{suffix}")
    benchmark = Benchmark("test", "Test", "1", (clip,), audio_dir=tmp_path)
    app = FastAPI()
    app.include_router(clip_router(ClipStore(tmp_path / "cache"), {"t": (benchmark, clip.key)}.get))

    @app.get("/", response_class=HTMLResponse)
    def home() -> str:
        return "<link rel='icon' href='data:,'><audio controls src='clip/t'></audio>"

    told: list[str] = []
    page.on("response", lambda answer: told.append(f"{answer.status} {answer.headers}"))
    page.goto(serve(app))
    page.mouse.click(400, 400)  # browsers play nothing before a gesture
    heard = page.evaluate(LISTEN)

    assert heard["duration_s"] == pytest.approx(duration_s, abs=0.15)
    assert heard["at_s"] == pytest.approx(heard["duration_s"] - 1, abs=0.01)
    assert heard["end_s"] == pytest.approx(heard["duration_s"], abs=0.01)
    ranges = [line for line in told if line.startswith("206")]
    assert ranges
    assert not [line for line in told if "Essaouira" in line or "aporee" in line]
