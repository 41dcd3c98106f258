"""Kinds of refusals, so that an API can tell them apart; the message is for the player."""

from __future__ import annotations

from agl1k_core.errors import Agl1kError


class NoPlayerError(Agl1kError):
    """The player's token is missing, or was not signed here."""


class NotYoursError(Agl1kError):
    """The round is another player's."""


class NotFoundError(Agl1kError):
    """What was named is not here: a round, a benchmark, a challenge."""


class ConflictError(Agl1kError):
    """The round is in another state, because of another tab or an earlier call."""


class NothingToPlayError(Agl1kError):
    """No round could be started at the moment, whatever was asked."""
