"""What links to a challenge or a daily look like in chats and feeds; no place is in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date

from agl1k_core.errors import Agl1kError
from game.daily import DAILY_EPOCH
from game.guessing import max_points_of, points_of
from game.picking import CLIPS_PER_ROUND
from game.tokens import Tokens
from store.guesses import Guess, GuessStore, Round
from ui.card import Card
from ui.names import isolated

SAME_CLIPS = "Hear the same clips and find them on the map."


class RoundCards:
    """Cards of rounds. ``names``: of the benchmarks, by slug; ``today``: the current UTC day."""

    def __init__(
        self,
        store: GuessStore,
        tokens: Tokens,
        names: Mapping[str, str],
        today: Callable[[], date],
    ) -> None:
        self._store, self._tokens, self._names, self._today = store, tokens, names, today

    def of(self, query: Mapping[str, Sequence[str]]) -> Card | None:
        """The card of an address with this query; None if it links to no round."""
        if "challenge" in query:
            return self._challenge(query["challenge"][0])
        return self._daily(query["daily"][0]) if "daily" in query else None

    def _challenge(self, code: str) -> Card | None:
        try:
            found = self._store.open_round(self._tokens.read_challenge_code(code))
        except Agl1kError:
            return None
        if found is None or len(found[1]) < len(found[0].clip_keys):
            return None
        code = self._tokens.challenge_code(found[0].round_id)
        return challenge_card(*found, code, self._names.get(found[0].benchmark, ""))

    def _daily(self, day: str) -> Card | None:
        today = self._today()
        try:
            chosen = today if day == "today" else date.fromisoformat(day)
        except ValueError:
            return None
        return daily_card(chosen, day) if DAILY_EPOCH <= chosen <= today else None


def challenge_card(row: Round, answers: Sequence[Guess], code: str, benchmark: str = "") -> Card:
    """A finished round, which others are to beat."""
    total, most = sum(map(points_of, answers)), sum(map(max_points_of, answers))
    who = isolated(answers[-1].nickname) or "Somebody"
    kind = f"Daily five of {row.label}" if row.mode == "daily" else "Challenge"
    return Card(
        title=f"{who} scored {total:,} points. Can you beat that?",
        text=f"{kind}: {total:,} of {most:,} points. {SAME_CLIPS}",
        kind=f"{kind}, {benchmark}" if benchmark else kind,
        headline=f"{total:,} of {most:,} points",
        line=f"Can you beat that? {SAME_CLIPS}",
        points=tuple(points_of(one) if max_points_of(one) else None for one in answers),
        query=(("challenge", code),),
    )


def daily_card(day: date, asked: str) -> Card:
    """The five clips of a day; ``asked``: the day as the link has it."""
    return Card(
        title=f"AGL1K, daily five of {day}",
        text="Five recordings, the same for everybody. Where on Earth were they made?",
        kind=f"Daily five of {day}",
        headline="Where were these recorded?",
        line="Five clips, the same for everybody.",
        n_pins=CLIPS_PER_ROUND,
        query=(("daily", asked),),
    )
