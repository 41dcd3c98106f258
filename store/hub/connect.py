"""From settings to the dataset repository and its publisher, or to none."""

from __future__ import annotations

import logging

from agl1k_core.config import Settings
from agl1k_core.errors import Agl1kError
from store.database import Database
from store.hub.publisher import Limits, Publisher
from store.hub.remote import Remote

log = logging.getLogger("agl1k.hub")


def remote_for(settings: Settings) -> Remote | None:
    """The repository that the settings name; None when they name none. Asks nothing of it."""
    if not settings.hub_dataset:
        return None
    return Remote(settings.hub_dataset, settings.hub_token, settings.hub_endpoint)


def limits_for(settings: Settings) -> Limits:
    """The bounds that the settings give."""
    return Limits(interval_s=settings.hub_interval_s, max_rows=settings.hub_max_waiting)


def publisher_for(settings: Settings, database: Database) -> Publisher | None:
    """The publisher that the settings ask for, not started; None when nothing is published."""
    remote = remote_for(settings)
    return None if remote is None else Publisher(database, remote, limits_for(settings))


def unready(database: Database, publisher: Publisher | None) -> list[str]:
    """Why the app should get no players at the moment; empty when it is ready."""
    problems = [] if publisher is None else publisher.problems()
    try:
        database.check_writable()
    except Agl1kError as error:
        log.warning("event=unready: %s", error)  # it names the database: not for everybody
        problems.append("the database cannot be written; the server's log says why")
    return problems
