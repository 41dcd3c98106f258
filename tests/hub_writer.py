"""Write guesses from four threads and publish them, until killed; print each acknowledged id.

Run by hub_kills.py: ``python -m tests.hub_writer URL ENDPOINT``.
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
from store.hub.publisher import Limits, Publisher
from store.hub.remote import Remote
from tests.fake_hub import WRITE

PAUSE_S = 0.005


def write(store: GuessStore) -> None:
    actions: list[Action] = ["guess", "guess", "skip", "broken", "timeout"]
    for number in itertools.count():
        guess = Guess(
            guess_id=uuid.uuid4().hex,
            round_id=f"{threading.get_ident()}-{os.getpid()}-{number // 5}",
            position=number % 5,
            player_id="player",
            nickname="",
            benchmark="demo",
            benchmark_hash="hash",
            clip_key=f"clip-{number % 24}",
            action=actions[number % 5],
            latitude=number % 90,
            longitude=-(number % 180),
            distance_km=number,
            score=5000.0,
            seconds=1.5,
            mode="free",
            app_version="0",
            created_utc=datetime.now(UTC),
        )
        try:
            store.record(guess)
        except Agl1kError:
            return
        os.write(1, f"{guess.guess_id}\n".encode())  # one call, so lines stay whole
        time.sleep(PAUSE_S)


if __name__ == "__main__":
    database = Database(sys.argv[1])
    remote = Remote("tester/plays", WRITE, sys.argv[2], timeout_s=1, deadline_s=3)
    limits = Limits(interval_s=0.2, max_wait_s=0.5)
    publisher = Publisher(database, remote, limits)
    publisher.start()
    store = GuessStore(database, publisher.admit)
    while publisher.is_reading_back:
        time.sleep(0.01)
    for _ in range(4):
        threading.Thread(target=write, args=(store,), daemon=True).start()
    threading.Event().wait()
