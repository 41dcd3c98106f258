"""The Python side of the map: reading the pin, and commands to the page."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agl1k_core.errors import Agl1kError
from ui.model_guess import ModelGuess
from ui.worldmap import (
    Command,
    MapPoint,
    RoundShown,
    WorldMap,
    lock_command,
    page_head,
    parse_pin,
    points_command,
    reset_command,
    restore_command,
    reveal_command,
    summary_command,
)

FIJI = (-18.1, 178.4)
ALASKA = (64.8, -147.7)


@pytest.mark.parametrize("value", [None, ""])
def test_no_pin(value: str | None) -> None:
    assert parse_pin(value) is None


@given(
    latitude=st.floats(-90, 90, allow_nan=False), longitude=st.floats(-180, 180, allow_nan=False)
)
def test_a_pin_is_read_back_unchanged(latitude: float, longitude: float) -> None:
    value = json.dumps({"latitude": latitude, "longitude": longitude})
    assert parse_pin(value) == (latitude, longitude)


@pytest.mark.parametrize(
    "value",
    [
        "nonsense",
        "null",
        "[]",
        "[1, 2]",
        "7",
        '"latitude"',
        "{}",
        '{"latitude": 1}',
        '{"latitude": "1", "longitude": 2}',
        '{"latitude": true, "longitude": 2}',
        '{"latitude": null, "longitude": 2}',
        '{"latitude": NaN, "longitude": 2}',
        '{"latitude": Infinity, "longitude": 2}',
        '{"latitude": 1' + "0" * 400 + ', "longitude": 2}',
        "[" * 100_000,
    ],
)
def test_a_broken_pin_is_refused_with_a_sentence(value: str) -> None:
    with pytest.raises(Agl1kError, match=r"^The pin could not be read\. Drop it on the map again"):
        parse_pin(value)


@pytest.mark.parametrize(("latitude", "longitude"), [(90.1, 0), (-91, 0), (0, 180.5), (0, -373)])
def test_a_pin_off_the_map_is_refused_with_its_numbers(latitude: float, longitude: float) -> None:
    value = json.dumps({"latitude": latitude, "longitude": longitude})
    with pytest.raises(
        Agl1kError, match=rf"latitude {float(latitude)}, longitude {float(longitude)} is"
    ):
        parse_pin(value)


def reveal() -> Command:
    return reveal_command(
        guess=FIJI,
        truth=ALASKA,
        label="Fairbanks",
        line=[FIJI, (23.45678, 195.2), (64.8, 212.3)],
        models=[ModelGuess("Qwen", 1.0, 2.0, 3.5)],
        text="You were 9,000 km off.",
    )


def summary() -> Command:
    rounds = [
        RoundShown(1, FIJI, ALASKA, "Fairbanks", [FIJI, (64.8, 212.3)]),
        RoundShown(2, None, (1.0, 2.0), "Skipped"),
    ]
    return summary_command(rounds, text="All rounds")


def error_map() -> Command:
    return points_command([MapPoint(1, 2, 3, 4, "clip 1: 300 km", 0.5)])


COMMANDS = [
    reset_command,
    lock_command,
    lambda: restore_command(FIJI),
    reveal,
    summary,
    error_map,
]


@pytest.mark.parametrize("make", COMMANDS)
def test_the_same_command_twice_differs_and_is_plain_json(make: object) -> None:
    assert callable(make)
    first, second = make(), make()
    assert first["nonce"] != second["nonce"]
    assert {**first, "nonce": ""} == {**second, "nonce": ""}
    assert json.loads(json.dumps(first, allow_nan=False)) == first


def test_reveal_contains_what_the_map_draws() -> None:
    command = reveal()
    assert command["op"] == "reveal"
    assert command["guess"] == {"latitude": -18.1, "longitude": 178.4}
    assert command["truth"] == {"latitude": 64.8, "longitude": -147.7}
    assert command["line"] == [[-18.1, 178.4], [23.4568, 195.2], [64.8, 212.3]]
    assert command["models"] == [
        {"name": "Qwen", "lat": 1.0, "lon": 2.0, "distance_km": 3.5, "n_models": 0}
    ]
    assert command["text"] == "You were 9,000 km off."


def test_reveal_without_a_guess() -> None:
    command = reveal_command(guess=None, truth=ALASKA, label="Fairbanks")
    assert (command["guess"], command["line"], command["models"]) == (None, [], [])


def test_summary_numbers_the_rounds() -> None:
    rounds = summary()["rounds"]
    assert [entry["number"] for entry in rounds] == [1, 2]
    assert rounds[1]["guess"] is None


def test_restore_and_reset() -> None:
    assert restore_command(FIJI, locked=True)["locked"] is True
    assert restore_command(None)["pin"] is None
    assert reset_command()["view"] == "world"
    assert reset_command(keep_view=True)["view"] == "keep"
    assert reset_command(pin_of="clip")["pin_of"] == "clip"


def test_no_other_server_is_contacted() -> None:
    world = WorldMap(render=False)
    for text in (world.html_template, world.js_on_load or "", page_head()):
        assert "//" not in text.replace("://www.w3.org", "")


def test_the_value_is_not_part_of_the_template() -> None:
    assert "${" not in WorldMap(render=False).html_template


def test_a_map_that_is_updated_while_hidden_knows_its_options() -> None:
    script = str(
        WorldMap(render=False, readonly=True, label="Errors </script>", tiles="t/{z}").js_on_load
    )
    assert '"readonly": true' in script
    assert '"leaflet": "vendor/leaflet/' in script
    assert '"tiles": "t/{z}"' in script
    assert "</script>" not in script
