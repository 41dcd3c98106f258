"""Submissions: scored prediction files on a board, and how they are withdrawn."""

from __future__ import annotations

import gzip
import hashlib
import hmac
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, case, delete, func, insert, select, update

from agl1k_core.errors import Agl1kError
from store.database import Database
from store.moderation import ModerationLog
from store.schema import moderation, submission_files, submissions

Weights = Literal["open", "closed"]
Kind = Literal["verified", "baseline"]
#: How a submission relates to the earlier ones of its row: not at all, for the first one.
Relation = Literal["", "replaces", "run"]


@dataclass(frozen=True, slots=True)
class Submission:
    """One scored prediction file of a board.

    ``evaluation`` is ``Evaluation.to_dict()``; JSON has no NaN, so NaN is read back as None.
    ``model_date`` is YYYY-MM-DD or "". ``file_bytes`` is the size of the file, ``file_sha256``
    its hash in hex. ``owner`` is "" unless a login vouched for a name. ``series`` is the id of the
    first submission of the row that this one belongs to, "" for the first one itself. ``is_shared``
    says whether others may have the file.
    """

    submission_id: str
    benchmark: str
    benchmark_hash: str
    model: str
    organisation: str
    link: str
    weights: Weights
    prompt: str
    model_date: str
    kind: Kind
    owner: str
    protocol: str
    scorer_version: str
    file_name: str
    file_sha256: str
    file_bytes: int
    evaluation: Mapping[str, Any]
    created_utc: datetime
    withdrawn_utc: datetime | None = None
    series: str = ""
    relation: Relation = ""
    is_shared: bool = True

    @property
    def row_id(self) -> str:
        """The id of the row on the board that it belongs to."""
        return self.series or self.submission_id


_Submissions = list[Submission]  # inside the class, ``list`` is the method
_BY_AGE = (submissions.c.created_utc, submissions.c.sequence)
_COLUMNS = [submissions.c[field.name] for field in fields(Submission)]
_ROW_ID = case(
    (submissions.c.series == "", submissions.c.submission_id), else_=submissions.c.series
)


class SubmissionStore:
    """Submissions and their files in a ``Database``; safe to use from any thread.

    ``admit`` is called with the submitter's quota id before a submission is stored; it raises
    ``Agl1kError`` to refuse it. ``moderation`` holds what operators decided.
    """

    def __init__(self, database: Database, admit: Callable[[str], None] = lambda who: None) -> None:
        self._database = database
        self._admit = admit
        self.moderation = ModerationLog(database)

    def publish(
        self,
        submission: Submission,
        file: bytes,
        *,
        who: str = "",
        hold: str = "",
        key: str = "",
        new_key: str = "",
    ) -> str:
        """Put a submission and its file on the board; returns the key that withdraws its row.

        With a reason to ``hold`` it, the board shows it after an operator restored it. ``who``
        stands for the submitter in quotas and is not stored. The key is ``new_key``, or random;
        only its hash is stored. A submission with a ``series`` joins that row, if ``key`` is the
        row's or its owner was signed in as the submission's ``owner``; the row's key stays as it
        is, and "" is returned. A submission that is there already, with the same id and key, was
        sent twice and is stored once.

        Raises ``Agl1kError`` if the same file is already published for the same model, or the
        submission may not join the row; ``ValueError`` if the size does not match the file. The
        hash is not computed again: it is that of the file when it was read.
        """
        if len(file) != submission.file_bytes:
            raise ValueError("file_bytes is not the size of the file")
        self._admit(who)
        new_key = "" if submission.series else new_key or secrets.token_urlsafe(24)
        values = {field.name: getattr(submission, field.name) for field in fields(submission)}
        content = {
            "submission_id": submission.submission_id,
            "content_gzip": gzip.compress(file, mtime=0),
        }
        with self._database.write() as connection:
            values["withdraw_key_sha256"] = (
                _key_of_row(connection, submission, key)
                if submission.series
                else _key_hash(new_key)
            )
            if not self._database.insert_new(connection, submissions, values):
                if _is_there(connection, values):
                    return new_key
                raise Agl1kError(_already_there(connection, submission))
            connection.execute(insert(submission_files), content)
            if hold:
                held = submission.submission_id
                self.moderation.add(connection, "submission", held, "hold", hold)
        return new_key

    def get(self, submission_id: str) -> Submission | None:
        """The submission with this id, withdrawn or not, or None."""
        found = self._select(submissions.c.submission_id == submission_id)
        return found[0] if found else None

    def list(self, benchmark: str, include_withdrawn: bool = False) -> list[Submission]:
        """The submissions of a benchmark (its slug), oldest first."""
        conditions = [submissions.c.benchmark == benchmark]
        if not include_withdrawn:
            conditions.append(submissions.c.withdrawn_utc.is_(None))
        return self._select(*conditions)

    def everything(self, benchmark: str = "") -> _Submissions:
        """All submissions, of one benchmark or of all, withdrawn ones too, oldest first."""
        return self._select(*([submissions.c.benchmark == benchmark] if benchmark else []))

    def file(self, submission_id: str) -> bytes:
        """The submitted bytes; raises ``Agl1kError`` if they are not stored (any more)."""
        query = select(submission_files.c.content_gzip).where(
            submission_files.c.submission_id == submission_id
        )
        with self._database.read() as connection:
            content = connection.scalar(query)
        if content is None:
            raise Agl1kError(
                f"There is no file for submission {submission_id}: it was withdrawn, this server "
                "was restored without it, or the id is wrong. Look it up on the board."
            )
        return gzip.decompress(content)

    def withdraw(self, submission_id: str, key: str, owner: str = "") -> bool:
        """Take a submission's row off the board and delete its files.

        Returns False unless ``key`` is its key, or ``owner`` the name that a login vouched for when
        it was published. The owner's name is deleted, too. Withdrawing again with the key returns
        True and changes nothing.
        """
        with self._database.write() as connection:
            if not _may_withdraw(connection, submission_id, key, owner):
                return False
            take_off(connection, _of_row(connection, submission_id))
        with suppress(Agl1kError):  # withdrawn even if other connections prevent this
            self._database.scrub()
        return True

    def remove(self, submission_id: str, reason: str) -> None:
        """Take a submission's row off the board and delete its files, for a reason that is shown.

        Raises ``Agl1kError`` if there is no such submission.
        """
        if self.get(submission_id) is None:
            raise Agl1kError(
                f"There is no submission {submission_id}. Look its id up on the board."
            )
        with self._database.write() as connection:
            self.moderation.add(connection, "submission", submission_id, "remove", reason)
            take_off(connection, _of_row(connection, submission_id))
        with suppress(Agl1kError):
            self._database.scrub()

    def revision(self) -> str:
        """A short text that changes when a submission is added, withdrawn, removed or moderated."""
        query = select(
            func.max(submissions.c.sequence),
            func.count(),
            func.count(submissions.c.withdrawn_utc),
            select(func.max(moderation.c.sequence)).scalar_subquery(),
        )
        with self._database.read() as connection:
            last, n_all, n_withdrawn, decided = connection.execute(query).one()
        return f"{last or 0}-{n_all}-{n_withdrawn}-{decided or 0}"

    def _select(self, *conditions: ColumnElement[bool]) -> _Submissions:
        query = select(*_COLUMNS).where(*conditions).order_by(*_BY_AGE)
        with self._database.read() as connection:
            return [Submission(*row) for row in connection.execute(query)]


