"""The Python side of the player."""

from __future__ import annotations

import json

import pytest

from ui.player import ClipPlayer, clip_value


def test_clip_value() -> None:
    value = json.loads(clip_value("clip/abc", [0.12345, 1.0], 31.2, "Clip 2 of 5"))
    assert value == {
        "url": "clip/abc",
        "peaks": [0.123, 1.0],
        "duration_s": 31.2,
        "label": "Clip 2 of 5",
    }


@pytest.mark.parametrize(
    ("peaks", "heights"), [([], []), ([-0.5, 1.5], [0.0, 1.0]), ([0, 1], [0.0, 1.0])]
)
def test_peaks_stay_between_silence_and_full(peaks: list[float], heights: list[float]) -> None:
    assert json.loads(clip_value("clip/abc", peaks, 1, "Clip"))["peaks"] == heights


def test_the_value_is_not_part_of_the_template() -> None:
    player = ClipPlayer(clip_value("clip/abc", [], 1, "Clip"), render=False)
    assert "${" not in player.html_template
    assert "abc" not in player.html_template


def test_controls_have_names() -> None:
    template = ClipPlayer(render=False).html_template
    for name in ("Play", "Back to the start", "Mute", "Volume", "Position in the clip"):
        assert f'aria-label="{name}"' in template
