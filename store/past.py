"""A player's rounds and answers, what others answered, and codes that carry a player elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, case, delete, func, select, update
from sqlalchemy.sql.elements import ColumnElement

from store.database import Database
from store.guesses import CHOSE_CONTINENT, WITH_ANSWERS, RoundAndAnswers, next_turn, rounds_in
from store.schema import carries, guesses, rounds

#: The most recent rounds that are listed, answers that are exported, and totals and pins that are
#: compared with: what one request may cost.
MOST_ROUNDS = 200
MOST_ANSWERS = 20_000
MOST_TOTALS = 5_000
MOST_PINS = 5_000


@dataclass(frozen=True, slots=True)
class Total:
    """The points of somebody's whole round, and how many clips it had."""

    points: int
    n_clips: int


class PastStore:
    """Looks back, in a ``Database``; safe to use from any thread."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def rounds(self, player_id: str) -> list[RoundAndAnswers]:
        """A player's latest rounds with their answers, the latest first."""
        latest = (
            select(rounds.c.round_id)
            .where(rounds.c.player_id == player_id)
            .order_by(rounds.c.turn.desc(), rounds.c.created_utc.desc())
            .limit(MOST_ROUNDS)
        )
        query = WITH_ANSWERS.where(rounds.c.round_id.in_(latest))
        latest_first = rounds.c.turn.desc(), rounds.c.created_utc.desc(), rounds.c.round_id
        return rounds_in(self._database, query.order_by(*latest_first, guesses.c.position))

    def take_up(self, round_id: str, player_id: str) -> None:
        """Make a round the player's latest one, which is continued after a reload."""
        mine = rounds.c.round_id == round_id, rounds.c.player_id == player_id
        with self._database.write() as connection:
            newest = update(rounds).where(*mine).values(turn=next_turn())
            connection.execute(newest, {"whose": player_id})

    def answers(self, player_id: str) -> Sequence[Any]:
        """A player's latest answers as rows of ``guesses``, the oldest first."""
        query = select(guesses).where(guesses.c.player_id == player_id)
        latest = query.order_by(guesses.c.sequence.desc()).limit(MOST_ANSWERS)
        with self._database.read() as connection:
            return connection.execute(latest).all()[::-1]

    def pins(self, benchmark: str, clip_key: str, but: str) -> list[tuple[float, float]]:
        """Where others placed a clip (latitude, longitude), each one's first pin."""
        query = (
            select(guesses.c.player_id, guesses.c.latitude, guesses.c.longitude)
            .where(
                guesses.c.benchmark == benchmark,
                guesses.c.clip_key == clip_key,
                guesses.c.action == "guess",
                guesses.c.player_id != but,
            )
            .order_by(guesses.c.sequence.desc())
            .limit(MOST_PINS)
        )
        with self._database.read() as connection:
            found = connection.execute(query).all()
        return [*{row.player_id: (row.latitude, row.longitude) for row in found}.values()]

    def totals_since(self, benchmark: str, since: datetime, but: str) -> list[Total]:
        """The totals of others' rounds with an answer since a time: each one's first whole one."""
        lately = (
            select(guesses.c.round_id)
            .where(guesses.c.benchmark == benchmark, guesses.c.created_utc >= since)
            .where(guesses.c.player_id != but)
            .distinct()
            .limit(MOST_TOTALS)
        )
        return self._totals(guesses.c.round_id.in_(lately), but)

    def totals_of_day(self, benchmark: str, content_hash: str, day: str, but: str) -> list[Total]:
        """The totals of others who finished a day's daily five."""
        daily = (
            select(rounds.c.round_id)
            .where(
                rounds.c.mode == "daily",
                rounds.c.benchmark == benchmark,
                rounds.c.benchmark_hash == content_hash,
                rounds.c.label == day,
            )
            .limit(MOST_TOTALS)
        )
        return self._totals(guesses.c.round_id.in_(daily), but)

    def _totals(self, chosen: ColumnElement[bool], but: str) -> list[Total]:
        with self._database.read() as connection:
            found = connection.execute(_sums(chosen, but)).all()
        whole: dict[str, Total] = {}
        for player_id, points, n_clips, clip_keys in found:
            if n_clips == len(clip_keys):
                whole.setdefault(player_id, Total(int(points), n_clips))
        return [*whole.values()]

    def offer(self, code_hash: str, player_id: str, now: datetime, expires: datetime) -> None:
        """Keep a player's only code; those that have expired go."""
        old = (carries.c.player_id == player_id) | (carries.c.expires_utc <= now)
        values = {"code_hash": code_hash, "player_id": player_id, "expires_utc": expires}
        with self._database.write() as connection:
            connection.execute(delete(carries).where(old))
            self._database.insert_new(connection, carries, values)

    def redeem(self, code_hash: str, now: datetime) -> str | None:
        """The player of a code, which is used up; None if it is unknown, used or expired."""
        this = delete(carries).where(carries.c.code_hash == code_hash, carries.c.expires_utc > now)
        with self._database.write() as connection:
            return connection.scalar(this.returning(carries.c.player_id))


def _sums(chosen: ColumnElement[bool], but: str) -> Select[Any, Any, Any, Any]:
    """(player, points, answers, clips) of whole rounds, the oldest first.

    Not of those with a broken clip, or whose continent the player knew.
    """
    points = func.sum(case((guesses.c.action == "guess", func.round(guesses.c.score)), else_=0))
    broken = func.sum(case((guesses.c.action == "broken", 1), else_=0))
    return (
        select(rounds.c.player_id, points, func.count(), rounds.c.clip_keys)
        .select_from(rounds.join(guesses, guesses.c.round_id == rounds.c.round_id))
        .where(chosen, rounds.c.player_id != but, ~CHOSE_CONTINENT)
        .group_by(rounds.c.round_id)
        .having(broken == 0)
        .order_by(func.max(guesses.c.created_utc))
    )
