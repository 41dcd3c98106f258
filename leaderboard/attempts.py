"""Publishing the same thing again, because the answer was lost: nothing is published twice.

A browser or a program names its attempts by a random text of its own, in the header
``Idempotency-Key``. Id and withdrawal key follow from it, so that the server need not remember
anything, and another server gives the same answer.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import uuid
from dataclasses import dataclass

from agl1k_core.errors import Problem

HEADER = "Idempotency-Key"
#: Whoever guesses an attempt has its keys.
SHORTEST, LONGEST = 20, 200


@dataclass(frozen=True, slots=True)
class Claim:
    """The id of a new submission, and the key that withdraws it."""

    submission_id: str
    key: str


def random_claim() -> Claim:
    """A claim that nobody can make again."""
    return Claim(uuid.uuid4().hex, secrets.token_urlsafe(24))


def claim(attempt: str, *of: str, number: int = 0) -> Claim:
    """The claim of an attempt ``of`` something: the same whenever it is made.

    From an id, which everybody sees, neither attempt nor key can be computed. ``number`` tells
    further claims of the same apart.
    """

    def derived(what: str) -> bytes:
        text = "\0".join([what, str(number), *of])
        return hmac.digest(attempt.encode(), text.encode("utf-8", "replace"), hashlib.sha256)

    key = base64.urlsafe_b64encode(derived("key")[:24]).decode()
    return Claim(derived("id")[:16].hex(), key)


def attempt_problem(attempt: str) -> Problem | None:
    """What is wrong with the name of an attempt, or None."""
    if not attempt or SHORTEST <= len(attempt) <= LONGEST:
        return None
    todo = f"Send {SHORTEST} to {LONGEST} random characters, or leave the header out"
    return Problem(found=f"{len(attempt)} characters", todo=todo, field=HEADER)
