"""What operators decided about submissions and nicknames."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add the log of decisions."""
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    texts = ("kind", "subject", "action", "reason")
    op.create_table(
        "moderation",
        sa.Column("sequence", number, nullable=False),
        *(sa.Column(name, sa.Text(), nullable=False) for name in texts),
        sa.Column("created_utc", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("sequence", name="pk_moderation"),
        sa.CheckConstraint("kind IN ('submission', 'nickname')", name=op.f("ck_moderation_kind")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_moderation_subject", "moderation", ["kind", "subject"])


def downgrade() -> None:
    """Drop the log of decisions."""
    op.drop_table("moderation")
