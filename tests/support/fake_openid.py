"""A small OpenID provider for tests, which signs in ``user`` as huggingface.co would.

It sends more than a name, as the real one may: e-mail address, organisations, tokens.
"""

from __future__ import annotations

import base64
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlencode

from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import RedirectResponse
from joserfc import jwt
from joserfc.jwk import RSAKey

from tests.support.served import served

CLIENT_ID, CLIENT_SECRET = "fake-space-id", "fake-space-secret"
MAIL_HOST = "mail.invalid"
TOKEN_START = "hf_oauth_fake_"


@dataclass
class FakeOpenId:
    """Who is signed in, what went wrong, and the codes still to be redeemed."""

    user: str = "alice"
    error: str = ""
    token_status: int = 200
    endpoint: str = ""
    key: RSAKey = field(default_factory=lambda: RSAKey.generate_key(2048, {"kid": "1"}))
    codes: dict[str, dict[str, str]] = field(default_factory=dict)

    def environment(self) -> dict[str, str]:
        """What Hugging Face sets for a Space with ``hf_oauth: true``."""
        return {
            "SYSTEM": "spaces",
            "SPACE_ID": "tester/arena",
            "OAUTH_CLIENT_ID": CLIENT_ID,
            "OAUTH_CLIENT_SECRET": CLIENT_SECRET,
            "OAUTH_SCOPES": "openid profile",
            "OPENID_PROVIDER_URL": self.endpoint,
        }


@contextmanager
def serving(provider: FakeOpenId) -> Iterator[FakeOpenId]:
    """Serve the provider on this machine for the block."""
    with served(_build(provider)) as provider.endpoint:
        yield provider


def _build(provider: FakeOpenId) -> FastAPI:
    app = FastAPI()
    app.state.provider = provider
    app.get("/.well-known/openid-configuration")(configuration)
    app.get("/oauth/authorize")(authorize)
    app.post("/oauth/token")(token)
    app.get("/oauth/jwks")(jwks)
    return app


def configuration(request: Request) -> dict[str, Any]:
    endpoint = request.app.state.provider.endpoint
    return {
        "issuer": endpoint,
        "authorization_endpoint": f"{endpoint}/oauth/authorize",
        "token_endpoint": f"{endpoint}/oauth/token",
        "jwks_uri": f"{endpoint}/oauth/jwks",
        "id_token_signing_alg_values_supported": ["RS256"],
        "response_types_supported": ["code"],
        "token_endpoint_auth_methods_supported": ["client_secret_basic"],
    }


def authorize(
    request: Request, client_id: str, redirect_uri: str, state: str, nonce: str = ""
) -> RedirectResponse:
    provider: FakeOpenId = request.app.state.provider
    if client_id != CLIENT_ID:
        raise HTTPException(400, "unknown client")
    answer = {"state": state, "error": provider.error}
    if not provider.error:
        code = secrets.token_urlsafe()
        provider.codes[code] = {"user": provider.user, "nonce": nonce, "uri": redirect_uri}
        answer = {"state": state, "code": code}
    joint = "&" if "?" in redirect_uri else "?"
    return RedirectResponse(f"{redirect_uri}{joint}{urlencode(answer)}")


async def token(request: Request) -> dict[str, Any]:
    provider: FakeOpenId = request.app.state.provider
    expected = base64.b64encode(f"{CLIENT_ID}:{CLIENT_SECRET}".encode()).decode()
    if request.headers.get("authorization") != f"Basic {expected}":
        raise HTTPException(401, "the client does not prove who it is")
    if provider.token_status != 200:
        raise HTTPException(provider.token_status, f"not now {TOKEN_START}in_an_error")
    given = {name: values[0] for name, values in parse_qs((await request.body()).decode()).items()}
    known = provider.codes.pop(given["code"])
    if known["uri"] != given["redirect_uri"]:
        raise HTTPException(400, "another redirect_uri")
    return {
        "access_token": f"{TOKEN_START}{secrets.token_hex(8)}",
        "refresh_token": f"{TOKEN_START}{secrets.token_hex(8)}",
        "token_type": "bearer",
        "expires_in": 3600,
        "scope": "openid profile email",
        "id_token": _id_token(provider, known["user"], known["nonce"]),
    }


def _id_token(provider: FakeOpenId, user: str, nonce: str) -> str:
    now = int(time.time())
    claims = {
        "iss": provider.endpoint,
        "aud": CLIENT_ID,
        "sub": f"id-of-{user}",
        "iat": now,
        "exp": now + 3600,
        "nonce": nonce,
        "preferred_username": user,
        "name": f"{user.title()} Telltale",
        "email": f"{user}@{MAIL_HOST}",
        "profile": f"https://huggingface.co/{user}",
        "picture": "https://huggingface.co/picture.png",
        "orgs": [{"sub": f"org-{n}", "name": f"Telltale org {n}"} for n in range(40)],
    }
    return jwt.encode({"alg": "RS256", "kid": "1"}, claims, provider.key)


def jwks(request: Request) -> dict[str, Any]:
    return {"keys": [request.app.state.provider.key.as_dict(private=False)]}
