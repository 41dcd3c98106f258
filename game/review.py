"""Review of a curated benchmark: listen to a clip, see its tags and place, keep or reject it.

No Gradio here. Each decision and note is written to ``review.csv`` in the folder immediately, and
the next run of ``agl1k curate`` follows the decisions. The page shows true places, so it is for
people who build a benchmark, on their own machine, and not part of the app that players see.
"""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from markupsafe import Markup

from agl1k_core import benchmarks, curation
from agl1k_core.benchmarks import Benchmark, ClipTags, read_tags
from agl1k_core.curation import KEEP, REJECT, Decision
from agl1k_core.errors import Agl1kError
from agl1k_core.predictions import Predictions, read_predictions
from game.reveal import place_label
from game.review_facts import ModelAnswer, answer_on, facts_html

#: The longest note, in characters.
LONGEST_NOTE = 2000
_NAMES = {KEEP: "kept", REJECT: "rejected"}


@dataclass(frozen=True)
class Sheet:
    """One clip as the page shows it; ``token`` is in the address of its sound."""

    key: str
    token: str
    name: str
    decision: str
    note: str
    status: Markup
    facts: Markup
    place: tuple[float, float]
    place_name: str
    answer: ModelAnswer | None


class Review:
    """The clips of a folder, and the decision on each.

    Parameters
    ----------
    folder
        A benchmark's folder.
    predictions
        A prediction file, whose answers are shown beside the truth.

    Raises
    ------
    Agl1kError
        If the folder is not a benchmark, or its decisions or the predictions cannot be read.
    """

    def __init__(self, folder: Path, predictions: Path | None = None) -> None:
        self.benchmark: Benchmark = benchmarks.read_folder(folder)
        self._folder = folder
        self._predictions: Predictions | None = (
            read_predictions(predictions, self.benchmark) if predictions else None
        )
        self._tags = read_tags(folder)
        self._keys = [clip.key for clip in self.benchmark.clips]
        self._by_token = {_token(key): key for key in self._keys}
        self._undone: list[tuple[str, Decision]] = []
        self._lock = threading.Lock()
        self.review()

    def review(self) -> dict[str, Decision]:
        """The decisions by key, including those on clips that are no longer in the folder."""
        return curation.read_review(self._folder)

    def resolve(self, token: str) -> tuple[Benchmark, str] | None:
        """The clip with this token."""
        key = self._by_token.get(token)
        return (self.benchmark, key) if key else None

    def first(self) -> str:
        """The first clip without a decision, or the first of all if there is none."""
        review = self.review()
        return next((key for key in self._keys if not _is_decided(review, key)), self._keys[0])

    def step(self, key: str, by: int) -> str:
        """The clip before or after another; the last is followed by the first."""
        return self._keys[(self._place(key) + by) % len(self._keys)]

    def decide(self, key: str, decision: str) -> str:
        """Store a decision; returns the next clip without one, or else the next clip."""
        place = self._place(key)
        with self._lock:
            review = self.review()
            before = review.get(key, Decision())
            review[key] = replace(before, decision=decision)
            curation.write_review(self._folder, review)
            self._undone.append((key, before))
        after = self._keys[place + 1 :] + self._keys[:place]
        undecided = (other for other in after if not _is_decided(review, other))
        return next(undecided, self.step(key, 1))

    def undo(self) -> str:
        """Take back the last decision since the start of the server; returns its clip."""
        with self._lock:
            if not self._undone:
                raise Agl1kError("There is no decision to undo.")
            key, before = self._undone[-1]
            review = self.review()
            now = review.get(key, Decision())
            review[key] = replace(now, decision=before.decision)
            curation.write_review(self._folder, review)
            self._undone.pop()
        return key

    def note(self, key: str, note: str) -> None:
        """Store a note on a clip, or remove it if it is empty."""
        self._place(key)
        note = note.strip()[:LONGEST_NOTE]
        with self._lock:
            review = self.review()
            before = review.get(key, Decision())
            if before.note != note:
                review[key] = replace(before, note=note)
                curation.write_review(self._folder, review)

    def sheet(self, key: str) -> Sheet:
        """What the page shows for a clip; raises ``Agl1kError`` if it is not in the folder."""
        place, clip = self._place(key), self.benchmark.clip(key)
        review = self.review()
        decided = review.get(key, Decision())
        answer = answer_on(clip, self._predictions) if self._predictions else None
        return Sheet(
            key=key,
            token=_token(key),
            name=f"Clip {place + 1} of {len(self._keys)}",
            decision=decided.decision,
            note=decided.note,
            status=self._status(place, review),
            facts=facts_html(clip, self._tags.clips.get(key, ClipTags()), answer),
            place=(clip.lat, clip.lon),
            place_name=place_label(clip),
            answer=answer,
        )

    def _place(self, key: str) -> int:
        if key not in self.benchmark:
            raise Agl1kError("This clip is no longer in the folder. Reload the page.")
        return self.benchmark.index[key]

    def _status(self, place: int, review: Mapping[str, Decision]) -> Markup:
        decisions = {key: found.decision for key, found in review.items()}
        counts = Counter(decisions.get(key, "") for key in self._keys)
        decision = decisions.get(self._keys[place], "")
        label = Markup(" <strong>{}</strong>").format(_NAMES[decision]) if decision else ""
        return Markup(
            '<div class="agl-status"><p><strong>Clip {} of {}</strong>{}</p>'
            '<p class="agl-numbers">{} kept, {} rejected, {} to decide</p></div>'
        ).format(place + 1, len(self._keys), label, counts[KEEP], counts[REJECT], counts[""])


def _token(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()[:32]


def _is_decided(review: Mapping[str, Decision], key: str) -> bool:
    return bool(review.get(key, Decision()).decision)
