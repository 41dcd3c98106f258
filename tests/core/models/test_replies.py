"""Bodies of chat completions: answers, and every way in which there is none."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agl1k_core.models import RawReply, Reply, read_reply
from agl1k_core.models.failures import EndpointError, Failure, Scope, Trouble, failure_of
from agl1k_core.models.replies import folded, usage_within


def body(message: object, finish: str = "stop", **more: object) -> str:
    return json.dumps({"choices": [{"message": message, "finish_reason": finish}], **more})


def failure(status: int, text: str) -> Failure:
    with pytest.raises(EndpointError) as caught:
        read_reply(RawReply(status, text))
    return caught.value.failure


def test_an_answer_with_its_usage() -> None:
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "cost": 0.002}
    reply = read_reply(RawReply(200, body({"content": "Paris"}, model="m-1", usage=usage)))
    assert (reply.text, reply.finish, reply.model) == ("Paris", "stop", "m-1")
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (7, 3)
    assert reply.usage.cost == 0.002


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "ab"),
        ({"content": None, "refusal": "I can't help with that."}, "I can't help with that."),
        ({"content": None, "audio": {"transcript": "It is Rome."}}, "It is Rome."),
        ({"content": "x", "reasoning_content": "long thoughts"}, "x"),
    ],
)
def test_where_the_words_are(message: object, text: str) -> None:
    assert read_reply(RawReply(200, body(message))).text == text


def test_an_answer_cut_off_is_an_answer_that_says_so() -> None:
    reply = read_reply(RawReply(200, body({"content": '{"latitude": 4'}, "length")))
    assert reply.is_cut_off
    assert reply.text == '{"latitude": 4'


@pytest.mark.parametrize(
    ("status", "text", "trouble"),
    [
        # OpenRouter: an error inside a 200, with and without a code
        (200, '{"error": {"code": 402, "message": "Insufficient credits"}}', Trouble.QUOTA),
        (200, '{"error": {"code": 502, "message": "Provider returned error"}}', Trouble.BUSY),
        (200, '{"error": {"message": "Something went wrong"}}', Trouble.BUSY),
        (200, '{"choices": [{"error": {"code": 429, "message": "slow down"}}]}', Trouble.BUSY),
        (200, body({"content": "Par"}, "error"), Trouble.BROKEN),
        (200, '{"choices": null}', Trouble.BROKEN),
        (200, '{"choices": []}', Trouble.BROKEN),
        (200, '{"choices": [{"mess', Trouble.BROKEN),
        (200, "", Trouble.BROKEN),
        (200, "[1, 2]", Trouble.BROKEN),
        (200, "<!doctype html><title>Sign in</title>", Trouble.URL),
        (200, body({"content": ""}), Trouble.EMPTY),
        (200, body({"content": "  \n"}, "length"), Trouble.EMPTY),
        (200, body({"content": ""}, "content_filter"), Trouble.BLOCKED),
        (200, body({"content": None, "reasoning": "hm"}), Trouble.EMPTY),
        (302, "", Trouble.URL),
        (400, '{"error": {"message": "Audio exceeds the maximum of 30 seconds"}}',
         Trouble.TOO_LONG),
        (400, '{"detail": "This model\'s maximum context length is 8192 tokens"}',
         Trouble.TOO_LONG),
        (400, '{"error": "does not support audio input"}', Trouble.NO_AUDIO),
        (400, '{"error": {"message": "At most 0 audio(s) may be provided"}}', Trouble.NO_AUDIO),
        (400, '{"error": {"message": "API key not valid. Please pass a valid API key."}}',
         Trouble.KEY),
        (400, '{"error": {"message": "only support stream mode"}}', Trouble.NEEDS_STREAM),
        (400, '{"error": {"message": "Unsupported value: \'temperature\' does not support 0"}}',
         Trouble.PARAMETER),
        (400, '{"error": {"message": "something else"}}', Trouble.REJECTED),
        (401, "{}", Trouble.KEY),
        (402, "{}", Trouble.QUOTA),
        (403, '{"error": {"message": "forbidden"}}', Trouble.KEY),
        (403, '{"error": {"message": "Input was flagged by moderation"}}', Trouble.BLOCKED),
        (404, '{"error": {"message": "The model `x` does not exist"}}', Trouble.MODEL),
        (404, "404 page not found", Trouble.URL),
        (404, '{"error": {"message": "No endpoints found that support input audio"}}',
         Trouble.NO_AUDIO),
        (405, "Method Not Allowed", Trouble.URL),
        (408, "", Trouble.BUSY),
        (409, "", Trouble.BUSY),
        (413, "too big", Trouble.TOO_LONG),
        (429, '{"error": {"message": "Rate limit reached, maximum tokens per minute"}}',
         Trouble.BUSY),
        (429, '{"error": {"code": "insufficient_quota", "message": "You exceeded your current '
         'quota"}}', Trouble.QUOTA),
        (500, '{"error": {"message": "audio input is not supported"}}', Trouble.NO_AUDIO),
        (500, "Internal Server Error", Trouble.BUSY),
        (503, "overloaded", Trouble.BUSY),
        (529, "overloaded", Trouble.BUSY),
    ],
)  # fmt: skip
def test_what_a_response_without_an_answer_means(status: int, text: str, trouble: Trouble) -> None:
    assert failure(status, text).trouble is trouble


def test_a_failure_repeats_the_endpoints_words_on_one_line() -> None:
    told = failure(400, '{"error": {"message": "bad\\nthing", "metadata": {"raw": "{\\"message\\":'
                        ' \\"upstream says no\\"}"}}}')  # fmt: skip
    assert str(told) == "400: bad thing (upstream says no)"
    assert len(failure(500, "x" * 10_000).words) < 400


def test_a_page_is_shown_without_its_markup() -> None:
    page = "<html><script>var x;</script><h1>502 Bad</h1> Gateway</html>"
    assert failure(502, page).words == "502 Bad Gateway"


def outcome(raw: RawReply) -> Reply | Failure:
    try:
        return read_reply(raw)
    except EndpointError as error:
        return error.failure


@given(st.integers(100, 599), st.text(max_size=200))
def test_any_response_is_an_answer_or_a_failure(status: int, text: str) -> None:
    found = outcome(RawReply(status, text))
    assert found.scope in Scope if isinstance(found, Failure) else found.text.strip()


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["choices", "error", "message", "content", "usage", "code", "delta"]
                ),
                inner,
                max_size=3,
            )
        ),
    )
)
def test_any_json_is_an_answer_or_a_failure(tree: object) -> None:
    raw = RawReply(200, json.dumps(tree))
    usage_within(raw)
    failure_of(400, raw.body)
    found = outcome(raw)
    assert found.words if isinstance(found, Failure) else found.text.strip()


def stream(*chunks: Any, end: str = "data: [DONE]\n\n") -> str:
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + end


def delta(text: str, finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"delta": {"content": text}, "finish_reason": finish}]}


def test_a_stream_becomes_one_answer() -> None:
    usage = {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2}, "model": "m"}
    whole = folded(": PROCESSING\n\n" + stream(delta("Pa"), delta("ris", "stop"), usage))
    assert whole is not None
    reply = read_reply(RawReply(200, whole))
    assert (reply.text, reply.finish, reply.model, reply.usage.prompt_tokens) == (
        "Paris", "stop", "m", 5,
    )  # fmt: skip


def test_reasoning_in_a_stream_is_not_the_answer() -> None:
    thought = {"choices": [{"delta": {"reasoning_content": "hm", "content": None}}]}
    whole = folded(stream(thought, delta("Rome", "stop")))
    assert whole is not None
    assert read_reply(RawReply(200, whole)).text == "Rome"
    assert json.loads(whole)["choices"][0]["message"]["reasoning"] == "hm"


@pytest.mark.parametrize(
    "broken",
    [
        stream(delta("Pa"), end=""),
        "data: {\"choices\": [\n\ndata: [DONE]\n\n",
        "",
    ],
)  # fmt: skip
def test_an_incomplete_stream_is_not_an_answer(broken: str) -> None:
    assert folded(broken) is None


def test_an_error_in_a_stream_is_an_error() -> None:
    whole = folded(stream(delta("Pa"), {"error": {"code": 502, "message": "lost"}}, end=""))
    assert whole is not None
    assert failure(200, whole).trouble is Trouble.BUSY
