"""For several servers on one dataset: decisions about submissions are published, too."""

import uuid

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add ids, which existing decisions about submissions get, and claims."""
    for name in ("decision_id", "shard"):
        op.add_column("moderation", sa.Column(name, sa.Text(), nullable=True))
    op.create_index("uq_moderation_decision_id", "moderation", ["decision_id"], unique=True)
    made = sa.text("SELECT sequence FROM moderation WHERE kind = 'submission'")
    given = sa.text("UPDATE moderation SET decision_id = :id WHERE sequence = :number")
    connection = op.get_bind()
    for number in connection.scalars(made).all():
        connection.execute(given, {"id": uuid.uuid4().hex, "number": number})


def downgrade() -> None:
    """Drop both."""
    op.drop_index("uq_moderation_decision_id", "moderation")
    for name in ("decision_id", "shard"):
        op.drop_column("moderation", name)
