"""A player of the play API."""

from __future__ import annotations

from typing import Any

import httpx
from fastapi.testclient import TestClient

from game.calls import ROUTES


class Api:
    """A player of the API; remembers its tokens."""

    def __init__(self, http: httpx.Client | TestClient) -> None:
        self.http = http
        self.player = self.round = ""

    def ask(self, name: str, **fields: Any) -> Any:
        """Send a call with the latest tokens."""
        query = "?fragments=1" if fields.pop("fragments", False) else ""
        known = {"player": self.player, "round": self.round}
        wanted = ROUTES[name].body.__struct_fields__
        body = {key: value for key, value in known.items() if key in wanted} | fields
        response = self.http.post(f"/api/play/{name}{query}", json=body)
        if response.status_code == 200:
            self.player, self.round = response.json()["player"], response.json()["round"]
        return response

    def do(self, name: str, **fields: Any) -> Any:
        """Send a call that must work; returns its answer."""
        response = self.ask(name, **fields)
        assert response.status_code == 200, response.text
        return response.json()

    def refused(self, name: str, **fields: Any) -> tuple[int, str]:
        """Send a call that must not; returns the status and the sentence."""
        response = self.ask(name, **fields)
        assert list(response.json()) == ["error"]
        return response.status_code, response.json()["error"]

    def look_up(self, address: str) -> Any:
        """Ask with the player's token."""
        owner = {"Authorization": f"Bearer {self.player}"}
        return self.http.get(f"/api/play/{address}", headers=owner)
