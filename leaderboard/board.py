"""One board per benchmark: its rows, their ranks, and the predictions behind them.

Everything is computed when asked for and kept until the store changes, so that what somebody
publishes or withdraws is seen at the next look.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from agl1k_core import predictions
from agl1k_core.baselines import BASELINES, baseline_predictions
from agl1k_core.benchmark import Benchmark
from agl1k_core.errors import Agl1kError
from agl1k_core.metrics import Evaluation, evaluate
from leaderboard import people
from leaderboard.published import reported_rows
from leaderboard.ranking import FEWEST_CLIPS, BoolArray, Rank, rank_models, rank_people, rows_of
from leaderboard.rows import Row, scored_row
from store.guesses import GuessStore
from store.submissions import Submission, SubmissionStore

PEOPLE_ID = "people"
_BASELINE_NAMES = {
    "random": "Random point",
    "densest_region": "Densest region",
    "median_location": "Median location",
}
_OTHER_TABLE = "Scored on another version of this benchmark's table, so it cannot be compared."
_NO_TABLE = "The benchmark's table is not here, so nothing can be compared clip by clip."
_NO_FILE = "Its file cannot be read any more with this version of the table."
_FEW_CLIPS = f"A rank needs guesses on {FEWEST_CLIPS} clips of this subset."

#: Scoring people's guesses may take at most this share of the server's time.
_PEOPLE_SHARE = 0.05


@dataclass(frozen=True, slots=True)
class ModelGuess:
    """Where a submitted model placed a clip."""

    name: str
    latitude: float
    longitude: float
    distance_km: float


class Board:
    """The board of one benchmark; every method may be called from any thread.

    ``load`` gives the benchmark, or raises ``Agl1kError`` as long as its table is not at hand: it
    is asked again until it succeeds, so that a table fetched later is found without a restart.
    """

    def __init__(
        self,
        slug: str,
        name: str,
        load: Callable[[], Benchmark],
        submissions: SubmissionStore,
        guesses: GuessStore,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.slug, self.name = slug, name
        self.submissions, self.guesses = submissions, guesses
        self.absence = ""
        self._load, self._clock = load, clock
        self._benchmark: Benchmark | None = None
        self._lock = threading.RLock()
        self._models_at = ""
        self._models: tuple[Row, ...] = ()
        self._scored: dict[str, Evaluation] = {}
        self._baselines: tuple[Row, ...] | None = None
        self._people: tuple[Row, Evaluation] | None = None
        self._people_at: object = None
        self._people_next = float("-inf")
        self._ranks: dict[tuple[str, str], dict[str, Rank]] = {}

    @property
    def benchmark(self) -> Benchmark | None:
        """The benchmark, or None with the reason in ``absence``."""
        if self._benchmark is None:
            try:
                self._benchmark, self.absence = self._load(), ""
            except Agl1kError as error:
                self.absence = str(error)
        return self._benchmark

    def rows(self) -> tuple[Row, ...]:
        """Every row: verified, people, our baselines, reported; in no order that means anything."""
        with self._lock:
            models = self._submitted()
            if self.benchmark is None:
                return (*models, *reported_rows(self.slug))
            crowd = self._crowd()
            people_row = (crowd[0],) if crowd else ()
            return (*models, *people_row, *self._made_here(), *reported_rows(self.slug))

    def row(self, row_id: str) -> Row | None:
        """The row with this id, or None."""
        return next((row for row in self.rows() if row.row_id == row_id), None)

    def scored(self, row_id: str) -> Evaluation | None:
        """The evaluation behind a row, clip by clip; None for one that cannot be recomputed."""
        with self._lock:
            self.rows()
            if row_id == PEOPLE_ID:
                return self._people[1] if self._people else None
            return self._scored.get(row_id)

    def ranks(self, metric: str, subset: str) -> Mapping[str, Rank]:
        """Row id -> rank by a metric on a subset, for the rows that have one."""
        with self._lock:
            self.rows()
            key = (metric, subset)
            if key not in self._ranks:
                self._ranks[key] = self._ranked(metric, subset)
            return self._ranks[key]

    def why_unranked(self, row: Row) -> str:
        """Why a row has no rank."""
        if row.kind == "people":
            return _FEW_CLIPS
        return row.unranked or ("" if self.benchmark else _NO_TABLE)

    def model_guesses(self, key: str) -> list[ModelGuess]:
        """Where the submitted models placed a clip, nearest first; for the game's reveal."""
        with self._lock:
            # not self.rows(): a reveal must not wait while the people are scored anew
            names = {row.row_id: row.model for row in self._submitted() if row.kind == "verified"}
            found = [
                guess
                for row_id, scored in self._scored.items()
                if row_id in names and (guess := _guess_at(scored, key, names[row_id]))
            ]
        return sorted(found, key=lambda guess: guess.distance_km)

    def _ranked(self, metric: str, subset: str) -> dict[str, Rank]:
        clips = self._clips(subset)
        if clips is None:
            return {}
        ranks = rank_models(self._scored, metric, clips)
        crowd = rank_people(self._people[1], self._scored, metric, clips) if self._people else None
        return ranks | {PEOPLE_ID: crowd} if crowd else ranks

    def _clips(self, subset: str) -> BoolArray | None:
        if self._benchmark is None:
            return None
        if subset == "all":
            return np.ones(len(self._benchmark), dtype=np.bool_)
        return self._benchmark.subsets.get(subset)

    def _submitted(self) -> tuple[Row, ...]:
        state = f"{self.submissions.revision()} {self.benchmark is not None}"
        if state != self._models_at:
            standing = self.submissions.list(self.slug)
            ids = {submission.submission_id for submission in standing}
            made_here = {row.row_id for row in self._baselines or ()}
            self._scored = {k: v for k, v in self._scored.items() if k in ids | made_here}
            self._models = tuple(self._submission_row(submission) for submission in standing)
            self._models_at = state
            self._ranks.clear()
        return self._models

    def _submission_row(self, submission: Submission) -> Row:
        row = submission_row(submission)
        benchmark = self._benchmark
        if benchmark is None:
            return row
        if submission.benchmark_hash != benchmark.content_hash:
            return replace(row, unranked=_OTHER_TABLE)
        if row.row_id not in self._scored:
            try:
                content = self.submissions.file(submission.submission_id)
                read = predictions.read(content, benchmark, name=submission.file_name)
                self._scored[row.row_id] = evaluate(benchmark, read, n_bootstrap=0)
            except Agl1kError:
                return replace(row, unranked=_NO_FILE)
        return row

    def _made_here(self) -> tuple[Row, ...]:
        if self._baselines is None and self._benchmark is not None:
            made = []
            for name, description in BASELINES.items():
                scored = evaluate(self._benchmark, baseline_predictions(name, self._benchmark))
                row_id = f"baseline-{name.replace('_', '-')}"
                title = _BASELINE_NAMES.get(name, name)
                made.append(scored_row(row_id, "baseline", title, scored, note=description))
                self._scored[row_id] = scored
            self._baselines = tuple(made)
            self._ranks.clear()
        return self._baselines or ()

    def _crowd(self) -> tuple[Row, Evaluation] | None:
        """The people's row, made anew when there are new guesses, but not all the time."""
        counts = self.guesses.counts(self.slug)
        begun = self._clock()
        if self._benchmark is None or counts == self._people_at or begun < self._people_next:
            return self._people
        self._people = people_row(self.guesses, self._benchmark)
        self._people_at = counts
        ended = self._clock()
        self._people_next = ended + (ended - begun) / _PEOPLE_SHARE
        self._ranks.clear()
        return self._people


