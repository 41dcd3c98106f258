"""What an endpoint's failure means: for the run, for one clip, or for the moment.

Vendors disagree on statuses, so their words count, too: llama.cpp answers 500 if a model takes no
audio, OpenAI 429 if the account is empty, OpenRouter puts an error inside a 200.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from agl1k_core.http import RETRIED_STATUSES

#: How much of an endpoint's words a message repeats.
_SHOWN = 300


class Scope(Enum):
    """How far a failure reaches."""

    RUN = "run"  # nothing can be asked until somebody acts
    CLIP = "clip"  # the same request would fail again
    MOMENT = "moment"  # worth another attempt


class Trouble(Enum):
    """Kinds of failure, with their scope."""

    KEY = "key", Scope.RUN
    QUOTA = "quota", Scope.RUN
    URL = "url", Scope.RUN
    MODEL = "model", Scope.RUN
    NO_AUDIO = "no audio", Scope.RUN
    PARAMETER = "parameter", Scope.RUN
    NEEDS_STREAM = "needs stream", Scope.RUN
    TOO_LONG = "too long", Scope.CLIP
    BLOCKED = "blocked", Scope.CLIP
    REJECTED = "rejected", Scope.CLIP
    EMPTY = "empty", Scope.CLIP
    BUSY = "busy", Scope.MOMENT
    BROKEN = "broken", Scope.MOMENT

    @property
    def scope(self) -> Scope:
        """How far it reaches."""
        scope: Scope = self.value[1]
        return scope


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure: what it is, the HTTP status (0 if there is none), and the endpoint's words."""

    trouble: Trouble
    words: str
    status: int = 0
    retry_after_s: float | None = None

    @property
    def scope(self) -> Scope:
        """How far it reaches."""
        return self.trouble.scope

    def __str__(self) -> str:
        said = f"{self.status}: {self.words}" if self.status else self.words
        return said.rstrip()


