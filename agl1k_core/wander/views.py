"""Views cut from panoramas: perspective pictures, with arrows where one can go.

A camera with a horizontal field of view of ``fov_deg`` looks towards a bearing, clockwise from
north, and up by a pitch. A point of the picture, ``right`` and ``down`` of its middle in units of
the focal length, is seen along (right, 1, −down) before the camera is pitched; the focal length is
half the width over the tangent of half the field of view.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import map_coordinates

from agl1k_core.extras import Deferred
from agl1k_core.models import Picture
from agl1k_core.wander.environment import State
from agl1k_core.wander.graph import turn_to
from agl1k_core.wander.panoramas import Panorama, PanoramaFolder

if TYPE_CHECKING:
    from PIL import Image

Pillow = Deferred("PIL.Image")
Drawing = Deferred("PIL.ImageDraw")

Floats = NDArray[np.float64]
Size = tuple[int, int]  # width, height in pixels

SIZE: Size = (800, 600)
FOV_DEG = 90.0
_EDGE = "#101010"
#: What arrows look like; ways beyond these colours are grey.
_FILLS = {
    "red": "#e5252a", "blue": "#2158e8", "green": "#1f9d3a", "yellow": "#ffdc1f",
    "purple": "#a32cc4", "orange": "#ff8a14", "cyan": "#1fd4e6", "white": "#ffffff",
}  # fmt: skip
_OTHER_FILL = "#9a9a9a"
#: An arrow on the ground, to the right and forward of its middle, in lengths of the arrow.
_GROUND = ((-0.06, -0.5), (-0.06, -0.15), (-0.2, -0.15), (0.0, 0.5), (0.2, -0.15), (0.06, -0.15),
           (0.06, -0.5))  # fmt: skip


@dataclass(frozen=True, slots=True)
class Arrow:
    """A direction in which one can go; ``colour`` is any name or code that Pillow knows."""

    bearing_deg: float
    colour: str


@dataclass(frozen=True, slots=True)
class Camera:
    """Where a view looks.

    Parameters
    ----------
    heading_deg
        The bearing of the view's middle, clockwise from north.
    pitch_deg
        Its elevation, from −90 (down) to 90 (up).
    fov_deg
        Horizontal field of view, from 1 to 170.
    size
        Width and height of the view in pixels.
    """

    heading_deg: float
    pitch_deg: float = 0.0
    fov_deg: float = FOV_DEG
    size: Size = SIZE

    def __post_init__(self) -> None:
        if not (math.isfinite(self.heading_deg) and abs(self.pitch_deg) <= 90):
            raise ValueError("a heading is finite, and a pitch from -90 to 90 degrees")
        if not (1 <= self.fov_deg <= 170 and min(self.size) >= 1):
            raise ValueError("a field of view is from 1 to 170 degrees, a size at least 1 pixel")

    @property
    def focal_px(self) -> float:
        """The focal length in pixels."""
        return float(self.size[0] / 2 / math.tan(math.radians(self.fov_deg) / 2))

    def rays(self) -> tuple[Floats, Floats]:
        """Bearing and elevation in radians of every pixel's middle, of shape (height, width)."""
        width, height = self.size
        right = (np.arange(width) + 0.5 - width / 2) / self.focal_px
        down = (np.arange(height) + 0.5 - height / 2)[:, None] / self.focal_px
        pitch = math.radians(self.pitch_deg)
        forward = math.cos(pitch) + down * math.sin(pitch)
        up = math.sin(pitch) - down * math.cos(pitch)
        bearing = np.arctan2(right, forward) + math.radians(self.heading_deg)
        return bearing, np.arctan2(up, np.hypot(right, forward))

    def position(self, bearing_deg: float, elevation_deg: float) -> tuple[float, float] | None:
        """Where a direction is in the view, in pixels; None if it is behind the camera."""
        turn, rise = math.radians(bearing_deg - self.heading_deg), math.radians(elevation_deg)
        return self.project(
            math.cos(rise) * math.sin(turn), math.cos(rise) * math.cos(turn), math.sin(rise)
        )

    def project(self, right: float, forward: float, up: float) -> tuple[float, float] | None:
        """Where a point is in the view; ``forward`` is level, towards the camera's heading."""
        pitch = math.radians(self.pitch_deg)
        depth = forward * math.cos(pitch) + up * math.sin(pitch)
        if depth <= 1e-9:
            return None
        rise = up * math.cos(pitch) - forward * math.sin(pitch)
        scale = self.focal_px / depth
        return self.size[0] / 2 + right * scale, self.size[1] / 2 - rise * scale


