"""The world map on which players drop a pin and see where a clip was recorded.

The map is built once, in the browser. Python changes it by commands, passed as the component's
``cmd``, and reads the pin from its value, a JSON text.

    world = WorldMap()
    button.click(on_submit, world, world, queue=False, show_progress="hidden")

    def on_submit(value):
        pin = parse_pin(value)
        return gr.update(cmd=reveal_command(guess=pin, truth=(18.1, -77.3), label="Jamaica"))

Every command has a nonce, because Gradio only passes on what has changed.
"""

from __future__ import annotations

import json
import math
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import gradio as gr

from agl1k_core.errors import Agl1kError
from ui.model_guess import ModelGuess
from ui.names import isolated
from web.static import leaflet_url, modules, static_url

Point = tuple[float, float]  # latitude, longitude in degrees
Command = dict[str, Any]

#: A page that has the map as its board sets the variable.
HEIGHT = "var(--agl-map-height, clamp(320px, 55vh, 620px))"
_CROSSHAIR = (
    '<svg class="agl-map-cross" viewBox="0 0 44 44" aria-hidden="true">'
    '<circle cx="22" cy="22" r="9"/><path d="M22 2v14M22 28v14M2 22h14M28 22h14"/></svg>'
)


class WorldMap(gr.HTML):
    """A map whose value is the pin, ``{"latitude": …, "longitude": …}`` as JSON, or None.

    With ``readonly``, no pins can be dropped. ``tiles`` is the URL template of a raster layer,
    shown only if it can be reached. In the page, the event ``agl-pin`` bubbles from the component
    when a pin is dropped; nothing is sent to the server.
    """

    def __init__(
        self,
        value: str | None = None,
        *,
        readonly: bool = False,
        tiles: str = "",
        label: str = "World map",
        height: str = HEIGHT,
        cmd: Command | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            value=value,
            label=label,
            html_template=map_html(height),
            js_on_load=_script({**map_options(label, tiles), "readonly": readonly}),
            head=page_head(),
            apply_default_css=False,
            cmd=cmd,
            **kwargs,
        )

    def get_block_name(self) -> str:
        return "html"


def map_html(height: str = HEIGHT) -> str:
    """The elements of a map before it is drawn; ``height`` is a length in CSS."""
    return (
        f'<div class="agl-map" style="height:{height}"><div class="agl-world"></div>'
        f'{_CROSSHAIR}<p class="agl-map-status" role="status">Loading the map…</p></div>'
    )


def map_options(label: str, tiles: str = "") -> dict[str, Any]:
    """What ``createMap`` in assets/worldmap.js needs to know, besides the elements."""
    return {"map_label": label, "tiles": tiles, "leaflet": leaflet_url("leaflet.js")}


def page_head() -> str:
    """Tags for the head of the page that load early what the map is first drawn from.

    The longest files come first: over a slow line, it is they that take the time.
    """
    scripts = (leaflet_url("leaflet.js"), *map(static_url, modules("worldmap.js")))
    sheets = (leaflet_url("leaflet.css"), static_url("worldmap.css"))
    world = static_url("map/world-coarse.json")
    links = [f'<link rel="preload" as="fetch" crossorigin="anonymous" href="{world}">']
    links += [f'<link rel="modulepreload" href="{address}">' for address in scripts]
    links += [f'<link rel="stylesheet" href="{address}">' for address in sheets]
    return "".join(links)


def _script(options: Mapping[str, object]) -> str:
    # not as props: to a component that was hidden, Gradio passes only what an update changes
    chosen = json.dumps(options).replace("<", "\\u003c")
    return (
        f"import(new URL('{static_url('worldmap.js')}', document.baseURI))"
        f".then(({{ attach }}) => attach({{ element, props, watch }}, {chosen}))"
        ".catch((error) => { console.error(error);"
        " element.querySelector('.agl-map-status').textContent ="
        " 'The map could not be loaded. Reload the page to try again.'; });"
    )


@dataclass(frozen=True, slots=True)
class RoundShown:
    """One round of a summary; ``line`` as in `reveal_command`."""

    number: int
    guess: Point | None
    truth: Point
    label: str
    line: Sequence[Point] = ()


