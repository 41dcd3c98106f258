"""How links to the site are shown elsewhere: tags in the page's head, and pictures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from fastapi import APIRouter, Request, Response

from agl1k_core.errors import UnavailableError
from ui.card import PICTURE, Card, tags_html
from ui.card_picture import picture_of
from web.addresses import query_of
from web.threads import Threads

Query = Mapping[str, Sequence[str]]

#: A card of an address with this query; raises ``UnavailableError`` if the database fails.
CardOf = Callable[[Query], Card]

#: Queries that decide a card; others are those of the site's own.
_NAMES = frozenset({"challenge", "daily", "room", "row"})
#: Pictures take long to draw, so that only one is drawn at a time.
_drawing, _looking_up = Threads(1), Threads(4)


class Cards:
    """The cards of all addresses; ``home`` is the site's own. ``card_of`` looks others up."""

    def __init__(self, home: Card, card_of: CardOf) -> None:
        self._home, self._card_of = home, card_of

    async def tags(self, query: bytes, root: str) -> bytes:
        """The tags of an address for the head of its page."""
        return tags_html(await self.card(query), root).encode()

    async def card(self, query: bytes) -> Card:
        """The card of an address."""
        given = query_of(f"?{query.decode('latin-1')}")
        if _NAMES.isdisjoint(given):
            return self._home
        return await _looking_up(partial(self._found, given))()

    def _found(self, given: Query) -> Card:
        try:
            return self._card_of(given)
        except UnavailableError:
            return self._home  # the page itself says what is wrong


def card_router(cards: Cards) -> APIRouter:
    """The route of the pictures."""
    router = APIRouter()

    @router.get(f"/{PICTURE}", include_in_schema=False)
    async def picture(request: Request) -> Response:
        card = await cards.card(request.scope["query_string"])
        drawn = await _drawing(picture_of)(card)
        kept = {"Cache-Control": "public, max-age=3600"}
        return Response(drawn, media_type="image/png", headers=kept)

    return router
