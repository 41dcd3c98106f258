"""Run by alembic, on the connection and in the transaction that ``upgrade`` passes on."""

from alembic import context

from store.migrations import VERSION_TABLE
from store.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=VERSION_TABLE,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
