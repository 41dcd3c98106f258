"""The tables, as SQLAlchemy Core metadata, and the types of their columns.

Nothing here identifies a person: no network address, no browser, no e-mail. A player is a random
id that the server gave to a browser.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    DateTime,
    Dialect,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Named,
    Table,
    Text,
    TypedColumns,
    UniqueConstraint,
    text,
    true,
)
from sqlalchemy.types import TypeDecorator


class UtcDateTime(TypeDecorator[datetime]):
    """An aware time in UTC on both engines; a naive one raises ``ValueError``."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"{value!r} has no time zone; pass an aware datetime")
        return value.astimezone(UTC)

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        moment: datetime = value  # SQLite drops the zone, PostgreSQL uses the session's
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


class SafeText(TypeDecorator[str]):
    """Text that both engines accept, in which NUL and lone surrogates become U+FFFD."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        if value is None or (value.isascii() and "\0" not in value):
            return value
        whole = value.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
        return whole.replace("\0", "\ufffd")


SEQUENCE = BigInteger().with_variant(Integer(), "sqlite")

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
    }
)


class MetaColumns(TypedColumns):
    """What the database stores about itself: signing keys and its own id."""

    name: Named[str] = Column(SafeText, primary_key=True)
    value: Named[bytes] = Column(LargeBinary)


meta = Table("meta", metadata, MetaColumns)


class RoundColumns(TypedColumns):
    """One player's round; ``clip_started_utc`` belongs to the clip at ``position``.

    ``turn`` counts the player's rounds, since clocks are sometimes set back; 0 in rounds that are
    older than the column.
    """

    round_id: Named[str] = Column(SafeText, primary_key=True)
    player_id: Named[str] = Column(SafeText)
    benchmark: Named[str] = Column(SafeText)
    benchmark_hash: Named[str] = Column(SafeText)
    mode: Named[str] = Column(SafeText)
    label: Named[str] = Column(SafeText)
    clip_keys: Named[list[str]] = Column(JSON, nullable=False)
    filters: Named[Mapping[str, object]] = Column(JSON, nullable=False)
    timer_s: Named[int | None]
    position: Named[int]
    clip_started_utc: Named[datetime | None] = Column(UtcDateTime)
    created_utc: Named[datetime] = Column(UtcDateTime)
    turn: Named[int] = Column(server_default=text("0"))


_DAILY = text("mode = 'daily'")

rounds = Table(
    "rounds",
    metadata,
    RoundColumns,
    CheckConstraint("mode IN ('free', 'daily', 'challenge')", name="mode"),
    CheckConstraint("position >= 0", name="position"),
    Index("ix_rounds_player_id", "player_id", "created_utc"),
    Index(  # two tabs that open the same day get one round, not two attempts
        "uq_rounds_daily",
        "player_id",
        "benchmark",
        "benchmark_hash",
        "label",
        unique=True,
        sqlite_where=_DAILY,
        postgresql_where=_DAILY,
    ),
    Index(
        "ix_rounds_daily",
        "benchmark",
        "benchmark_hash",
        "label",
        "created_utc",
        sqlite_where=_DAILY,
        postgresql_where=_DAILY,
    ),
)


class RoomColumns(TypedColumns):
    """A room in which people play the same clips; ``clip_keys`` are those of its latest round."""

    code: Named[str] = Column(SafeText, primary_key=True)
    opener_id: Named[str] = Column(SafeText)
    benchmark: Named[str] = Column(SafeText)
    timer_s: Named[int | None]
    game: Named[int]
    clip_keys: Named[list[str]] = Column(JSON, nullable=False)
    created_utc: Named[datetime] = Column(UtcDateTime)
    expires_utc: Named[datetime] = Column(UtcDateTime, index=True)


rooms = Table("rooms", metadata, RoomColumns)


class SeatColumns(TypedColumns):
    """A player in one round of a room. No foreign key: the room is deleted when it expires."""

    code: Named[str] = Column(SafeText, primary_key=True)
    game: Named[int] = Column(primary_key=True, autoincrement=False)
    player_id: Named[str] = Column(SafeText, primary_key=True, index=True)
    nickname: Named[str] = Column(SafeText)
    round_id: Named[str] = Column(SafeText)
    joined_utc: Named[datetime] = Column(UtcDateTime)


room_seats = Table("room_seats", metadata, SeatColumns)


class CarryColumns(TypedColumns):
    """A code that makes another device the player's, until it is used or expires.

    ``code_hash`` is a keyed hash: who reads the table cannot use the code.
    """

    code_hash: Named[str] = Column(SafeText, primary_key=True)
    player_id: Named[str] = Column(SafeText, unique=True)
    expires_utc: Named[datetime] = Column(UtcDateTime, index=True)


carries = Table("carries", metadata, CarryColumns)


class GuessColumns(TypedColumns):
    """One answer to one clip of one round. No foreign key to ``rounds``: guesses outlive them.

    ``sequence`` only grows and is never reused. On PostgreSQL a lower number may be committed after
    a higher one, so publishing must claim rows instead of remembering the last number: ``shard``
    names the file that publishes the row, and is None until the row is sealed into one.
    """

    sequence: Named[int] = Column(SEQUENCE, primary_key=True)
    guess_id: Named[str] = Column(SafeText, unique=True)
    round_id: Named[str] = Column(SafeText)
    position: Named[int]
    player_id: Named[str] = Column(SafeText)
    nickname: Named[str] = Column(SafeText)
    benchmark: Named[str] = Column(SafeText)
    benchmark_hash: Named[str] = Column(SafeText)
    clip_key: Named[str] = Column(SafeText)
    action: Named[str] = Column(SafeText)
    latitude: Named[float | None]
    longitude: Named[float | None]
    distance_km: Named[float | None]
    score: Named[float | None]
    seconds: Named[float | None]
    mode: Named[str] = Column(SafeText)
    app_version: Named[str] = Column(SafeText)
    created_utc: Named[datetime] = Column(UtcDateTime)
    shard: Named[str | None] = Column(SafeText)
    tools: Named[str | None] = Column(SafeText)  # as store.tools writes them


_UNSEALED = text("shard IS NULL")

guesses = Table(
    "guesses",
    metadata,
    GuessColumns,
    UniqueConstraint("round_id", "position"),
    CheckConstraint("action IN ('guess', 'skip', 'broken', 'timeout')", name="action"),
    CheckConstraint("latitude BETWEEN -90 AND 90", name="latitude"),
    CheckConstraint("longitude BETWEEN -180 AND 180", name="longitude"),
    Index("ix_guesses_benchmark", "benchmark", "benchmark_hash"),
    Index("ix_guesses_player_id", "player_id", "benchmark"),
    Index("ix_guesses_clip", "benchmark", "clip_key", "sequence"),
    Index("ix_guesses_day", "benchmark", "created_utc"),
    Index(
        "ix_guesses_unsealed",
        "sequence",
        sqlite_where=_UNSEALED,
        postgresql_where=_UNSEALED,
    ),
    sqlite_autoincrement=True,
)


class SubmissionColumns(TypedColumns):
    """One scored prediction file on a board; its bytes are in ``submission_files``."""

    sequence: Named[int] = Column(SEQUENCE, primary_key=True)
    submission_id: Named[str] = Column(SafeText, unique=True)
    benchmark: Named[str] = Column(SafeText)
    benchmark_hash: Named[str] = Column(SafeText)
    model: Named[str] = Column(SafeText)
    organisation: Named[str] = Column(SafeText)
    link: Named[str] = Column(SafeText)
    weights: Named[str] = Column(SafeText)
    prompt: Named[str] = Column(SafeText)
    model_date: Named[str] = Column(SafeText)
    kind: Named[str] = Column(SafeText)
    owner: Named[str] = Column(SafeText)
    protocol: Named[str] = Column(SafeText)
    scorer_version: Named[str] = Column(SafeText)
    file_name: Named[str] = Column(SafeText)
    file_sha256: Named[str] = Column(SafeText)
    file_bytes: Named[int]
    evaluation: Named[Mapping[str, object]] = Column(JSON, nullable=False)
    created_utc: Named[datetime] = Column(UtcDateTime)
    withdrawn_utc: Named[datetime | None] = Column(UtcDateTime)
    withdraw_key_sha256: Named[str] = Column(SafeText)
    shard: Named[str | None] = Column(SafeText)  # as in GuessColumns
    # the first submission of its row, "" for that one itself
    series: Named[str] = Column(SafeText, server_default=text("''"))
    relation: Named[str] = Column(SafeText, server_default=text("''"))
    is_shared: Named[bool] = Column(Boolean, server_default=true())


_STANDING = text("withdrawn_utc IS NULL")

submissions = Table(
    "submissions",
    metadata,
    SubmissionColumns,
    CheckConstraint("weights IN ('open', 'closed')", name="weights"),
    CheckConstraint("kind IN ('verified', 'baseline')", name="kind"),
    Index("ix_submissions_benchmark", "benchmark"),
    Index(
        "uq_submissions_standing",
        "benchmark",
        "benchmark_hash",
        "model",
        "file_sha256",
        unique=True,
        sqlite_where=_STANDING,
        postgresql_where=_STANDING,
    ),
    sqlite_autoincrement=True,
)


class FileColumns(TypedColumns):
    """The submitted bytes, compressed with gzip, apart from the rows that lists read."""

    submission_id: Named[str] = Column(
        SafeText, ForeignKey("submissions.submission_id"), primary_key=True
    )
    content_gzip: Named[bytes] = Column(LargeBinary)


submission_files = Table("submission_files", metadata, FileColumns)


class ScoredFileColumns(TypedColumns):
    """Files that somebody had scored on a sealed benchmark, published or not.

    ``submitter`` is a keyed hash of a Hub name or of a page's session.
    """

    benchmark: Named[str] = Column(SafeText, primary_key=True)
    submitter: Named[str] = Column(SafeText, primary_key=True)
    file_sha256: Named[str] = Column(SafeText, primary_key=True)
    created_utc: Named[datetime] = Column(UtcDateTime)


scored_files = Table(
    "scored_files",
    metadata,
    ScoredFileColumns,
    Index("ix_scored_files_created_utc", "benchmark", "created_utc"),
)


class UploadColumns(TypedColumns):
    """Copies of uploads, which are deleted after an hour; ``n_bytes`` is the size in the table."""

    upload: Named[str] = Column(SafeText, primary_key=True)
    content_gzip: Named[bytes] = Column(LargeBinary)
    n_bytes: Named[int] = Column(Integer)
    created_utc: Named[datetime] = Column(UtcDateTime)


uploads = Table("uploads", metadata, UploadColumns)


class RemovalColumns(TypedColumns):
    """A request to delete something, also on other servers that publish in the same dataset.

    ``subject`` is a hash: it matches an id that is known, and reveals none.
    """

    sequence: Named[int] = Column(SEQUENCE, primary_key=True)
    removal_id: Named[str] = Column(SafeText, unique=True)
    subject: Named[str] = Column(SafeText, index=True)
    created_utc: Named[datetime] = Column(UtcDateTime)
    shard: Named[str | None] = Column(SafeText)  # as in GuessColumns


removals = Table("removals", metadata, RemovalColumns, sqlite_autoincrement=True)


class ModerationColumns(TypedColumns):
    """One decision of an operator; rows are only added. Those about submissions are published."""

    sequence: Named[int] = Column(SEQUENCE, primary_key=True)
    decision_id: Named[str | None] = Column(SafeText)  # None: not to be published
    kind: Named[str] = Column(SafeText)
    subject: Named[str] = Column(SafeText)
    action: Named[str] = Column(SafeText)
    reason: Named[str] = Column(SafeText)
    created_utc: Named[datetime] = Column(UtcDateTime)
    shard: Named[str | None] = Column(SafeText)  # as in GuessColumns


moderation = Table(
    "moderation",
    metadata,
    ModerationColumns,
    CheckConstraint("kind IN ('submission', 'nickname')", name="kind"),
    Index("ix_moderation_subject", "kind", "subject"),
    Index("uq_moderation_decision_id", "decision_id", unique=True),
    sqlite_autoincrement=True,
)


class ShardColumns(TypedColumns):
    """A file of the public dataset, sealed here or read from there.

    ``content`` is kept from sealing until the Hub has it, so that every attempt sends the same
    bytes.
    """

    name: Named[str] = Column(SafeText, primary_key=True)
    kind: Named[str] = Column(SafeText)
    n_rows: Named[int]
    content: Named[bytes | None] = Column(LargeBinary)
    sealed_utc: Named[datetime] = Column(UtcDateTime)
    pushed_utc: Named[datetime | None] = Column(UtcDateTime)


_PENDING = text("pushed_utc IS NULL")

shards = Table(
    "shards",
    metadata,
    ShardColumns,
    Index("ix_shards_pending", "sealed_utc", sqlite_where=_PENDING, postgresql_where=_PENDING),
)
