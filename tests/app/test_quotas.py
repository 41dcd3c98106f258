"""Scripted opens from one address do not shut out another, whatever their headers say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import httpx

from tests.support.app_help import AppProcess, app_process
from tests.support.waiting import PATIENCE_S

LIMITS = {"AGL1K_ROUNDS_PER_HOUR": "40", "AGL1K_ROUNDS_PER_ADDRESS": "4"}


def opened(
    app: AppProcess, source: str, n: int, header: str = "", forwarded: Mapping[str, str] = {}
) -> Counter[int]:
    """Open ``n`` rounds as ``n`` new players; returns how often each status was answered.

    ``header`` gets another address each time; ``forwarded`` are further headers.
    """
    transport = httpx.HTTPTransport(local_address=source)
    with httpx.Client(base_url=app.url, transport=transport, timeout=PATIENCE_S) as http:
        return Counter(
            http.post(
                "/api/play/open",
                json={},
                headers={**forwarded, **({header: f"203.0.113.{number}"} if header else {})},
            ).status_code
            for number in range(n)
        )


def test_a_farm_at_one_address_leaves_rounds_for_others(tmp_path: Path) -> None:
    with app_process(tmp_path, LIMITS) as app:
        assert opened(app, "127.0.0.31", 30, "X-Forwarded-For") == {200: 20, 429: 10}
        assert opened(app, "127.0.0.31", 2, "X-Real-IP") == {429: 2}
        assert opened(app, "127.0.0.31", 2, "Forwarded") == {429: 2}
        assert opened(app, "127.0.0.32", 6) == {200: 4, 429: 2}
        assert opened(app, "127.0.0.33", 4) == {200: 4}
        assert httpx.get(f"{app.url}/readyz").status_code == 200
        said = app.said()
    assert "127.0.0.3" not in said.replace(app.url, "")
    assert "203.0.113." not in said


def test_behind_a_trusted_proxy_visitors_are_told_apart(tmp_path: Path) -> None:
    env = {**LIMITS, "AGL1K_TRUSTED_PROXIES": "127.0.0.41"}
    with app_process(tmp_path, env) as app:
        farm = {"X-Forwarded-For": "203.0.113.9"}
        assert opened(app, "127.0.0.41", 22, forwarded=farm) == {200: 20, 429: 2}
        assert opened(app, "127.0.0.41", 6, "X-Forwarded-For") == {200: 6}
        claimed = {"X-Forwarded-For": "198.51.100.1, 203.0.113.9"}
        assert opened(app, "127.0.0.41", 2, forwarded=claimed) == {429: 2}, (
            "only what the proxy itself added is believed"
        )
        assert opened(app, "127.0.0.42", 6, "X-Forwarded-For") == {200: 4, 429: 2}
