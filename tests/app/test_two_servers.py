"""Two servers on one database, over HTTP: one answer each, and nothing lost by ``kill -9``."""

from __future__ import annotations

import signal
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from store.database import Database
from store.guesses import Guess, GuessStore
from tests.support.app_help import AppProcess, Player, app_process
from tests.support.waiting import PATIENCE_S, eventually

N_PLAYERS = 4


def test_two_servers_on_one_database(tmp_path: Path, database_url: str) -> None:
    with ExitStack() as running:

        def start(name: str) -> AppProcess:
            env = {"AGL1K_DATABASE": database_url, "AGL1K_SECRET": "one secret for both servers"}
            return running.enter_context(app_process(tmp_path / name, env))

        with ThreadPoolExecutor(2) as both:
            first, second = both.map(start, ("first", "second"))
        _both_give_the_same_daily(first, second)
        _a_clip_is_answered_once(first, second, database_url)
        told = _answers_until_killed(first, second)
        assert first.process.wait(PATIENCE_S) == -signal.SIGKILL
        assert second.process.poll() is None
        again = start("again")
        stored = _stored(database_url)
        places = Counter((guess.round_id, guess.position) for guess in stored)
        assert set(places.values()) == {1}
        pins = {_pin(guess) for guess in stored}
        assert set(told) <= pins, "an answer that was acknowledged is gone"
        # at most one answer of each player was stored but not acknowledged
        assert len(pins - set(told)) <= N_PLAYERS + 2
        newcomer = Player(again.url)
        newcomer.open()
        newcomer.guess(1.5, 2.5)
        assert newcomer.buttons == {"next"}
        for server in (second, again):
            assert "Traceback" not in server.said()


def _both_give_the_same_daily(first: AppProcess, second: AppProcess) -> None:
    here, there = Player(first.url), Player(second.url)
    here.open()
    with ThreadPoolExecutor(2) as both:
        rounds = [
            both.submit(_daily, server, here.player) for server in (here, there) for _ in range(3)
        ]
        assert len({round_.result() for round_ in rounds}) == 1


def _daily(server: Player, player: str) -> str:
    """The step token of today's daily five."""
    visitor = Player(f"{server.http.base_url}")
    visitor.player = player
    visitor.open("?daily=today")
    return visitor.round


def _a_clip_is_answered_once(first: AppProcess, second: AppProcess, database_url: str) -> None:
    here, there = Player(first.url), Player(second.url)
    here.open()
    there.player, there.round = here.player, here.round
    with ThreadPoolExecutor(2) as both:
        answers = [
            both.submit(_guess_until_answered, here, 11.0, 12.0),
            both.submit(_guess_until_answered, there, -21.0, -22.0),
        ]
        for answer in answers:
            answer.result()
    assert here.buttons == there.buttons == {"next"}
    pins = {_pin(guess) for guess in _stored(database_url)}
    assert len(pins & {(11.0, 12.0), (-21.0, -22.0)}) == 1


def _guess_until_answered(player: Player, latitude: float, longitude: float) -> None:
    """Guess again as long as the database is too busy to store the guess."""

    def is_answered() -> bool:
        player.guess(latitude, longitude)
        return player.buttons == {"next"}

    eventually(is_answered)


@dataclass
class _Told:
    """Pins of all players whose answers were acknowledged."""

    pins: list[tuple[float, float]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, pin: tuple[float, float]) -> None:
        with self.lock:
            self.pins.append(pin)


def _answers_until_killed(first: AppProcess, second: AppProcess) -> list[tuple[float, float]]:
    """Play on both servers and kill the first; returns the pins that were acknowledged."""
    told, stop = _Told(), threading.Event()
    with ThreadPoolExecutor(N_PLAYERS) as players:
        playing = [
            players.submit(_play_on, (first, second)[number % 2].url, number, told, stop)
            for number in range(N_PLAYERS)
        ]
        eventually(lambda: len(told.pins) >= 20)
        first.process.kill()
        before = len(told.pins)
        eventually(lambda: len(told.pins) >= before + 5)  # the other server continues
        stop.set()
        for player in playing:
            player.result()
    return told.pins


def _play_on(url: str, number: int, told: _Told, stop: threading.Event) -> None:
    player = Player(url)
    try:
        player.open()
        for turn in range(10_000):
            if stop.is_set():
                return
            if "submit" in player.buttons:
                pin = round(number + turn / 1e4, 4), round(100 + number + turn / 1e4, 4)
                player.guess(*pin)
                if "next" in player.buttons:
                    told.add(pin)
            elif "next" in player.buttons:
                player.go_on()
            else:
                player.play_again()
    except httpx.TransportError:  # the server was killed
        return


def _pin(guess: Guess) -> tuple[float, float]:
    """Rounded: longitudes are wrapped before they are stored."""
    assert guess.latitude is not None
    assert guess.longitude is not None
    return round(guess.latitude, 4), round(guess.longitude, 4)


def _stored(url: str) -> list[Guess]:
    with Database(url) as database:
        return GuessStore(database).of_benchmark("demo")
