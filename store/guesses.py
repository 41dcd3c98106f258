"""Rounds and guesses: which clips a player was given, and the answers that count."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any, Literal

import pandas as pd
from sqlalchemy import (
    Case,
    Connection,
    Row,
    ScalarSelect,
    Select,
    Table,
    bindparam,
    case,
    distinct,
    exists,
    func,
    select,
    tuple_,
    update,
)

from agl1k_core.errors import Agl1kError
from store.database import Database
from store.schema import UtcDateTime, guesses, room_seats, rounds

Mode = Literal["free", "daily", "challenge"]
Action = Literal["guess", "skip", "broken", "timeout"]


@dataclass(frozen=True, slots=True)
class Round:
    """The clips that one player is given, in order; ``position`` counts the answered ones.

    ``label`` is the date of a daily round, the code of a challenge, or "". ``clip_started_utc`` is
    when the clip at ``position`` was first sent, or None.
    """

    round_id: str
    player_id: str
    benchmark: str
    benchmark_hash: str
    mode: Mode
    label: str
    clip_keys: tuple[str, ...]
    filters: Mapping[str, object]
    timer_s: int | None
    position: int
    clip_started_utc: datetime | None
    created_utc: datetime


@dataclass(frozen=True, slots=True)
class Guess:
    """A player's answer to the clip at ``position`` of a round, and its score.

    ``latitude`` and ``longitude`` in degrees, ``distance_km`` and ``score`` are None without a
    point. ``seconds`` is the time from hearing the clip to the answer. ``tools`` are those that
    helped the player to listen, as ``store.tools`` writes them.
    """

    guess_id: str
    round_id: str
    position: int
    player_id: str
    nickname: str
    benchmark: str
    benchmark_hash: str
    clip_key: str
    action: Action
    latitude: float | None
    longitude: float | None
    distance_km: float | None
    score: float | None
    seconds: float | None
    mode: Mode
    app_version: str
    created_utc: datetime
    tools: str | None = None


RoundAndAnswers = tuple[Round, list[Guess]]


@dataclass(frozen=True, slots=True)
class Counts:
    """How many answers of each kind a benchmark has, and from how many players."""

    guesses: int
    skips: int
    broken: int
    timeouts: int
    players: int


_ROUND_COLUMNS = [rounds.c[field.name] for field in fields(Round)]
_N_ROUND_COLUMNS = len(_ROUND_COLUMNS)
_BY_TURN = (rounds.c.turn, rounds.c.created_utc)
# rows of other servers are inserted later than newer ones of our own
_BY_AGE = (guesses.c.created_utc, guesses.c.sequence)
_GUESS_COLUMNS = [guesses.c[field.name] for field in fields(Guess)]

_earlier = guesses.alias("earlier")
_MET_ELSEWHERE = (
    exists()
    .where(
        _earlier.c.player_id == guesses.c.player_id,
        _earlier.c.clip_key == guesses.c.clip_key,
        _earlier.c.benchmark != guesses.c.benchmark,
        tuple_(_earlier.c.created_utc, _earlier.c.sequence)
        < tuple_(guesses.c.created_utc, guesses.c.sequence),
    )
    .correlate(guesses)
    .label("met_elsewhere")
)
#: Whether the player of a round knew the continent of its clips.
CHOSE_CONTINENT = func.coalesce(rounds.c.filters["continent"].as_string(), "") != ""
_CONTINENT_CHOSEN = guesses.c.round_id.in_(select(rounds.c.round_id).where(CHOSE_CONTINENT)).label(
    "continent_chosen"
)
# built once: building a statement takes longer than running it
_ROUND = select(*_ROUND_COLUMNS).where(rounds.c.round_id == bindparam("wanted"))
_ANSWERS = (
    select(*_GUESS_COLUMNS)
    .where(guesses.c.round_id == bindparam("wanted"))
    .order_by(guesses.c.position)
)
WITH_ANSWERS = select(*_ROUND_COLUMNS, *_GUESS_COLUMNS).select_from(
    rounds.outerjoin(guesses, guesses.c.round_id == rounds.c.round_id)
)
_ONE = WITH_ANSWERS.where(rounds.c.round_id == bindparam("wanted")).order_by(guesses.c.position)
_DAILIES = WITH_ANSWERS.where(
    rounds.c.player_id == bindparam("whose"),
    rounds.c.benchmark == bindparam("of"),
    rounds.c.mode == "daily",
).order_by(rounds.c.label, *_BY_TURN, rounds.c.round_id, guesses.c.position)
_FIRST_DAILY = (
    select(rounds.c.clip_keys)
    .where(
        rounds.c.mode == "daily",
        rounds.c.benchmark == bindparam("of"),
        rounds.c.benchmark_hash == bindparam("with"),
        rounds.c.label == bindparam("on"),
    )
    .order_by(rounds.c.created_utc, rounds.c.round_id)
    .limit(1)
)
_AT_CLIP = update(rounds).where(
    rounds.c.round_id == bindparam("wanted"), rounds.c.position == bindparam("at")
)
_START_CLIP = _AT_CLIP.where(rounds.c.clip_started_utc.is_(None)).values(
    clip_started_utc=bindparam("now")
)
_ADVANCE = _AT_CLIP.values(position=bindparam("following"), clip_started_utc=bindparam("started"))


class GuessStore:
    """Rounds and guesses in a ``Database``; safe to use from any thread.

    When a method returns, what it wrote is committed to the disk. ``admit`` is called before a
    guess is stored; it raises ``Agl1kError`` to refuse it.
    """

    def __init__(
        self,
        database: Database,
        admit: Callable[[], None] = lambda: None,
        is_hidden: Callable[[str], bool] = lambda nickname: False,
    ) -> None:
        self._database = database
        self._new_guess = database.new_row(guesses, created_utc=_not_before_others())
        self._new_round = database.new_row(rounds, turn=next_turn())
        self._admit = admit
        self._is_hidden = is_hidden

    @property
    def database(self) -> Database:
        """Where they are stored."""
        return self._database

    def add_round(self, new: Round) -> Round:
        """Store a round and return it, or the older round that it repeats.

        A round repeats another with the same id, or the player's round of the same day (mode
        "daily", same label and benchmark).
        """

        def add(connection: Connection) -> Round:
            values = {**_values(new), "whose": new.player_id}
            if connection.execute(self._new_round, values).rowcount == 1:
                return new
            return _one_round(connection, new.round_id) or _same_day(connection, new)

        return self._database.write_together(add)

    def open_round(self, round_id: str) -> RoundAndAnswers | None:
        """The round with this id and its answers by position, or None."""
        found = rounds_in(self._database, _ONE, {"wanted": round_id})
        return found[0] if found else None

    def round(self, round_id: str) -> Round | None:
        """The round with this id, or None."""
        with self._database.read() as connection:
            return _one_round(connection, round_id)

    def start_clip(self, round_id: str, position: int, now: datetime) -> datetime:
        """Store when the clip at ``position`` was first sent, and return that time.

        Raises ``Agl1kError`` if the round is unknown or at another clip.
        """

        def start(connection: Connection) -> Round | None:
            values = {"wanted": round_id, "at": position, "now": now}
            stamped = connection.execute(_START_CLIP, values).rowcount == 1
            return None if stamped else _known_round(connection, round_id)

        current = self._database.write_together(start)
        if current is None:
            return now
        if current.position != position or current.clip_started_utc is None:
            raise Agl1kError(
                f"This round is at clip {current.position + 1}, not {position + 1}. "
                "Reload the page to continue."
            )
        return current.clip_started_utc

    def advance(self, round_id: str, position: int, started: datetime | None = None) -> bool:
        """Move from ``position`` to the next clip; True only for the caller that moved it.

        ``started`` is when the next clip is sent, if that is now.
        """
        values = {
            "wanted": round_id, "at": position, "following": position + 1, "started": started
        }  # fmt: skip
        return self._database.write_together(
            lambda connection: connection.execute(_ADVANCE, values).rowcount == 1
        )

    def replace_clip(
        self, round_id: str, position: int, key: str, *, instead_of: str | None = None
    ) -> Round:
        """Put another clip at ``position``; returns the changed round.

        Nothing changes if the clip there is answered, or is no longer ``instead_of``. Raises
        ``Agl1kError`` if the round is unknown or has no such position.
        """
        with self._database.write() as connection:
            current = _known_round(connection, round_id, lock=True)
            if not 0 <= position < len(current.clip_keys):
                raise Agl1kError(f"This round has no clip {position + 1}. Start a new round.")
            changed = instead_of is not None and current.clip_keys[position] != instead_of
            if changed or _answered(connection, round_id, position):
                return current
            keys = list(current.clip_keys)
            keys[position] = key
            started = None if position == current.position else current.clip_started_utc
            connection.execute(
                update(rounds)
                .where(rounds.c.round_id == round_id)
                .values(clip_keys=keys, clip_started_utc=started)
            )
            return replace(current, clip_keys=tuple(keys), clip_started_utc=started)

    def record(self, guess: Guess) -> Guess:
        """Store a guess and return it, or the older one that counts instead.

        A guess id counts once, and so does a position of a round: the first guess is kept. A
        nickname that an operator has hidden is left out. If the clock was set back, the stored time
        is that of the player's latest answer, so that a second answer does not become the first.
        """
        self._admit()
        if self._is_hidden(guess.nickname):
            guess = replace(guess, nickname="")

        def add(connection: Connection) -> Guess:
            values = _values(guess)
            values |= {"whose": guess.player_id, "now": values.pop("created_utc")}
            if connection.execute(self._new_guess, values).rowcount == 1:
                return guess
            by_id = select(*_GUESS_COLUMNS).where(guesses.c.guess_id == guess.guess_id)
            by_place = select(*_GUESS_COLUMNS).where(
                guesses.c.round_id == guess.round_id, guesses.c.position == guess.position
            )
            row = connection.execute(by_id).one_or_none() or connection.execute(by_place).one()
            return Guess(*row)

        return self._database.write_together(add)

    def nicknames(self) -> dict[str, int]:
        """Each nickname and its number of guesses."""
        query = select(guesses.c.nickname, func.count()).where(guesses.c.nickname != "")
        with self._database.read() as connection:
            found = connection.execute(query.group_by(guesses.c.nickname))
            return dict(row.tuple() for row in found)

    def drop_nickname(self, nickname: str) -> int:
        """Delete a nickname from all guesses and rooms; returns from how many guesses."""

        def drop(table: Table) -> int:
            matches = table.c.nickname == nickname
            return connection.execute(update(table).where(matches).values(nickname="")).rowcount

        with self._database.write() as connection:
            drop(room_seats)
            return drop(guesses)

    def of_round(self, round_id: str) -> list[Guess]:
        """The answers of a round, by position."""
        with self._database.read() as connection:
            return [Guess(*row) for row in connection.execute(_ANSWERS, {"wanted": round_id})]

    def of_benchmark(self, benchmark: str) -> list[Guess]:
        """All answers to a benchmark (its slug), oldest first."""
        query = select(*_GUESS_COLUMNS).where(guesses.c.benchmark == benchmark)
        return self._guesses(query.order_by(*_BY_AGE))

    def table(self, benchmark: str) -> pd.DataFrame:
        """Like ``of_benchmark``, but faster: a data frame with the fields of ``Guess``.

        ``latitude``, ``longitude``, ``distance_km``, ``score`` and ``seconds`` are float64, NaN if
        absent; ``created_utc`` is a time in UTC. ``met_elsewhere``: the player had answered the
        clip in another benchmark before. ``continent_chosen``: the round had clips of one
        continent only; False if the round is not known here.
        """
        told = _MET_ELSEWHERE, _CONTINENT_CHOSEN
        query = select(*_GUESS_COLUMNS, *told).where(guesses.c.benchmark == benchmark)
        with self._database.read() as connection:
            rows = connection.execute(query.order_by(*_BY_AGE)).all()
        flags = [column.name for column in told]
        names = [*(field.name for field in fields(Guess)), *flags]
        frame = pd.DataFrame.from_records([tuple(row) for row in rows], columns=names)
        numbers = ["latitude", "longitude", "distance_km", "score", "seconds"]
        frame[numbers] = frame[numbers].astype("float64")
        frame[flags] = frame[flags].astype(bool)
        frame["created_utc"] = pd.to_datetime(frame["created_utc"], utc=True)
        return frame

    def daily_rounds(self, player_id: str, benchmark: str) -> list[RoundAndAnswers]:
        """A player's daily rounds on a benchmark (its slug), by day, with their answers."""
        return rounds_in(self._database, _DAILIES, {"whose": player_id, "of": benchmark})

    def daily_clips(self, benchmark: str, benchmark_hash: str, day: str) -> tuple[str, ...]:
        """The clips of the first round that was started of a day's daily; empty if none was."""
        values = {"of": benchmark, "with": benchmark_hash, "on": day}
        with self._database.read() as connection:
            return tuple(connection.scalar(_FIRST_DAILY, values) or ())

    def latest_round(self, player_id: str) -> Round | None:
        """The round that a player started last, or None."""
        query = select(*_ROUND_COLUMNS).where(rounds.c.player_id == player_id)
        with self._database.read() as connection:
            latest_first = [column.desc() for column in _BY_TURN]
            row = connection.execute(query.order_by(*latest_first).limit(1)).first()
            return None if row is None else _round(row)

    def seen_clips(self, player_id: str, benchmark: str) -> list[str]:
        """Keys of the clips that a player has answered, skipped or reported, oldest first."""
        query = (
            select(guesses.c.clip_key)
            .where(guesses.c.player_id == player_id, guesses.c.benchmark == benchmark)
            .group_by(guesses.c.clip_key)
            .order_by(func.max(guesses.c.created_utc), func.max(guesses.c.sequence))
        )
        with self._database.read() as connection:
            return list(connection.scalars(query))

    def counts(self, benchmark: str) -> Counts:
        """How many answers there are; changes whenever a guess is recorded."""
        mine = guesses.c.benchmark == benchmark
        by_action = (
            select(guesses.c.action, func.count().label("n")).where(mine).group_by(guesses.c.action)
        )
        players = select(func.count(distinct(guesses.c.player_id))).where(mine)
        with self._database.read() as connection:
            found = {row.action: row.n for row in connection.execute(by_action)}
            return Counts(
                guesses=found.get("guess", 0),
                skips=found.get("skip", 0),
                broken=found.get("broken", 0),
                timeouts=found.get("timeout", 0),
                players=connection.scalar(players) or 0,
            )

    def _guesses(self, query: Select[Any]) -> list[Guess]:
        with self._database.read() as connection:
            return [Guess(*row) for row in connection.execute(query)]


