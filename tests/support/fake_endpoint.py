"""Endpoints with OpenAI's chat completions as vendors really make them: picky, deaf, slow, broken.

A fake that hears decodes what it is sent and counts the beeps of the hearing check, as a model
would, and the bars of the seeing check; about anything else it answers with a place that depends on
the sound.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import av
import numpy as np
import numpy.typing as npt
from PIL import Image

Json = dict[str, Any]
AUDIO_TOKENS_PER_S = 25


@dataclass(frozen=True)
class Fault:
    """One response that goes wrong; with ``cut``, the connection ends after so many bytes."""

    status: int = 200
    body: object = None
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: int | None = None
    #: Counts as an answer that was given and charged.
    charged: bool = False


@dataclass
class Heard:
    """A request's sound: its bytes, their format as declared, and the shape they came in."""

    data: bytes
    format: str
    shape: str

    def samples(self) -> tuple[npt.NDArray[np.float32], int]:
        """One channel, and its rate in Hz."""
        with av.open(io.BytesIO(self.data), "r") as container:
            stream = container.streams.audio[0]
            resampler = av.AudioResampler(format="flt", layout="mono")
            frames = [
                part.to_ndarray()[0]
                for frame in container.decode(stream)
                for part in resampler.resample(frame)
            ]
            return np.concatenate(frames), stream.rate

    @property
    def sha256(self) -> str:
        """SHA-256 of its bytes, in hexadecimal."""
        return hashlib.sha256(self.data).hexdigest()

    def beeps(self) -> int:
        """How often the sound rises out of silence."""
        samples, rate_hz = self.samples()
        block = rate_hz // 20
        n = len(samples) // block
        loud = np.sqrt((samples[: n * block].reshape(n, block) ** 2).mean(axis=1)) > 0.05
        return int(np.count_nonzero(loud[1:] & ~loud[:-1]))


