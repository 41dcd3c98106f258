"""Reads the body of a chat completion: the answer, or why there is none.

Bodies are kept before they are read, so everything here can be done again (``agl1k rescore``).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agl1k_core.models.failures import (
    EndpointError,
    Failure,
    Trouble,
    failure_of,
    status_in,
    words_of,
)


@dataclass(frozen=True, slots=True)
class RawReply:
    """A response as it arrived: HTTP status, body, the wait it asks for, and its duration."""

    status: int
    body: str
    retry_after_s: float | None = None
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Usage:
    """What an answer took, as the endpoint reports it; None if it does not.

    ``cost`` is in the endpoint's own currency, US dollars with all vendors known to report it.
    ``sound`` is the number of tokens, or of seconds, that it counts for sound.
    """

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost: float | None = None
    sound: float | None = None

    @property
    def counts_sound(self) -> bool:
        """Whether the endpoint says that it counted sound."""
        return bool(self.sound)


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's answer.

    ``text`` is what it said, without reasoning that the endpoint reports apart. ``finish`` is the
    reason why it ended, ``model`` the name that the endpoint reports back; both may be empty.
    """

    text: str
    finish: str = ""
    model: str = ""
    usage: Usage = field(default_factory=Usage)

    @property
    def is_cut_off(self) -> bool:
        """Whether the limit on tokens ended it."""
        return self.finish == "length"


def read_reply(raw: RawReply) -> Reply:
    """The answer in a response.

    Raises
    ------
    EndpointError
        If there is none; its ``failure`` says why.
    """
    if not 200 <= raw.status < 300:
        raise EndpointError(failure_of(raw.status, raw.body, raw.retry_after_s))
    tree = _tree(raw)
    if tree.get("error"):
        raise EndpointError(_error_within(raw, tree["error"]))
    choice = _first_choice(raw, tree)
    if choice.get("error"):
        raise EndpointError(_error_within(raw, choice["error"]))
    if choice.get("finish_reason") == "error":
        raise EndpointError(Failure(Trouble.BROKEN, "the answer ended with an error", raw.status))
    reply = Reply(
        _text_of(choice),
        _str(choice.get("finish_reason")),
        _str(tree.get("model")),
        usage_of(tree.get("usage")),
    )
    if not reply.text.strip():
        raise EndpointError(_empty(reply))
    return reply


def usage_within(raw: RawReply) -> Usage:
    """What a response took, also if its answer cannot be used."""
    tree = _loads(raw.body)
    return usage_of(tree.get("usage")) if isinstance(tree, Mapping) else Usage()


def usage_of(told: object) -> Usage:
    """Tokens and cost as vendors name them."""
    if not isinstance(told, Mapping):
        return Usage()
    prompt, completion = (
        _whole(told.get(f"{kind}_tokens", told.get(other)))
        for kind, other in (("prompt", "input_tokens"), ("completion", "output_tokens"))
    )
    details = told.get("prompt_tokens_details", told.get("input_tokens_details"))
    sound = details.get("audio_tokens") if isinstance(details, Mapping) else None
    heard = _number(sound) or _number(told.get("prompt_audio_seconds"))
    return Usage(prompt, completion, _number(told.get("cost")), heard)


def folded(stream: str) -> str | None:
    """A streamed answer as the body of a plain one; None if it is broken or incomplete.

    Streams are server-sent events with one chunk of JSON each (WHATWG HTML, section 9.2); the last
    is ``[DONE]``. Comments, which some routers send to keep the connection open, are ignored.
    """
    body: dict[str, Any] = {}
    texts: dict[str, list[str]] = {"content": [], "reasoning": [], "refusal": [], "transcript": []}
    finish, done = None, False
    for data in _events(stream):
        if data == "[DONE]":
            done = True
            break
        chunk = _loads(data)
        if not isinstance(chunk, Mapping):
            return None
        if chunk.get("error"):
            return json.dumps({**body, "error": chunk["error"]}, ensure_ascii=False)
        body |= {name: chunk[name] for name in ("id", "model", "usage", "provider")
                 if chunk.get(name)}  # fmt: skip
        for choice in _list(chunk.get("choices"))[:1]:
            _add_delta(choice, texts)
            finish = choice.get("finish_reason") or finish
    if not done and finish is None:
        return None
    message = {name: "".join(parts) for name, parts in texts.items() if parts}
    transcript = message.pop("transcript", "")
    if transcript:
        message["audio"] = {"transcript": transcript}  # type: ignore[assignment]
    body["choices"] = [{"message": message, "finish_reason": finish}]
    return json.dumps(body, ensure_ascii=False)