def rounds_in(
    database: Database, query: Select[Any], parameters: Mapping[str, object] | None = None
) -> list[RoundAndAnswers]:
    """Rounds with their answers, from rows of ``WITH_ANSWERS``: one answer each, or none."""
    with database.read() as connection:
        rows = connection.execute(query, parameters or {}).all()
    found: list[RoundAndAnswers] = []
    for row in rows:
        if not found or found[-1][0].round_id != row[0]:
            found.append((_round(row), []))
        if row[_N_ROUND_COLUMNS] is not None:
            found[-1][1].append(Guess(*row[_N_ROUND_COLUMNS:]))
    return found


def next_turn() -> ScalarSelect[Any]:
    """One more than the latest round has of the player ``whose``, whatever the clock says."""
    mine = rounds.c.player_id == bindparam("whose")
    return select(func.coalesce(func.max(rounds.c.turn), 0) + 1).where(mine).scalar_subquery()


def _not_before_others() -> Case[datetime]:
    """``now``, or the time of the latest answer of the player ``whose`` if it is later."""
    mine = guesses.c.player_id == bindparam("whose")
    latest = select(func.max(guesses.c.created_utc)).where(mine).scalar_subquery()
    now = bindparam("now", type_=UtcDateTime)
    return case((latest > now, latest), else_=now)


