"""Several submissions in one row: replacements and runs; files that are not shared."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Each submission so far is a row of its own, whose file may be downloaded."""
    for name in ("series", "relation"):
        op.add_column(
            "submissions", sa.Column(name, sa.Text(), nullable=False, server_default=sa.text("''"))
        )
    shared: sa.Column[bool] = sa.Column(
        "is_shared", sa.Boolean(), nullable=False, server_default=sa.true()
    )
    op.add_column("submissions", shared)


def downgrade() -> None:
    """Drop the three columns."""
    for name in ("is_shared", "relation", "series"):
        op.drop_column("submissions", name)
