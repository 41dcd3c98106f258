"""Authors and licences: with the place, and in the credits, which name no clip."""

from __future__ import annotations

import pytest

from agl1k_core.benchmarks import Benchmark, Clip
from game.credits import CreditLine, credit_of, credits_of, licence_url
from game.rounds import Game
from game.screens import credits_html, reveal_html, summary_html
from tests.support.toy_game import play, summary_of

BY = "https://creativecommons.org/licenses/by/4.0/"


@pytest.mark.parametrize(
    ("licence", "address"),
    [
        ("CC-BY-4.0", BY),
        ("CC BY 4.0", BY),
        ("Creative Commons BY 4.0 International", BY),
        ("cc-by-nc-sa-3.0", "https://creativecommons.org/licenses/by-nc-sa/3.0/"),
        ("CC0", "https://creativecommons.org/publicdomain/zero/1.0/"),
        ("CC0-1.0", "https://creativecommons.org/publicdomain/zero/1.0/"),
        ("https://example.org/mine", "https://example.org/mine"),
        ("CC-BY", ""),  # of which version?
        ("javascript:alert(1)", ""),
        ("public domain", ""),
        ("", ""),
    ],
)
def test_addresses_of_licences(licence: str, address: str) -> None:
    assert licence_url(licence) == address


@pytest.mark.parametrize(
    "url",
    ["javascript:alert(1)", "data:text/html,x", "//evil", "http://a b", "http://[", "ftp://a"],
)
def test_only_web_addresses_become_links(url: str) -> None:
    credit = credit_of(Clip("a", 1, 2, url=url))
    assert (credit.url, credit.source) == ("", url)


def test_credits_are_counted_by_author_and_licence() -> None:
    clips = [("Ann", "CC-BY-4.0"), ("Bo", "CC0"), ("Ann", "CC-BY-4.0"), ("", ""), ("Ann", "CC0")]
    benchmark = Benchmark(
        "b",
        "Mine",
        "1",
        tuple(Clip(str(n), 0, 0, author=a, licence=li) for n, (a, li) in enumerate(clips)),
    )
    assert [line[:2] + line[3:] for line in credits_of(benchmark)] == [
        ("Ann", "CC-BY-4.0", 2),
        ("Ann", "CC0", 1),
        ("Bo", "CC0", 1),
    ]
    assert credits_of(benchmark)[0] == CreditLine("Ann", "CC-BY-4.0", BY, 2)


def test_the_credits_name_no_clip(game: Game) -> None:
    benchmark = Benchmark(
        "b", "<b>Mine</b>", "1",
        (Clip("k1", 1.5, 2.5, title="A title", author="<i>Ann</i>", licence="CC-BY-4.0", url="https://u"),),
    )  # fmt: skip
    page = credits_html([benchmark])
    assert "&lt;b&gt;Mine" in page
    assert "<bdi>&lt;i&gt;Ann&lt;/i&gt;</bdi>: 1 recording," in page
    assert f'href="{BY}"' in page
    assert not [secret for secret in ("k1", "A title", "https://u", "1.5") if secret in page]


def test_author_and_licence_are_shown_with_the_place(game: Game) -> None:
    player = game.new_player()
    view = game.start_free(player, "toy")
    view = game.guess(view.token, player, 0, 0)
    assert view.reveal is not None
    page = reveal_html(view.reveal)
    number = view.reveal.key.removeprefix("secretkey")
    assert f"Recorded by <bdi>Authorof {number}</bdi>, 2019-02-03 04:05" in page
    assert f'href="{BY}"' in page
    assert f'href="https://sounds.example/recordingof{number}"' in page


def test_the_summary_credits_every_clip(game: Game) -> None:
    player = game.new_player()
    summary = summary_of(play(game, player, game.start_free(player, "toy")))
    page = summary_html(summary)
    for reveal in summary.reveals:
        assert f"Recorded by <bdi>{reveal.credit.author}</bdi>" in page
