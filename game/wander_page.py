"""The page of ``wander play``, and its server: ``agl1k wander play FOLDER``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

import gradio as gr
from fastapi import APIRouter, FastAPI
from fastapi.responses import PlainTextResponse, Response
from markupsafe import Markup

from agl1k_core.errors import Agl1kError
from agl1k_core.file_names import shown_lines
from agl1k_core.wander import MAX_STEPS, SCALE_KM, fill_of
from game.reveal import distance_in_words, point_in_words
from game.screens import message_html
from game.wandering import Outcome, Scene, Wandering
from ui import frame
from ui.panorama import Panorama, ShownWay, page_head, panorama_value
from ui.worldmap import WorldMap, parse_pin, reset_command, reveal_command
from web.headers import HeadedApp, header_values
from web.page import QUIET, mount
from web.server import listening, serve
from web.static import mount_static

PORT = 7862
ANSWERS = Path("wander-answers.jsonl")
_TAGLINE = "Walk, then say where you started."

#: A scene and a message, from which the page is updated.
Told = tuple[Scene, str]


@dataclass(frozen=True)
class Parts:
    """The components that change."""

    moment: gr.State
    status: gr.HTML
    pano: Panorama
    world: WorldMap
    message: gr.HTML
    result: gr.HTML
    back: gr.Button
    guess: gr.Button
    proceed: gr.Button


def build_page(wandering: Wandering) -> gr.Blocks:
    """The page over one set of graphs."""
    with gr.Blocks(title="AGL1K: wander") as page:
        gr.HTML(frame.header_html(_TAGLINE), padding=False)
        moment = gr.State("")
        with gr.Column(elem_classes="agl-wander"):
            status = gr.HTML(padding=False, elem_classes="agl-area-status", elem_id="agl-status")
            pano = Panorama(padding=False, elem_classes="agl-area-pano", elem_id="agl-pano")
            world = WorldMap(
                padding=False,
                height="clamp(240px, 36vh, 420px)",
                elem_classes="agl-area-map",
                elem_id="agl-map",
            )
            message = gr.HTML(padding=False, elem_classes="agl-area-message")
            result = gr.HTML(padding=False, elem_classes="agl-area-result", elem_id="agl-result")
            with gr.Row(elem_classes="agl-area-actions", elem_id="agl-actions"):
                back = gr.Button("Back to the start", elem_id="agl-back", min_width=120)
                guess = gr.Button("Guess here", variant="primary", elem_id="agl-guess")
                proceed = gr.Button(
                    "Next place", variant="primary", elem_id="agl-next", visible=False
                )
        parts = Parts(moment, status, pano, world, message, result, back, guess, proceed)
        _connect(page, wandering, parts)
    return cast(gr.Blocks, page)


def _connect(page: gr.Blocks, wandering: Wandering, parts: Parts) -> None:
    """Say which function answers which event."""
    outputs = [*vars(parts).values()]

    now = [parts.moment]

    def begin() -> dict[Any, Any]:
        return updates(parts, wandering.scene(), is_new=True)

    def move(moment: str, event: gr.EventData) -> dict[Any, Any]:
        return updates(parts, wandering.move(moment, str(event.way)))

    def back(moment: str) -> dict[Any, Any]:
        return updates(parts, wandering.back(moment))

    def guess(moment: str, pin: str | None) -> dict[Any, Any]:
        return updates(parts, guessed(wandering, moment, pin))

    def proceed(moment: str) -> dict[Any, Any]:
        return updates(parts, wandering.proceed(moment), is_new=True)

    page.load(begin, None, outputs, **QUIET)
    parts.pano.click(move, now, outputs, **QUIET)
    parts.back.click(back, now, outputs, **QUIET)
    parts.guess.click(guess, [parts.moment, parts.world], outputs, **QUIET)
    parts.proceed.click(proceed, now, outputs, **QUIET)


def guessed(wandering: Wandering, now: str, pin: str | None) -> Told:
    """Store the pin as the guess; the message says if there is none."""
    try:
        place = parse_pin(pin)
    except Agl1kError as error:
        return wandering.scene(str(error))
    if place is None:
        return wandering.scene("Drop a pin on the map first: click it, or press Enter in it.")
    return wandering.guess(now, *place)


def updates(parts: Parts, told: Told, *, is_new: bool = False) -> dict[Any, Any]:
    """What a scene and a message change, by component; ``is_new`` if a page or a walk begins."""
    scene, message = told
    over = scene.outcome is not None
    return {
        parts.moment: scene.moment,
        parts.status: status_html(scene),
        parts.pano: gr.update(value=_shown(scene, is_new)),
        parts.world: gr.update(cmd=_map_command(scene)) if is_new or over else gr.skip(),
        parts.message: message_html(message, is_error=True),
        parts.result: outcome_html(scene) if over else "",
        parts.back: gr.update(visible=not over, interactive=scene.can_return),
        parts.guess: gr.update(visible=not over),
        parts.proceed: gr.update(visible=over and scene.n_guesses < scene.total),
    }


def _shown(scene: Scene, is_new: bool) -> str:
    ways = [ShownWay(way.name, fill_of(way.name), way.direction_deg) for way in scene.ways]
    url = f"panorama/{scene.address}"
    return panorama_value(url, scene.middle_deg, ways, keeps_looking=not is_new)


def _map_command(scene: Scene) -> Mapping[str, Any]:
    outcome = scene.outcome
    if outcome is None:
        return reset_command()
    return reveal_command(
        guess=outcome.guess,
        truth=outcome.truth,
        label=outcome.label,
        line=outcome.line,
        text=f"It was {outcome.label}. Your guess is "
        f"{distance_in_words(outcome.distance_km)} away.",
        guessed=f"your guess: {distance_in_words(outcome.distance_km)} away",
    )


# --- in words


def status_html(scene: Scene) -> str:
    """Where in the set and in the walk one is."""
    return Markup(
        '<div class="agl-status"><p><strong>Place {} of {}</strong> <span>{}</span></p>'
        '<p class="agl-numbers">{}</p></div>'
    ).format(scene.number, scene.total, steps_in_words(scene), _mean_in_words(scene))


def steps_in_words(scene: Scene) -> str:
    """How many steps are left."""
    if scene.outcome is not None:
        return "The guess is stored."
    if scene.steps_left == 1:
        return "No step left but the guess."
    moves = scene.steps_left - 1
    return f"{moves} {'move' if moves == 1 else 'moves'} left, then the guess. Looking is free."


def _mean_in_words(scene: Scene) -> str:
    if scene.mean_score is None:
        return ""
    places = "place" if scene.n_guesses == 1 else "places"
    return f"Mean score: {scene.mean_score:.1f} of 100, {scene.n_guesses} {places}"


def outcome_html(scene: Scene) -> str:
    """The true place, and what the guess scores."""
    outcome = scene.outcome
    assert outcome is not None
    last = Markup("<p>That was the last place.</p>") if scene.n_guesses >= scene.total else ""
    return Markup(
        '<div class="agl-card agl-reveal"><h2>{}</h2><p>{}</p>'
        "<p><strong>{}</strong> from your guess, score <strong>{}</strong> of 100</p>"
        "<p>{}</p>{}</div>"
    ).format(
        outcome.label or point_in_words(*outcome.truth),
        point_in_words(*outcome.truth),
        distance_in_words(outcome.distance_km),
        f"{outcome.score:.1f}",
        _right_in_words(outcome),
        last,
    )


def _right_in_words(outcome: Outcome) -> str:
    return f"Right: {', '.join(outcome.right)}." if outcome.right else "Not the right country."


# --- serving


def panorama_router(wandering: Wandering) -> APIRouter:
    """The route ``/panorama/{address}``: the pictures of walks that were begun."""
    router = APIRouter()

    @router.get("/panorama/{address}", include_in_schema=False)
    def panorama(address: str) -> Response:
        try:
            data = wandering.picture(address)
        except Agl1kError as error:
            return PlainTextResponse(str(error), 404)
        if data is None:
            return PlainTextResponse("There is no such panorama.", 404)
        headers = {"Cache-Control": "private, max-age=86400"}
        return Response(data, media_type="image/jpeg", headers=headers)

    return router


def create_app(wandering: Wandering) -> FastAPI:
    """The page as ASGI."""
    app = HeadedApp(header_values(), title="AGL1K wander", docs_url=None, redoc_url=None)
    app.include_router(panorama_router(wandering))
    mount_static(app)
    return mount(app, build_page(wandering), **frame.look(frame.whole_head() + page_head()))


def main(arguments: list[str] | None = None) -> int:
    """Serve until stopped. Returns 1 if the graphs cannot be opened."""
    wanted = _options().parse_args(arguments)
    try:
        wandering = Wandering(
            wanted.graphs, wanted.answers, panoramas=wanted.panoramas,
            max_steps=wanted.steps, scale_km=wanted.scale_km,
        )  # fmt: skip
        app = create_app(wandering)
        listener = listening(wanted.host, wanted.port)
    except Agl1kError as error:
        print(shown_lines(str(error)), file=sys.stderr)  # noqa: T201 - there is no page yet
        return 1
    for key in wandering.without_panorama:
        print(shown_lines(f"{key} is left out: its centre has no panorama."), file=sys.stderr)  # noqa: T201
    print(f"Wander on http://{wanted.host}:{wanted.port}", file=sys.stderr)  # noqa: T201
    with suppress(KeyboardInterrupt):
        serve(app, listener)
    return 0


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="agl1k wander play", description="Wander and guess.")
    parser.add_argument("graphs", type=Path)
    parser.add_argument("--panoramas", type=Path, help="folder of panoramas")
    parser.add_argument("--answers", type=Path, default=ANSWERS, help="file of answers")
    parser.add_argument("--steps", type=int, default=MAX_STEPS, help="steps of a walk")
    parser.add_argument("--scale-km", type=float, default=SCALE_KM, help="scale of the score")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--port", type=int, default=PORT, help="port to listen on")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
