"""Write guesses from four threads until killed; print each id once the store acknowledged it.

Run by test_durability.py: ``python guess_writer.py URL``.
"""

from __future__ import annotations

import itertools
import os
import sys
import threading
import uuid
from datetime import UTC, datetime

from agl1k_core.errors import Agl1kError
from store.database import Database
from store.guesses import Guess, GuessStore


def write(store: GuessStore) -> None:
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
            action="guess",
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
            stored = store.record(guess)
        except Agl1kError:
            return  # the server was taken away
        os.write(1, f"{stored.guess_id}\n".encode())  # one call, so lines stay whole


if __name__ == "__main__":
    store = GuessStore(Database(sys.argv[1]))
    threads = [threading.Thread(target=write, args=(store,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