def take_off(connection: Connection, submission_ids: Sequence[str]) -> None:
    """Withdraw submissions and delete their files."""
    connection.execute(
        update(submissions)
        .where(
            submissions.c.submission_id.in_(submission_ids), submissions.c.withdrawn_utc.is_(None)
        )
        .values(withdrawn_utc=datetime.now(UTC), owner="")
    )
    files = submission_files.c.submission_id.in_(submission_ids)
    connection.execute(delete(submission_files).where(files))


def _of_row(connection: Connection, submission_id: str) -> Sequence[str]:
    """The ids of all submissions of the row that one belongs to."""
    row = select(_ROW_ID).where(submissions.c.submission_id == submission_id)
    query = select(submissions.c.submission_id).where(_ROW_ID.in_(row))
    return list(connection.scalars(query))


def _key_of_row(connection: Connection, new: Submission, key: str) -> str:
    """The hash of the key of the row that a submission joins; raises ``Agl1kError``."""
    query = select(submissions).where(submissions.c.submission_id == new.series)
    first = connection.execute(query).first()
    if first is None or first.withdrawn_utc is not None:
        raise Agl1kError(f"There is no row {new.series[:40]!r} to add to. Check its id.")
    if first.series or first.benchmark != new.benchmark:
        raise Agl1kError(f"{new.series[:40]!r} is not the id of a row of this board. Check it.")
    if not _may_withdraw(connection, new.series, key, new.owner):
        raise Agl1kError(
            f"Nothing was published: this key does not belong to the row {new.series}. Give the "
            "key that was shown when it was published."
        )
    return str(first.withdraw_key_sha256)


def _may_withdraw(connection: Connection, submission_id: str, key: str, owner: str) -> bool:
    query = select(submissions.c.withdraw_key_sha256, submissions.c.owner)
    row = connection.execute(query.where(submissions.c.submission_id == submission_id)).first()
    if row is None:
        return False
    is_owner = bool(owner) and row.owner == owner
    return is_owner or hmac.compare_digest(row.withdraw_key_sha256, _key_hash(key))


def _key_hash(key: str) -> str:
    return hashlib.sha256(key.strip().encode("utf-8", "replace")).hexdigest()


def _is_there(connection: Connection, new: Mapping[str, Any]) -> bool:
    """Whether the same submission, with the same key, was sent before."""
    same = ("submission_id", "file_sha256", "withdraw_key_sha256")
    query = select(submissions.c.sequence).where(
        *(submissions.c[name] == new[name] for name in same), submissions.c.withdrawn_utc.is_(None)
    )
    return connection.execute(query).first() is not None


def _already_there(connection: Connection, new: Submission) -> str:
    same = ("benchmark", "benchmark_hash", "model", "file_sha256")
    query = select(submissions.c.submission_id, submissions.c.created_utc).where(
        *(submissions.c[name] == getattr(new, name) for name in same),
        submissions.c.withdrawn_utc.is_(None),
    )
    row = connection.execute(query).one_or_none()
    if row is None:
        return f"Submission id {new.submission_id} is taken. Publish with a new id."
    return (
        f"This file is already published for the model {new.model!r}: submission "
        f"{row.submission_id}, published {row.created_utc:%Y-%m-%d %H:%M} UTC. "
        "Withdraw that one first, or publish under another model name."
    )
