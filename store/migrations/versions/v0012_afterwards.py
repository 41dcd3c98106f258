"""Codes that carry a player to another device, and indexes for what is shown after a round."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"

_DAILY = sa.text("mode = 'daily'")


def upgrade() -> None:
    """Add the codes, and find answers by clip and by time, and dailies by day."""
    op.create_table(
        "carries",
        sa.Column("code_hash", sa.Text(), nullable=False),
        sa.Column("player_id", sa.Text(), nullable=False),
        sa.Column("expires_utc", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("code_hash", name="pk_carries"),
        sa.UniqueConstraint("player_id", name="uq_carries_player_id"),
    )
    op.create_index("ix_carries_expires_utc", "carries", ["expires_utc"])
    op.create_index("ix_guesses_clip", "guesses", ["benchmark", "clip_key", "sequence"])
    op.create_index("ix_guesses_day", "guesses", ["benchmark", "created_utc"])
    op.create_index(
        "ix_rounds_daily",
        "rounds",
        ["benchmark", "benchmark_hash", "label", "created_utc"],
        sqlite_where=_DAILY,
        postgresql_where=_DAILY,
    )


def downgrade() -> None:
    """Drop them."""
    op.drop_index("ix_rounds_daily", "rounds")
    op.drop_index("ix_guesses_day", "guesses")
    op.drop_index("ix_guesses_clip", "guesses")
    op.drop_table("carries")
