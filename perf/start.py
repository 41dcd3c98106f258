"""Start of ``app.py`` until it is healthy, next to Gradio's import and an empty Gradio app."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator, Sequence

from perf.servers import EMPTY_GRADIO, OUR_APP, serving
from perf.table import Measured

_ROUNDS = 3


def run() -> Iterator[Measured]:
    """All three in turn, the best of some rounds each; the data folder is new every time."""
    ours, empty, alone = [], [], []
    for _ in range(_ROUNDS):
        ours.append(_until_it_answers(OUR_APP, "/healthz"))
        empty.append(_until_it_answers(EMPTY_GRADIO, "/"))
        alone.append(_import_alone())
    yield Measured("start", "app.py until /healthz answers, new database", min(ours), "s")
    yield Measured("start", "an empty Gradio app until it answers", min(empty), "s")
    yield Measured("start", "import gradio alone", min(alone), "s")
    yield Measured("start", "ours / empty Gradio app", min(ours) / min(empty), "×")


def _until_it_answers(arguments: Sequence[str], path: str) -> float:
    with serving(arguments, path) as server:
        return server.started_s


def _import_alone() -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import gradio"], check=True)
    return time.perf_counter() - began
