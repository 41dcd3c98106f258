"""Signing in with Hugging Face, on a Space whose front matter says ``hf_oauth: true``.

Gradio handles the login. Of what it would keep, including a token, only the name is left. Off a
Space, where Gradio makes up a login for development, nobody can sign in.
"""

from __future__ import annotations

import logging
from typing import Any

import gradio as gr
from fastapi import FastAPI
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from web.gradio_adapter import LOGIN_KEY, add_innermost, gradio_apps, is_login_configured

log = logging.getLogger("agl1k")

_FAILED = (
    "Signing in did not work, and nothing was changed. Go back to the page and try again; if your "
    "browser blocks the cookies of embedded pages, open the Space in a tab of its own."
)


def is_offered() -> bool:
    """Whether people can sign in here."""
    return is_login_configured()


def build_login(why_html: str) -> None:
    """Add a button for signing in, and the reason to do so; nothing if nobody can sign in."""
    if is_offered():
        with gr.Row(equal_height=False):
            gr.HTML(why_html, apply_default_css=False, min_width=280)
            gr.LoginButton(logout_value="Sign out {}", size="sm", scale=0, min_width=220)


def name_of(profile: gr.OAuthProfile | None) -> str:
    """The Hub name that a login vouches for, or ""."""
    return profile.username if profile is not None and is_offered() else ""


def guard(app: FastAPI) -> None:
    """Keep only the names of people who sign in to the pages mounted in ``app``.

    A login counts only for requests that these pages send themselves.
    """
    for page in gradio_apps(app) if is_offered() else ():
        add_innermost(page, LoginSession)


class LoginSession:
    """ASGI middleware inside the one that reads and writes the session.

    Gradio lets any site send requests with a visitor's cookies, because its pages are embedded; so
    a login counts only for requests that our own pages send.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
        elif "/login/" in scope["path"]:
            await self._sign_in(scope, receive, send)
        elif is_from_elsewhere(Headers(scope=scope)):
            await self.app({**scope, "session": {}}, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _sign_in(self, scope: Scope, receive: Receive, send: Send) -> None:
        session, started = scope["session"], False

        async def send_trimmed(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                if LOGIN_KEY in session:
                    session[LOGIN_KEY] = trimmed(session[LOGIN_KEY])
            await send(message)

        try:
            await self.app(scope, receive, send_trimmed)
        except Exception as error:
            if started:
                raise
            log.warning("event=login_failed: %s", type(error).__name__)  # its text may hold a token
            await PlainTextResponse(_FAILED, 502)(scope, receive, send)


def trimmed(info: dict[str, Any]) -> dict[str, Any]:
    """A login in Gradio's form, reduced to the name and the time when it ends."""
    person = info.get("userinfo")
    name = str(person.get("preferred_username") or "") if isinstance(person, dict) else ""
    shown = {"preferred_username": name, "name": name, "profile": "", "picture": ""}
    return {"userinfo": shown, "expires_at": info.get("expires_at")}


def is_from_elsewhere(headers: Headers) -> bool:
    """Whether the browser says that another site's page sent this request."""
    sent_by = headers.get("sec-fetch-site")
    if sent_by is not None:
        return sent_by not in ("same-origin", "none")
    origin = headers.get("origin")
    return origin is not None and origin.partition("//")[2] != headers.get("host")
