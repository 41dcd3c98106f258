"""Draws the picture of a card: the world, a few words, and the pins of a round.

The pins stand at the same places in every picture. Those of a good player would tell everybody who
opens the link where the clips were recorded.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import warnings
from collections.abc import Sequence
from functools import cache, lru_cache

import normality
from normality.transliteration import ICUWarning
from PIL import Image, ImageColor, ImageDraw, ImageFont

from ui.card import HEIGHT, WIDTH, Card
from web.static import asset

# the first time it is used, it recommends PyICU, which we do without
with warnings.catch_warnings():
    warnings.simplefilter("ignore", ICUWarning)
    normality.ascii_text("é")

#: Drawn twice as large and reduced, so that coasts and pins are smooth.
_SCALE = 2
_WIDE, _HIGH = WIDTH * _SCALE, HEIGHT * _SCALE
_MARGIN, _BAND = 64 * _SCALE, 220 * _SCALE
#: The map is equirectangular: its northern edge, and pixels per degree.
_NORTH, _PER_DEGREE = 78.0, 3.06 * _SCALE
#: Where the pins stand, in degrees.
_PINS = ((40, -98), (-12, -54), (10, 22), (50, 88), (-24, 134))
_RADIUS = 30 * _SCALE
_POINTS_OF_A_PIN = 5000

Colour = tuple[int, int, int]
Xy = tuple[float, float]


@lru_cache(64)
def picture_of(card: Card) -> bytes:
    """The picture as PNG."""
    large = _world().copy()
    draw = ImageDraw.Draw(large)
    for place, points in zip(_PINS, card.points or (None,) * card.n_pins, strict=False):
        _pin(draw, _xy(*place), points, is_told=bool(card.points))
    _words(draw, card)
    buffer = io.BytesIO()
    large.resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS).save(buffer, "PNG")
    return buffer.getvalue()


@cache
def _world() -> Image.Image:
    """Land and sea, with a band for the words below."""
    large = Image.new("RGB", (_WIDE, _HIGH), _colour("sea"))
    draw = ImageDraw.Draw(large)
    for ring in _land():
        draw.polygon([_xy(lat, lon) for lon, lat in ring], _colour("land"))
    draw.rectangle((0, _HIGH - _BAND, _WIDE, _HIGH), _colour("surface"))
    return large


def _land() -> Sequence[Sequence[Xy]]:
    """The rings of the coasts as (longitude, latitude), from the map's TopoJSON."""
    packed = asset("map/world-coarse.json.gz").read_bytes()
    topology = json.loads(gzip.decompress(packed))
    (across, up), (west, south) = topology["transform"].values()
    arcs = []
    for steps in topology["arcs"]:
        x = y = 0
        arc = []
        for east, north in steps:
            x, y = x + east, y + north
            arc.append((x * across + west, y * up + south))
        arcs.append(arc)
    rings = [ring for part in topology["objects"]["land"]["arcs"] for ring in part]
    return [[point for index in ring for point in arcs[index]] for ring in rings]


def _xy(lat: float, lon: float) -> Xy:
    return _WIDE / 2 + lon * _PER_DEGREE, (_NORTH - lat) * _PER_DEGREE


def _pin(draw: ImageDraw.ImageDraw, at: Xy, points: int | None, *, is_told: bool) -> None:
    """A pin; the more points, the fuller its colour."""
    x, tip = at
    r, y = _RADIUS, tip - 1.9 * _RADIUS
    share = (points or 0) / _POINTS_OF_A_PIN if is_told else 1.0
    colour = _mixed(_colour("muted"), _colour("accent"), share)
    draw.polygon([(x - 0.83 * r, y + 0.56 * r), (x + 0.83 * r, y + 0.56 * r), (x, tip)], colour)
    draw.ellipse((x - r, y - r, x + r, y + r), colour)
    if is_told:
        told = "-" if points is None else f"{points:,}"
        draw.text((x, y), told, _colour("surface"), _font(20), anchor="mm")
    else:
        draw.ellipse((x - r / 3, y - r / 3, x + r / 3, y + r / 3), _colour("surface"))


def _words(draw: ImageDraw.ImageDraw, card: Card) -> None:
    top, brand = HEIGHT - _BAND / _SCALE + 26, _font(30)
    draw.text((_WIDE - _MARGIN, top * _SCALE), "AGL1K", _colour("accent"), brand, anchor="ra")
    room = _WIDE - 2 * _MARGIN
    _line(draw, top, card.kind, 30, "muted", room - brand.getlength("AGL1K") - _MARGIN)
    headline = card.headline if _in_latin(card.headline) else card.kind  # emoji alone, perhaps
    _line(draw, top + 44, headline, 64, "text", room)
    _line(draw, top + 126, card.line, 30, "muted", room)


def _line(
    draw: ImageDraw.ImageDraw, top: float, text: str, size: int, colour: str, room: float
) -> None:
    """One line, smaller or cut if it is too long."""
    text = _in_latin(text)
    while size > 30 and _font(size).getlength(text) > room:
        size -= 2
    if _font(size).getlength(text) > room:
        while text and _font(size).getlength(f"{text}…") > room:
            text = text[:-1]
        text = f"{text.rstrip()}…"
    draw.text((_MARGIN, top * _SCALE), text, _colour(colour), _font(size))


def _in_latin(text: str) -> str:
    """The text in letters that the font has."""
    return " ".join((normality.ascii_text(text.replace(" · ", ", ")) or "").split())


@cache
def _font(size: int) -> ImageFont.FreeTypeFont:
    found = ImageFont.load_default(size * _SCALE)
    assert isinstance(found, ImageFont.FreeTypeFont)
    return found


@cache
def _colour(name: str) -> Colour:
    """A colour of the page's light look, from its style sheet."""
    found = re.search(rf"--agl-{name}: (#[0-9a-f]{{6}});", asset("style.css").read_text("utf-8"))
    assert found is not None
    red, green, blue, *_ = ImageColor.getrgb(found[1])
    return red, green, blue


def _mixed(one: Colour, other: Colour, share: float) -> Colour:
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(one, other, strict=True))
    return red, green, blue
