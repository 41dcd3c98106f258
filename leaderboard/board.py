"""One board per benchmark: its rows, their ranks, and the predictions behind them.

Everything is computed on request and cached until the store changes, so the next request shows
what was published or withdrawn. Scoring takes seconds: the first request waits for it, and others
get the previous board meanwhile.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pandas as pd

from agl1k_core import listener, predictions, scoring
from agl1k_core.benchmarks import Benchmark
from agl1k_core.errors import Agl1kError, UnavailableError
from agl1k_core.listener import Stored
from agl1k_core.scoring import BASELINES, FEWEST_CLIPS, SCORER_VERSION, Evaluation, Rank
from leaderboard import people
from leaderboard.clip_guesses import ClipGuesses
from leaderboard.opponents import Opponents
from leaderboard.parts import Part
from leaderboard.published import reported_rows, with_reported
from leaderboard.ranking import rank_rows, rank_sealed
from leaderboard.refreshing import Refresher, StaleWhileRefreshing
from leaderboard.reports import RecentReports
from leaderboard.rows import NO_MODELS, Row, scored_row
from leaderboard.sealed import told, told_submission, with_counts
from leaderboard.series import Scored, Submitted, by_row
from store.guesses import GuessStore
from store.moderation import Standing
from store.scorings import Scorings
from store.submissions import Submission, SubmissionStore
from ui.model_guess import ModelGuess, Opponent

PEOPLE_ID = "people"
LISTENER_ID = "baseline-listener"
_LISTENER_NOTE = (
    "Our own model of sounds, spoken languages and coasts (agl1k listen), fitted to no benchmark: "
    "what a model that hears should beat."
)
_BASELINE_NAMES = {
    "random": "Random point",
    "densest_region": "Densest region",
    "median_location": "Median location",
}
_OTHER_TABLE = "Scored on another version of this benchmark's table, so it cannot be compared."
_NO_TABLE = "The benchmark's table is not on this server, so nothing can be compared clip by clip."
_NO_FILE = "Its file is not on this server, or cannot be read with this version of the table."
_FEW_GUESSES = f"A rank needs guesses on {FEWEST_CLIPS} clips of this subset."
_ABSENT = {
    "hold": "waits for a moderator",
    "hide": "is hidden by the operator",
    "remove": "was removed by the operator",
}
_NO_MODEL = "No model has been scored here yet."
_FEW_CLIPS = f"With fewer than {FEWEST_CLIPS} clips, nothing is ranked."

#: How many new evaluations are kept until somebody looks at them; others are scored again.
_MOST_HANDED_OVER = 32
#: How old opponents may be that are shown without looking for changes.
_OPPONENTS_STAY_S = 5.0
#: Scoring people's guesses may take at most this share of the server's time.
_PEOPLE_SHARE = 0.05


class Board:
    """The board of one benchmark; every method may be called from any thread.

    ``load`` returns the benchmark, or raises ``Agl1kError`` while its table is missing. It is
    retried until it succeeds, so that a table fetched later is found without a restart.
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
        data_dir: Path | None = None,
        scorings: Scorings | None = None,
    ) -> None:
        self.slug, self.name = slug, name
        self.submissions, self.guesses = submissions, guesses
        self._scorings = scorings
        self.absence = ""
        self.reports = RecentReports()
        self._load, self._clock, self._data_dir = load, clock, data_dir
        self._benchmark: Benchmark | None = None
        self._lock = threading.Lock()
        self._models = StaleWhileRefreshing(Submitted())
        self._baselines, self._people = (StaleWhileRefreshing(Part()) for _ in range(2))
        self._handed_over: dict[str, Evaluation] = {}
        self._people_next = float("-inf")
        self._clip_guesses = ClipGuesses()
        self._opponents = Opponents()
        self._offered: tuple[Opponent, ...] | None = None
        self._offered_at = float("-inf")
        self._refresher = Refresher(self._refresh, clock)
        self._ranks: dict[tuple[str, str], StaleWhileRefreshing[Mapping[str, Rank]]] = {}

    @property
    def benchmark(self) -> Benchmark | None:
        """The benchmark, or None with the reason in ``absence``."""
        if self._benchmark is None:
            try:
                self._benchmark, self.absence = self._load(), ""
            except Agl1kError as error:
                self.absence = str(error)
        return self._benchmark

    @property
    def is_sealed(self) -> bool:
        """Whether the true places are secret, so that only rounded means are told."""
        return self.benchmark is not None and self.benchmark.sealed

    def count_scoring(self, file_sha256: str, who: str) -> None:
        """Count a file that somebody has scored here; raises ``Agl1kError`` if it is too many."""
        if self.is_sealed and self._scorings:
            self._scorings.count(self.slug, file_sha256, who)

    @property
    def n_scored(self) -> int:
        """How many files were scored here so far; 0 if they are not counted."""
        if self.is_sealed and self._scorings:
            return self._scorings.of(self.slug).in_all
        return 0

    def rows(self, as_of: str = "") -> tuple[Row, ...]:
        """All rows: scored, people, our baselines, reported; in no particular order.

        A baseline that the paper reports, too, is one row with both numbers. ``as_of`` is a day,
        YYYY-MM-DD: submitted files are those published up to then.
        """
        own = tuple(row for part in self._parts(as_of) for row in part.rows)
        if self.is_sealed and self._scorings:
            own = with_counts(own, self._scorings.of(self.slug))
        return with_reported(own, reported_rows(self.slug))

    def warm(self) -> None:
        """Score all rows, so that visitors need not wait for it."""
        self._parts()
        self._refresh()

    def row(self, row_id: str) -> Row | None:
        """The row with this id, or None."""
        return next((row for row in self.rows() if row.row_id == row_id), None)

    def scored(self, row_id: str) -> Evaluation | None:
        """The evaluation behind a row, or None if it cannot be recomputed."""
        return self.all_scored().get(row_id)

    def all_scored(self) -> Mapping[str, Evaluation]:
        """The evaluations of all rows that can be recomputed, by row id; none if sealed."""
        if self.is_sealed:
            return {}
        return {name: found for part in self._parts() for name, found in part.scored.items()}

    def submission(self, submission_id: str) -> Submission | None:
        """A submission of a row on the board, replaced ones included, or None."""
        every = (one for of_row in self._submitted().of_rows.values() for one in of_row)
        found = (one.submission for one in every if one.submission.submission_id == submission_id)
        return next(found, None)

    def answers(self, row_id: str) -> Evaluation | None:
        """As ``scored``, but of the last run only, whose points and distances belong together."""
        last = {} if self.is_sealed else self._submitted().today.last
        return last.get(row_id) or self.scored(row_id)

    def absent(self, row_id: str) -> str:
        """Why a submission is not among the rows, in one sentence, or "" if it is unknown."""
        decision = self.submissions.moderation.standing_of("submission", row_id).shown
        if decision is None or decision.action == "restore":
            return ""
        found = self.submissions.get(row_id)
        name = found.model if found else "This submission"
        day = f"{decision.created_utc:%Y-%m-%d}"
        return f"{name} {_ABSENT[decision.action]} since {day}: {decision.reason}"

    def ranks(
        self, metric: str, subset: str, *, without: Collection[str] = (), as_of: str = ""
    ) -> Mapping[str, Rank]:
        """The rank by a metric on a subset of each row that has one, by row id.

        ``without`` are rows that do not count; ``as_of`` as for ``rows``.
        """
        parts = self._parts(as_of)
        if without or as_of:
            return self._ranked(tuple(part.without(without) for part in parts), metric, subset)
        with self._lock:
            cached = self._ranks.setdefault(
                (metric, subset), StaleWhileRefreshing[Mapping[str, Rank]]({})
            )
        return cached.at(parts, lambda _: self._ranked(parts, metric, subset))

    def why_unranked(self, row: Row) -> str:
        """Why a row has no rank."""
        if row.kind == "people" and self._guessed(row) < FEWEST_CLIPS:
            return _FEW_GUESSES
        if row.kind in NO_MODELS and not self._submitted().today.scored:
            return _NO_MODEL
        if row.unranked or not row.is_recomputed:
            return row.unranked
        return _FEW_CLIPS if self.benchmark else _NO_TABLE

    def _guessed(self, people: Row) -> float:
        return people.coverage * len(self.benchmark) if self.benchmark else 0

    @contextmanager
    def scored_already(self, submission_id: str, scored: Evaluation) -> Iterator[None]:
        """Pass on the evaluation of a submission that is stored in this block.

        The board then need not read and score its file. If the block raises, it is dropped.
        """
        with self._lock:
            self._handed_over[submission_id] = scored
            if len(self._handed_over) > _MOST_HANDED_OVER:
                del self._handed_over[next(iter(self._handed_over))]
        try:
            yield
        except BaseException:
            self._take_over(submission_id)
            raise

    def model_guesses(self, keys: Sequence[str]) -> dict[str, list[ModelGuess]]:
        """A few of the submitted models' guesses for each of some clips, nearest first.

        A clip without guesses has an empty list. It returns at once, without the database, with
        what was scored before: submissions are looked up in the background, and none are shown
        until they have been scored for the first time.
        """
        if self.is_sealed:
            return {key: [] for key in keys}
        self._refresher.begin()
        return {key: self._clip_guesses.at(self._models.value.today, key) for key in keys}

    def opponents(self, *, fresh: bool = False) -> tuple[Opponent, ...] | None:
        """The rows that people can play against; None until they were scored for the first time.

        It returns at once, without the database, as ``model_guesses`` does, unless nobody has asked
        for a while: a row that was hidden meanwhile is not shown once more. With ``fresh``, it
        looks for new, withdrawn and hidden submissions first. A sealed benchmark has none.
        """
        if self.is_sealed:
            return ()
        if fresh:
            self._refresh()
        elif self._offered is not None and self._clock() - self._offered_at > _OPPONENTS_STAY_S:
            with suppress(Agl1kError):  # the old ones, then
                self._refresh()
        else:
            self._refresher.begin()
        return self._offered

    def _refresh(self) -> None:
        """Bring what the game shows up to date; people's guesses change too often for that."""
        models, benchmark = self._submitted().today, self.benchmark
        if benchmark is not None and not self.is_sealed:
            parts = models, self._people.value, self._made_here(benchmark)
            self._offered = self._opponents.among(parts, benchmark)
            self._offered_at = self._clock()

    def _parts(self, as_of: str = "") -> tuple[Part, Part, Part]:
        """The submissions as of a day, people and baselines."""
        models = self._submitted().as_of(as_of)
        if self.benchmark is None:
            return models, Part(), Part()
        return models, self._crowd(self.benchmark), self._made_here(self.benchmark)

    def _ranked(self, parts: tuple[Part, ...], metric: str, subset: str) -> Mapping[str, Rank]:
        benchmark, of_clips = self._benchmark, None if subset == "all" else subset
        if benchmark is None or (of_clips and not _has_clips(benchmark, of_clips)):
            return {}
        models, crowd, baselines = parts
        if benchmark.sealed:
            return rank_sealed(models.scored, baselines.scored, metric, of_clips)
        return rank_rows(models.scored, {**crowd.scored, **baselines.scored}, metric, of_clips)

    def _submitted(self) -> Submitted:
        state = f"{self.submissions.revision()} {self.benchmark is not None}"
        return self._models.at(state, self._score_submissions)

    def _score_submissions(self, before: Submitted) -> Submitted:
        """All submissions by row; only files not scored before are read and scored."""
        standings = self.submissions.moderation.standings("submission")
        known, scored = before.evaluations(), []
        for submission in self.submissions.list(self.slug):
            own = standings.get(submission.submission_id, Standing())
            of_row = standings.get(submission.row_id, Standing())
            if own.is_shown and of_row.is_shown:
                if self._benchmark and self._benchmark.sealed:
                    submission = told_submission(submission, self._benchmark)
                found, why = self._found(submission, known)
                scored.append(Scored(submission, own, found, why))
        return Submitted.of(by_row(scored))

    def _found(
        self, submission: Submission, known: Mapping[str, Evaluation]
    ) -> tuple[Evaluation | None, str]:
        if self._benchmark is None:
            return None, ""
        name = submission.submission_id
        found = known.get(name) or self._take_over(name)
        return (found, "") if found else self._score(submission, self._benchmark)

    def _take_over(self, submission_id: str) -> Evaluation | None:
        with self._lock:
            return self._handed_over.pop(submission_id, None)

    def _score(self, submission: Submission, benchmark: Benchmark) -> tuple[Evaluation | None, str]:
        """The evaluation of a submission's file, or None and the reason."""
        if submission.benchmark_hash != benchmark.content_hash:
            return None, _OTHER_TABLE
        if benchmark.sealed and submission.scorer_version == SCORER_VERSION:
            return Evaluation.from_dict(submission.evaluation), ""
        try:
            content = self.submissions.file(submission.submission_id)
            read = predictions.read_predictions(content, benchmark, name=submission.file_name)
            # the intervals of the others are stored
            intervals = submission.scorer_version != SCORER_VERSION
            return told(scoring.evaluate(benchmark, read, intervals=intervals), benchmark), ""
        except UnavailableError:
            raise  # not a fault of the file
        except Agl1kError:
            return None, _NO_FILE

    def _made_here(self, benchmark: Benchmark) -> Part:
        return self._baselines.at(
            benchmark.content_hash, lambda _: _baselines(benchmark, self.listened())
        )

    def listened(self) -> Stored | None:
        """Our listener's predictions for the benchmark, if they are stored."""
        if self.benchmark is None:
            return None
        return listener.stored_predictions(self.benchmark, self._data_dir)

    def _crowd(self, benchmark: Benchmark) -> Part:
        """The people's row, rebuilt if there are new guesses, but not too often."""
        if benchmark.sealed:  # it is not played
            return Part()
        if self._clock() < self._people_next:
            return self._people.value
        return self._people.at(
            self.guesses.counts(self.slug), lambda _: self._score_people(benchmark)
        )

    def _score_people(self, benchmark: Benchmark) -> Part:
        begun = self._clock()
        found = people_rows(self.guesses, benchmark)
        ended = self._clock()
        self._people_next = ended + (ended - begun) / _PEOPLE_SHARE
        return Part(tuple(row for row, _ in found), {row.row_id: one for row, one in found})


