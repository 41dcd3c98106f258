"""Write guesses from four threads until killed; print each id once the store acknowledged it.

``python -m tests.support.guess_writer URL`` writes as fast as it can; with the ENDPOINT of a Hub,
too, it also publishes what it writes, like the app.
"""

from __future__ import annotations

import itertools
import os
import sys
import threading
import time
import uuid
from datetime import UTC, datetime

from agl1k_core.errors import Agl1kError
from store.database import Database
from store.guesses import Action, Guess, GuessStore

ACTIONS: tuple[Action, ...] = ("guess", "guess", "skip", "broken", "timeout")


def guess(number: int) -> Guess:
    return Guess(
        guess_id=uuid.uuid4().hex,
        round_id=f"{threading.get_ident()}-{os.getpid()}-{number // 5}",
        position=number % 5,
        player_id="player",
        nickname="",
        benchmark="demo",
        benchmark_hash="hash",
        clip_key=f"clip-{number % 24}",
        action=ACTIONS[number % 5],
        latitude=number % 90,
        longitude=-(number % 180),
        distance_km=number,
        score=5000.0,
        seconds=1.5,
        mode="free",
        app_version="0",
        created_utc=datetime.now(UTC),
    )


def write(store: GuessStore, pause_s: float) -> None:
    for number in itertools.count():
        try:
            stored = store.record(guess(number))
        except Agl1kError as error:  # the server is gone, or the backlog is full
            sys.stderr.write(f"{error}\n")
            return
        os.write(1, f"{stored.guess_id}\n".encode())  # one call, so that lines stay whole
        time.sleep(pause_s)


def publishing(database: Database, endpoint: str) -> GuessStore:
    from store.hub.publisher import Limits, Publisher  # slow to import, and rarely needed
    from store.hub.remote import Remote
    from tests.support.fake_hub import WRITE

    remote = Remote("tester/plays", WRITE, endpoint, timeout_s=1, deadline_s=3)
    publisher = Publisher(database, remote, Limits(interval_s=0.2, max_wait_s=0.5))
    publisher.start()
    while publisher.is_reading_back:
        time.sleep(0.01)
    return GuessStore(database, publisher.admit)


if __name__ == "__main__":
    url, *endpoint = sys.argv[1:]
    opened = Database(url)
    store = publishing(opened, *endpoint) if endpoint else GuessStore(opened)
    writers = [
        threading.Thread(target=write, args=(store, 0.02 if endpoint else 0)) for _ in range(4)
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
