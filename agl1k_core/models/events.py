"""The events in a recording as text, for a model that asks which sounds a tagger found."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from agl1k_core import tagging
from agl1k_core.errors import Agl1kError
from agl1k_core.models.controls import sound_lines
from agl1k_core.models.messages import Samples
from agl1k_core.models.sounds import RATE_HZ

_MOST_CLASSES, _MOST_TIMES = 20, 8
_NOTHING = "- nothing that it knows"


class EventLister(Protocol):
    """Lists the events in a clip's recording; ``source`` names what found them."""

    @property
    def source(self) -> str:
        """The tagger, for the provenance."""
        ...

    def events(self, key: str, samples: Samples) -> str:
        """One line per sound, for a clip and its recording at ``RATE_HZ``.

        Raises ``Agl1kError`` if they are not known.
        """
        ...


@dataclass
class TaggedEvents:
    """Tags a recording when it is asked about; times of each class in seconds.

    Parameters
    ----------
    tagger
        A tagger that takes sound at ``RATE_HZ``, such as YAMNet. One recording is tagged at a time.
    """

    tagger: tagging.Tagger
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def __post_init__(self) -> None:
        if self.tagger.sample_rate_hz != RATE_HZ:
            raise ValueError(f"{self.tagger.name} takes sound at {self.tagger.sample_rate_hz} Hz")

    @property
    def source(self) -> str:
        """See ``EventLister.source``."""
        return f"tagger {self.tagger.name} {self.tagger.weights_sha256[:12]}"

    def events(self, key: str, samples: Samples) -> str:
        """See ``EventLister.events``."""
        with self._lock:
            tags = tagging.tag_blocks([samples], self.tagger)
        lines = [f"- {tagging.class_name(label)}: {_times(tags, label)}"
                 for label in [*tags.presence][:_MOST_CLASSES]]  # fmt: skip
        return "\n".join(lines) or _NOTHING


def _times(tags: tagging.Tags, label: str) -> str:
    """When a class is present, such as "0.0 to 1.5 s, 4.8 to 6.2 s"."""
    spans: list[tuple[float, float]] = []
    for window in np.flatnonzero(tags.probability[:, tags.labels.index(label)] >= tags.threshold):
        start_s = float(window * tags.hop_s)
        end_s = min(start_s + tags.window_s, tags.duration_s)
        if spans and start_s <= spans[-1][1]:
            start_s = spans.pop()[0]
        spans.append((start_s, end_s))
    told = ", ".join(f"{start_s:.1f} to {end_s:.1f} s" for start_s, end_s in spans[:_MOST_TIMES])
    more = f" and {len(spans) - _MOST_TIMES} more times" if len(spans) > _MOST_TIMES else ""
    return told + more


@dataclass(frozen=True)
class KnownPresences:
    """The share of time of each class, as a benchmark's ``tags.json`` has it, without times.

    Parameters
    ----------
    presences
        Share of time, 0 to 1, of each AudioSet id, by clip.
    source
        See ``EventLister.source``.
    """

    presences: Mapping[str, Mapping[str, float]]
    source: str

    def events(self, key: str, samples: Samples) -> str:
        """See ``EventLister.events``."""
        if key not in self.presences:
            raise Agl1kError("There are no tags of this recording.")
        return sound_lines(self.presences[key]) or _NOTHING
