"""Responses to nonsense that is sent to the endpoints of the page."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gradio as gr
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from gradio import processing_utils
from gradio.context import LocalContext
from gradio.state_holder import SessionState

from agl1k_core.errors import Agl1kError
from web.limits import BodyLimit, WholeTexts, is_half_text
from web.page import Page, mount
from web.uploads import Uploads, is_uploaded

FILE = {"meta": {"_type": "gradio.FileData"}}
RUN = "/gradio_api/run/"


def _say(text: str, choice: str, file: str | None) -> str:
    if text == "refuse":
        raise Agl1kError("This cannot be. Do that.")
    if text.startswith("list "):
        raise Agl1kError(f"These are wrong: {text}.")
    return f"{text} {choice} {bool(file)}"


async def _fail(text: str) -> str:
    raise gr.Error("It failed." + text)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    app = FastAPI()
    app.add_middleware(WholeTexts)
    app.add_middleware(BodyLimit, max_bytes=2**20)
    with Page() as page:
        text, told = gr.Textbox(label="Text"), gr.HTML()
        choice = gr.Dropdown(["a", "b"], label="Choice")
        file = gr.File(label="File")
        gr.Button().click(_say, [text, choice, file], told, queue=False, api_name="say")
        gr.Button().click(_fail, [text], told, queue=False, api_name="fail")
        gr.Button().click(None, None, None, js="() => 1")
    uploads = Uploads(tmp_path_factory.mktemp("uploads"), 2**20)
    with TestClient(mount(app, page, uploads)) as started:
        yield started


def _told(client: TestClient, *data: object, name: str = "say") -> str:
    answer = client.post(f"{RUN}{name}", json={"data": data, "session_hash": "s"})
    return str(answer.json().get("error") or answer.json()["data"][0])


def test_our_own_refusals_are_whole_and_others_are_cut(client: TestClient) -> None:
    long = "x" * 3000
    assert _told(client, f"list {long}", "a", None).endswith(f"list {long}.")
    assert len(_told(client, long, name="fail")) == 500


def test_valid_values_are_accepted(client: TestClient) -> None:
    assert _told(client, "x", "a", None) == "x a False"
    [path] = client.post("/gradio_api/upload", files={"files": ("a.csv", b"1")}).json()
    assert _told(client, "x", "b", {"path": path, **FILE}) == "x b True"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (["x", "a"], "Send 3 values (Text, Choice, File), not 2."),
        ([10**400, "a", None], "A number is too large"),
        ([{"a": [1e300]}, "a", None], "A number is too large"),
        (["x", [], None], "Choose one value for “Choice”."),
        (["x", "c", None], "Value: c is not in the list of choices: ['a', 'b']"),
        (["x", "c" * 9_999, None], "Value: ccc"),
        (["refuse", "a", None], "This cannot be. Do that."),
        ([{"path": "/etc/passwd", **FILE}, "a", None], "This field takes no file."),
        ([[{"path": "http://192.0.2.1/", **FILE}], "a", None], "This field takes no file."),
        (["x", "a", {"path": "http://192.0.2.1/", **FILE}], "was not uploaded here"),
        (["x", "a", {"path": "/etc/passwd", **FILE}], "was not uploaded here"),
        (["x", "a", {"path": "\0" * 9, **FILE}], "not UTF-8|was not uploaded here"),
        (["x", "a", {"path": "y" * 9_999}], "was not uploaded here"),
        (["x", "a", {"url": "http://192.0.2.1/"}], "was not uploaded here"),
        (["x", "a", True], "was not uploaded here"),
        (["x", "a", []], "was not uploaded here"),
        (["x", "a", {"a": 1}], "was not uploaded here"),
        ([[0] * 60_000, "a", None], "too many parts"),
    ],
)
def test_nonsense_is_answered_with_a_sentence(
    client: TestClient, data: list[object], message: str, capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    async def fetched(*_: object) -> str:
        raise AssertionError("an address that a caller named was fetched")

    monkeypatch.setattr(processing_utils, "async_ssrf_protected_download", fetched)
    told = _told(client, *data)
    assert any(part in told for part in message.split("|"))
    assert len(told) < 700
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        (b"", 422, "cannot be read"), (b"{", 422, "cannot be read"), (b"[]", 422, "cannot be read"),
        (b'{"data": "x"}', 422, "Check: data."), (b'{"data": "\\ud800"}', 422, "half of a char"),
        (b'{"data": [], "session_hash": "\\udfff"}', 422, "half of a character"),
        (b'{"data": ["\xed\xa0\x80"]}', 422, "half of a character"),
        ('{"data": []}'.encode("utf-16"), 422, "not UTF-8"),
        (b'{"data": [], "fn_index": 99}', 404, "no such endpoint"),
        (b'{"data": [], "fn_index": 2}', 500, "runs in the browser only"),
    ],
)  # fmt: skip
def test_malformed_requests(
    client: TestClient, body: bytes, status: int, message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    headers = {"Content-Type": "application/json"}
    answer = client.post(f"{RUN}say", content=body, headers=headers)
    assert answer.status_code == status
    assert message in answer.json()["error"]
    assert "Traceback" not in capfd.readouterr().err


def test_an_unknown_endpoint(client: TestClient) -> None:
    answer = client.post(f"{RUN}nothing", json={"data": []})
    assert (answer.status_code, "no such endpoint" in answer.text) == (404, True)
    answer = client.post("/gradio_api/call/v2/say", json={"other": 1})
    assert answer.status_code == 404


@pytest.mark.parametrize(
    ("body", "is_half"),
    [(b'"\\ud83d\\ude00"', False), (b'"\\ud83d"', True), (b'"\\\\ud83d"', False),
     (b"\\ud83d", False),
     (b'"\\u00e4"', False), ("😀".encode(), False)],
)  # fmt: skip
def test_half_characters(body: bytes, is_half: bool) -> None:
    assert is_half_text(body) is is_half


class _Own(gr.HTML):
    def __init__(self, value: str = "", **kwargs: Any) -> None:
        super().__init__(value, **kwargs)

    def get_block_name(self) -> str:
        return "html"


def test_a_failure_leaves_nothing_behind_for_the_next_request() -> None:
    """Gradio's mark that an event runs stays set in a connection whose async event failed."""

    async def both() -> Any:
        with Page() as page:
            text, told = gr.Textbox(), _Own()
            gr.Button().click(_fail, text, told, api_name="fail")
            gr.Button().click(lambda: gr.update(value="new"), None, told, api_name="ok")
        fail, ok = page.fns.values()
        with pytest.raises(gr.Error, match="It failed"):
            await page.process_api(fail, ["!"])
        assert LocalContext.in_event_listener.get()
        return await page.process_api(ok, [], SessionState(page))

    assert asyncio.run(both())["data"][0]["value"] == "new"


