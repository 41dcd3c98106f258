from __future__ import annotations

import gradio as gr
import pytest
from starlette.datastructures import Headers

from web import login

TOLD = {
    "access_token": "secret",
    "id_token": "secret",
    "expires_at": 17,
    "userinfo": {"preferred_username": "ada", "email": "ada@mail.invalid", "orgs": [{"sub": "1"}]},
}


@pytest.fixture
def on_space(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYSTEM", "spaces")
    monkeypatch.setenv("SPACE_ID", "tester/arena")
    for name in ("CLIENT_ID", "CLIENT_SECRET", "SCOPES"):
        monkeypatch.setattr(f"gradio.oauth.OAUTH_{name}", "x")
    monkeypatch.setattr("gradio.oauth.OPENID_PROVIDER_URL", "http://127.0.0.1:9")


def profile() -> gr.OAuthProfile:
    return gr.OAuthProfile(login.trimmed(TOLD)["userinfo"])


def test_only_the_name_and_the_end_are_kept() -> None:
    kept = login.trimmed(TOLD)
    assert kept["expires_at"] == 17
    assert "secret" not in str(kept)
    assert "mail" not in str(kept)


@pytest.mark.parametrize("told", [{}, {"userinfo": None}, {"userinfo": {}}, {"userinfo": "ada"}])
def test_a_login_without_a_name_counts_for_nothing(told: dict[str, object], on_space: None) -> None:
    named = gr.OAuthProfile(login.trimmed(told)["userinfo"])
    assert login.name_of(named) == ""


def test_a_name_counts_on_a_space(on_space: None) -> None:
    assert login.name_of(profile()) == "ada"
    assert login.name_of(None) == ""


@pytest.mark.parametrize("lacking", ["OAUTH_CLIENT_ID", "OAUTH_SCOPES", "OPENID_PROVIDER_URL"])
def test_a_name_counts_nowhere_else(
    on_space: None, monkeypatch: pytest.MonkeyPatch, lacking: str
) -> None:
    monkeypatch.setattr(f"gradio.oauth.{lacking}", None)
    assert login.name_of(profile()) == ""
    with gr.Blocks() as page:
        login.build_login("<p>Sign in</p>")
    assert not page.blocks


@pytest.mark.parametrize(
    ("headers", "elsewhere"),
    [
        ({}, False),
        ({"sec-fetch-site": "same-origin", "origin": "https://other.example"}, False),
        ({"sec-fetch-site": "none"}, False),
        ({"sec-fetch-site": "cross-site"}, True),
        ({"sec-fetch-site": "same-site"}, True),
        ({"origin": "https://arena.example", "host": "arena.example"}, False),
        ({"origin": "https://arena.example:8", "host": "arena.example"}, True),
        ({"origin": "https://evil.example", "host": "arena.example"}, True),
        ({"origin": "null", "host": "arena.example"}, True),
        ({"origin": "null"}, True),
        ({"origin": "https://[", "host": "arena.example"}, True),
    ],
)
def test_which_requests_another_site_has_sent(headers: dict[str, str], elsewhere: bool) -> None:
    assert login.is_from_elsewhere(Headers(headers)) is elsewhere
