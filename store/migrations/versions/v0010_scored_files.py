"""Counts of files that were scored on sealed benchmarks."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """Add the table; nothing was counted before."""
    op.create_table(
        "scored_files",
        sa.Column("benchmark", sa.Text(), nullable=False),
        sa.Column("submitter", sa.Text(), nullable=False),
        sa.Column("file_sha256", sa.Text(), nullable=False),
        sa.Column("created_utc", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("benchmark", "submitter", "file_sha256", name="pk_scored_files"),
    )
    op.create_index("ix_scored_files_created_utc", "scored_files", ["benchmark", "created_utc"])


def downgrade() -> None:
    """Drop the counts."""
    op.drop_table("scored_files")
