"""Review of a curated benchmark: listen to a clip, see its tags and place, keep or reject it.

No Gradio here. Each decision is written to ``review.csv`` in the folder immediately, and the next
run of ``agl1k curate`` follows it. The page shows true places, so it is for people who build a
benchmark, on their own machine, and not part of the app that players see.
"""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from agl1k_core import benchmarks, curation, tagging
from agl1k_core.benchmarks import Benchmark, Clip, ClipTags, read_tags
from agl1k_core.curation import KEEP, REJECT
from agl1k_core.errors import Agl1kError

_TOP = 8
_NAMES = {KEEP: "kept", REJECT: "rejected"}


@dataclass(frozen=True)
class Sheet:
    """One clip as the page shows it; ``token`` is in the address of its sound."""

    key: str
    token: str
    name: str
    decision: str
    status: Markup
    facts: Markup
    place: tuple[float, float]
    place_name: str


class Review:
    """The clips of a folder, and the decision on each.

    Raises ``Agl1kError`` if the folder is not a benchmark, or its decisions cannot be read.
    """

    def __init__(self, folder: Path) -> None:
        self.benchmark: Benchmark = benchmarks.read_folder(folder)
        self._folder = folder
        self._tags = read_tags(folder)
        self._keys = [clip.key for clip in self.benchmark.clips]
        self._by_token = {_token(key): key for key in self._keys}
        self._lock = threading.Lock()
        self.decisions()

    def decisions(self) -> dict[str, str]:
        """The decisions by key, including those on clips that are no longer in the folder."""
        return curation.read_decisions(self._folder)

    def resolve(self, token: str) -> tuple[Benchmark, str] | None:
        """The clip with this token."""
        key = self._by_token.get(token)
        return (self.benchmark, key) if key else None

    def first(self) -> str:
        """The first clip without a decision, or the first of all if there is none."""
        decided = self.decisions()
        return next((key for key in self._keys if key not in decided), self._keys[0])

    def step(self, key: str, by: int) -> str:
        """The clip before or after another; the last is followed by the first."""
        return self._keys[(self._place(key) + by) % len(self._keys)]

    def decide(self, key: str, decision: str) -> str:
        """Store a decision; returns the next clip without one, or else the next clip."""
        place = self._place(key)
        with self._lock:
            decided = {**self.decisions(), key: decision}
            curation.write_decisions(self._folder, decided)
        after = self._keys[place + 1 :] + self._keys[:place]
        return next((other for other in after if other not in decided), self.step(key, 1))

    def sheet(self, key: str) -> Sheet:
        """What the page shows for a clip; raises ``Agl1kError`` if it is not in the folder."""
        place, clip = self._place(key), self.benchmark.clip(key)
        decided = self.decisions()
        name = ", ".join(part for part in (clip.city, clip.country) if part) or "unnamed place"
        return Sheet(
            key=key,
            token=_token(key),
            name=f"Clip {place + 1} of {len(self._keys)}",
            decision=decided.get(key, ""),
            status=self._status(place, decided),
            facts=_facts(clip, self._tags.clips.get(key, ClipTags()), name),
            place=(clip.lat, clip.lon),
            place_name=name,
        )

    def _place(self, key: str) -> int:
        if key not in self.benchmark:
            raise Agl1kError("This clip is no longer in the folder. Reload the page.")
        return self.benchmark.index[key]

    def _status(self, place: int, decided: dict[str, str]) -> Markup:
        counts = Counter(decided.get(key, "") for key in self._keys)
        decision = decided.get(self._keys[place], "")
        label = Markup(" <strong>{}</strong>").format(_NAMES[decision]) if decision else ""
        return Markup(
            '<div class="agl-status"><p><strong>Clip {} of {}</strong>{}</p>'
            '<p class="agl-numbers">{} kept, {} rejected, {} to decide</p></div>'
        ).format(place + 1, len(self._keys), label, counts[KEEP], counts[REJECT], counts[""])


def _token(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()[:32]


def _facts(clip: Clip, tags: ClipTags, place_name: str) -> Markup:
    lines = [clip.description] if clip.description else []
    lines += [f"{place_name} ({clip.lat:.4f}, {clip.lon:.4f})", f"Key {clip.key}"]
    if clip.duration_s is not None:
        lines.append(f"{clip.duration_s:.1f} s, {'speech' if clip.has('human') else 'no speech'}")
    if tags.localizability is not None:
        lines.append(f"Localizability {tags.localizability:.2f}")
    paragraphs = Markup("").join(Markup("<p>{}</p>").format(line) for line in lines)
    return Markup('<section class="agl-reveal"><h3>{}</h3>{}{}</section>').format(
        clip.title or clip.key, paragraphs, _table(tags.presence)
    )


def _table(presence: Mapping[str, float]) -> Markup:
    """The classes with the largest shares of time, as a table."""
    if not presence:
        return Markup('<p class="agl-muted">No tags are known.</p>')
    rows = Markup("").join(
        Markup('<tr><th scope="row">{}</th><td>{:.0f} %</td></tr>').format(
            tagging.class_name(class_id), 100 * share
        )
        for class_id, share in [*presence.items()][:_TOP]
    )
    return Markup(
        '<table class="agl-models"><caption>Sounds, and their shares of the time</caption>'
        '<thead><tr><th scope="col">Class</th><th scope="col">Time</th></tr></thead>'
        "<tbody>{}</tbody></table>"
    ).format(rows)
