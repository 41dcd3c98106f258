"""Rounds against a row of the board: whom to choose, which clips fit, and how it stands.

An opponent's points leave the server only for clips that the player has answered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agl1k_core.benchmarks import Benchmark
from agl1k_core.errors import Agl1kError, UnavailableError
from game.dependencies import Opponents
from game.guessing import points_at
from game.picking import Filters
from game.refusals import NotFoundError
from game.views import Versus
from store.guesses import Guess, Round
from ui.model_guess import Opponent

#: Where a round's opponent is among its stored filters.
OPPONENT = "opponent"
GONE = "Your opponent is no longer on the board, so there is nothing to compare. Play on."
SCORING = "Your opponent's points are being computed. They appear in a moment."
_NOT_YET = "The board's rows are being scored. Try again in a moment."


def opponent_of(row: Round) -> str:
    """The board's row that a round is played against; empty if there is none."""
    return str(row.filters.get(OPPONENT, ""))


def offered(find: Opponents, benchmark: Benchmark) -> Sequence[Opponent]:
    """Whom a new round can be played against.

    Raises ``UnavailableError`` while the board's rows are being scored for the first time.
    """
    found = find(benchmark, fresh=True)
    if found is None:
        raise UnavailableError(_NOT_YET)
    return found


def chosen(find: Opponents, benchmark: Benchmark, row_id: str) -> Opponent:
    """The opponent for a new round; raises ``NotFoundError`` if it is not offered."""
    found = next((one for one in offered(find, benchmark) if one.row_id == row_id), None)
    if found is None:
        raise NotFoundError(
            f"There is no such opponent on the board of {benchmark.name}. Choose another one: its "
            "row was withdrawn, or answered too few clips."
        )
    return found


def answered(opponent: Opponent, keys: Sequence[str], filters: Filters) -> list[str]:
    """Those of ``keys`` that the opponent answered; raises ``Agl1kError`` if none is left."""
    found = [key for key in keys if key in opponent.distances_km]
    if not found:
        what = " ".join(filter(None, ("no clip", str(filters))))
        raise Agl1kError(f"{opponent.name} has answered {what}. Choose other filters.")
    return found


def versus(
    find: Opponents, benchmark: Benchmark, row: Round, guesses: Sequence[Guess]
) -> Versus | None:
    """How the opponent stands after ``guesses``, the player's stored ones; None without one."""
    if not (row_id := opponent_of(row)):
        return None
    known = find(benchmark, fresh=False)
    if known is None:
        return Versus(row_id, note=SCORING)
    found = next((one for one in known if one.row_id == row_id), None)
    if found is None:
        return Versus(row_id, note=GONE)
    points = tuple(_points(found.distances_km, guess) for guess in guesses)
    return Versus(row_id, found.name, points, sum(one or 0 for one in points))


def _points(distances_km: Mapping[str, float], guess: Guess) -> int | None:
    """The opponent's points for a clip; 0 if it has no answer, None if the clip does not count."""
    if guess.action == "broken":
        return None
    distance_km = distances_km.get(guess.clip_key)
    return 0 if distance_km is None else points_at(distance_km)
