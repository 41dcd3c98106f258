"""Finds out, once, how an endpoint wants to be asked, by sending beacons."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from agl1k_core.errors import Agl1kError
from agl1k_core.models.beacon import QUESTION, beacon, counts_to_ask, number_in
from agl1k_core.models.dialects import Dialect, candidates
from agl1k_core.models.endpoint import Endpoint
from agl1k_core.models.failures import EndpointError, Failure, Scope, Trouble
from agl1k_core.models.messages import Message, question
from agl1k_core.models.replies import Reply

#: Sends a conversation, keeps the response, and reads it.
Ask = Callable[[Sequence[Message]], Reply]

_READY = "Answer with the word ready."
#: What says that a way of asking is wrong, rather than everything.
_OF_THE_DIALECT = {
    Trouble.NO_AUDIO, Trouble.NEEDS_STREAM, Trouble.REJECTED, Trouble.PARAMETER, Trouble.TOO_LONG,
    Trouble.BUSY, Trouble.BROKEN, Trouble.EMPTY, Trouble.BLOCKED,
}  # fmt: skip
#: Statuses that no other way of asking would change.
_OVERLOADED = {408, 429, 503, 529}
#: What says that a format is refused rather than a shape.
_FORMAT_WORDS = ("format", "wav", "codec", "mime")


@dataclass
class _Search:
    """Dialects still to try, and what came back from those tried."""

    to_try: list[Dialect]
    tried: dict[Dialect, Failure]

    def next(self) -> Dialect | None:
        self.to_try = [dialect for dialect in self.to_try if dialect not in self.tried]
        return self.to_try.pop(0) if self.to_try else None

    def first(self, dialect: Dialect) -> None:
        self.to_try.insert(0, dialect)

    @property
    def failures(self) -> str:
        """Each shape's last failure, in words."""
        last = {dialect.shape: failure for dialect, failure in self.tried.items()}
        return "; ".join(f"as {shape}: {failure}" for shape, failure in last.items())


def find_dialect(
    endpoint: Endpoint,
    ask: Ask,
    *,
    with_sound: bool,
    formats: Sequence[str],
    must_hear: bool = True,
) -> None:
    """Set ``endpoint.dialect`` to the way in which it hears, else to the first that it accepts.

    Parameters
    ----------
    endpoint
        The endpoint.
    ask
        Sends a conversation to it in its current dialect.
    with_sound
        Whether sound will be sent; if not, only streaming is probed.
    formats
        The formats that sound may have, the first choice first.
    must_hear
        Whether to look further if a dialect is accepted but the beacon was not heard.

    Raises
    ------
    Agl1kError
        With one line if it cannot be used at all.
    """
    ways = candidates(endpoint.host)
    known = [replace(way, sound_format=formats[0]) for way in (ways if with_sound else ways[:1])]
    search = _Search(known, {})
    accepted: Dialect | None = None
    counts = counts_to_ask()
    while (dialect := _next(search, known, accepted)) is not None:
        endpoint.dialect = dialect
        beeps = counts[len(search.tried) % len(counts)]
        try:
            reply = ask(_question(dialect, beeps, with_sound))
        except EndpointError as error:
            _note(search, dialect, error.failure, endpoint, formats)
            continue
        if not (with_sound and must_hear) or number_in(reply.text) == beeps:
            return
        # the sound may have been dropped, so another way may be the one that is heard
        search.tried[dialect] = Failure(Trouble.EMPTY, f"it answered {reply.text[:40]!r}")
        accepted = accepted or dialect
    if accepted is None:
        raise Agl1kError(_no_way(endpoint, search, with_sound))
    endpoint.dialect = accepted


def _next(search: _Search, known: list[Dialect], accepted: Dialect | None) -> Dialect | None:
    """The next dialect; once nothing plain is accepted, the same ones streamed."""
    dialect = search.next()
    if dialect is None and accepted is None:
        search.to_try = [replace(way, streamed=not way.streamed) for way in known]
        dialect = search.next()
    return dialect


def _question(dialect: Dialect, beeps: int, with_sound: bool) -> list[Message]:
    if not with_sound:
        return question(_READY)
    return question(QUESTION, beacon(beeps, dialect.sound_format))


def _note(
    search: _Search,
    dialect: Dialect,
    failure: Failure,
    endpoint: Endpoint,
    formats: Sequence[str],
) -> None:
    """Remember a failure, and put first what it asks for; raise if nothing else can help."""
    if failure.trouble not in _OF_THE_DIALECT:
        raise Agl1kError(endpoint.sentence(failure))
    if failure.status in _OVERLOADED:
        raise Agl1kError(_busy(endpoint, failure))
    search.tried[dialect] = failure
    better = _better(dialect, failure, formats)
    if better is not None and better not in search.tried:
        search.first(better)
    elif failure.trouble is Trouble.PARAMETER:
        raise Agl1kError(endpoint.sentence(failure))


def _better(dialect: Dialect, failure: Failure, formats: Sequence[str]) -> Dialect | None:
    """The dialect that an endpoint's words ask for."""
    words = failure.words.lower()
    if failure.trouble is Trouble.NEEDS_STREAM:
        return replace(dialect, streamed=True)
    if failure.trouble is Trouble.PARAMETER and "stream_options" in words:
        return replace(dialect, usage_in_stream=False)
    if failure.trouble is Trouble.PARAMETER and "max_completion_tokens" in words:
        other = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
        return replace(dialect, tokens_name=other[dialect.tokens_name])
    if failure.trouble is Trouble.PARAMETER and "max_tokens" in words:
        return replace(dialect, tokens_name="max_completion_tokens")
    later = formats[formats.index(dialect.sound_format) + 1 :]
    if later and any(word in words for word in _FORMAT_WORDS):
        return replace(dialect, sound_format=later[0])
    return None


def _busy(endpoint: Endpoint, failure: Failure) -> str:
    return f"{endpoint.model} at {endpoint.host} gave no answer ({failure}). Try again later."


def _no_way(endpoint: Endpoint, search: _Search, with_sound: bool) -> str:
    """Why nothing was accepted, in one line."""
    failures = list(search.tried.values())
    no_audio = [failure for failure in failures if failure.trouble is Trouble.NO_AUDIO]
    if no_audio:
        return endpoint.sentence(no_audio[0])
    passing = [failure for failure in failures if failure.scope is Scope.MOMENT]
    if passing:
        return _busy(endpoint, passing[0])
    what = "sound in no way that is known" if with_sound else "no question"
    return f"{endpoint.model} at {endpoint.host} accepts {what}. {search.failures}."
