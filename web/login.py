"""Signing in with Hugging Face, on a Space whose front matter says ``hf_oauth: true``.

Gradio does the signing in. What it would keep of it, a token among them, is cut down to the name;
and off a Space, where Gradio makes a login up, there is none.
"""

from __future__ import annotations

import logging
from typing import Any

import gradio as gr
from fastapi import FastAPI
from gradio import oauth, utils
from gradio.routes import App
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

log = logging.getLogger("agl1k")

_INFO = "oauth_info"  # Gradio's key in the session, which is a signed cookie
_FAILED = (
    "Signing in did not work, and nothing was changed. Go back to the page and try again; if your "
    "browser blocks the cookies of embedded pages, open the Space in a tab of its own."
)


def is_offered() -> bool:
    """Whether people can sign in: a Space for which Hugging Face has set all that it takes."""
    needed = (
        utils.get_space(),
        oauth.OAUTH_CLIENT_ID,
        oauth.OAUTH_CLIENT_SECRET,
        oauth.OAUTH_SCOPES,
        oauth.OPENID_PROVIDER_URL,
    )
    return all(needed)


def build_login(why_html: str) -> None:
    """What signing in is good for, and a button for it; nothing where nobody can sign in."""
    if is_offered():
        with gr.Row(equal_height=False):
            gr.HTML(why_html, apply_default_css=False, min_width=280)
            gr.LoginButton(logout_value="Sign out {}", size="sm", scale=0, min_width=220)


def name_of(profile: gr.OAuthProfile | None) -> str:
    """The Hub name that a login vouches for, or ""."""
    return profile.username if profile is not None and is_offered() else ""


def guard(app: FastAPI) -> None:
    """Keep no more than the name of who signs in to the mounted page, and believe no other site."""
    pages = [page for route in app.routes if isinstance(page := getattr(route, "app", None), App)]
    for page in pages if is_offered() else []:
        page.user_middleware.append(Middleware(LoginSession))  # the innermost: the session is there


class LoginSession:
    """ASGI middleware inside of the one that reads and writes the session.

    Gradio lets any site send requests along with a visitor's cookies, since its pages are embedded;
    so a login counts only for requests of our own pages.
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
                if _INFO in session:
                    session[_INFO] = trimmed(session[_INFO])
            await send(message)

        try:
            await self.app(scope, receive, send_trimmed)
        except Exception as error:
            if started:
                raise
            log.warning("event=login_failed: %s", type(error).__name__)  # its text may hold a token
            await PlainTextResponse(_FAILED, 502)(scope, receive, send)


def trimmed(info: dict[str, Any]) -> dict[str, Any]:
    """What Gradio was told of a person, without all but the name and when the login ends."""
    told = info.get("userinfo")
    name = str(told.get("preferred_username") or "") if isinstance(told, dict) else ""
    shown = {"preferred_username": name, "name": name, "profile": "", "picture": ""}
    return {"userinfo": shown, "expires_at": info.get("expires_at")}


def is_from_elsewhere(headers: Headers) -> bool:
    """Whether a browser says that another site's page sent this request."""
    sent_by = headers.get("sec-fetch-site")
    if sent_by is not None:
        return sent_by not in ("same-origin", "none")
    origin = headers.get("origin")
    return origin is not None and origin.partition("//")[2] != headers.get("host")
