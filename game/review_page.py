"""The page on which a person decides on clips, and its server: ``agl1k review FOLDER``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

import gradio as gr
from fastapi import FastAPI

from agl1k_core.config import Config
from agl1k_core.curation import KEEP, REJECT
from agl1k_core.errors import Agl1kError
from agl1k_core.file_names import shown_lines
from agl1k_core.places import geodesic_line, surroundings
from game.clips import ClipStore, clip_router
from game.review import Review
from game.review_desk import LONGEST_NOTE, Desk, Sheet
from game.review_facts import distance_of
from game.screens import message_html
from ui import frame
from ui.player import ClipPlayer, clip_value
from ui.worldmap import WorldMap, reveal_command
from web.headers import HeadedApp, header_values
from web.page import QUIET, mount
from web.server import listening, serve
from web.static import mount_static, static_url

PORT = 7861
_KEYS = '<p class="agl-muted agl-small agl-keys">Keys: {}.</p>'


@dataclass(frozen=True)
class Choice:
    """A button that stores a decision; ``assets/review.js`` clicks it by its id."""

    decision: str
    label: str
    elem_id: str
    variant: Literal["primary", "secondary"] = "secondary"


@dataclass(frozen=True)
class Wording:
    """What a page says: its title, its buttons, its keys as HTML, and where notes are stored."""

    title: str
    choices: Sequence[Choice]
    keys: str
    notes_in: str


_REVIEW = Wording(
    "AGL1K: review of clips",
    (Choice(KEEP, "Keep", "agl-keep", "primary"), Choice(REJECT, "Reject", "agl-reject")),
    "<kbd>k</kbd> keep, <kbd>r</kbd> reject, <kbd>u</kbd> undo",
    "review.csv",
)


@dataclass(frozen=True)
class Parts:
    """The components that change."""

    key: gr.Textbox
    status: gr.HTML
    sound: ClipPlayer
    world: WorldMap
    facts: gr.HTML
    note: gr.Textbox
    message: gr.HTML


def build_page(review: Desk, clips: ClipStore, wording: Wording = _REVIEW) -> gr.Blocks:
    """The page over the clips of one desk."""
    with gr.Blocks(title=wording.title) as page:
        gr.HTML(frame.header_html(), padding=False)
        # sent by the browser with each event, so that a note belongs to the clip beside which it
        # was written, even if a button has moved the page on
        key = gr.Textbox("", visible=False)
        many = " agl-many" if len(wording.choices) > 2 else ""
        with gr.Column(elem_classes=f"agl-stage agl-review{many}"):
            status = gr.HTML(padding=False, elem_classes="agl-area-status", elem_id="agl-status")
            sound = ClipPlayer(padding=False, elem_classes="agl-area-sound", elem_id="agl-sound")
            world = WorldMap(
                padding=False, readonly=True, elem_classes="agl-area-map", elem_id="agl-map"
            )
            message = gr.HTML(padding=False, elem_classes="agl-area-message")
            facts = gr.HTML(padding=False, elem_classes="agl-area-result", elem_id="agl-result")
            with gr.Column(elem_classes="agl-area-share"):
                note = gr.Textbox(
                    label="Note",
                    lines=2,
                    max_length=LONGEST_NOTE,
                    placeholder=f"Kept in {wording.notes_in}",
                    elem_id="agl-note",
                )
                gr.HTML(_KEYS.format(wording.keys), padding=False)
            with gr.Row(elem_classes="agl-area-actions", elem_id="agl-actions"):
                chosen = [
                    (
                        gr.Button(choice.label, variant=choice.variant, elem_id=choice.elem_id),
                        choice,
                    )
                    for choice in wording.choices
                ]
                undo = gr.Button("Undo", elem_id="agl-undo", min_width=80)
                back = gr.Button("Back", elem_id="agl-back", min_width=80)
                forward = gr.Button("Next", elem_id="agl-forward", min_width=80)
        parts = Parts(key, status, sound, world, facts, note, message)

        def handler(act: Callable[[str], str]) -> Callable[[str, str], dict[Any, Any]]:
            return lambda now, said: updates(parts, review, clips, now, _noted(review, said, act))

        outputs = [*vars(parts).values()]
        page.load(
            lambda: updates(parts, review, clips, "", lambda _: review.first()),
            None, outputs, **QUIET,
        )  # fmt: skip
        note.blur(lambda now, said: noted(parts, review, now, said), [key, note], message, **QUIET)
        for button, act in (
            *((button, _deciding(review, choice.decision)) for button, choice in chosen),
            (undo, lambda _: review.undo()),
            (back, lambda now: review.step(now, -1)),
            (forward, lambda now: review.step(now, 1)),
        ):
            button.click(handler(act), [key, note], outputs, **QUIET)
    return cast(gr.Blocks, page)


def _deciding(review: Desk, decision: str) -> Callable[[str], str]:
    return lambda now: review.decide(now, decision)


def _noted(review: Desk, said: str, act: Callable[[str], str]) -> Callable[[str], str]:
    """``act``, once the note on the current clip is stored."""

    def noting(now: str) -> str:
        review.note(now, said or "")
        return act(now)

    return noting


def noted(parts: Parts, review: Desk, now: str, said: str) -> dict[Any, Any]:
    """Store a note; the message says if that failed."""
    try:
        review.note(now, said or "")
    except Agl1kError as error:
        return {parts.message: message_html(str(error), is_error=True)}
    return {parts.message: ""}


def updates(
    parts: Parts, review: Desk, clips: ClipStore, now: str, act: Callable[[str], str]
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
        parts.note: sheet.note,
        parts.message: message_html(problem, is_error=True),
    }


def _show(sheet: Sheet) -> dict[str, Any]:
    text, answer = f"It is {sheet.place_name}.", sheet.answer
    around = surroundings(*sheet.place)
    if answer is None or answer.point is None:
        return reveal_command(
            guess=None, truth=sheet.place, label=sheet.place_name, text=text, around=around
        )
    return reveal_command(
        guess=answer.point,
        truth=sheet.place,
        label=sheet.place_name,
        line=geodesic_line(*answer.point, *sheet.place),
        text=f"{text} The answer is {distance_of(answer)} from it.",
        guessed=f"{answer.model}: {distance_of(answer)} away",
        around=around,
    )


def create_app(folder: Path, config: Config, predictions: Path | None = None) -> FastAPI:
    """The page as ASGI; raises ``Agl1kError`` if the folder or the file cannot be read."""
    return app_of(Review(folder, predictions), config, _REVIEW)


def app_of(review: Desk, config: Config, wording: Wording) -> FastAPI:
    """The page over one desk as ASGI."""
    clips = ClipStore(config.data_dir / "clips")
    app = HeadedApp(header_values(), title=wording.title, docs_url=None, redoc_url=None)
    app.include_router(clip_router(clips, review.resolve))
    mount_static(app)
    script = f'<script src="{static_url("review.js")}" defer></script>'
    return mount(app, build_page(review, clips, wording), **frame.look(frame.whole_head() + script))


def main(arguments: list[str] | None = None) -> int:
    """Serve until stopped. Returns 1 if the folder cannot be opened."""
    parser = argparse.ArgumentParser(prog="agl1k review", description="Keep or reject clips.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--predictions", type=Path, help="answers to show beside the truth")
    add_address(parser, PORT)
    wanted = parser.parse_args(arguments)
    return serve_page(
        lambda: create_app(wanted.folder, Config.from_env(), wanted.predictions),
        wanted.host,
        wanted.port,
    )


def add_address(parser: argparse.ArgumentParser, port: int) -> None:
    """Add the options of the server's address."""
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--port", type=int, default=port, help="port to listen on")


def serve_page(make_app: Callable[[], FastAPI], host: str, port: int) -> int:
    """Serve a page until stopped. Returns 1, after the reason, if it cannot be opened."""
    try:
        app = make_app()
        listener = listening(host, port)
    except Agl1kError as error:
        print(shown_lines(str(error)), file=sys.stderr)  # noqa: T201 - there is no page yet
        return 1
    print(f"Review on http://{host}:{port}", file=sys.stderr)  # noqa: T201
    with suppress(KeyboardInterrupt):
        serve(app, listener)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