def view(
    panorama: Panorama,
    heading_deg: float,
    pitch_deg: float = 0.0,
    fov_deg: float = FOV_DEG,
    size: Size = SIZE,
    arrows: Sequence[Arrow] = (),
) -> Image.Image:
    """What a camera sees at a panorama's place.

    Parameters
    ----------
    panorama
        The panorama, and the bearing of its middle column.
    heading_deg, pitch_deg, fov_deg, size
        As in `Camera`.
    arrows
        Directions to draw, each at its bearing: on the ground, or at the edge nearest to it.

    Returns
    -------
    PIL.Image.Image
        An RGB picture, interpolated between the pixels of the panorama.
    """
    camera = Camera(heading_deg, pitch_deg, fov_deg, size)
    bearing, elevation = camera.rays()
    pixels = _fitting(panorama, camera)
    image: Image.Image = Pillow.fromarray(
        _sample(pixels, bearing - math.radians(panorama.heading_deg), elevation)
    )
    return with_arrows(image, camera, arrows) if arrows else image


def _fitting(panorama: Panorama, camera: Camera) -> NDArray[np.uint8]:
    """The panorama, reduced if the view shows it much smaller, so that thin lines stay."""
    finest = math.radians(360) / panorama.pixels.shape[1]
    factor = int(1 / camera.focal_px / finest)
    if factor < 2:
        return panorama.pixels
    height, width = panorama.pixels.shape[:2]
    smaller = max(2, width // factor), max(1, height // factor)
    return np.asarray(panorama.picture.resize(smaller, Pillow.Resampling.BOX))


def _sample(pixels: NDArray[np.uint8], turn: Floats, elevation: Floats) -> NDArray[np.uint8]:
    """Colours along rays; ``turn`` is to the right of the middle column, both in radians."""
    height, width = pixels.shape[:2]
    column = (turn / (2 * math.pi) + 0.5) % 1 * width - 0.5
    row = (0.5 - elevation / math.pi) * height - 0.5
    around = _with_border(pixels)
    at = [np.broadcast_to(row, column.shape) + 1, column + 1]
    colours = [map_coordinates(around[..., n], at, np.float64, order=1) for n in range(3)]
    return np.stack([np.rint(colour) for colour in colours], axis=-1).astype(np.uint8)


def _with_border(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """One pixel more on each side: across the seam, and across the poles half a turn away."""
    half = pixels.shape[1] // 2
    tall = np.concatenate([np.roll(pixels[:1], half, 1), pixels, np.roll(pixels[-1:], half, 1)])
    return np.concatenate([tall[:, -1:], tall, tall[:, :1]], axis=1)


def with_arrows(picture: Image.Image, camera: Camera, arrows: Iterable[Arrow]) -> Image.Image:
    """A copy of a view in which arrows lie on the ground, at their bearings.

    An arrow that the camera does not see points out of the picture, at the edge nearest to it.
    """
    drawn = picture.convert("RGB")
    draw = Drawing.Draw(drawn)
    outside: dict[str, int] = {}
    for arrow in sorted(
        arrows, key=lambda arrow: abs(turn_to(arrow.bearing_deg, camera.heading_deg))
    ):
        outline = _on_ground(arrow, camera) or _at_edge(arrow, camera, outside)
        draw.polygon(outline, fill=arrow.colour, outline=_EDGE, width=max(1, camera.size[1] // 200))
    return drawn


def _on_ground(arrow: Arrow, camera: Camera) -> list[tuple[float, float]] | None:
    """The outline of an arrow seen in the lower half of the view, if all of it is seen."""
    near, far = _ground_distance(camera, 0.7), _ground_distance(camera, 0.3)
    if far < 1.2 * near:
        return None  # the camera looks up into the sky, or straight down
    turn = math.radians(arrow.bearing_deg - camera.heading_deg)
    outline = []
    for across, forward in _GROUND:
        right, ahead = across * (far - near), near + (forward + 0.5) * (far - near)
        point = camera.project(
            right * math.cos(turn) + ahead * math.sin(turn),
            ahead * math.cos(turn) - right * math.sin(turn),
            -1.0,
        )
        if point is None or not _is_inside(point, camera.size):
            return None
        outline.append(point)
    return outline


def _ground_distance(camera: Camera, share: float) -> float:
    """How far away the ground is, in heights of the camera, below the middle of the view.

    ``share`` is 0 in the middle and 1 at the lower edge.
    """
    down = math.degrees(math.atan(share * camera.size[1] / 2 / camera.focal_px))
    return 1 / math.tan(math.radians(min(80.0, max(4.0, down - camera.pitch_deg))))


def _is_inside(point: tuple[float, float], size: Size) -> bool:
    return 0 <= point[0] <= size[0] and 0 <= point[1] <= size[1]


def _at_edge(arrow: Arrow, camera: Camera, taken: dict[str, int]) -> list[tuple[float, float]]:
    """A triangle that points to the left, to the right or, if the arrow is below, down."""
    (width, height), turn = camera.size, turn_to(arrow.bearing_deg, camera.heading_deg)
    length = min(width, height) / 14
    level = camera.position(arrow.bearing_deg, camera.pitch_deg)
    if level is not None and length < level[0] < width - length:
        return _triangle(level[0], height, 0, 1, length)
    side = "left" if turn < 0 else "right"
    place = taken[side] = taken.get(side, 0) + 1
    y = height * 0.62 - 1.7 * length * (place - 1)
    return _triangle(0 if turn < 0 else width, y, math.copysign(1, turn), 0, length)


def _triangle(
    x: float, y: float, right: float, down: float, length: float
) -> list[tuple[float, float]]:
    """A triangle whose tip (x, y) points along (right, down)."""
    back_x, back_y, half = x - right * length, y - down * length, length * 0.6
    return [
        (x, y),
        (back_x + down * half, back_y + right * half),
        (back_x - down * half, back_y - right * half),
    ]


@dataclass(frozen=True)
class FolderViews:
    """Pictures of the states of a walk, cut from the panoramas in a folder.

    Parameters
    ----------
    folder
        The panoramas by id.
    pitch_deg, fov_deg, size
        As in `Camera`.

    Examples
    --------
    ``FolderViews(PanoramaFolder(Path("panoramas"))).draw(environment.state)``
    """

    folder: PanoramaFolder
    pitch_deg: float = 0.0
    fov_deg: float = FOV_DEG
    size: Size = SIZE

    def draw(self, state: State) -> Picture:
        """What one sees in a state: towards ``shown_deg``, with an arrow for each way.

        Arrows are ``relative_deg`` from the middle, as the ways of the state are named.

        Raises ``Agl1kError`` if the node has no panorama, or its file cannot be read.
        """
        panorama = self.folder.read(state.node.pano_id, state.node.heading_deg)
        arrows = [
            Arrow(state.shown_deg + move.relative_deg, fill_of(move.way)) for move in state.moves
        ]
        shown = view(panorama, state.shown_deg, self.pitch_deg, self.fov_deg, self.size, arrows)
        return Picture(encoded(shown), "image/jpeg")


def fill_of(way: str) -> str:
    """The colour of a way's arrow, in hexadecimal.

    Examples
    --------
    >>> fill_of("white"), fill_of("9")
    ('#ffffff', '#9a9a9a')
    """
    return _FILLS.get(way, _OTHER_FILL)


def encoded(picture: Image.Image, *, quality: int = 88) -> bytes:
    """A picture as a JPEG file, without any metadata of the panorama it was cut from."""
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=quality)
    return buffer.getvalue()
