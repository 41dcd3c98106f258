"""A code that carries a player, who has no account, to another device: short-lived, used once."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import timedelta

from game.dependencies import Clock
from game.refusals import NotFoundError
from game.tokens import Tokens, read_carry_code
from store.past import PastStore

LASTS = timedelta(minutes=10)
_UNKNOWN = (
    "This code is not valid: a letter may be wrong, it was used already, or its 10 minutes are "
    "over. Ask for a new one on the other device."
)


class Carrying:
    """Gives out codes and takes them back.

    A code ends in a signature, so that guesses at codes do not reach the database; ``admit``
    limits how many can be tried.
    """

    def __init__(
        self,
        store: PastStore,
        tokens: Tokens,
        clock: Clock,
        rng: random.Random,
        admit: Callable[[], None],
    ) -> None:
        self._store = store
        self._tokens = tokens
        self._clock = clock
        self._rng = rng
        self._admit = admit

    def offer(self, player_id: str) -> tuple[str, int]:
        """A new code in place of the player's earlier one, and how many seconds it lasts."""
        code = self._tokens.new_carry_code(self._rng)
        now = self._clock()
        self._store.offer(self._tokens.carry_hash(code), player_id, now, now + LASTS)
        return f"{code[:4]}-{code[4:8]}-{code[8:]}", int(LASTS.total_seconds())

    def redeem(self, text: object) -> str:
        """The token of the player who asked for a code; the code is then used up."""
        code = read_carry_code(text)
        self._admit()
        player_id = None
        if self._tokens.is_carry_code(code):
            player_id = self._store.redeem(self._tokens.carry_hash(code), self._clock())
        if player_id is None:
            raise NotFoundError(_UNKNOWN)
        return self._tokens.player(player_id)
