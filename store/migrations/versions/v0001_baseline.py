"""The first tables: meta, rounds, guesses, submissions and their files."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_SEQUENCE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Create all tables."""
    _meta()
    _rounds()
    _guesses()
    _submissions()


def downgrade() -> None:
    """Drop all tables."""
    for table in ("submission_files", "submissions", "guesses", "rounds", "meta"):
        op.drop_table(table)


def _texts(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, sa.Text(), nullable=False) for name in names]


def _meta() -> None:
    op.create_table(
        "meta",
        *_texts("name"),
        sa.Column("value", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_meta"),
    )


def _rounds() -> None:
    op.create_table(
        "rounds",
        *_texts("round_id", "player_id", "benchmark", "benchmark_hash", "mode", "label"),
        sa.Column("clip_keys", sa.JSON(), nullable=False),
        sa.Column("filters", sa.JSON(), nullable=False),
        sa.Column("timer_s", sa.Integer(), nullable=True),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("clip_started_utc", _TIME, nullable=True),
        sa.Column("created_utc", _TIME, nullable=False),
        sa.PrimaryKeyConstraint("round_id", name="pk_rounds"),
        sa.CheckConstraint("mode IN ('free', 'daily', 'challenge')", name=op.f("ck_rounds_mode")),
        sa.CheckConstraint("position >= 0", name=op.f("ck_rounds_position")),
    )
    op.create_index("ix_rounds_player_id", "rounds", ["player_id", "created_utc"])
    op.create_index(
        "uq_rounds_daily",
        "rounds",
        ["player_id", "benchmark", "benchmark_hash", "label"],
        unique=True,
        sqlite_where=sa.text("mode = 'daily'"),
        postgresql_where=sa.text("mode = 'daily'"),
    )


def _guesses() -> None:
    numbers = ("latitude", "longitude", "distance_km", "score", "seconds")
    op.create_table(
        "guesses",
        sa.Column("sequence", _SEQUENCE, nullable=False),
        *_texts("guess_id", "round_id"),
        sa.Column("position", sa.Integer(), nullable=False),
        *_texts("player_id", "nickname", "benchmark", "benchmark_hash", "clip_key", "action"),
        *(sa.Column(name, sa.Double(), nullable=True) for name in numbers),
        *_texts("mode", "app_version"),
        sa.Column("created_utc", _TIME, nullable=False),
        sa.PrimaryKeyConstraint("sequence", name="pk_guesses"),
        sa.UniqueConstraint("guess_id", name="uq_guesses_guess_id"),
        sa.UniqueConstraint("round_id", "position", name="uq_guesses_round_id_position"),
        sa.CheckConstraint(
            "action IN ('guess', 'skip', 'broken', 'timeout')", name=op.f("ck_guesses_action")
        ),
        sa.CheckConstraint("latitude BETWEEN -90 AND 90", name=op.f("ck_guesses_latitude")),
        sa.CheckConstraint("longitude BETWEEN -180 AND 180", name=op.f("ck_guesses_longitude")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_guesses_benchmark", "guesses", ["benchmark", "benchmark_hash"])
    op.create_index("ix_guesses_player_id", "guesses", ["player_id", "benchmark"])


def _submissions() -> None:
    op.create_table(
        "submissions",
        sa.Column("sequence", _SEQUENCE, nullable=False),
        *_texts("submission_id", "benchmark", "benchmark_hash", "model", "organisation", "link"),
        *_texts("weights", "prompt", "model_date", "kind", "owner", "protocol", "scorer_version"),
        *_texts("file_name", "file_sha256"),
        sa.Column("file_bytes", sa.Integer(), nullable=False),
        sa.Column("evaluation", sa.JSON(), nullable=False),
        sa.Column("created_utc", _TIME, nullable=False),
        sa.Column("withdrawn_utc", _TIME, nullable=True),
        *_texts("withdraw_key_sha256"),
        sa.PrimaryKeyConstraint("sequence", name="pk_submissions"),
        sa.UniqueConstraint("submission_id", name="uq_submissions_submission_id"),
        sa.CheckConstraint("weights IN ('open', 'closed')", name=op.f("ck_submissions_weights")),
        sa.CheckConstraint("kind IN ('verified', 'baseline')", name=op.f("ck_submissions_kind")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_submissions_benchmark", "submissions", ["benchmark"])
    op.create_index(
        "uq_submissions_standing",
        "submissions",
        ["benchmark", "benchmark_hash", "model", "file_sha256"],
        unique=True,
        sqlite_where=sa.text("withdrawn_utc IS NULL"),
        postgresql_where=sa.text("withdrawn_utc IS NULL"),
    )
    op.create_table(
        "submission_files",
        *_texts("submission_id"),
        sa.Column("content_gzip", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("submission_id", name="pk_submission_files"),
        sa.ForeignKeyConstraint(
            ["submission_id"],
            ["submissions.submission_id"],
            name="fk_submission_files_submission_id",
        ),
    )
