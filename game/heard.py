"""Which clips' sounds were sent: an answer to a clip that nobody could hear is no answer of people.

Kept in memory: a write for each sound would cost as much as a guess.
"""

from __future__ import annotations

import threading

from game.dependencies import Clock, utc_now
from store.guesses import Round

#: Sounds that are remembered; then all are forgotten.
MOST = 200_000


class Heard:
    """The sounds that this server has sent since it started, or since it forgot all.

    What came before is not known, so clips of older rounds pass for heard.
    """

    def __init__(self, clock: Clock = utc_now, most: int = MOST) -> None:
        self._clock, self._most = clock, most
        self._lock = threading.Lock()
        self._forget()

    def note(self, clip_token: str) -> None:
        """Remember that the sound of a clip's token was sent."""
        with self._lock:
            if len(self._sent) >= self._most:
                self._forget()
            self._sent.add(_step_of(clip_token))

    def of(self, round_: Round, position: int) -> bool:
        """Whether the sound at a position of a round may have been heard."""
        step = f"{round_.round_id}-{position}"
        return step in self._sent or round_.created_utc < self._since

    def _forget(self) -> None:
        self._since, self._sent = self._clock(), set[str]()


def _step_of(clip_token: str) -> str:
    """The round and the position, with which a clip's token begins."""
    return "-".join(clip_token.split("-", 2)[:2])
