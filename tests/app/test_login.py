"""Signing in with Hugging Face: a verified owner on a Space, ignored anywhere else."""

from __future__ import annotations

import base64
import hashlib
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import itsdangerous
import pytest

import app as app_module
from agl1k_core.benchmarks import open_registry
from agl1k_core.config import Config
from tests.support.app_help import AppProcess, Visitor, app_process
from tests.support.fake_hub import WRITE, FakeHub
from tests.support.fake_hub import serving as serving_hub
from tests.support.fake_openid import CLIENT_SECRET, MAIL_HOST, TOKEN_START, FakeOpenId, serving
from tests.support.hub_help import rows_on
from tests.support.served import served
from tests.support.toy_board import prediction_file
from tests.support.waiting import eventually
from web.settings import Settings

TELLTALES = (TOKEN_START, MAIL_HOST, "Telltale", CLIENT_SECRET, "id-of-alice", "eyJ")
OFF_SPACE = [
    {},
    {"SPACE_ID": "tester/arena"},
    {"SPACE_ID": "tester/arena", "SYSTEM": "spaces"},
    {"OAUTH_CLIENT_ID": "x", "OAUTH_CLIENT_SECRET": "y", "OAUTH_SCOPES": "openid profile",
     "OPENID_PROVIDER_URL": "http://127.0.0.1:9"},
]  # fmt: skip


@pytest.fixture(scope="module")
def provider() -> Iterator[FakeOpenId]:
    with serving(FakeOpenId()) as started:
        yield started


@pytest.fixture(scope="module")
def hub() -> Iterator[FakeHub]:
    with serving_hub(FakeHub()) as started:
        yield started


