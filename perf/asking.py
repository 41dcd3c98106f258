"""Asking 1,444 clips of an endpoint that takes a fixed time: what a run adds, and its memory.

The endpoint is a process of its own that reads a request, waits, and answers; it does not look at
the sound. With 16 questions under way, it alone would need a sixteenth of the sum of its waits.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from agl1k_core.benchmarks import Benchmark, Clip, find_recording, read_demo
from agl1k_core.http import Patience
from agl1k_core.models import (
    Endpoint,
    Listeners,
    Progress,
    RunLimits,
    RunSettings,
    run_model,
)
from perf.servers import serving
from perf.table import Measured

N_CLIPS = 1444
CONCURRENCY = 16
WAIT_S = 2.0
MAX_OVERHEAD = 10.0
#: Memory may grow by this much between a quarter of the clips and the last.
MAX_GROWTH_MB = 20.0


@dataclass
class Memory:
    """Memory of this process at a quarter of the clips and at the last."""

    n_clips: int
    quarter_mb: float = 0.0
    last_mb: float = 0.0
    n_done: int = field(default=0)

    def note(self, progress: Progress) -> None:
        """Look at the memory after a clip."""
        self.last_mb = resident_mb()
        if progress.n_done == self.n_clips // 4:
            self.quarter_mb = self.last_mb


def run() -> Iterator[Measured]:
    """The time beside the endpoint's own, processor time per clip, and memory."""
    with serving(["-m", "perf.asking"]) as server, tempfile.TemporaryDirectory() as folder:
        yield from measure(server.url, Path(folder), N_CLIPS)


def measure(url: str, folder: Path, n_clips: int) -> Iterator[Measured]:
    """Run against the endpoint at ``url``."""
    benchmark = linked_benchmark(folder / "clips", n_clips)
    memory = Memory(n_clips)
    endpoint = Endpoint("model", f"{url}/v1", patience=Patience())
    limits = RunLimits(concurrency=CONCURRENCY, skip_hearing_check=True)
    settings = RunSettings("model", url)
    listeners = Listeners(report=memory.note)
    began, cpu = time.perf_counter(), time.process_time()
    result, stopped = run_model(benchmark, endpoint, settings, folder / "run", limits, listeners)
    took_s, cpu_s = time.perf_counter() - began, time.process_time() - cpu
    endpoint.close()
    assert not stopped
    assert result.provenance["clips"]["answered"] == n_clips
    own_s = WAIT_S * n_clips / CONCURRENCY
    overhead = 100 * (took_s / own_s - 1)
    yield Measured("asking", f"{n_clips:,} clips", took_s, "s")
    yield Measured("asking", "more than the endpoint's own time", overhead, "%", MAX_OVERHEAD)
    yield Measured("asking", "processor time per clip", 1000 * cpu_s / n_clips, "ms")
    yield Measured("asking", "memory at the end", memory.last_mb, "MB")
    growth = memory.last_mb - memory.quarter_mb
    yield Measured("asking", "more than after a quarter", growth, "MB", MAX_GROWTH_MB)


def linked_benchmark(folder: Path, n_clips: int) -> Benchmark:
    """Clips whose recordings are those of the demo pack, again and again."""
    folder.mkdir()
    demo = read_demo()
    assert demo.audio_dir
    clips = []
    for number in range(n_clips):
        source = find_recording(demo, demo.clips[number % len(demo)], demo.audio_dir)
        assert source
        (folder / f"clip{number}{source.suffix}").symlink_to(source)
        clips.append(Clip(f"clip{number}", 0.0, number % 180))
    return Benchmark("linked", "Linked", "1", tuple(clips), audio_dir=folder)


def resident_mb() -> float:
    """Memory that this process uses now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    choice = {"message": {"content": '{"latitude": 48.9, "longitude": 2.4}'}}
    usage = {"prompt_tokens": 900, "completion_tokens": 60, "cost": 0.001}
    body = json.dumps({"choices": [choice], "usage": usage}).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    while True:
        try:
            request = (await reader.readuntil(b"\r\n\r\n")).lower()
        except (asyncio.IncompleteReadError, ConnectionResetError):
            writer.close()
            return
        if b"content-length: " in request:
            length = int(request.split(b"content-length: ")[1].split(b"\r\n")[0])
            await reader.readexactly(length)
            await asyncio.sleep(WAIT_S)
        writer.write(head.encode() + b"\r\n" + body)
        await writer.drain()


async def _serve() -> None:
    server = await asyncio.start_server(_answer, "127.0.0.1", int(os.environ["PORT"]), limit=2**22)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_serve())
