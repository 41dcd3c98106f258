"""Views of marked panoramas, against a projection written differently."""

from __future__ import annotations

import io
import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from PIL import Image

from agl1k_core.errors import Agl1kError
from agl1k_core.wander import (
    Action,
    Arrow,
    Camera,
    Edge,
    Environment,
    FolderViews,
    Graph,
    Node,
    Panorama,
    PanoramaFolder,
    encoded,
    view,
)

RED = (255, 0, 0)


def smooth_panorama(heading_deg: float = 0.0, width: int = 1024) -> Panorama:
    """Colours that are smooth functions of the direction, so that any error of angle shows."""
    bearing = np.radians(heading_deg) + ((np.arange(width) + 0.5) / width - 0.5) * 2 * np.pi
    elevation = (0.5 - (np.arange(width // 2) + 0.5) / (width // 2)) * np.pi
    bearing, elevation = np.meshgrid(bearing, elevation)
    pixels = colour_of(bearing, elevation)
    return Panorama(np.rint(pixels).astype(np.uint8), heading_deg)


def colour_of(bearing: NDArray[np.float64], elevation: NDArray[np.float64]) -> NDArray[np.float64]:
    """Red grows to the east, green to the north, blue upwards; no two directions are the same."""
    east = np.cos(elevation) * np.sin(bearing)
    north = np.cos(elevation) * np.cos(bearing)
    return 127.5 + 120 * np.stack([east, north, np.sin(elevation)], axis=-1)


def independent(
    x: float, y: float, heading_deg: float, pitch_deg: float, fov_deg: float, size: tuple[int, int]
) -> NDArray[np.float64]:
    """The unit vector (east, north, up) of a pixel: basis vectors of the camera, ray by ray."""
    a, b = math.radians(heading_deg), math.radians(pitch_deg)
    ahead = np.array([math.cos(b) * math.sin(a), math.cos(b) * math.cos(a), math.sin(b)])
    right = np.array([math.sin(a + math.pi / 2), math.cos(a + math.pi / 2), 0.0])
    above = np.cross(right, ahead)
    half = math.tan(math.radians(fov_deg / 2))
    across = (2 * (x + 0.5) / size[0] - 1) * half
    over = (1 - 2 * (y + 0.5) / size[1]) * half * size[1] / size[0]
    ray = ahead + across * right + over * above
    return np.asarray(ray / np.linalg.norm(ray), np.float64)


@given(
    own=st.floats(-400, 400),
    heading=st.floats(-720, 720),
    pitch=st.floats(-90, 90),
    fov=st.floats(20, 140),
    width=st.integers(24, 60),
    height=st.integers(2, 60),
)
def test_every_pixel_is_what_its_ray_meets(
    own: float, heading: float, pitch: float, fov: float, width: int, height: int
) -> None:
    seen = np.asarray(view(smooth_panorama(own, 256), heading, pitch, fov, (width, height)), float)
    for x in {0, width // 2, width - 1}:
        for y in {0, height // 2, height - 1}:
            ray = independent(x, y, heading, pitch, fov, (width, height))
            assert np.abs(seen[y, x] - (127.5 + 120 * ray)).max() < 4


@pytest.mark.parametrize("own", [0, 47, 180, 300])
def test_turning_right_by_90_degrees_shows_what_is_90_degrees_to_the_right(own: float) -> None:
    panorama = smooth_panorama(own)
    names = {}
    for heading in (0, 90, 180, 270, 360):
        picture = np.asarray(view(panorama, heading, size=(101, 75)), float)
        names[heading] = picture[37, 50]
    assert names[0] == pytest.approx([127.5, 247.5, 127.5], abs=2)  # north
    assert names[90] == pytest.approx([247.5, 127.5, 127.5], abs=2)  # east
    assert names[180] == pytest.approx([127.5, 7.5, 127.5], abs=2)
    assert names[270] == pytest.approx([7.5, 127.5, 127.5], abs=2)
    assert list(names[360]) == list(names[0])


def posts(width: int = 2048) -> Panorama:
    """A grey panorama with a white post, from below to above, at every 30 degrees."""
    pixels = np.full((width // 2, width, 3), 90, np.uint8)
    for bearing in range(0, 360, 30):
        column = round((bearing / 360 + 0.5) * width - 0.5) % width
        pixels[:, column - 2 : column + 3] = 255
    return Panorama(pixels)


def centre_of(picture: NDArray[np.uint8], colour: tuple[int, int, int]) -> tuple[float, float]:
    rows, columns = np.nonzero((picture == colour).all(axis=-1))
    assert len(rows), f"nothing is {colour}"
    return float(columns.mean()), float(rows.mean())


@pytest.mark.parametrize("heading", [0, 10, 345, 200])
@pytest.mark.parametrize(("pitch", "fov"), [(0, 60), (-25, 60), (0, 90), (-25, 90), (0, 110)])
def test_an_arrow_lies_on_the_ground_towards_its_bearing(
    heading: float, pitch: float, fov: float
) -> None:
    size, bearing = (600, 400), heading + 14
    drawn = np.asarray(view(posts(), heading, pitch, fov, size, arrows=[Arrow(bearing, "#FF0000")]))
    rows, columns = np.nonzero((drawn == (255, 0, 0)).all(axis=-1))
    assert len(rows) > 300
    rays = np.array(
        [
            independent(x, y, heading, pitch, fov, size)
            for y, x in zip(rows.tolist(), columns.tolist(), strict=True)
        ]
    )
    assert rays[:, 2].max() < 0, "part of the arrow is above the horizon"
    east, north = (rays[:, n] / -rays[:, 2] for n in (0, 1))
    along = east * math.sin(math.radians(bearing)) + north * math.cos(math.radians(bearing))
    across = east * math.cos(math.radians(bearing)) - north * math.sin(math.radians(bearing))
    assert along.min() > 0
    assert abs(across.max() + across.min()) < 0.08 * np.ptp(across), "it lies at another bearing"
    tip, tail = along > np.quantile(along, 0.98), along < np.quantile(along, 0.1)
    assert np.ptp(across[tip]) < np.ptp(across[tail]) < np.ptp(across), "it points elsewhere"


@pytest.mark.parametrize("bearing", [0, 30, 120, 330])
def test_an_arrow_straight_ahead_stands_on_the_post_of_its_bearing(bearing: float) -> None:
    plain = np.asarray(view(posts(), bearing, size=(301, 201)))
    arrow = Arrow(bearing, "#FF0000")
    x, y = centre_of(np.asarray(view(posts(), bearing, size=(301, 201), arrows=[arrow])), RED)
    post = np.flatnonzero(plain[100, :, 0] > 200)
    assert post[np.abs(post - 150).argmin()] == pytest.approx(x, abs=3)
    assert y > 100


@pytest.mark.parametrize(
    ("bearing", "side"), [(90, "right"), (170, "right"), (190, "left"), (270, "left")]
)
def test_an_arrow_out_of_view_is_at_the_nearer_edge(bearing: float, side: str) -> None:
    drawn = np.asarray(view(posts(), 0, 0, 60, (600, 400), arrows=[Arrow(bearing, "#0000FF")]))
    x, _ = centre_of(drawn, (0, 0, 255))
    assert x > 550 if side == "right" else x < 50


def test_arrows_out_of_view_do_not_cover_each_other() -> None:
    arrows = [Arrow(120, "#0000FF"), Arrow(150, "#00FF00"), Arrow(170, "#FF0000")]
    drawn = np.asarray(view(posts(), 0, 0, 60, (600, 400), arrows=arrows))
    heights = [centre_of(drawn, c)[1] for c in ((0, 0, 255), (0, 255, 0), (255, 0, 0))]
    assert heights == sorted(heights, reverse=True)
    assert min(a - b for a, b in itertools.pairwise(heights)) > 20


def test_an_arrow_that_is_ahead_stays_visible_whatever_the_pitch() -> None:
    for pitch in range(-90, 91, 10):
        drawn = np.asarray(view(posts(), 30, pitch, 75, (300, 200), arrows=[Arrow(30, "#FF0000")]))
        centre_of(drawn, (255, 0, 0))


def test_thin_lines_stay_in_a_small_view_of_a_large_panorama() -> None:
    pixels = np.zeros((1024, 2048, 3), np.uint8)
    pixels[:, ::2] = 255
    small = np.asarray(view(Panorama(pixels), 0, 0, 90, (40, 30)), float)
    assert 110 < small.min() <= small.max() < 145


@given(
    heading=st.floats(0, 360), pitch=st.floats(-80, 80), x=st.integers(0, 59), y=st.integers(0, 39)
)
def test_the_position_of_a_pixel_s_ray_is_the_pixel(
    heading: float, pitch: float, x: int, y: int
) -> None:
    camera = Camera(heading, pitch, 80, (60, 40))
    bearing, elevation = camera.rays()
    found = camera.position(math.degrees(bearing[y, x]), math.degrees(elevation[y, x]))
    assert found == pytest.approx((x + 0.5, y + 0.5), abs=1e-6)


@pytest.mark.parametrize(
    "camera",
    [(math.nan, 0, 90), (0, 91, 90), (0, math.nan, 90), (0, 0, 0), (0, 0, 180), (0, 0, math.nan)],
)
def test_impossible_cameras_are_refused(camera: tuple[float, float, float]) -> None:
    with pytest.raises(ValueError, match="degrees"):
        Camera(*camera)


def test_an_encoded_view_has_no_metadata() -> None:
    data = encoded(view(posts(), 0, size=(64, 48)))
    assert data[:3] == b"\xff\xd8\xff"
    assert b"Exif" not in data


@pytest.fixture
def walk(tmp_path: Path) -> tuple[Graph, FolderViews]:
    """Two panoramas whose middles look to 40 and 250 degrees; the way there is to 70."""
    for name, heading in (("a", 40.0), ("b", 250.0)):
        Image.fromarray(smooth_panorama(heading).pixels).save(tmp_path / f"{name}.png")
    nodes = (
        Node("a", 0, 48.0, 2.0, math.radians(40)),
        Node("b", 1, 48.0001, 2.0003, math.radians(250)),
        Node("gone", 2, 48.0001, 2.0004),
    )
    ways = (Edge(0, 1, math.radians(70)), Edge(1, 0, math.radians(250)), Edge(1, 2, 0.0))
    views = FolderViews(PanoramaFolder(tmp_path), size=(400, 300))
    return Graph("toy", "a", nodes, ways), views


def seen(views: FolderViews, walk: Environment) -> NDArray[np.float64]:
    picture = views.draw(walk.state)
    assert picture.media_type == "image/jpeg"
    return np.asarray(Image.open(io.BytesIO(picture.data)), float)


def bearing_of(picture: NDArray[np.float64]) -> float:
    """The bearing in the middle of a view of a smooth panorama."""
    east, north, _ = picture[130:150, 190:210].mean(axis=(0, 1)) - 127.5
    return math.degrees(math.atan2(east, north)) % 360


def arrow_column(picture: NDArray[np.float64], colour: tuple[int, int, int]) -> float:
    columns = np.nonzero(np.abs(picture - colour).max(axis=-1) < 30)[1]
    return float(columns.mean())


@pytest.mark.parametrize("degrees", [0, 30, 90, -45, 180])
def test_a_walk_shows_what_it_looks_at_and_where_it_can_go(
    walk: tuple[Graph, FolderViews], degrees: float
) -> None:
    graph, views = walk
    environment = Environment(graph, max_steps=9)
    environment.act(Action("rotate", degrees=degrees))
    picture = seen(views, environment)
    assert bearing_of(picture) == pytest.approx((40 + degrees) % 360, abs=1.5)
    column = arrow_column(picture, (0xE5, 0x25, 0x2A))
    ahead = (30 - degrees + 180) % 360 - 180
    if abs(ahead) < 20:
        expected = 200 + 200 * math.tan(math.radians(ahead))
        assert column == pytest.approx(expected, abs=14)
    else:
        assert column > 200 if ahead > 0 else column < 200
    environment.act(Action("move", way="red"))
    assert bearing_of(seen(views, environment)) == pytest.approx(250, abs=1.5)


def test_as_published_the_picture_turns_left_and_the_arrows_turn_right(
    walk: tuple[Graph, FolderViews],
) -> None:
    graph, views = walk
    published = Environment(graph, as_published=True)
    published.act(Action("rotate", degrees=90))
    picture = seen(views, published)
    assert bearing_of(picture) == pytest.approx(310, abs=1.5)  # 40 - 90
    column = arrow_column(picture, (0xE5, 0x25, 0x2A))
    assert column < 200  # the way is 60 degrees to the left of 130


def test_a_node_without_a_panorama_is_named(walk: tuple[Graph, FolderViews]) -> None:
    graph, views = walk
    environment = Environment(graph)
    environment.act(Action("move", way="red"))
    environment.act(Action("move", way="blue"))
    with pytest.raises(Agl1kError, match="has no panorama gone"):
        views.draw(environment.state)