@pytest.fixture(scope="module")
def space(
    provider: FakeOpenId, hub: FakeHub, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[AppProcess]:
    published = {
        "AGL1K_HUB_DATASET": "tester/plays", "AGL1K_HUB_TOKEN": WRITE,
        "HF_ENDPOINT": hub.endpoint, "AGL1K_HUB_INTERVAL_S": "0.2",
    }  # fmt: skip
    env = {**provider.environment(), **published}
    with app_process(tmp_path_factory.mktemp("space"), env) as running:
        yield running


@pytest.fixture(scope="module")
def demo_file(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    config = Config.from_env({"AGL1K_DATA": str(tmp_path_factory.mktemp("demo"))})
    return prediction_file(open_registry(config).benchmarks["demo"], 1.0)


def signed_in(space: AppProcess, provider: FakeOpenId, user: str) -> Visitor:
    """A visitor who has signed in through the provider."""
    visitor = Visitor(space.url)
    provider.user = user
    answer = visitor.http.get("/login/huggingface?_target_url=/?tab=submit", follow_redirects=True)
    assert answer.status_code == 200
    assert answer.url.params["tab"] == "submit"
    return visitor


def publish(visitor: Visitor, file: bytes, model: str) -> httpx.Response:
    event = visitor.event(visitor.find(elem_id="agl-publish"), "click")
    about = [model, "", "", "open", "", "", True, "", "", None]
    nothing_asked = None
    upload = visitor.upload("answers.json", file)
    return visitor.call(event, nothing_asked, "demo", upload, *about)


def receipt_of(published: httpx.Response) -> str:
    problems, receipt, *_ = published.json()["data"]
    assert not problems
    return str(receipt)


def withdraw(visitor: Visitor, submission_id: str, key: str = "", **headers: str) -> httpx.Response:
    event = visitor.event(visitor.find(value="Withdraw"), "click")
    return visitor.call(event, submission_id, key, **headers)


def rows_of(visitor: Visitor, model: str) -> list[dict[str, Any]]:
    rows = visitor.http.get("/api/leaderboard?board=demo").json()["rows"]
    return [row for row in rows if row["model"] == model]


def row_of(visitor: Visitor, model: str) -> dict[str, Any]:
    [row] = rows_of(visitor, model)
    return row


def session_of(visitor: Visitor) -> str:
    [cookie] = [cookie for cookie in visitor.http.cookies.jar if cookie.name == "session"]
    return str(cookie.value)


def forged(name: str, secret: str) -> str:
    """A session cookie for ``name``, signed with ``secret``."""
    told = {"preferred_username": name, "name": name, "profile": "", "picture": ""}
    info = {"oauth_info": {"userinfo": told, "expires_at": time.time() + 3600}}
    data = base64.b64encode(json.dumps(info).encode())
    return itsdangerous.TimestampSigner(secret).sign(data).decode()


def gradio_secret(oauth_secret: str) -> str:
    return hashlib.sha256(f"{oauth_secret}-v4".encode()).hexdigest()


def test_an_owner_withdraws_without_the_key(
    space: AppProcess, provider: FakeOpenId, hub: FakeHub, demo_file: bytes
) -> None:
    alice, bob = (signed_in(space, provider, user) for user in ("alice", "bob"))
    receipt = receipt_of(publish(alice, demo_file, "Owned"))
    assert "Signed in as alice you can withdraw it" in receipt
    row = row_of(bob, "Owned")
    assert row["owner"] == "alice"
    page = bob.http.get("/api/leaderboard/page?board=demo").text
    assert 'href="https://huggingface.co/alice"' in page
    eventually(lambda: "tester/plays" in hub.repos and rows_on(hub, "submissions"))
    assert [row["owner"] for row in rows_on(hub, "submissions")] == ["alice"]

    refused = withdraw(bob, row["row_id"]).json()["data"][0]
    assert "bob did not publish this submission" in refused
    assert row_of(bob, "Owned")
    told = withdraw(alice, row["row_id"]).json()["data"][0]
    assert "Owned is withdrawn" in told
    assert rows_of(bob, "Owned") == []
    eventually(lambda: rows_on(hub, "submissions") == [])


def test_the_key_withdraws_an_owned_submission(
    space: AppProcess, provider: FakeOpenId, demo_file: bytes
) -> None:
    alice = signed_in(space, provider, "alice")
    receipt = receipt_of(publish(alice, demo_file, "Keyed"))
    key = receipt.partition("data-key>")[2].partition("<")[0]
    row = row_of(alice, "Keyed")
    nobody = Visitor(space.url)
    assert "does not belong" in withdraw(nobody, row["row_id"]).json()["data"][0]
    assert "Keyed is withdrawn" in withdraw(nobody, row["row_id"], key).json()["data"][0]


def test_the_page_of_someone_signed_in_is_everybodys_page(
    space: AppProcess, provider: FakeOpenId
) -> None:
    alice, nobody = signed_in(space, provider, "alice"), Visitor(space.url)
    for address in ("/", "/config", "/gradio_api/info"):
        seen = [visitor.http.get(address) for visitor in (alice, nobody, alice)]
        assert len({answer.content for answer in seen}) == 1, address
        assert "alice" not in seen[0].text
        assert "set-cookie" not in seen[1].headers


def test_signing_out_ends_ownership(
    space: AppProcess, provider: FakeOpenId, demo_file: bytes
) -> None:
    alice = signed_in(space, provider, "alice")
    alice.http.get("/logout")
    publish(alice, demo_file, "After signing out")
    row = row_of(alice, "After signing out")
    assert row["owner"] == ""


@pytest.mark.parametrize(
    "cookie",
    [
        forged("alice", "guess"),
        forged("alice", gradio_secret("")),
        forged("alice", CLIENT_SECRET),
        base64.b64encode(b'{"oauth_info": {"userinfo": {"preferred_username": "alice"}}}').decode(),
        "alice",
        "null",
    ],
)
def test_a_forged_cookie_signs_nobody_in(
    space: AppProcess, provider: FakeOpenId, demo_file: bytes, cookie: str
) -> None:
    alice = signed_in(space, provider, "alice")
    publish(alice, demo_file, "Wanted")
    row = row_of(alice, "Wanted")
    forger = Visitor(space.url, Cookie=f"session={cookie}")
    assert "does not belong" in withdraw(forger, row["row_id"]).json()["data"][0]
    publish(forger, demo_file, "Forged")
    made = row_of(forger, "Forged")
    assert made["owner"] == ""


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
    ],
)
def test_another_site_cannot_use_a_login(
    space: AppProcess, provider: FakeOpenId, demo_file: bytes, headers: dict[str, str]
) -> None:
    alice = signed_in(space, provider, "alice")
    publish(alice, demo_file, "Wanted")
    row = row_of(alice, "Wanted")
    assert "does not belong" in withdraw(alice, row["row_id"], **headers).json()["data"][0]
    alice.http.get("/logout", headers=headers)
    own = {"Sec-Fetch-Site": "same-origin", "Origin": space.url}
    assert "is withdrawn" in withdraw(alice, row["row_id"], **own).json()["data"][0]


