"""Draws panoramas of a neighbourhood: every pixel is what its ray meets first."""

from __future__ import annotations

import hashlib
import math
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from scripts.wander_example.places import Colour, Place, Plant
from scripts.wander_example.streets import (
    FLOOR_M,
    PAVEMENT_M,
    STREET_M,
    Neighbourhood,
    Standing,
    Wall,
)

Floats = NDArray[np.floating[Any]]
Columns = slice | NDArray[np.intp]
EYE_M = 2.4
#: Walls behind each other that one ray can meet, the nearest first.
_DEPTH = 4
_SIGN_M = 1.25  # height of a shop's sign
_FONT = Path(matplotlib.get_data_path(), "fonts", "ttf", "DejaVuSans-Bold.ttf")
_ASPHALT, _PAVEMENT, _LEAVES, _WOOD = (92, 92, 96), (172, 168, 160), (66, 112, 58), (96, 72, 50)


class Canvas:
    """An equirectangular picture that is filled from the horizon inwards.

    The bearing of its middle column is ``heading`` in radians; ``depth`` is how far away each pixel
    is in metres.
    """

    def __init__(self, width: int, heading: float) -> None:
        height = width // 2
        columns = (np.arange(width, dtype=np.float32) + 0.5) / width
        self.bearing = heading + (columns - 0.5) * 2 * math.pi
        rows = (np.arange(height, dtype=np.float32) + 0.5) / height
        self.elevation = ((0.5 - rows) * math.pi)[:, None]
        self.colour = np.zeros((height, width, 3), np.float32)
        self.depth = np.full((height, width), np.inf, np.float32)

    def paint(
        self, where: NDArray[np.bool_], colour: Floats | Colour, depth: Floats | float,
        columns: Columns = slice(None),
    ) -> None:  # fmt: skip
        """Paint what is nearer than what is there already, in some columns."""
        depths, colours = self.depth[:, columns], self.colour[:, columns]
        depth = np.broadcast_to(depth, depths.shape)
        seen = where & (depth < depths)
        colours[seen] = np.broadcast_to(np.asarray(colour, np.float32), colours.shape)[seen]
        depths[seen] = depth[seen]
        self.colour[:, columns], self.depth[:, columns] = colours, depths


