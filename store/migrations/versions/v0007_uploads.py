"""Uploads for a short time, for servers that share a database but no folder."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Add the copies of uploads."""
    op.create_table(
        "uploads",
        sa.Column("upload", sa.Text(), nullable=False),
        sa.Column("content_gzip", sa.LargeBinary(), nullable=False),
        sa.Column("n_bytes", sa.Integer(), nullable=False),
        sa.Column("created_utc", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("upload", name="pk_uploads"),
    )


def downgrade() -> None:
    """Drop the copies of uploads."""
    op.drop_table("uploads")