@dataclass
class FakeEndpoint:
    """How the endpoint behaves; tests change it while it runs."""

    shapes: tuple[str, ...] = ("object",)
    formats: tuple[str, ...] = ("wav", "mp3", "flac", "ogg")
    hears: bool = True
    sees: bool = True
    #: Whether a picture beside sound is accepted.
    takes_pictures: bool = True
    #: Sound in other shapes is accepted and dropped.
    heard_shapes: tuple[str, ...] = ("object", "string", "audio_url", "data_url")
    counts_tokens: bool = True
    streams_only: bool = False
    refuses_stream: bool = False
    key: str = ""
    model: str = "fake-model"
    max_bytes: int = 10**9
    max_audio_s: float = 10**6
    cost: float | None = None
    completion_tokens: int | None = 60
    delay_s: Callable[[int], float] = lambda number: 0.0
    wrap: Callable[[str], str] = lambda text: text
    reject: Callable[[Json], Fault | None] = lambda body: None
    deaf_answer: str = '{"city": "Paris", "country": "France", "latitude": 48.9, "longitude": 2.4}'
    finish: str = "stop"
    faults: list[Fault] = field(default_factory=list)
    #: Gives the answer about a clip from its sound; None without sound.
    answer: Callable[[Heard | None, str], str] | None = None
    #: Gives the answer about a clip from the whole request.
    converse: Callable[[Json], str] | None = None

    url: str = ""
    requests: list[Json] = field(default_factory=list)
    #: How often each sound was answered successfully, by the SHA-256 of its bytes.
    answered: Counter[str] = field(default_factory=Counter)
    charged: float = 0.0
    under_way: int = 0
    most_under_way: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def about_clips(self) -> list[Json]:
        """The requests that are not probes."""
        return [body for body in self.requests if not is_probe(body)]

    def respond(self, path: str, key: str, data: bytes) -> Fault:
        """The response to a request, as a status, a body and headers."""
        with self.lock:
            number = len(self.requests)
        if not path.endswith("/v1/chat/completions"):
            return Fault(404, {"error": {"message": "Not Found"}})
        if self.key and key != f"Bearer {self.key}":
            return Fault(401, {"error": {"message": f"Incorrect API key provided: {key[7:]}"}})
        if len(data) > self.max_bytes:
            return Fault(413, {"error": {"message": "Request body too large"}})
        body = json.loads(data)
        with self.lock:
            self.requests.append(body)
        time.sleep(self.delay_s(number))
        return self._rejected(body) or self._next_fault(body) or self._answered(body)

    def _rejected(self, body: Json) -> Fault | None:
        if body["model"] != self.model:
            return bad(f"The model `{body['model']}` does not exist", 404)
        if self.streams_only and not body.get("stream"):
            return bad("This model only supports stream mode, please enable the stream parameter")
        if self.refuses_stream and body.get("stream"):
            return bad("streaming is not available")
        if pictures_in(body) and not self.takes_pictures:
            return bad("image input is not supported - hint: a projector is needed", 500)
        for sound in sounds_in(body):
            if sound.shape not in self.shapes:
                return bad(f"messages: unexpected content part, got {sound.shape}", 422)
            if sound.format not in self.formats:
                return bad(f"Invalid value: '{sound.format}'. Unsupported audio format.")
            if self.max_audio_s < 10**6:
                samples, rate_hz = sound.samples()
                if len(samples) / rate_hz > self.max_audio_s:
                    return bad(f"Audio duration exceeds the maximum of {self.max_audio_s:g} s")
        return self.reject(body)

    def _next_fault(self, body: Json) -> Fault | None:
        with self.lock:
            if is_probe(body) or not self.faults:
                return None
            fault = self.faults.pop(0)
            if fault.charged:
                self.charged += self.cost or 0.0
            return fault

    def _answered(self, body: Json) -> Fault:
        sound, prompt = next(reversed(sounds_in(body)), None), text_in(body)
        text = self.wrap(self._words(body, sound, prompt))
        with self.lock:
            if not is_probe(body):
                self.answered[digest(sound)] += 1
            self.charged += self.cost or 0.0
        usage = self._usage(sound, prompt)
        if body.get("stream"):
            return Fault(200, self._stream(text, usage), {"Content-Type": "text/event-stream"})
        choice = {"message": {"role": "assistant", "content": text}, "finish_reason": self.finish}
        return Fault(200, {"model": f"{self.model}-0001", "choices": [choice], "usage": usage})

    def _words(self, body: Json, sound: Heard | None, prompt: str) -> str:
        if "bars" in prompt:
            return str(bars_in(pictures_in(body)[-1])) if self.sees else self.deaf_answer
        if "beeps" in prompt:
            if not self.hears or (sound and sound.shape not in self.heard_shapes):
                return self.deaf_answer
            return str(sound.beeps()) if sound else "0"
        if self.converse:
            return self.converse(body)
        if self.answer:
            return self.answer(sound, prompt)
        return place_of(sound if self.hears else None)

    def _usage(self, sound: Heard | None, prompt: str) -> Json:
        tokens = len(prompt) // 4
        if sound and self.hears and self.counts_tokens:
            samples, rate_hz = sound.samples()
            tokens += round(AUDIO_TOKENS_PER_S * len(samples) / rate_hz)
        cost = {} if self.cost is None else {"cost": self.cost}
        return {"prompt_tokens": tokens, "completion_tokens": self.completion_tokens, **cost}

    def _stream(self, text: str, usage: Json) -> bytes:
        parts = [text[at : at + 7] for at in range(0, len(text), 7)]
        chunks: list[Json] = [{"choices": [{"delta": {"content": part}}]} for part in parts]
        chunks.append({"choices": [{"delta": {}, "finish_reason": self.finish}]})
        chunks.append({"choices": [], "usage": usage, "model": f"{self.model}-0001"})
        lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
        return "".join([": PROCESSING\n\n", *lines, "data: [DONE]\n\n"]).encode()


