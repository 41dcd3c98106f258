"""Cards of challenges and dailies: who is to beat, and nothing of where the clips were recorded."""

from __future__ import annotations

from datetime import date

import pytest

from game.cards import RoundCards
from game.guessing import Details
from game.rounds import Game
from store.guesses import GuessStore
from tests.support.toy_game import PLACES, summary_of
from ui.card import Card
from ui.card_picture import picture_of

TODAY = date(2026, 3, 4)


@pytest.fixture
def cards(game: Game, guess_store: GuessStore) -> RoundCards:
    return RoundCards(guess_store, game.tokens, {"toy": "Toy benchmark"}, lambda: TODAY)


def finished(game: Game, lat: float, nickname: str = "", *, broken: bool = False) -> str:
    """The code of a round whose guesses are all on one latitude."""
    player = game.new_player()
    view = game.start_free(player, "toy")
    if broken:
        view = game.next_clip(game.report_broken(view.token, player).token, player)
    while view.phase != "finished":
        view = game.next_clip(
            game.guess(view.token, player, lat, 20, Details(nickname)).token, player
        )
    return summary_of(view).code


def card_of(cards: RoundCards, **query: str) -> Card | None:
    return cards.of({name: [value] for name, value in query.items()})


def test_a_challenge_names_whom_to_beat(game: Game, cards: RoundCards) -> None:
    code = finished(game, 10, "Ann", broken=True)
    card = card_of(cards, challenge=code.lower())
    assert card is not None
    total = sum(points or 0 for points in card.points)
    assert card.title == f"Ann scored {total:,} points. Can you beat that?"
    assert card.headline == f"{total:,} of 20,000 points"
    assert card.points[0] is None
    assert len(card.points) == 5
    assert card.query == (("challenge", code),)
    nameless = card_of(cards, challenge=finished(game, 10))
    assert nameless is not None
    assert nameless.title.startswith("Somebody scored")


def test_nothing_tells_a_place_or_a_pin(
    game: Game, cards: RoundCards, guess_store: GuessStore
) -> None:
    code = finished(game, 10.123)
    card = card_of(cards, challenge=code)
    assert card is not None
    told = repr(card)
    for place in PLACES:
        assert not any(str(part) in told for part in place)
    assert "secretkey" not in told
    assert "10.1" not in told
    same_points = Card(card.title, card.text, card.kind, card.headline, card.line, card.points)
    assert picture_of(card) == picture_of(same_points)


@pytest.mark.parametrize("code", ["", "nonsense", "K7QX9MP-T3RVN8H", "\x00", "A" * 5000])
def test_an_unknown_challenge_has_no_card(cards: RoundCards, code: str) -> None:
    assert card_of(cards, challenge=code) is None


def test_an_unfinished_round_has_no_card(
    game: Game, cards: RoundCards, guess_store: GuessStore
) -> None:
    player = game.new_player()
    view = game.start_free(player, "toy")
    game.guess(view.token, player, 1, 2)
    latest = guess_store.latest_round(str(game.player_id(player)))
    assert latest is not None
    assert card_of(cards, challenge=game.tokens.challenge_code(latest.round_id)) is None


def test_a_daily_has_its_day_and_five_pins(cards: RoundCards) -> None:
    card = card_of(cards, daily="2026-03-01")
    assert card is not None
    assert card.title == "AGL1K, daily five of 2026-03-01"
    assert (card.n_pins, card.points) == (5, ())
    today = card_of(cards, daily="today")
    assert today is not None
    assert "2026-03-04" in today.title
    assert today.query == (("daily", "today"),)


@pytest.mark.parametrize("day", ["2026-03-05", "2025-12-31", "2026-02-30", "soon", ""])
def test_other_days_have_none(cards: RoundCards, day: str) -> None:
    assert card_of(cards, daily=day) is None


def test_other_addresses_have_none(cards: RoundCards) -> None:
    assert card_of(cards, tab="play") is None
