"""What a shared link looks like in chats and feeds: title, text and picture."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from markupsafe import Markup

#: Where the pictures are, beside the page; the query is that of the link.
PICTURE = "card.png"
#: Pixels of a picture, in the proportions that sites show.
WIDTH, HEIGHT = 1200, 630


@dataclass(frozen=True)
class Card:
    """How a link is shown.

    ``headline`` and ``line`` stand in the picture, under ``kind``. ``points`` are those of the
    clips of a round, None for a clip that does not count; ``n_pins`` are drawn without points.
    ``query`` is what of the link's query decides the card.
    """

    title: str
    text: str
    kind: str
    headline: str
    line: str = ""
    points: tuple[int | None, ...] = ()
    n_pins: int = 0
    query: tuple[tuple[str, str], ...] = ()

    @property
    def alternative(self) -> str:
        """The picture in words."""
        parts = [f"A world map. {self.kind}: {self.headline}"]
        if self.line:
            parts.append(self.line)
        if self.points:
            told = ", ".join("none" if one is None else f"{one:,}" for one in self.points)
            parts.append(f"Points of each clip: {told}")
        return " ".join(part if part[-1] in ".?!" else f"{part}." for part in parts)


def tags_html(card: Card, root: str) -> str:
    """The tags of the page's head that sites read; ``root`` is the address of the site."""
    root = root.rstrip("/")
    query = urlencode(card.query)
    picture = f"{root}/{PICTURE}" + (f"?{query}" if query else "")
    tags = {
        "og:type": "website", "og:site_name": "AGL1K", "og:title": card.title,
        "og:description": card.text, "og:url": f"{root}/" + (f"?{query}" if query else ""),
        "og:image": picture, "og:image:type": "image/png", "og:image:width": str(WIDTH),
        "og:image:height": str(HEIGHT), "og:image:alt": card.alternative,
    }  # fmt: skip
    small = {
        "twitter:card": "summary_large_image", "twitter:title": card.title,
        "twitter:description": card.text, "twitter:image": picture,
        "twitter:image:alt": card.alternative,
    }  # fmt: skip
    tag = '<meta {}="{}" content="{}">'
    return Markup("").join(
        Markup(tag).format(kind, name, content)
        for kind, named in (("property", tags), ("name", small))
        for name, content in named.items()
    )
