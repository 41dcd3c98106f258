"""From settings to the dataset repository, or to none."""

from __future__ import annotations

from agl1k_core.settings import Settings
from store.hub.publisher import Limits
from store.hub.remote import Remote


def remote_for(settings: Settings) -> Remote | None:
    """The repository that the settings name; None when they name none. Asks nothing of it."""
    if not settings.hub_dataset:
        return None
    return Remote(settings.hub_dataset, settings.hub_token, settings.hub_endpoint)


def limits_for(settings: Settings) -> Limits:
    """The bounds that the settings give."""
    return Limits(interval_s=settings.hub_interval_s, max_rows=settings.hub_max_waiting)