def people_row(guesses: GuessStore, benchmark: Benchmark) -> tuple[Row, Evaluation] | None:
    """All players as a row, and the evaluation behind it; None when nobody has guessed."""
    table = guesses.table(benchmark.slug)
    scored = people.score_people(table, benchmark)
    if scored is None:
        return None
    n_clips = people.counted_guesses(table, benchmark)["clip_key"].nunique()
    row = scored_row(
        PEOPLE_ID,
        "people",
        "People",
        scored,
        note=people.people_note(table, benchmark),
        n_guesses=scored.n_clips,
        coverage=n_clips / len(benchmark),
    )
    return row, scored


def submission_row(submission: Submission) -> Row:
    """A submission as a row, with the numbers as they were stored."""
    return scored_row(
        submission.submission_id,
        submission.kind,
        submission.model,
        Evaluation.from_dict(submission.evaluation),
        organisation=submission.organisation,
        owner=submission.owner,
        link=submission.link,
        weights=submission.weights,
        date=submission.model_date,
        prompt=submission.prompt,
        file_sha256=submission.file_sha256,
        published=f"{submission.created_utc:%Y-%m-%d}",
    )


def _guess_at(scored: Evaluation, key: str, name: str) -> ModelGuess | None:
    rows = rows_of(scored)
    position = rows.benchmark.index.get(key)
    at = np.flatnonzero(rows.clip == position)
    if position is None or not len(at) or not np.isfinite(rows.lat[at[0]]):
        return None
    lat, lon = float(rows.lat[at[0]]), float(rows.lon[at[0]])
    return ModelGuess(name, lat, lon, float(rows.column("distance_km")[at[0]]))
