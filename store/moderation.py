"""What operators decided about submissions and nicknames: a log that only grows.

The last decision about a subject is the one that holds. Reasons are shown to everybody.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, cast

from sqlalchemy import Connection, Row, insert, select

from agl1k_core.errors import Agl1kError
from store.database import Database
from store.schema import moderation

Subject = Literal["submission", "nickname"]
Action = Literal["hold", "hide", "restore", "remove", "verify", "unverify"]

LONGEST_REASON = 500
_FRESH_S = 60.0


@dataclass(frozen=True, slots=True)
class Decision:
    """One line of the log."""

    kind: Subject
    subject: str
    action: Action
    reason: str
    created_utc: datetime


@dataclass(frozen=True, slots=True)
class Standing:
    """What holds for a subject: the last decision on showing it, and the one that verified it."""

    shown: Decision | None = None
    verified: Decision | None = None

    @property
    def is_shown(self) -> bool:
        """Whether it is on the board."""
        return self.shown is None or self.shown.action == "restore"


class ModerationLog:
    """The log in a ``Database``; safe to use from any thread."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def decide(self, kind: Subject, subject: str, action: Action, reason: str) -> Decision:
        """Add a decision; raises ``Agl1kError`` without a reason that people can read."""
        with self._database.write() as connection:
            return self.add(connection, kind, subject, action, reason)

    def add(
        self, connection: Connection, kind: Subject, subject: str, action: Action, reason: str
    ) -> Decision:
        """``decide`` within a transaction."""
        reason = " ".join(reason.split())
        if not 0 < len(reason) <= LONGEST_REASON or not reason.isprintable():
            raise Agl1kError(
                f"A decision needs a reason of 1 to {LONGEST_REASON} characters: it is shown."
            )
        made = Decision(kind, subject, action, reason, datetime.now(UTC))
        connection.execute(
            insert(moderation).values(
                kind=kind, subject=subject, action=action, reason=reason,
                created_utc=made.created_utc,
                decision_id=uuid.uuid4().hex if kind == "submission" else None,
            )
        )  # fmt: skip
        return made

    def log(self, kind: Subject, subject: str | None = None) -> list[Decision]:
        """The decisions about one subject or all of a kind, oldest first."""
        by_age = (moderation.c.created_utc, moderation.c.sequence)  # other servers decide, too
        query = select(moderation).where(moderation.c.kind == kind).order_by(*by_age)
        if subject is not None:
            query = query.where(moderation.c.subject == subject)
        with self._database.read() as connection:
            return [_decision(row) for row in connection.execute(query)]

    def standing_of(self, kind: Subject, subject: str) -> Standing:
        """What holds for one subject."""
        return standing(self.log(kind, subject))

    def standings(self, kind: Subject) -> dict[str, Standing]:
        """What holds for each subject with a decision."""
        found: dict[str, list[Decision]] = {}
        for decision in self.log(kind):
            found.setdefault(decision.subject, []).append(decision)
        return {subject: standing(decisions) for subject, decisions in found.items()}


class HiddenNicknames:
    """Whether a nickname is hidden, as of at most a minute ago."""

    def __init__(self, log: ModerationLog, clock: Callable[[], float] = time.monotonic) -> None:
        self._log, self._clock = log, clock
        self._names: frozenset[str] = frozenset()
        self._until = float("-inf")

    def __call__(self, nickname: str) -> bool:
        """Compares names without regard to case."""
        if not nickname:
            return False
        if self._clock() >= self._until:
            standings = self._log.standings("nickname").items()
            self._names = frozenset(name.casefold() for name, one in standings if not one.is_shown)
            self._until = self._clock() + _FRESH_S
        return nickname.casefold() in self._names


def standing(decisions: Iterable[Decision]) -> Standing:
    """What holds after some decisions about one subject, oldest first."""
    shown = verified = None
    for decision in decisions:
        if decision.action == "verify":
            verified = decision
        elif decision.action == "unverify":
            verified = None
        else:
            shown = decision
    return Standing(shown, verified)


def _decision(row: Row[tuple[object, ...]]) -> Decision:
    return Decision(
        cast(Subject, row.kind), row.subject, cast(Action, row.action), row.reason, row.created_utc
    )
