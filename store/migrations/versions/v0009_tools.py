"""Which tools a player used to listen closely."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Add the tools; of the answers so far they are not known."""
    op.add_column("guesses", sa.Column("tools", sa.Text(), nullable=True))


def downgrade() -> None:
    """Drop the tools."""
    op.drop_column("guesses", "tools")