def _has_clips(benchmark: Benchmark, subset: str) -> bool:
    return subset in benchmark.subsets and bool(benchmark.subsets[subset].any())


def _baselines(benchmark: Benchmark, listened: Stored | None) -> Part:
    rows, all_scored = [], {}
    for name, description in BASELINES.items():
        scored = told(scoring.evaluate(benchmark, scoring.baseline(benchmark, name)), benchmark)
        row_id = f"baseline-{name.replace('_', '-')}"
        title = _BASELINE_NAMES.get(name, name)
        rows.append(scored_row(row_id, "baseline", title, scored, note=description))
        all_scored[row_id] = scored
    if listened:
        read = predictions.read_predictions(listened.file, benchmark)
        scored = told(scoring.evaluate(benchmark, read), benchmark)
        note = _LISTENER_NOTE
        rows.append(scored_row(LISTENER_ID, "baseline", listener.NAME, scored, note=note))
        all_scored[LISTENER_ID] = scored
    return Part(tuple(rows), all_scored)


def people_rows(guesses: GuessStore, benchmark: Benchmark) -> list[tuple[Row, Evaluation]]:
    """All players as one row, and its parts with and without tools, with their evaluations."""
    table = guesses.table(benchmark.slug)
    found = (_people_row(table, benchmark, use) for use in (None, *people.USES))
    return [one for one in found if one]


def _people_row(
    table: pd.DataFrame, benchmark: Benchmark, use: people.Use | None
) -> tuple[Row, Evaluation] | None:
    scored = people.score_people(table, benchmark, use)
    if scored is None:
        return None
    row = scored_row(
        f"{PEOPLE_ID}-{use}-tools" if use else PEOPLE_ID,
        "people",
        f"People {use} tools" if use else "People",
        scored,
        note=people.people_note(table, benchmark, use),
        n_guesses=scored.n_clips,
        coverage=len(set(scored.require_rows().clip)) / len(benchmark),
        part_of=PEOPLE_ID if use else "",
    )
    return row, scored
