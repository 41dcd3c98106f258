"""``/metrics``: numbers for Prometheus, on an address of their own or behind a token.

No label contains anything about a person, and all labels have few values: addresses are grouped by
``GROUPS``.
"""

from __future__ import annotations

import hmac
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse, Response
from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest, start_http_server
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agl1k_core.errors import Agl1kError
from web.threads import Threads

#: The beginnings of addresses that are counted together; all others are "other".
GROUPS = (
    "/gradio_api/run", "/gradio_api/queue", "/gradio_api/upload", "/gradio_api", "/api/leaderboard",
    "/api/play", "/clip", "/config", "/assets", "/static", "/healthz", "/readyz", "/metrics",
)  # fmt: skip
_METHODS = ("GET", "HEAD", "POST")
_BUCKETS = (0.01, 0.03, 0.1, 0.3, 1, 3, 10)


@dataclass(frozen=True)
class Reading:
    """A number that is looked up whenever metrics are asked for; ``label``: its one label."""

    name: str
    meaning: str
    look_up: Callable[[], Mapping[str, float] | float]
    label: str = ""
    only_grows: bool = False

    def metric(self) -> Metric:
        """The number in Prometheus' form."""
        family = CounterMetricFamily if self.only_grows else GaugeMetricFamily
        labels = [self.label] if self.label else []
        made = family(f"agl1k_{self.name}", self.meaning, labels=labels)
        found = self.look_up()
        values = found if isinstance(found, Mapping) else {"": found}
        for label, value in values.items():
            made.add_metric([label] if self.label else [], value)
        return made


class _Readings(Collector):
    def __init__(self, readings: tuple[Reading, ...]) -> None:
        self._readings = readings

    def collect(self) -> Iterator[Metric]:
        return (reading.metric() for reading in self._readings)


class Metrics:
    """What one app reports: its requests, and some ``readings``."""

    def __init__(self, *readings: Reading) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self.registry.register(_Readings(readings))
        self.requests = Counter(
            "agl1k_requests",
            "Requests by group of addresses, method and status",
            ["address", "method", "status"],
            registry=self.registry,
        )
        self.seconds = Histogram(
            "agl1k_request_seconds",
            "Seconds until a response began",
            ["address"],
            buckets=_BUCKETS,
            registry=self.registry,
        )

    def text(self) -> bytes:
        """All numbers, in Prometheus' text format."""
        return generate_latest(self.registry)

    @contextmanager
    def served(self, host: str, port: int) -> Iterator[int]:
        """Serve them on an address of their own during the block; yields the port.

        Raises ``Agl1kError`` if the address cannot be used.
        """
        try:
            server, thread = start_http_server(port, host, self.registry)
        except OSError as error:
            raise Agl1kError(
                f"Metrics cannot be served on {host[:80]}, port {port}: "
                f"{error.strerror or 'no such address'}. Set AGL1K_METRICS_ADDRESS to another one, "
                "or unset it."
            ) from None
        try:
            yield server.server_port
        finally:
            server.shutdown()
            server.server_close()
            thread.join()


class CountRequests:
    """ASGI middleware that counts requests, and how long their responses take to begin."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app, self.metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begun, address = time.perf_counter(), group_of(scope)
        method = scope["method"] if scope["method"] in _METHODS else "other"

        async def send_counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                self.metrics.requests.labels(address, method, str(message["status"])).inc()
                self.metrics.seconds.labels(address).observe(time.perf_counter() - begun)
            await send(message)

        await self.app(scope, receive, send_counted)


def group_of(scope: Scope) -> str:
    """The group of a request's address."""
    path = scope["path"]
    if path in ("", "/"):
        return "/"
    return next((group for group in GROUPS if re.match(rf"{group}(?![\w-])", path)), "other")


def metrics_router(metrics: Metrics, token: str) -> APIRouter:
    """``GET /metrics`` for those who send ``Authorization: Bearer`` with the token."""
    router = APIRouter(include_in_schema=False)
    collected = Threads(1)(metrics.text)

    @router.get("/metrics")
    async def show(request: Request) -> Response:
        given = request.headers.get("authorization", "")
        if not hmac.compare_digest(given.encode(), f"Bearer {token}".encode()):
            asked = {"WWW-Authenticate": "Bearer"}
            return PlainTextResponse("Metrics need the token of this server.", 401, headers=asked)
        return Response(await collected(), media_type=CONTENT_TYPE_LATEST)

    return router
