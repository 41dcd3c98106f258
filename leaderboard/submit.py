"""Prediction files on the board: dry run, publish, withdraw, score again."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import PurePath
from typing import Any, Literal, cast
from urllib.parse import urlsplit

from agl1k_core import predictions, scoring
from agl1k_core.benchmarks import Benchmark
from agl1k_core.errors import Agl1kError, FileRefusedError, Problem, UnavailableError
from agl1k_core.scoring import PAPER, SCORER_VERSION, STRICT, Evaluation
from leaderboard.attempts import Claim, attempt_problem, claim, random_claim
from leaderboard.board import Board
from leaderboard.plausibility import SEALED_HOLD, implausible
from leaderboard.reports import Report
from leaderboard.sealed import told
from store.submissions import Relation, Submission, SubmissionStore
from ui.names import (
    JOINERS,
    MAX_MARKS,
    characters,
    is_mark,
    isolated,
    with_few_marks,
    without_stray_joiners,
)

LONGEST_NAME = 80
LONGEST_LINK = 500
LONGEST_PROMPT = 20_000


@dataclass(frozen=True, slots=True)
class Place:
    """The row that a file goes to: its id and key, or a new row if the id is empty.

    There, it ``replaces`` all files, or is another ``run`` of the same model. The key is not needed
    for the row's owner, signed in.
    """

    row_id: str = ""
    key: str = ""
    relation: str = ""

    def stripped(self) -> Place:
        """The same without white space around the texts."""
        return Place(self.row_id.strip(), self.key.strip(), self.relation.strip().lower())

    def problem(self) -> Problem | None:
        """What is wrong with it, or None."""
        if self.row_id and self.relation not in ("replaces", "run"):
            found = repr(self.relation[:20]) if self.relation else "neither is chosen"
            return _problem("relation", found, 'Choose "replaces" or "run"')
        if self.relation and not self.row_id:
            return _problem("row", "it is empty", "Give the id of the row that the file goes to")
        return None


@dataclass(frozen=True, slots=True)
class Form:
    """What the submitter enters about a model.

    ``is_shared``: others may download the file, and the public dataset has it.
    """

    model: str
    organisation: str = ""
    link: str = ""
    weights: str = ""
    prompt: str = ""
    model_date: str = ""
    is_shared: bool = True
    to: Place = Place()

    def stripped(self) -> Form:
        """The same with normalised white space in the one-line fields."""
        one_line = (self.model, self.organisation, self.link, self.weights, self.model_date)
        model, organisation, link, weights, day = (" ".join(text.split()) for text in one_line)
        return replace(
            self, model=model, organisation=organisation, link=link, weights=weights.lower(),
            model_date=day, to=self.to.stripped(),
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Published:
    """A stored submission; only the attempt that published it can have ``withdraw_key`` again.

    The key is empty for a file that went to an existing row, whose key stays as it is. ``held``
    says why it is not on the board before a moderator has looked at it, or is empty. ``again``
    means that it had been published before by the same attempt, and ``changed`` names the fields
    that were different then.
    """

    submission: Submission
    withdraw_key: str
    held: str = ""
    warnings: tuple[Problem, ...] = ()
    again: bool = False
    changed: tuple[str, ...] = ()


def dry_run(data: bytes, name: str, board: Board, *, max_bytes: int, who: str = "") -> Report:
    """Read and score a file by both protocols; stores nothing of it, raises nothing.

    The report on an accepted file is cached for a while, so that publishing it does not read
    and score it again. On a sealed benchmark the file counts for ``who``, and the report says no
    more than `agl1k_core.scoring.sealed_evaluation` does.
    """
    name = PurePath(name.replace("\\", "/")).name[:200] or "predictions"
    benchmark = board.benchmark
    if benchmark is None:
        return _refused(data, name, board, message=board.absence)
    known = board.reports.get(data, benchmark)
    try:
        if known is not None:
            board.count_scoring(known.file_sha256, who)
            return replace(known, file_name=name)
        report = _scored(data, name, board, benchmark, max_bytes, who)
    except FileRefusedError as error:
        first = str(error).partition("\n")[0]
        return _refused(data, name, board, first, error.problems, error.total)
    except UnavailableError:
        raise
    except Agl1kError as error:
        return _refused(data, name, board, message=str(error))
    board.reports.put(data, benchmark, report)
    return report


def _scored(
    data: bytes, name: str, board: Board, benchmark: Benchmark, max_bytes: int, who: str
) -> Report:
    read = predictions.read_predictions(data, benchmark, name=name, max_bytes=max_bytes)
    board.count_scoring(read.sha256, who)
    strict = scoring.evaluate(benchmark, read, STRICT)
    hold = implausible(strict, benchmark)
    report = Report(name, len(data), read.sha256, board.slug, warnings=read.warnings)
    if benchmark.sealed:
        return replace(report, strict=told(strict, benchmark), hold=hold and SEALED_HOLD)
    paper = scoring.evaluate(benchmark, read, PAPER, intervals=False)
    return replace(report, strict=strict, paper=paper, hold=hold)


def _refused(
    data: bytes,
    name: str,
    board: Board,
    message: str,
    problems: tuple[Problem, ...] = (),
    n_problems: int = 1,
) -> Report:
    digest = hashlib.sha256(data).hexdigest()
    return Report(
        name, len(data), digest, board.slug,
        problems=problems, n_problems=n_problems, message=message,
    )  # fmt: skip


def form_problems(form: Form) -> list[Problem]:
    """Everything that is wrong with the fields, at once."""
    problems = [
        _line_problem("model", form.model, 1),
        _line_problem("organisation", form.organisation, 0),
        _link_problem(form.link),
        _date_problem(form.model_date),
        form.to.problem(),
    ]
    if form.weights not in ("open", "closed"):
        found = repr(form.weights[:20]) if form.weights else "neither is chosen"
        problems.append(_problem("weights", found, 'Choose "open" or "closed"'))
    if len(form.prompt) > LONGEST_PROMPT:
        found = f"{len(form.prompt)} characters"
        problems.append(_problem("prompt", found, f"Give at most {LONGEST_PROMPT:,}"))
    return [problem for problem in problems if problem]


def publish(
    data: bytes,
    name: str,
    form: Form,
    board: Board,
    *,
    max_bytes: int,
    now: datetime | None = None,
    owner: str = "",
    who: str = "",
    attempt: str = "",
) -> Published:
    """Score a file and put it on the board, by the strict protocol.

    ``owner`` is the Hub name of the signed-in visitor, or "". ``who`` is whom the quota counts, if
    nobody is signed in. A result that is too good to be an answer is held for a moderator. The same
    ``attempt`` with the same file and model publishes nothing, but returns the same again. Raises
    ``FileRefusedError`` with every problem of file and fields, or ``Agl1kError`` if the same file
    is already on the board.
    """
    form = form.stripped()
    wrong = [problem for problem in (attempt_problem(attempt),) if problem]
    claimed, found = _claimed("" if wrong else attempt, data, form, board)
    if found is not None:
        return _again(found, claimed, data, form, board)
    report = dry_run(data, name, board, max_bytes=max_bytes, who=owner or who)
    wrong += form_problems(form)
    if not report.accepted and not report.problems:
        wrong.append(Problem(report.message.rstrip("."), "Then submit the file again"))
    if wrong or report.strict is None:
        total = len(wrong) + (report.n_problems if report.problems else 0)
        raise FileRefusedError("The submission", [*wrong, *report.problems], total)
    submission = _submission(
        claimed.submission_id, report, report.strict, form, owner, now or datetime.now(UTC)
    )
    with board.scored_already(submission.submission_id, report.strict):
        key = board.submissions.publish(
            submission, data, who=owner or who, hold=report.hold, key=form.to.key,
            new_key=claimed.key,
        )  # fmt: skip
        return Published(submission, key, report.hold, report.warnings)


def _claimed(
    attempt: str, data: bytes, form: Form, board: Board
) -> tuple[Claim, Submission | None]:
    """Id and key for a file and its model, and what the same attempt has published before.

    What is withdrawn may be published again.
    """
    if not attempt:
        return random_claim(), None
    of = (board.slug, _hash_of(board), hashlib.sha256(data).hexdigest(), form.model)
    number = 0
    while True:
        made = claim(attempt, *of, number=number)
        found = board.submissions.get(made.submission_id)
        if found is None or found.withdrawn_utc is None:
            return made, found
        number += 1


def _hash_of(board: Board) -> str:
    return board.benchmark.content_hash if board.benchmark else ""


def _again(found: Submission, claimed: Claim, data: bytes, form: Form, board: Board) -> Published:
    """What was published before, once more."""
    assert board.benchmark is not None, "something was published on this board"
    held = board.submissions.moderation.standing_of("submission", found.submission_id).shown
    return Published(
        found,
        "" if found.series else claimed.key,
        held.reason if held and held.action == "hold" else "",
        predictions.read_predictions(data, board.benchmark, name=found.file_name).warnings,
        again=True,
        changed=_changed(found, form),
    )


def _changed(found: Submission, form: Form) -> tuple[str, ...]:
    names = ("organisation", "link", "weights", "prompt", "model_date", "is_shared")
    changed = [name for name in names if getattr(found, name) != getattr(form, name)]
    row = [] if (found.series, found.relation) == (form.to.row_id, form.to.relation) else ["row"]
    return tuple(_LABELS.get(name, name) for name in changed + row)


_LABELS = {"model_date": "date of the model", "is_shared": "whether others may download it"}


def withdraw(store: SubmissionStore, submission_id: str, key: str, owner: str = "") -> str:
    """Withdraw a submission, by its key or signed in as its ``owner``; returns a message.

    Raises ``Agl1kError`` if it was not withdrawn.
    """
    submission_id, key = submission_id.strip(), key.strip()
    found = store.get(submission_id)
    if not store.withdraw(submission_id, key, owner):
        if found and found.withdrawn_utc:
            raise Agl1kError("This submission has already been withdrawn.")
        raise Agl1kError(_NOT_YOURS.format(owner=owner) if owner and not key else _WRONG_KEY)
    name = isolated(found.model) if found else "The submission"
    return f"{name} is withdrawn: its row is off the board and its files are deleted."


_WRONG_KEY = (
    "Nothing was withdrawn: this key does not belong to this submission. "
    "Check both against what was shown when it was published."
)
_NOT_YOURS = (
    "Nothing was withdrawn: {owner} did not publish this submission while signed in. "
    "Check its id, or give its withdrawal key."
)


def recompute(submission: Submission, store: SubmissionStore, benchmark: Benchmark) -> Evaluation:
    """Score the stored file again, by the protocol it was published with.

    On a sealed benchmark, it says no more than the stored one. Raises ``Agl1kError`` if the file is
    gone or the benchmark has changed.
    """
    if submission.benchmark_hash != benchmark.content_hash:
        raise Agl1kError(
            f"Submission {submission.submission_id} was scored on another version of "
            f"{benchmark.name}'s table. Load that version to score it again."
        )
    content = store.file(submission.submission_id)
    read = predictions.read_predictions(content, benchmark, name=submission.file_name)
    again = scoring.evaluate(benchmark, read, submission.protocol)
    return told(again, benchmark)


def differences(stored: Mapping[str, Any], again: Evaluation) -> list[str]:
    """The metrics in which a stored evaluation and a new one differ, in words."""
    before = Evaluation.from_dict(stored)
    return [
        f"{name}: {before.metrics.get(name)} was stored, now it is {value}"
        for name, value in again.metrics.items()
        if not _same(before.metrics.get(name, math.nan), value)
    ]


def _same(a: float, b: float) -> bool:
    return (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=1e-9)


def _submission(
    submission_id: str, report: Report, scored: Evaluation, form: Form, owner: str, now: datetime
) -> Submission:
    return Submission(
        submission_id=submission_id,
        benchmark=scored.benchmark,
        benchmark_hash=scored.benchmark_hash,
        model=form.model,
        organisation=form.organisation,
        link=form.link,
        weights=cast(Literal["open", "closed"], form.weights),
        prompt=form.prompt,
        model_date=form.model_date,
        kind="verified",
        owner=owner,
        protocol=scored.protocol,
        scorer_version=SCORER_VERSION,
        file_name=report.file_name,
        file_sha256=report.file_sha256,
        file_bytes=report.file_bytes,
        evaluation=scored.to_dict(),
        created_utc=now,
        series=form.to.row_id,
        relation=cast(Relation, form.to.relation),
        is_shared=form.is_shared,
    )


def _problem(field: str, found: str, todo: str) -> Problem:
    return Problem(found=found, todo=todo, field=field)


def _line_problem(field: str, text: str, shortest: int) -> Problem | None:
    if len(text) < shortest:
        return _problem(field, "it is empty", f"Give 1 to {LONGEST_NAME} characters")
    letters = characters(text)
    if len(letters) > LONGEST_NAME:
        return _problem(field, f"{len(letters)} characters", f"Give at most {LONGEST_NAME}")
    if any(letter != with_few_marks(letter) or is_mark(letter[0]) for letter in letters):
        return _problem(field, "too many marks on a letter", f"Give at most {MAX_MARKS}")
    joined = without_stray_joiners(text)
    if joined != text or not all(char.isprintable() or char in JOINERS for char in text):
        return _problem(field, "an invisible character", "Leave it out")
    return None


def _link_problem(link: str) -> Problem | None:
    if not link:
        return None
    todo = f"Give an address that starts with https:// or http://, at most {LONGEST_LINK} long"
    try:
        parts = urlsplit(link)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and not parts.username
    except ValueError:
        usable = False
    if usable and len(link) <= LONGEST_LINK and link.isprintable() and " " not in link:
        return None
    return _problem("link", repr(link[:60]), todo)


def _date_problem(text: str) -> Problem | None:
    try:
        usable = not text or (len(text) == 10 and bool(date.fromisoformat(text)))
    except ValueError:
        usable = False
    return None if usable else _problem("date", repr(text[:20]), "Give YYYY-MM-DD, or nothing")
