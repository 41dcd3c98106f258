"""Servers in processes of their own, on free ports of 127.0.0.1, with empty data folders."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

ROOT = Path(__file__).parents[1]
OUR_APP = ("app.py",)
#: The least that Gradio serves, with the same options as ours.
EMPTY_GRADIO = (
    "-c",
    "import os, gradio as gr, uvicorn; from fastapi import FastAPI; page = gr.Blocks(); "
    "app = gr.mount_gradio_app(FastAPI(), page, path='/', ssr_mode=False, pwa=False, "
    "theme=gr.themes.Base(font='sans-serif', font_mono='monospace')); "
    "uvicorn.run(app, port=int(os.environ['PORT']), log_level='warning')",
)
#: The same with one button, whose event is ``/gradio_api/run/press``.
ONE_BUTTON = (
    "-c",
    EMPTY_GRADIO[1].replace(
        "page = gr.Blocks();",
        "page = gr.Blocks(); page.__enter__(); text = gr.Textbox(); gr.Button().click("
        "lambda given: given, text, text, queue=False, api_name='press'); page.__exit__();",
    ),
)
#: One route, ``POST /plain``, that only answers.
PLAIN_ROUTE = (
    "-c",
    "import os, uvicorn; from fastapi import FastAPI, Request; app = FastAPI()\n"
    "@app.get('/')\nasync def ready() -> str: return 'ready'\n"
    "@app.post('/plain')\n"
    "async def plain(asked: Request) -> dict[str, int]: return {'size': len(await asked.body())}\n"
    "uvicorn.run(app, port=int(os.environ['PORT']), log_level='warning')",
)
_PATIENCE_S = 120


@dataclass(frozen=True)
class Serving:
    """A server: its URL, the seconds until it answered, and its process."""

    url: str
    started_s: float
    pid: int

    def cpu_s(self) -> float:
        """Processor time of all its threads so far, in seconds."""
        tasks = Path(f"/proc/{self.pid}/task").glob("*/schedstat")
        return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9

    def memory_mb(self) -> float:
        """Its memory at present, in MB of 1,000,000 bytes."""
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


@contextmanager
def serving(arguments: Sequence[str], path: str = "/") -> Iterator[Serving]:
    """Run Python with ``arguments`` until the block ends, once it answers ``path``."""
    port = _free_port()
    url = f"http://127.0.0.1:{port}"
    with tempfile.TemporaryDirectory() as folder:
        env = os.environ | {
            "PORT": str(port), "AGL1K_DATA": folder, "GRADIO_ANALYTICS_ENABLED": "False",
            "AGL1K_ROUNDS_PER_HOUR": "1000000",
        }  # fmt: skip
        env = {name: value for name, value in env.items() if name != "AGL1K_DATABASE"}
        began = time.perf_counter()
        process = subprocess.Popen([sys.executable, *arguments], cwd=ROOT, env=env)
        try:
            _wait_for(url + path, process)
            yield Serving(url, time.perf_counter() - began, process.pid)
        finally:
            process.terminate()
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _free_port() -> int:
    with closing(socket.socket()) as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def _wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    last = time.monotonic() + _PATIENCE_S
    with httpx.Client(timeout=_PATIENCE_S) as client:
        while time.monotonic() < last and process.poll() is None:
            try:
                if client.get(url).is_success:
                    return
            except httpx.TransportError:
                pass
            time.sleep(0.02)
    raise RuntimeError(f"the server did not answer {url}")