def bad(message: str, status: int = 400) -> Fault:
    """A refusal in the words of a vendor."""
    return Fault(status, {"error": {"message": message}})


def digest(sound: Heard | None) -> str:
    return sound.sha256 if sound else ""


def place_of(sound: Heard | None) -> str:
    """A place that depends on the sound alone."""
    number = int(digest(sound)[:8] or "0", 16)
    place = {
        "reason": "I hear it.", "city": "Somewhere", "country": "France", "continent": "Europe",
        "longitude": number % 360 - 180, "latitude": number % 170 - 85,
    }  # fmt: skip
    return json.dumps(place)


def is_probe(body: Json) -> bool:
    """Whether a request belongs to the hearing check, the seeing check or to probing."""
    text = text_in(body)
    return any(words in text for words in ("beeps", "white bars", "word ready"))


def text_in(body: Json) -> str:
    """The text of a request."""
    content = body["messages"][-1]["content"]
    if isinstance(content, str):
        return content
    return " ".join(part["text"] for part in content if part["type"] == "text")


def sounds_in(body: Json) -> list[Heard]:
    """The sounds of a request, in whatever shape they came."""
    content = body["messages"][-1]["content"]
    parts = content if isinstance(content, list) else []
    return [_heard(part) for part in parts if part["type"] not in ("text", "image_url")]


def pictures_in(body: Json) -> list[bytes]:
    """The PNG files of a request."""
    content = body["messages"][-1]["content"]
    parts = content if isinstance(content, list) else []
    urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    return [base64.b64decode(url.partition(",")[2]) for url in urls]


def bars_in(png: bytes) -> int:
    """How often a picture turns from dark to bright, from left to right."""
    pixels = np.asarray(Image.open(io.BytesIO(png)).convert("L"))
    row = pixels[len(pixels) // 2] > 127
    return int(np.count_nonzero(row[1:] & ~row[:-1]))


def _heard(part: Json) -> Heard:
    if part["type"] == "audio_url":
        head, data = part["audio_url"]["url"].split(",", 1)
        kind = head.removeprefix("data:audio/").removesuffix(";base64")
        return Heard(base64.b64decode(data), {"mpeg": "mp3"}.get(kind, kind), "audio_url")
    sound = part["input_audio"]
    if isinstance(sound, str):
        data = base64.b64decode(sound)
        return Heard(data, "wav" if data[:4] == b"RIFF" else "mp3", "string")
    if sound["data"].startswith("data:"):
        return Heard(base64.b64decode(sound["data"].split(",", 1)[1]), sound["format"], "data_url")
    return Heard(base64.b64decode(sound["data"]), sound["format"], "object")


class _QuietServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_: object) -> None:
        """Log nothing: in these tests, clients hang up."""


@contextmanager
def fake_endpoint(port: int = 0, **behaviour: Any) -> Iterator[FakeEndpoint]:
    """The endpoint, on a free port of 127.0.0.1 unless one is given."""
    fake = FakeEndpoint(**behaviour)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers["Content-Length"]))
            with fake.lock:
                fake.under_way += 1
                fake.most_under_way = max(fake.most_under_way, fake.under_way)
            try:
                response = fake.respond(self.path, self.headers.get("Authorization", ""), data)
            finally:
                with fake.lock:
                    fake.under_way -= 1
            with suppress(BrokenPipeError, ConnectionResetError):
                self._send(response)

        def _send(self, response: Fault) -> None:
            body = response.body
            content = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(response.status)
            headers = {"Content-Length": str(len(content)), "Content-Type": "application/json"}
            for name, value in {**headers, **response.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            if response.cut is not None:
                self.close_connection = True
            self.wfile.write(content[: response.cut])

        def log_message(self, *_: object) -> None:
            pass

    server = _QuietServer(("127.0.0.1", port), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    fake.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield fake
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
