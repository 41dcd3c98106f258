"""The page of ``review``, and its server: ``agl1k review FOLDER``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

import gradio as gr
from fastapi import FastAPI

from agl1k_core.config import Config
from agl1k_core.curation import KEEP, REJECT
from agl1k_core.errors import Agl1kError
from game.clips import ClipStore, clip_router
from game.review import Review, Sheet
from game.screens import message_html
from ui import frame
from ui.player import ClipPlayer, clip_value
from ui.worldmap import WorldMap, reveal_command
from web.page import QUIET, mount
from web.server import listening, serve
from web.static import mount_static

PORT = 7861


@dataclass(frozen=True)
class Parts:
    """The components that change."""

    key: gr.State
    status: gr.HTML
    sound: ClipPlayer
    world: WorldMap
    facts: gr.HTML
    message: gr.HTML


def build_page(review: Review, clips: ClipStore) -> gr.Blocks:
    """The page over one folder."""
    with gr.Blocks(title="AGL1K: review of clips") as page:
        gr.HTML(frame.header_html(), padding=False)
        key = gr.State("")
        with gr.Column(elem_classes="agl-stage"):
            status = gr.HTML(padding=False, elem_classes="agl-area-status", elem_id="agl-status")
            sound = ClipPlayer(padding=False, elem_classes="agl-area-sound", elem_id="agl-sound")
            world = WorldMap(
                padding=False, readonly=True, elem_classes="agl-area-map", elem_id="agl-map"
            )
            message = gr.HTML(padding=False, elem_classes="agl-area-message")
            facts = gr.HTML(padding=False, elem_classes="agl-area-result", elem_id="agl-result")
            with gr.Row(elem_classes="agl-area-actions", elem_id="agl-actions"):
                keep = gr.Button("Keep", variant="primary", elem_id="agl-keep")
                reject = gr.Button("Reject", elem_id="agl-reject")
                back = gr.Button("Back", elem_id="agl-back", min_width=80)
                forward = gr.Button("Next", elem_id="agl-forward", min_width=80)
        parts = Parts(key, status, sound, world, facts, message)

        def handler(act: Callable[[str], str]) -> Callable[[str], dict[Any, Any]]:
            return lambda now: updates(parts, review, clips, now, act)

        outputs = [*vars(parts).values()]
        page.load(handler(lambda _: review.first()), key, outputs, **QUIET)
        for button, act in (
            (keep, lambda now: review.decide(now, KEEP)),
            (reject, lambda now: review.decide(now, REJECT)),
            (back, lambda now: review.step(now, -1)),
            (forward, lambda now: review.step(now, 1)),
        ):
            button.click(handler(act), key, outputs, **QUIET)
    return cast(gr.Blocks, page)


def updates(
    parts: Parts, review: Review, clips: ClipStore, now: str, act: Callable[[str], str]
) -> dict[Any, Any]:
    """The changes that an action on the current clip makes, by component."""
    try:
        sheet = review.sheet(act(now))
    except Agl1kError as error:
        return {parts.message: message_html(str(error), is_error=True)}
    problem, value = "", None
    try:
        prepared = clips.prepare(review.benchmark, sheet.key)
        value = clip_value(f"clip/{sheet.token}", prepared.peaks, prepared.duration_s, sheet.name)
    except Agl1kError as error:
        problem = str(error)
    return {
        parts.key: sheet.key,
        parts.status: sheet.status,
        parts.sound: gr.update(value=value),
        parts.world: gr.update(cmd=_show(sheet)),
        parts.facts: sheet.facts,
        parts.message: message_html(problem, is_error=True),
    }


def _show(sheet: Sheet) -> dict[str, Any]:
    return reveal_command(
        guess=None, truth=sheet.place, label=sheet.place_name, text=f"It is {sheet.place_name}."
    )


def create_app(folder: Path, config: Config) -> FastAPI:
    """The page as ASGI; raises ``Agl1kError`` if the folder cannot be opened."""
    review = Review(folder)
    clips = ClipStore(config.data_dir / "clips")
    app = FastAPI(title="AGL1K review", docs_url=None, redoc_url=None)
    app.include_router(clip_router(clips, review.resolve))
    mount_static(app)
    return mount(app, build_page(review, clips), **frame.look())


def main(arguments: list[str] | None = None) -> int:
    """Serve until stopped. Returns 1 if the folder cannot be opened."""
    parser = argparse.ArgumentParser(prog="agl1k review", description="Keep or reject clips.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--port", type=int, default=PORT, help="port to listen on")
    wanted = parser.parse_args(arguments)
    try:
        app = create_app(wanted.folder, Config.from_env())
        listener = listening(wanted.host, wanted.port)
    except Agl1kError as error:
        print(error, file=sys.stderr)  # noqa: T201 - there is no page yet
        return 1
    print(f"Review on http://{wanted.host}:{wanted.port}", file=sys.stderr)  # noqa: T201
    with suppress(KeyboardInterrupt):
        serve(app, listener)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
