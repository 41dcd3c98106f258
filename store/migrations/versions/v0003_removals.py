"""For several servers on one dataset: what was deleted on request, so that all delete it."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the table of removals."""
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "removals",
        sa.Column("sequence", number, nullable=False),
        sa.Column("removal_id", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("created_utc", sa.DateTime(timezone=True), nullable=False),
        sa.Column("shard", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("sequence", name="pk_removals"),
        sa.UniqueConstraint("removal_id", name="uq_removals_removal_id"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_removals_subject", "removals", ["subject"])


def downgrade() -> None:
    """Drop the table of removals."""
    op.drop_table("removals")