class EndpointError(Exception):
    """An exchange with an endpoint failed; ``failure`` says how."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(str(failure))
        self.failure = failure


#: Words that decide, whatever the status; the first that match count.
_BY_WORDS: tuple[tuple[Trouble, str], ...] = (
    (Trouble.QUOTA, r"insufficient[_ ](quota|credit|balance|funds)|exceeded your current quota"
     r"|out of credits|add (more )?credits|billing|payment required|quota (has been )?exhausted"
     r"|arrearage|overdue"),
    (Trouble.KEY, r"(invalid|incorrect|missing|expired|unauthori[sz]ed)[^.]{0,20}"
     r"(api[_ -]?key|credential|token\b)|api[_ -]?key[^.]{0,30}(invalid|expired|not valid)"),
    (Trouble.NEEDS_STREAM, r"(only|must|require)[^.]{0,40}\bstream|stream[^.]{0,30}(required|only"
     r"|must be (true|set|enabled))|non-?stream[^.]{0,40}not (supported|allowed)"),
    (Trouble.TOO_LONG, r"context[_ ](length|window|size)|too (long|large|big)|maximum[^.]{0,30}"
     r"(length|duration|size|tokens)|exceed[^.]{0,60}(length|limit|maximum|duration|size|context"
     r"|seconds|minutes|mb\b)|(duration|length|size)[^.]{0,40}(exceed|must be (less|shorter|under))"
     r"|payload too large"),
    (Trouble.NO_AUDIO, r"(audio|input_audio|modalit)[^.]{0,80}(not|n't|un)[ -]?(be )?(supported"
     r"|support|allowed|available|accept|recogni[sz]ed|enabled)|(not|n't|no|un)[^.]{0,40}support"
     r"[^.]{0,60}(audio|modalit)|no endpoints found that support[^.]{0,40}audio"
     r"|(at most|maximum) 0 audio"),
    (Trouble.MODEL, r"model[^.]{0,80}(not found|does not exist|doesn't exist|no longer"
     r"|unknown|not available|is not a valid)|(no such|unknown|invalid) model|model_not_found"
     r"|not a valid model"),
    (Trouble.BLOCKED, r"moderation|flagged|content[_ ](filter|policy)|safety (system|setting)"
     r"|prohibited[_ ]content|data_inspection_failed"),
    (Trouble.PARAMETER, r"(unsupported|unknown|unrecognized|unexpected|invalid)[^.]{0,30}"
     r"(parameter|argument|value|field|property)[^.]{0,80}(temperature|seed|max_tokens"
     r"|max_completion_tokens|stream_options|modalities)|(temperature|seed|max_tokens|"
     r"max_completion_tokens|stream_options|modalities)['\"`]?[^.]{0,60}"
     r"(not supported|unsupported|not permitted|not allowed|does not support|extra inputs)"),
)  # fmt: skip
_WORDS = [(trouble, re.compile(pattern, re.IGNORECASE)) for trouble, pattern in _BY_WORDS]
_BY_STATUS = {
    401: Trouble.KEY, 402: Trouble.QUOTA, 403: Trouble.KEY, 404: Trouble.URL, 405: Trouble.URL,
    410: Trouble.MODEL, 413: Trouble.TOO_LONG,
}  # fmt: skip
#: What a passing status can still mean, if the words say so.
_FINAL_WORDS = {
    429: {Trouble.QUOTA},
    500: {Trouble.NO_AUDIO, Trouble.TOO_LONG, Trouble.NEEDS_STREAM, Trouble.PARAMETER},
    501: {Trouble.NO_AUDIO},
}


def failure_of(status: int, body: str, retry_after_s: float | None = None) -> Failure:
    """The failure that a response with an error describes.

    Examples
    --------
    >>> failure_of(500, '{"error": {"message": "audio input is not supported"}}').trouble
    <Trouble.NO_AUDIO: ('no audio', <Scope.RUN: 'run'>)>
    >>> failure_of(503, "overloaded").scope
    <Scope.MOMENT: 'moment'>
    """
    words = words_of(body)
    return Failure(_trouble(status, words), words, status, retry_after_s)


def _trouble(status: int, words: str) -> Trouble:
    meant = next((trouble for trouble, pattern in _WORDS if pattern.search(words)), None)
    if status in RETRIED_STATUSES or status >= 500:
        final = _FINAL_WORDS.get(status, set())
        return meant if meant in final and meant is not None else Trouble.BUSY
    if 300 <= status < 400:
        return Trouble.URL
    if status in (401, 402):
        return _BY_STATUS[status]
    if status == 403:
        return meant if meant in (Trouble.BLOCKED, Trouble.QUOTA, Trouble.MODEL) else Trouble.KEY
    if status == 404:
        return meant if meant in (Trouble.MODEL, Trouble.NO_AUDIO) else Trouble.URL
    return _BY_STATUS.get(status) or meant or Trouble.REJECTED


def words_of(body: str) -> str:
    """An endpoint's words about an error, on one line: its message, or how the body begins."""
    try:
        tree = json.loads(body)
    except (ValueError, RecursionError):
        tree = None
    said = _message(tree) or _without_markup(body)
    said = " ".join(said.split())
    return said if len(said) <= _SHOWN else f"{said[:_SHOWN]}…"


def _message(tree: object) -> str:
    """The message in an error object of any vendor; empty if there is none."""
    if isinstance(tree, list) and tree:
        return _message(tree[0])
    if not isinstance(tree, Mapping):
        return tree if isinstance(tree, str) else ""
    for name in ("error", "message", "detail", "msg", "error_message", "title"):
        said = _message(tree.get(name))
        if said:
            return said + _upstream(tree.get(name))
    return ""


def _upstream(error: object) -> str:
    """What the provider behind a router said; OpenRouter puts it into ``metadata.raw``."""
    if not isinstance(error, Mapping) or not isinstance(error.get("metadata"), Mapping):
        return ""
    raw = error["metadata"].get("raw")
    said = words_of(raw) if isinstance(raw, str) and raw.strip() else ""
    return f" ({said})" if said else ""


def _without_markup(body: str) -> str:
    """The text of a page; the first words tell whether it is a proxy's or a login's."""
    page = re.sub(r"<(script|style).*?</\1>|<[^>]*>", " ", body[:20_000], flags=re.DOTALL | re.I)
    return page.strip() or "(no text)"


def status_in(error: Any) -> int:
    """The HTTP status that an error inside a 200 carries as its code; 0 if it has none."""
    code = error.get("code", error.get("status")) if isinstance(error, Mapping) else None
    if isinstance(code, str) and code.isdecimal():
        code = int(code)
    return code if isinstance(code, int) and 300 <= code < 600 else 0