def test_only_files_in_the_folder_of_uploads_count(tmp_path: Path) -> None:
    assert not is_uploaded(str(tmp_path))
    assert not is_uploaded("\0")


def test_a_first_view_comes_before_what_gradio_needs() -> None:
    app = FastAPI()
    with Page(title="A & B") as page:
        gr.HTML("built by Gradio")
    mount(app, page, head="<meta name=x>", early="<p>first</p>", later="<link href=later.css>")
    with TestClient(app) as client:
        html = client.get("/").text
    head, body = html.split("<body", 1)
    first, template = body.split('<template id="agl-gradio">')
    assert "<title>A &amp; B</title><meta name=x>" in head
    assert '<script type="module"' not in head
    assert "gradio_config" not in head + first
    assert first.split(">", 1)[1].startswith("<p>first</p>")
    assert "<gradio-app" in first
    assert template.startswith("<link href=later.css><script>window.gradio_config = ")
    assert re.search(r'<script type="module"[^>]+src="\./assets/index-', template)
    assert re.search(r'<link rel="stylesheet"[^>]+href="\./assets/index-', template)


def test_without_a_first_view_gradio_begins_at_once() -> None:
    app = FastAPI()
    with Page() as page:
        gr.HTML("built by Gradio")
    mount(app, page)
    with TestClient(app) as client:
        html = client.get("/").text
    assert "agl-gradio" not in html
    assert re.search(r'<script type="module"[^>]+src="\./assets/index-', html.split("<body")[0])