@dataclass(frozen=True, slots=True)
class MapPoint:
    """A line from a true place to a predicted one; ``colour_value`` 0 is good, 1 is bad."""

    latitude: float
    longitude: float
    to_latitude: float
    to_longitude: float
    label: str
    colour_value: float


def parse_pin(value: str | None) -> Point | None:
    """The pin in a map's value, or None if there is none.

    Raises `Agl1kError` unless the value is a JSON object with a latitude within ±90 and a longitude
    within ±180, both in degrees.
    """
    if value is None or value == "":
        return None
    try:
        content = json.loads(value)
        latitude, longitude = (_number(content[name]) for name in ("latitude", "longitude"))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise Agl1kError("The pin could not be read. Drop it on the map again.") from error
    return pin_at(latitude, longitude)


def pin_at(latitude: float, longitude: float) -> Point:
    """A pin; raises `Agl1kError` unless the latitude is within ±90, the longitude within ±180."""
    if not (abs(latitude) <= 90 and abs(longitude) <= 180):
        raise Agl1kError(
            f"The pin at latitude {latitude}, longitude {longitude} is not on the map: "
            "latitude goes from -90 to 90 and longitude from -180 to 180. Drop it again."
        )
    return latitude, longitude


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{value!r} is not a number")
    number = float(value) if abs(value) < 1e9 else math.inf
    if not math.isfinite(number):
        raise ValueError(f"{value!r} is not finite")
    return number


def reset_command(*, keep_view: bool = False, pin_of: str = "") -> Command:
    """Clear the map and let a pin be dropped again.

    The browser's tab remembers the pin under the name ``pin_of``; another reset with that name,
    after a reload, restores it.
    """
    return _command("reset", view="keep" if keep_view else "world", pin_of=pin_of)


def lock_command(*, text: str = "") -> Command:
    """Lock the pin where it is."""
    return _command("lock", text=text)


def restore_command(pin: Point | None, *, locked: bool = False) -> Command:
    """Restore the pin after a reload."""
    return _command("restore", pin=_place(pin), locked=locked)


def reveal_command(
    *,
    guess: Point | None,
    truth: Point,
    label: str,
    line: Sequence[Point] = (),
    models: Sequence[ModelGuess] = (),
    text: str = "",
    guessed: str = "your pin",
    around: Sequence[float] | None = None,
) -> Command:
    """Show the truth, the guess and the line between them, and lock the pin.

    ``line`` runs from guess to truth in (latitude, longitude); its longitudes do not jump and may
    exceed ±180, as returned by `agl1k_core.places.geodesic_line`. Screen readers read ``text``.
    ``guessed`` is what the guess is called. The view comes no closer than ``around``: south, west,
    north and east in degrees.
    """
    return _command(
        "reveal",
        guess=_place(guess),
        truth=_place(truth),
        label=label,
        line=_line(line),
        models=[asdict(model) | {"name": isolated(model.name)} for model in models],
        text=text,
        guessed=guessed,
        around=None if around is None else [round(edge, 2) for edge in around],
    )


def summary_command(rounds: Sequence[RoundShown], *, text: str = "") -> Command:
    """Show all rounds on one map, their pins numbered."""
    shown = [
        {
            "number": entry.number,
            "guess": _place(entry.guess),
            "truth": _place(entry.truth),
            "label": entry.label,
            "line": _line(entry.line),
        }
        for entry in rounds
    ]
    return _command("summary", rounds=shown, text=text)


def points_command(points: Sequence[MapPoint], *, text: str = "") -> Command:
    """Show many lines from true to predicted places."""
    return _command("points", points=[asdict(point) for point in points], text=text)


def _command(op: str, **content: Any) -> Command:
    return {"op": op, "nonce": secrets.token_hex(8), **content}


def _place(point: Point | None) -> dict[str, float] | None:
    return None if point is None else {"latitude": point[0], "longitude": point[1]}


def _line(line: Sequence[Point]) -> list[list[float]]:
    return [[round(lat, 4), round(lon, 4)] for lat, lon in line]
