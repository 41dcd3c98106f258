"""Sets up the dataset's repository and publisher from the store's options."""

from __future__ import annotations

from agl1k_core.errors import Agl1kError
from store.database import Database
from store.hub.publisher import Limits, Publisher
from store.hub.remote import Remote
from store.options import HubOptions

#: How long a health check waits for the database.
PROBE_S = 1.0


def remote_for(options: HubOptions) -> Remote | None:
    """The dataset's repository, not contacted yet; None without a dataset."""
    if not options.dataset:
        return None
    return Remote(options.dataset, options.token, options.endpoint)


def limits_for(options: HubOptions) -> Limits:
    """How often rows are pushed, and how many may wait."""
    return Limits(interval_s=options.interval_s, max_rows=options.max_waiting)


def publisher_for(options: HubOptions, database: Database) -> Publisher | None:
    """The dataset's publisher, not started yet; None without a dataset."""
    remote = remote_for(options)
    return None if remote is None else Publisher(database, remote, limits_for(options))


def unready(database: Database, publisher: Publisher | None) -> list[str]:
    """Why the app is not ready for players; empty if it is."""
    problems = [] if publisher is None else publisher.problems()
    try:
        database.check_writable(PROBE_S)
    except Agl1kError:
        problems.append("the database cannot be written; the server's log says why")
    return problems
