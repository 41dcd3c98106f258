"""For publishing on the Hub: which file holds a row, and the files that are not pushed yet."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Add the claims on rows and the table of files."""
    for table in ("guesses", "submissions"):
        op.add_column(table, sa.Column("shard", sa.Text(), nullable=True))
    _partial_index("ix_guesses_unsealed", "guesses", "sequence", "shard IS NULL")
    op.create_table(
        "shards",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("n_rows", sa.Integer(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=True),
        sa.Column("sealed_utc", _TIME, nullable=False),
        sa.Column("pushed_utc", _TIME, nullable=True),
        sa.PrimaryKeyConstraint("name", name="pk_shards"),
    )
    _partial_index("ix_shards_pending", "shards", "sealed_utc", "pushed_utc IS NULL")


def downgrade() -> None:
    """Drop the claims and the table of files."""
    op.drop_table("shards")
    op.drop_index("ix_guesses_unsealed", "guesses")
    for table in ("guesses", "submissions"):
        op.drop_column(table, "shard")


def _partial_index(name: str, table: str, column: str, where: str) -> None:
    condition = sa.text(where)
    op.create_index(name, table, [column], sqlite_where=condition, postgresql_where=condition)
