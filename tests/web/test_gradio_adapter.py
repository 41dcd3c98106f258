"""Gradio's internals: used in one module only, and as that module expects them."""

from __future__ import annotations

import ast
import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import gradio as gr
import pytest
from fastapi import FastAPI

from web.gradio_adapter import (
    STATIC_FOLDER,
    bounded,
    gradio_apps,
    queue_of,
    treat_as_launched,
    upload_into,
)

ROOT = Path(__file__).parents[2]
FLOORS = ("agl1k_core", "store", "web", "ui", "game", "leaderboard")
SOURCES = [ROOT / "app.py", *(path for name in FLOORS for path in (ROOT / name).rglob("*.py"))]
INTERNALS = {"context", "data_classes", "exceptions", "oauth", "route_utils", "routes", "utils"}


def uses_of_internals(source: str) -> Iterator[str]:
    """Imports from inside Gradio, and its inner modules as attributes of ``gr``."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name.startswith("gradio."))
        elif isinstance(node, ast.ImportFrom):
            if str(node.module).split(".")[0] == "gradio":
                yield str(node.module)
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) in ("gr", "gradio"):
            yield from {node.attr} & INTERNALS


@pytest.mark.parametrize(
    ("line", "is_use"),
    [
        ("import gradio as gr", False), ("gr.Error('x')", False), ("import gradio_client", False),
        ("import gradio.utils", True), ("from gradio import oauth", True),
        ("from gradio.context import LocalContext", True), ("gr.utils.get_space()", True),
    ],
)  # fmt: skip
def test_uses_are_found(line: str, is_use: bool) -> None:
    assert any(uses_of_internals(line)) is is_use


def test_only_the_adapter_uses_internals() -> None:
    users = {
        path.relative_to(ROOT).as_posix()
        for path in SOURCES
        if any(uses_of_internals(path.read_text("utf-8")))
    }
    assert users == {"web/gradio_adapter.py"}


def test_the_app_of_a_mounted_page_is_found() -> None:
    app = FastAPI()
    app.mount("/other", FastAPI())
    assert list(gradio_apps(app)) == []
    with gr.Blocks() as page:
        treat_as_launched(page)
    mounted = gr.mount_gradio_app(app, page, path="/", ssr_mode=False)
    [found] = gradio_apps(mounted)
    assert found.get_blocks() is page


def test_gradios_own_files_are_where_it_says() -> None:
    assert any(STATIC_FOLDER.iterdir())


def test_the_owner_of_the_machine_may_choose_the_folder_of_uploads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GRADIO_TEMP_DIR", raising=False)
    upload_into(tmp_path)
    upload_into(tmp_path / "other")
    assert os.environ["GRADIO_TEMP_DIR"] == str(tmp_path)


def test_an_idle_queue_looks_for_events_a_few_times_a_second(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = FastAPI()
    page = gr.Blocks()
    bounded(page, gr.mount_gradio_app(app, page, path="/"))
    (mounted,) = gradio_apps(app)
    queue, pauses = queue_of(mounted), list[float]()

    async def pause(seconds: float) -> None:
        pauses.append(seconds)
        queue.stopped = True

    monkeypatch.setattr("asyncio.sleep", pause)
    for loop in (queue.start_processing, queue.start_progress_updates):
        queue.stopped = False
        asyncio.run(loop())
    assert len(pauses) == 2
    assert min(pauses) >= 0.05