_DAILY_KEY = ("player_id", "benchmark", "benchmark_hash", "label")


def _values(row: Round | Guess) -> dict[str, object]:
    return {field.name: getattr(row, field.name) for field in fields(row)}


def _round(row: Row[Any]) -> Round:
    """The round in a row that begins with its columns."""
    found = Round(*row[:_N_ROUND_COLUMNS])
    return replace(found, clip_keys=tuple(found.clip_keys))


def _same_day(connection: Connection, new: Round) -> Round:
    """The player's daily of the same day."""
    same = [rounds.c[name] == getattr(new, name) for name in _DAILY_KEY]
    query = select(*_ROUND_COLUMNS).where(rounds.c.mode == "daily", *same)
    return _round(connection.execute(query).one())


def _one_round(connection: Connection, round_id: str, *, lock: bool = False) -> Round | None:
    query = _ROUND.with_for_update() if lock else _ROUND
    row = connection.execute(query, {"wanted": round_id}).one_or_none()
    return None if row is None else _round(row)


def _known_round(connection: Connection, round_id: str, *, lock: bool = False) -> Round:
    found = _one_round(connection, round_id, lock=lock)
    if found is None:
        raise Agl1kError("This round is unknown here. Start a new round.")
    return found


def _answered(connection: Connection, round_id: str, position: int) -> bool:
    query = select(guesses.c.sequence).where(
        guesses.c.round_id == round_id, guesses.c.position == position
    )
    return connection.execute(query).first() is not None
