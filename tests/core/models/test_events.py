"""A tagger's events as text."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from agl1k_core.errors import Agl1kError
from agl1k_core.models import KnownPresences, TaggedEvents

RATE_HZ = 16000


class Loud:
    """Finds speech in loud seconds, and rain always."""

    name, weights_sha256 = "loud", "0123456789abcdef"
    labels: tuple[str, ...] = ("/m/09x0r", "/m/06mb1")
    sample_rate_hz, window_s, hop_s, threshold = RATE_HZ, 1.0, 1.0, 0.5

    def predict(self, wave: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        seconds = np.resize(wave, (max(1, len(wave) // RATE_HZ), RATE_HZ))
        speech = (np.abs(seconds).max(axis=1) > 0.1).astype(np.float32)
        return np.stack([speech, np.ones_like(speech)], axis=1)


def seconds_of(*levels: float) -> npt.NDArray[np.float32]:
    return np.repeat(np.array(levels, np.float32), RATE_HZ)


def test_events_have_times() -> None:
    lister = TaggedEvents(Loud())
    assert lister.source == "tagger loud 0123456789ab"
    assert lister.events("k", seconds_of(0, 1, 1, 0, 1)).splitlines() == [
        "- Rain: 0.0 to 5.0 s",
        "- Speech: 1.0 to 3.0 s, 4.0 to 5.0 s",
    ]
    assert "Speech" not in lister.events("k", seconds_of(0, 0))


def test_windows_that_overlap_are_one_event() -> None:
    tagger = Loud()
    tagger.window_s = 2.0
    (_, speech) = TaggedEvents(tagger).events("k", seconds_of(1, 0, 1, 0, 0, 0, 1)).splitlines()
    assert speech == "- Speech: 0.0 to 4.0 s, 6.0 to 7.0 s"


def test_many_times_are_counted() -> None:
    (_, speech) = TaggedEvents(Loud()).events("k", seconds_of(*[0, 1] * 12)).splitlines()
    assert speech.endswith("15.0 to 16.0 s and 4 more times")


def test_a_tagger_of_another_rate_is_refused() -> None:
    other = Loud()
    other.sample_rate_hz = 32000
    with pytest.raises(ValueError, match="32000 Hz"):
        TaggedEvents(other)


def test_known_presences_have_no_times() -> None:
    lister = KnownPresences({"k": {"/m/06mb1": 0.25, "/m/09x0r": 0.001}}, "tags.json")
    assert lister.events("k", seconds_of(0)) == "- Rain: 25% of the time"
    assert KnownPresences({"k": {}}, "x").events("k", seconds_of(0)) == "- nothing that it knows"
    with pytest.raises(Agl1kError, match="no tags of this recording"):
        lister.events("other", seconds_of(0))
