"""For clocks that are set back: the order in which each player started rounds."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Add the order of rounds; those that exist come first, by their time."""
    column = sa.Column("turn", sa.Integer(), nullable=False, server_default=sa.text("0"))
    op.add_column("rounds", column)


def downgrade() -> None:
    """Drop the order of rounds."""
    op.drop_column("rounds", "turn")