def test_nothing_but_the_name_is_kept(
    space: AppProcess, provider: FakeOpenId, hub: FakeHub, demo_file: bytes
) -> None:
    alice = signed_in(space, provider, "alice")
    publish(alice, demo_file, "Private")
    eventually(lambda: "Private" in [row["model"] for row in rows_on(hub, "submissions")])
    session = base64.b64decode(session_of(alice).split(".")[0])
    assert b'"preferred_username": "alice"' in session
    data = space.log.parent / "data"
    stored = b"".join(path.read_bytes() for path in data.rglob("*") if path.is_file())
    published = b"".join(blob.data for blob in hub.repo().head.files.values())
    for telltale in map(str.encode, TELLTALES):
        assert telltale not in session
        assert telltale not in stored
        assert telltale not in published
        assert telltale not in space.log.read_bytes()
    assert b"alice" in stored


@pytest.mark.parametrize("wrong", ["denied", "token", "replay"])
def test_a_failed_login_is_explained(space: AppProcess, provider: FakeOpenId, wrong: str) -> None:
    visitor = Visitor(space.url)
    provider.error = "access_denied" if wrong == "denied" else ""
    provider.token_status = 500 if wrong == "token" else 200
    try:
        if wrong == "replay":
            visitor = signed_in(space, provider, "alice")
            answer = visitor.http.get("/login/callback?code=old&state=old&_nb_redirects=9")
        else:
            answer = visitor.http.get("/login/huggingface", follow_redirects=True)
    finally:
        provider.error, provider.token_status = "", 200
    assert answer.status_code == 502
    assert "Signing in did not work, and nothing was changed." in answer.text
    said = space.said()
    assert "event=login_failed" in said
    assert "Traceback" not in said
    assert TOKEN_START not in said


@pytest.mark.parametrize("env", OFF_SPACE)
def test_outside_a_space_there_is_no_login(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, demo_file: bytes, env: dict[str, str]
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_of_the_developer")  # with it, Gradio would sign everybody in
    for name in ("SYSTEM", "SPACE_ID"):
        monkeypatch.delenv(name, raising=False)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
        if name.startswith("O"):
            monkeypatch.setattr(f"gradio.oauth.{name}", value)
    settings = Settings.from_env({"AGL1K_DATA": str(tmp_path)})
    with served(app_module.create_app(settings)) as url:
        visitor = Visitor(url)
        assert "loginbutton" not in {part["type"] for part in visitor.config["components"]}
        assert "sign in" not in json.dumps(visitor.config).casefold()
        assert visitor.http.get("/login/huggingface").status_code == 404
        cookie = forged("alice", gradio_secret(env.get("OAUTH_CLIENT_SECRET", "")))
        visitor.http.headers["Cookie"] = f"session={cookie}"
        for name in ("Remote-User", "X-Forwarded-User", "X-Forwarded-Preferred-Username"):
            visitor.http.headers[name] = "alice"
        visitor.http.params = {"preferred_username": "alice", "oauth_info": "alice"}
        publish(visitor, demo_file, "Claimed")
        row = row_of(Visitor(url), "Claimed")
        assert row["owner"] == ""
        answer = withdraw(visitor, row["row_id"]).json()["data"][0]
        assert "does not belong" in answer
