"""Clips that a person decides on one by one: what a page shows of each, and where decisions go.

No Gradio here. A page shows true places, so it is for people who build or examine benchmarks, on
their own machine, and not part of the app that players see.
"""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from markupsafe import Markup

from agl1k_core.benchmarks import Benchmark, Clip, ClipTags, FolderTags
from agl1k_core.curation import Decision
from agl1k_core.errors import Agl1kError
from agl1k_core.predictions import Predictions
from game.reveal import place_label
from game.review_facts import ModelAnswer, answer_on, facts_html

#: The longest note, in characters.
LONGEST_NOTE = 2000


class Ledger(Protocol):
    """Where decisions are stored; both methods raise ``Agl1kError``."""

    def read(self) -> dict[str, Decision]:
        """The decisions and notes by key, also on clips that the desk does not have."""
        ...

    def write(self, decisions: Mapping[str, Decision]) -> None:
        """Store all decisions and notes."""
        ...


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


class Desk:
    """Clips, and the decision on each. Every decision and note is stored immediately.

    Parameters
    ----------
    benchmark
        The clips and their places.
    keys
        Those that are decided on, in order.
    ledger
        Where decisions are stored; it is read once, so that one that cannot be read is noticed.
    names
        The possible decisions, and what a clip with each is called.
    tags
        The sounds in the clips.
    predictions
        A model's answers, which are shown beside the truth.
    """

    def __init__(
        self,
        benchmark: Benchmark,
        keys: list[str],
        ledger: Ledger,
        names: Mapping[str, str],
        tags: FolderTags,
        predictions: Predictions | None = None,
    ) -> None:
        self.benchmark = benchmark
        self._keys, self._places = keys, {key: place for place, key in enumerate(keys)}
        self._ledger, self._names, self._tags = ledger, names, tags
        self._predictions = predictions
        self._by_token = {_token(key): key for key in keys}
        self._undone: list[tuple[str, Decision]] = []
        self._lock = threading.Lock()
        self.review()

    def review(self) -> dict[str, Decision]:
        """The decisions by key, including those on other clips."""
        return self._ledger.read()

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
            self._ledger.write(review)
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
            self._ledger.write(review)
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
                self._ledger.write(review)

    def sheet(self, key: str) -> Sheet:
        """What the page shows for a clip; raises ``Agl1kError`` if it is not in the folder."""
        place, clip = self._place(key), self.benchmark.clip(key)
        review = self.review()
        decided = review.get(key, Decision())
        answer = self.answer(clip)
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

    def answer(self, clip: Clip) -> ModelAnswer | None:
        """The model's answer that is shown beside the truth."""
        return answer_on(clip, self._predictions) if self._predictions else None

    def tally(self, counts: Mapping[str, int]) -> list[str]:
        """How many clips have which decision, in words."""
        return [f"{counts[decision]} {name}" for decision, name in self._names.items()]

    def _place(self, key: str) -> int:
        if key not in self._places:
            raise Agl1kError("This clip is no longer in the folder. Reload the page.")
        return self._places[key]

    def _status(self, place: int, review: Mapping[str, Decision]) -> Markup:
        decisions = {key: found.decision for key, found in review.items()}
        counts = Counter(decisions.get(key, "") for key in self._keys)
        decision = decisions.get(self._keys[place], "")
        label = Markup(" <strong>{}</strong>").format(self._names[decision]) if decision else ""
        return Markup(
            '<div class="agl-status"><p><strong>Clip {} of {}</strong>{}</p>'
            '<p class="agl-numbers">{}</p></div>'
        ).format(
            place + 1,
            len(self._keys),
            label,
            ", ".join([*self.tally(counts), f"{counts['']} to decide"]),
        )


def _token(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()[:32]


def _is_decided(review: Mapping[str, Decision], key: str) -> bool:
    return bool(review.get(key, Decision()).decision)
