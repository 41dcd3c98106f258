"""The seeing check: whether a model takes a picture beside sound, and sees it.

Some endpoints refuse a picture beside sound, others drop it silently; a spectrogram would then be
lost. So a model must count bars in two pictures before it is offered spectrograms. One that
guesses any of the seven numbers passes in 2 % of runs.
"""

from __future__ import annotations

import io
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from agl1k_core.extras import check
from agl1k_core.models.beacon import beacon, counts_to_ask, number_in
from agl1k_core.models.failures import EndpointError, Failure, Scope
from agl1k_core.models.messages import Message, Picture, question
from agl1k_core.models.replies import Reply

QUESTION = (
    "How many separate white bars are in this picture? Count them and answer with the number "
    "alone, in digits. If there is no picture, or you cannot see it, answer 0. The sound does not "
    "matter."
)
_N_PICTURES = 2
_BAR, _HEIGHT, _MOST = 24, 160, 8
#: Words of a server that fails instead of refusing, as llama.cpp does.
_OF_PICTURES = re.compile(r"\b(image|picture|vision|visual|multi-?modal|modalit)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Sight:
    """Whether a model sees: ``"seen"``, ``"not seen"`` or ``"refused"``, and what it said."""

    outcome: str
    words: str = ""

    def to_dict(self) -> dict[str, Any]:
        """For the journal and the provenance."""
        return asdict(self)


def bars(count: int) -> Picture:
    """A picture of that many white bars on black."""
    check("matplotlib")
    from matplotlib.image import imsave

    pixels = np.zeros((_HEIGHT, 2 * _BAR * (_MOST + 1)), np.uint8)
    for number in range(count):
        left = _BAR * (2 * number + 1)
        pixels[_BAR:-_BAR, left : left + _BAR] = 255
    file = io.BytesIO()
    imsave(file, pixels, format="png", cmap="gray", vmin=0, vmax=255)
    return Picture(file.getvalue())


def check_sight(
    ask: Callable[[Sequence[Message]], Reply], sound_format: str, rng: random.Random | None = None
) -> Sight:
    """Let a model count bars; raises ``EndpointError`` for failures that pictures do not cause."""
    beeps, *counts = counts_to_ask(rng)[: _N_PICTURES + 1]
    for count in counts:
        try:
            reply = ask(question(QUESTION, beacon(beeps, sound_format), bars(count)))
        except EndpointError as error:
            if not _is_refusal(error.failure):
                raise
            return Sight("refused", str(error.failure))
        if number_in(reply.text) != count:
            return Sight("not seen", f"to {count} bars it said {reply.text[:40]!r}")
    return Sight("seen")


def _is_refusal(failure: Failure) -> bool:
    return failure.scope is Scope.CLIP or bool(_OF_PICTURES.search(failure.words))
