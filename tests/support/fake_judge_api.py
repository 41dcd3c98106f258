"""An HTTP server with OpenAI's chat completions that answers as planned."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class FakeApi:
    """Gives the planned answers (status, body, headers) in turn, the last one again and again."""

    plan: list[tuple[int, object, dict[str, str]]] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    url: str = ""
    #: Gives the answer to a request's body; without it the plan is followed.
    judge: Callable[[dict[str, Any]], object] | None = None

    def will(self, *contents: object) -> None:
        """Plan answers: text becomes a completion, a number a status, anything else the body;
        a tuple is status, body and headers."""
        self.plan = [self.planned(content) for content in contents]

    def planned(self, content: object) -> tuple[int, object, dict[str, str]]:
        """Status, body and headers of one planned answer."""
        if isinstance(content, tuple):
            return content
        if isinstance(content, str):
            return 200, {"choices": [{"message": {"content": content}}]}, {}
        if isinstance(content, int):
            return content, {"error": "as planned"}, {"Retry-After": "0"}
        return 200, content, {}

    def next(self) -> tuple[int, object, dict[str, str]]:
        """The next planned answer."""
        return self.plan.pop(0) if len(self.plan) > 1 else self.plan[0]


@contextmanager
def fake_api() -> Iterator[FakeApi]:
    """The server, on a free port of 127.0.0.1."""
    fake = FakeApi()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            key = self.headers.get("Authorization")
            fake.requests.append({"path": self.path, "key": key, "body": body})
            status, answer, headers = fake.planned(fake.judge(body)) if fake.judge else fake.next()
            data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(status)
            for name, value in {"Content-Length": str(len(data)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    fake.url = f"http://127.0.0.1:{server.server_port}/v1"
    yield fake
    server.shutdown()
    thread.join()
    server.server_close()
