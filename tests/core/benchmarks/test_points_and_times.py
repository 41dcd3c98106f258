"""Points and times are read from tags and names as devices and people write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agl1k_core.benchmarks.sources.points import read_point
from agl1k_core.benchmarks.sources.tagged import OddPlaceError, place_in
from agl1k_core.benchmarks.sources.times import time_in

AUDIOMOTH = (
    "Recorded at 19:17:30 19/02/2023 (UTC{}) by AudioMoth 247475055F1F4C0A at medium gain while "
    "battery was 4.2V and temperature was 21.5C."
)
BEXT = {"time_reference": "0"}
NAMES = ("guano|loc position", "location", "latitude", "longitude", "comment", "date")
POINTS = st.from_regex(r"[-+]?[0-9]{1,3}[.,][0-9]{1,3}[ ,;NSEW°'/]{1,2}[-+]?[0-9]{1,3}")


@given(tags=st.dictionaries(st.sampled_from(NAMES), st.text(max_size=30) | POINTS))
def test_any_tags_give_a_point_on_earth_or_a_reason(tags: dict[str, str]) -> None:
    recorded = time_in(tags, tags.get("comment", ""))
    assert not recorded or recorded[:4].isdigit()
    try:
        latitude, longitude = place_in(tags)
    except OddPlaceError:
        return
    assert abs(latitude) <= 90
    assert abs(longitude) <= 180


@pytest.mark.parametrize(
    ("text", "point"),
    [
        ("48.8566 2.3522", (48.8566, 2.3522)),
        ("48.8566,-2.3522", (48.8566, -2.3522)),
        ("48.8566, 2.3522, 35.1", (48.8566, 2.3522)),
        ("(48.8566; 2.3522)", (48.8566, 2.3522)),
        ("48,8566 −2,3522", (48.8566, -2.3522)),
        ("48,8566; 2,3522", (48.8566, 2.3522)),
        ("+48.8566+002.3522/", (48.8566, 2.3522)),
        ("+4830-00230/", (48.5, -2.5)),
        ("-483000.0+0023000.00+12.3CRSWGS_84/", (-48.5, 2.5)),
        ("+40-075CRSWGS_84/", (40, -75)),
        ("geo:48.1,-2.2,12;crs=wgs84;u=35", (48.1, -2.2)),
        ("48.1N 2.2W", (48.1, -2.2)),
        ("S48.1, E2.2", (-48.1, 2.2)),
        ("48°30′N, 2°30′E", (48.5, 2.5)),
        ("N49_15_36*W122_45_36", (49.26, -122.76)),
        ("lat=48.1 lon=2.2", (48.1, 2.2)),
        ("Latitude: 48.1, Longitude: -2.2", (48.1, -2.2)),
        ("2008-07-01", None),
        ("Take 12", None),
        ("48.8566", None),
        ("", None),
    ],
)
def test_points(text: str, point: tuple[float, float] | None) -> None:
    assert read_point(text) == (point and pytest.approx(point))


@pytest.mark.parametrize(
    ("name", "recorded"),
    [
        ("20230101_120000.WAV", "2023-01-01T12:00:00"),
        ("20230101_120000T.WAV", "2023-01-01T12:00:00"),
        ("SITE-3_20230101_120000.wav", "2023-01-01T12:00:00"),
        ("2023-01-01 12.00.05.m4a", "2023-01-01T12:00:05"),
        ("2023-01-01 birds.mp3", "2023-01-01"),
        ("5E90A1B2.WAV", "2020-04-10T16:41:22Z"),
        ("230102-123456.WAV", "2023-01-02T12:34:56"),
        ("230102_123456_Tr1.WAV", "2023-01-02T12:34:56"),
        ("230102_T001.WAV", "2023-01-02"),
        ("ZOOM0001.WAV", ""),
        ("20230101.mp3", ""),
        ("20231341_120000.WAV", ""),
        ("19870101.WAV", ""),
        ("aporee_2012_3456.mp3", ""),
        ("XC694038.mp3", ""),
    ],
)
def test_times_in_names(name: str, recorded: str) -> None:
    assert time_in({}, name) == recorded


@pytest.mark.parametrize(
    ("tags", "recorded"),
    [
        ({"guano|timestamp": "2020-01-02T03:04:05", "date": "2021"}, "2020-01-02T03:04:05"),
        ({"comment": AUDIOMOTH.format("")}, "2023-02-19T19:17:30Z"),
        ({"comment": AUDIOMOTH.format("-3")}, "2023-02-19T19:17:30-03:00"),
        ({**BEXT, "date": "2021:05:04", "creation_time": "05-06-07"}, "2021-05-04T05:06:07"),
        ({"guano|timestamp": "0000-00-00", "date": "2008-07-00"}, "2008-07"),
        ({"date": "May", "creation_time": "2024-05-31T06:30:00.00Z"}, "2024-05-31T06:30:00Z"),
        ({"date": "2024"}, "2024"),
    ],
)  # fmt: skip
def test_times_in_tags(tags: dict[str, str], recorded: str) -> None:
    assert time_in(tags, "a.wav") == recorded
