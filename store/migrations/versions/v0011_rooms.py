"""Rooms in which people play the same clips."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Add rooms and their seats."""
    time = sa.DateTime(timezone=True)
    op.create_table(
        "rooms",
        sa.Column("code", sa.Text(), nullable=False),
        sa.Column("opener_id", sa.Text(), nullable=False),
        sa.Column("benchmark", sa.Text(), nullable=False),
        sa.Column("timer_s", sa.Integer(), nullable=True),
        sa.Column("game", sa.Integer(), nullable=False),
        sa.Column("clip_keys", sa.JSON(), nullable=False),
        sa.Column("created_utc", time, nullable=False),
        sa.Column("expires_utc", time, nullable=False),
        sa.PrimaryKeyConstraint("code", name="pk_rooms"),
    )
    op.create_index("ix_rooms_expires_utc", "rooms", ["expires_utc"])
    op.create_table(
        "room_seats",
        sa.Column("code", sa.Text(), nullable=False),
        sa.Column("game", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("player_id", sa.Text(), nullable=False),
        sa.Column("nickname", sa.Text(), nullable=False),
        sa.Column("round_id", sa.Text(), nullable=False),
        sa.Column("joined_utc", time, nullable=False),
        sa.PrimaryKeyConstraint("code", "game", "player_id", name="pk_room_seats"),
    )
    op.create_index("ix_room_seats_player_id", "room_seats", ["player_id"])


def downgrade() -> None:
    """Drop rooms and their seats."""
    op.drop_table("room_seats")
    op.drop_table("rooms")
