"""How a link is shown elsewhere: tags that can be read, and a picture that tells no place."""

from __future__ import annotations

import io
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from PIL import Image, ImageChops

from ui.card import HEIGHT, WIDTH, Card, tags_html
from ui.card_picture import picture_of

CHALLENGE = Card(
    title='<Ann> & "Bob" scored 9,320 points',
    text="Hear the same clips.",
    kind="Challenge",
    headline="9,320 of 20,000 points",
    points=(5000, 4320, 0, None),
    query=(("challenge", "K7QX9MP-T3RVN8H"), ("x", "a&b")),
)


class _Tags(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, str]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        name = given.get("property") or given.get("name")
        self.found.append((str(name), str(given["content"])))


def image_of(card: Card) -> Image.Image:
    return Image.open(io.BytesIO(picture_of(card))).convert("RGB")


def test_tags_name_title_text_and_picture_once_each() -> None:
    found = _Tags(tags_html(CHALLENGE, "https://sounds.example/arena/")).found
    tags = dict(found)
    assert len(tags) == len(found)
    assert tags["og:title"] == tags["twitter:title"] == '<Ann> & "Bob" scored 9,320 points'
    link = "https://sounds.example/arena/{}?challenge=K7QX9MP-T3RVN8H&x=a%26b"
    assert tags["og:url"] == link.format("")
    assert tags["og:image"] == tags["twitter:image"] == link.format("card.png")
    assert tags["twitter:card"] == "summary_large_image"


def test_the_picture_is_described_in_words() -> None:
    words = dict(_Tags(tags_html(CHALLENGE, "")).found)["og:image:alt"]
    assert words == (
        "A world map. Challenge: 9,320 of 20,000 points. "
        "Points of each clip: 5,000, 4,320, 0, none."
    )


def test_a_question_keeps_its_mark() -> None:
    card = replace(CHALLENGE, headline="Where were these recorded?", line="Five clips.", points=())
    assert card.alternative == ("A world map. Challenge: Where were these recorded? Five clips.")


def test_a_picture_has_the_size_that_its_tags_say() -> None:
    image = image_of(CHALLENGE)
    assert image.size == (WIDTH, HEIGHT)
    tags = dict(_Tags(tags_html(CHALLENGE, "")).found)
    assert (tags["og:image:width"], tags["og:image:height"]) == (str(WIDTH), str(HEIGHT))


def test_each_clip_has_a_pin() -> None:
    bare = image_of(replace(CHALLENGE, points=()))
    boxes = []
    for n in range(1, 6):
        changed = ImageChops.difference(image_of(replace(CHALLENGE, points=(100,) * n)), bare)
        boxes.append(sum(changed.convert("L").histogram()[1:]))
    steps = [more - fewer for fewer, more in pairwise(boxes)]
    assert boxes[0] > 1000
    assert all(step > 1000 for step in steps)


@pytest.mark.parametrize(
    "name", ["", "東京モデル", "م" * 300, "W" * 300, "a\nb\x00c", "🦜🦜", "𝕸odel"]
)
def test_any_name_can_be_drawn(name: str) -> None:
    bare = image_of(replace(CHALLENGE, headline="", points=()))
    drawn = image_of(replace(CHALLENGE, headline=name, points=()))
    box = ImageChops.difference(drawn, bare).getbbox()
    assert box is None or (box[0] >= 60 and box[2] <= WIDTH - 60)


def test_a_name_without_a_letter_leaves_no_empty_line() -> None:
    bare = image_of(replace(CHALLENGE, headline="🦜" * 3))
    assert (
        ImageChops.difference(bare, image_of(replace(CHALLENGE, headline="Challenge"))).getbbox()
        is None
    )


@pytest.mark.server
def test_drawing_a_picture_writes_nothing_to_the_server_s_log() -> None:
    """In a process of its own: of a warning, Python tells only the first time."""
    program = (
        "from ui.card import Card\n"
        "from ui.card_picture import picture_of\n"
        "picture_of(Card('Zoë', '', 'Zoë', '北京', ''))\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