def _add_delta(choice: Mapping[str, Any], texts: Mapping[str, list[str]]) -> None:
    delta = choice.get("delta") or choice.get("message") or {}
    if not isinstance(delta, Mapping):
        return
    told = {
        "content": _plain(delta.get("content")),
        "reasoning": _str(delta.get("reasoning_content") or delta.get("reasoning")),
        "refusal": _str(delta.get("refusal")),
        "transcript": _transcript(delta),
    }
    for name, text in told.items():
        if text:
            texts[name].append(text)


def _events(stream: str) -> Iterator[str]:
    """The data of each event; an event's lines are joined."""
    data: list[str] = []
    for line in [*stream.replace("\r\n", "\n").split("\n"), ""]:
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif not line and data:
            yield "\n".join(data).strip()
            data = []


def _tree(raw: RawReply) -> Mapping[str, Any]:
    tree = _loads(raw.body)
    if isinstance(tree, Mapping):
        return tree
    if raw.body.lstrip()[:1] == "<":
        raise EndpointError(Failure(Trouble.URL, words_of(raw.body), raw.status))
    began = " ".join(raw.body[:80].split())
    words = f"the response is not complete JSON. It begins {began!r}" if began else "it is empty"
    raise EndpointError(Failure(Trouble.BROKEN, words, raw.status))


def _error_within(raw: RawReply, error: object) -> Failure:
    """The failure of an error inside a 200."""
    body = json.dumps({"error": error}, ensure_ascii=False)
    found = failure_of(status_in(error) or 400, body, raw.retry_after_s)
    if found.trouble is Trouble.REJECTED and not status_in(error):
        # nothing says that the same request would fail again
        return Failure(Trouble.BUSY, found.words, raw.status)
    return Failure(found.trouble, found.words, status_in(error) or raw.status)


def _first_choice(raw: RawReply, tree: Mapping[str, Any]) -> Mapping[str, Any]:
    choices = _list(tree.get("choices"))
    if choices:
        return choices[0]
    words = "the response has no choices"
    told = next((tree[name] for name in ("detail", "message", "msg") if tree.get(name)), None)
    if told:
        words = f"{words}: {words_of(json.dumps(told))}"
    raise EndpointError(Failure(Trouble.BROKEN, words, raw.status))


def _text_of(choice: Mapping[str, Any]) -> str:
    """The model's words: its content, else its refusal, else what it spoke."""
    message = choice.get("message")
    if not isinstance(message, Mapping):
        return _str(choice.get("text"))
    return _plain(message.get("content")) or _str(message.get("refusal")) or _transcript(message)


def _transcript(message: Mapping[str, Any]) -> str:
    sound = message.get("audio")
    return _str(sound.get("transcript")) if isinstance(sound, Mapping) else ""


def _plain(content: object) -> str:
    """The text of a content, which may be a list of parts."""
    if isinstance(content, str):
        return content
    parts = [part for part in _list(content) if part.get("type", "text") in ("text", "output_text")]
    return "".join(_str(part.get("text")) for part in parts)


def _empty(reply: Reply) -> Failure:
    if reply.is_cut_off:
        words = (
            "the answer is empty: the limit on tokens ended it before the model said anything. "
            "Raise --max-tokens"
        )
        return Failure(Trouble.EMPTY, words)
    if reply.finish in ("content_filter", "safety", "SAFETY", "prohibited_content"):
        return Failure(Trouble.BLOCKED, f"the answer was withheld ({reply.finish})")
    why = f" (finish_reason {reply.finish!r})" if reply.finish else ""
    return Failure(Trouble.EMPTY, f"the answer is empty{why}")


def _loads(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _list(value: object) -> Sequence[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _str(value: object) -> str:
    return value if isinstance(value, str) else ""


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if 0 <= value < 1e12 else None


def _whole(value: object) -> int | None:
    number = _number(value)
    return None if number is None else int(number)