def draw(made: Neighbourhood, node: int, heading: float, width: int) -> Image.Image:
    """The panorama at a node, whose middle column looks to ``heading`` (radians)."""
    canvas = Canvas(2 * width, heading)
    at, sun = made.nodes[node], sun_of(made.place)
    _draw_sky(canvas, made.place, sun)
    _draw_ground(canvas, made, at)
    _draw_walls(canvas, made.walls, at, sun[0])
    for thing in made.standing:
        _draw_standing(canvas, thing, at, made.place)
    _draw_compass(canvas)
    pixels = np.clip(np.rint(canvas.colour), 0, 255).astype(np.uint8)
    return Image.fromarray(pixels).resize((width, width // 2), Image.Resampling.BOX)


def sun_of(place: Place) -> tuple[float, float]:
    """Bearing and elevation of the sun at noon of an equinox, in radians."""
    bearing = math.pi if place.lat > 0 else 0.0
    return bearing, math.radians(90 - abs(place.lat))


# --- what is far away


def _draw_sky(canvas: Canvas, place: Place, sun: tuple[float, float]) -> None:
    rise = np.clip(canvas.elevation / (math.pi / 2), 0, 1) ** 0.6
    horizon, zenith = _rgb(place.sky), _rgb((92, 142, 210))
    canvas.colour[:] = horizon + (zenith - horizon) * rise[..., None]
    off = np.cos(canvas.elevation) * math.cos(sun[1]) * np.cos(canvas.bearing - sun[0])
    near_sun = off + np.sin(canvas.elevation) * math.sin(sun[1])
    glow = np.clip((near_sun - 0.96) / 0.04, 0, 1)[..., None] ** 2
    canvas.colour += (_rgb((255, 250, 225)) - canvas.colour) * glow
    hills = np.radians(place.hills_deg) * _ridge(canvas.bearing, place.lat)
    sea = _within(np.degrees(canvas.bearing), place.sea_deg)
    is_hill = (canvas.elevation < np.where(sea, 0.0, hills)) & (canvas.elevation >= 0)
    canvas.paint(is_hill, place.hill, 9e5)
    snow = is_hill & (canvas.elevation > math.radians(10)) & (place.hills_deg > 12)
    canvas.colour[snow] = (236, 238, 242)
    canvas.paint(sea & (canvas.elevation < 0), (64, 104, 140), 8e5)


def _ridge(bearing: Floats, seed: float) -> Floats:
    """The outline of hills, from 0.3 to 1."""
    waves = sum(np.sin(n * bearing + seed * n * n) / n for n in (2, 3, 5, 8, 13, 21))
    return np.asarray(0.65 + 0.35 * np.clip(waves, -1.2, 1.2) / 1.2)


def _within(degrees: Floats, limits: tuple[float, float] | None) -> NDArray[np.bool_]:
    if limits is None:
        return np.zeros(degrees.shape, bool)
    return (degrees - limits[0]) % 360 < (limits[1] - limits[0]) % 360


def _draw_compass(canvas: Canvas) -> None:
    """Letters and lines in the sky, high above the roofs."""
    size = math.radians(5)
    for n, letters in enumerate(("N", "NE", "E", "SE", "S", "SW", "W", "NW")):
        turn = _turn(canvas.bearing - n * math.pi / 4)
        columns = np.flatnonzero(np.abs(turn) < 2 * size)
        across = turn[columns] * math.cos(math.radians(33)) / size
        up = (canvas.elevation - math.radians(30)) / size
        ink, scale = _ink(letters), 1.0 if len(letters) == 1 else 0.6
        shade = _sampled(ink, across / scale, up / scale)
        mark = (np.abs(across) < 0.03) & (up > -0.7) & (up < -0.3)
        shade = np.where(mark, 1.0, 0.85 * shade)[..., None]
        canvas.colour[:, columns] += (255.0 - canvas.colour[:, columns]) * shade


# --- the ground


def _draw_ground(canvas: Canvas, made: Neighbourhood, at: Floats) -> None:
    below = canvas.elevation < -1e-6
    distance = np.where(below, EYE_M / np.tan(np.maximum(-canvas.elevation, 1e-6)), np.inf)
    distance = np.minimum(distance, 1e4)
    east = at[0] + distance * np.sin(canvas.bearing)
    north = at[1] + distance * np.cos(canvas.bearing)
    is_land = below & (canvas.depth > 8e5)
    is_land |= below & (distance < 150)
    canvas.paint(is_land, _grained(made.place.ground, east, north), distance)
    off, along = _off_streets(made, east, north)
    canvas.paint(below & (off < STREET_M / 2 + PAVEMENT_M), _PAVEMENT, distance * 0.999)
    canvas.paint(below & (off < STREET_M / 2), _ASPHALT, distance * 0.998)
    if made.place.centre_line:
        dashes = below & (off < 0.09) & (along % 5 < 3) & (distance > 3) & (distance < 60)
        canvas.paint(dashes, made.place.centre_line, distance * 0.997)


def _grained(colour: Colour, east: Floats, north: Floats) -> Floats:
    grain = np.sin(east * 1.7) * np.sin(north * 1.3 + east) * 6
    return np.asarray(_rgb(colour) + grain[..., None])


def _off_streets(made: Neighbourhood, east: Floats, north: Floats) -> tuple[Floats, Floats]:
    """Metres from the middle of the nearest street, and along it."""
    off, along = np.full_like(east, np.inf), np.zeros_like(east)
    for start, end in made.streets:
        length = float(np.linalg.norm(end - start))
        way = (end - start) / length
        here = np.clip((east - start[0]) * way[0] + (north - start[1]) * way[1], 0, length)
        away = np.hypot(east - start[0] - here * way[0], north - start[1] - here * way[1])
        along = np.where(away < off, here, along)
        off = np.minimum(off, away)
    return off, along


# --- walls


def _draw_walls(canvas: Canvas, walls: list[Wall], at: Floats, sun_bearing: float) -> None:
    starts, ends = np.array([w.start for w in walls]), np.array([w.end for w in walls])
    distance, share = _hits(canvas.bearing, starts - at, ends - at)
    order = np.argsort(distance, axis=0)[:_DEPTH]
    for nearest in order:
        away = distance[nearest, np.arange(len(canvas.bearing))]
        u = share[nearest, np.arange(len(canvas.bearing))]
        for number in np.unique(nearest[np.isfinite(away)]):
            columns = np.flatnonzero((nearest == number) & np.isfinite(away))
            part = u[columns] if _runs_right(walls[number], at) else 1 - u[columns]
            _draw_wall(canvas, walls[number], columns, away[columns], part, sun_bearing)


def _runs_right(wall: Wall, at: Floats) -> bool:
    """Whether its start is on the left as seen from a point."""
    (x0, y0), (x1, y1) = wall.start - at, wall.end - at
    return bool(x0 * y1 - y0 * x1 < 0)


def _hits(bearing: Floats, starts: Floats, ends: Floats) -> tuple[Floats, Floats]:
    """Distance along each ray to each wall, infinite if it is not met, and where on the wall."""
    ray = np.stack([np.sin(bearing), np.cos(bearing)])
    way = ends - starts
    cross = way[:, :1] * ray[1] - way[:, 1:] * ray[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = (starts[:, 1:] * way[:, :1] - starts[:, :1] * way[:, 1:]) / cross
        share = (starts[:, 1:] * ray[0] - starts[:, :1] * ray[1]) / cross
    met = (np.abs(cross) > 1e-9) & (distance > 0.3) & (share >= 0) & (share <= 1)
    return np.where(met, distance, np.inf).astype(np.float32), np.where(met, share, 0)


def _draw_wall(
    canvas: Canvas, wall: Wall, columns: NDArray[np.intp], away: Floats, share: Floats, sun: float
) -> None:
    length = float(np.linalg.norm(wall.end - wall.start))
    along = share * length
    up = EYE_M + away * np.tan(canvas.elevation)
    way = wall.end - wall.start
    light = 0.86 + 0.14 * math.cos(math.atan2(way[0], way[1]) + math.pi / 2 - sun)
    colour = np.broadcast_to(_rgb(wall.colour) * np.float32(light), (*up.shape, 3)).copy()
    if wall.has_windows:
        _add_windows(colour, along, up, length, has_shop=bool(wall.word))
    colour[up > wall.height - 0.45] = np.array(wall.roof) * light
    colour[up < 0.35] *= 0.75
    if wall.word:
        _add_sign(colour, wall.word, along - length / 2, up)
    canvas.paint((up >= 0) & (up <= wall.height), colour, away, columns)


def _add_windows(
    colour: Floats, along: Floats, up: Floats, length: float, *, has_shop: bool
) -> None:
    bay = length / max(1, round(length / 2.8))
    x, y = along % bay / bay, up % FLOOR_M / FLOOR_M
    upstairs = up >= (FLOOR_M + 1.6 if has_shop else 0.9)
    colour[upstairs & (x > 0.27) & (x < 0.73) & (y > 0.3) & (y < 0.85)] = (70, 84, 98)
    frame = upstairs & (np.abs(x - 0.5) < 0.02) & (y > 0.3) & (y < 0.85)
    colour[frame] = (230, 230, 226)
    if has_shop:
        colour[(x > 0.1) & (x < 0.9) & (up > 0.5) & (up < 2.6)] = (104, 126, 140)
    colour[(np.abs(along - length / 2) < 0.6) & (up < 2.3)] = (88, 62, 46)


def _add_sign(colour: Floats, word: str, across: Floats, up: Floats) -> None:
    ink = _ink(word)
    board, text = _sign_colours(word)
    x, y = across / _SIGN_M, (up - 3.5) / _SIGN_M
    colour[(np.abs(x) < _shape(ink) / 2 + 0.2) & (np.abs(y) < 0.5)] = board
    shade = _sampled(ink, x, y)[..., None]
    colour += (_rgb(text) - colour) * shade


def _sign_colours(word: str) -> tuple[Colour, Colour]:
    boards = (
        (24, 92, 58),
        (30, 62, 128),
        (150, 34, 40),
        (244, 240, 226),
        (60, 50, 46),
        (206, 150, 30),
    )
    board = boards[hashlib.sha256(word.encode()).digest()[0] % len(boards)]
    return board, ((30, 30, 34) if sum(board) > 420 else (250, 250, 244))


# --- plants and posts


def _draw_standing(canvas: Canvas, thing: Standing, at: Floats, place: Place) -> None:
    east, north = thing.at - at
    away = float(math.hypot(east, north))
    turn = _turn(canvas.bearing - math.atan2(east, north))
    columns = np.flatnonzero(np.abs(turn) < min(1.2, math.atan(5 / away)))
    across = away * np.tan(turn[columns])
    up = EYE_M + away * np.tan(canvas.elevation)
    if thing.word:
        _draw_post(canvas, thing, across, up, away, columns)
    else:
        _draw_plant(canvas, place.plant, across / thing.height, up / thing.height, away, columns)


def _draw_plant(
    canvas: Canvas, plant: Plant, x: Floats, y: Floats, away: float, columns: Columns
) -> None:
    """A plant one unit high."""
    canvas.paint((np.abs(x) < 0.025) & (y > 0) & (y < 0.6), _WOOD, away, columns)
    if plant == "conifer":
        leaves = (np.abs(x) < 0.24 * (1 - y)) & (y > 0.12) & (y < 1)
    elif plant == "cypress":
        leaves = (x / 0.11) ** 2 + ((y - 0.53) / 0.47) ** 2 < 1
    elif plant == "palm":
        frond = 0.86 - 1.6 * x**2 + 0.05 * np.abs(np.sin(26 * x))
        leaves = (np.abs(y - frond) < 0.05) & (np.abs(x) < 0.36)
    else:
        edge = 1 + 0.12 * np.sin(19 * x) * np.cos(15 * np.clip(y, -1, 2))
        leaves = (x / 0.32) ** 2 + ((y - 0.66) / 0.34) ** 2 < edge
    shaded = _rgb(_LEAVES) * np.clip(0.75 + 0.4 * (y + x), 0.6, 1.25)[..., None]
    canvas.paint(leaves, shaded, away - 0.1, columns)


def _draw_post(
    canvas: Canvas, thing: Standing, across: Floats, up: Floats, away: float, columns: Columns
) -> None:
    pole = (np.abs(across) < 0.06) & (up > 0) & (up < thing.height)
    canvas.paint(pole, (120, 122, 126), away, columns)
    ink, high = _ink(thing.word), 0.42
    x, y = across / high, (up - thing.height + 0.3) / high
    panel = (np.abs(x) < _shape(ink) / 2 + 0.25) & (np.abs(y) < 0.6)
    board = _rgb((28, 66, 140))
    colour = board + (250.0 - board) * _sampled(ink, x, y)[..., None]
    canvas.paint(panel, colour, away - 0.1, columns)


# --- text


@cache
def _ink(word: str) -> Floats:
    """A word as an array, 1 where there is ink, cropped; raises if the font lacks a letter."""
    font = ImageFont.truetype(str(_FONT), 72)
    missing = bytes(font.getmask("\U0010ffff"))
    lacking = [c for c in word if c != " " and bytes(font.getmask(c)) == missing]
    if lacking:
        raise ValueError(f"{_FONT.name} has no {' '.join(lacking)}")
    left, top, right, bottom = font.getbbox(word)
    image = Image.new("L", (int(right - left), 92), 0)
    ImageDraw.Draw(image).text((-left, (92 - (bottom - top)) / 2 - top), word, fill=255, font=font)
    return np.asarray(image, np.float32) / 255


def _shape(ink: Floats) -> float:
    """How many times wider than high a word is."""
    return float(ink.shape[1] / ink.shape[0])


def _sampled(ink: Floats, x: Floats, y: Floats) -> Floats:
    """The ink at points, in heights of the word from its middle; y grows upwards."""
    column = np.floor(x * ink.shape[0] + ink.shape[1] / 2)
    row = np.floor((0.5 - y) * ink.shape[0])
    inside = (column >= 0) & (column < ink.shape[1]) & (row >= 0) & (row < ink.shape[0])
    column, row = (np.where(inside, n, 0).astype(int) for n in (column, row))
    return np.where(inside, ink[row, column], np.float32(0))


def _rgb(colour: Colour) -> Floats:
    return np.array(colour, np.float32)


def _turn(angle: Floats) -> Floats:
    return (angle + math.pi) % (2 * math.pi) - math.pi
