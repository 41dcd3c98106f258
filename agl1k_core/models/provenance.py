"""How a prediction file came about, as a person reads it beside the file or on the board.

``agl1k submit`` sends it with the predictions, in one JSON object with the members ``provenance``
and ``predictions``. What arrives at a board was written by somebody else: nothing in it is trusted
to have a certain type or length.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from agl1k_core.errors import Agl1kError
from agl1k_core.files import json_lines, sha256_of_file

PROVENANCE = "provenance.json"
_LONGEST_VALUE = 200
LISTENER_COMMAND = "agl1k listen"
_MADE_BY = ("agl1k run", LISTENER_COMMAND)
_HEARING = {
    "passed": "passed: the model counted beeps that it could only hear",
    "skipped": "skipped, so nothing proves that the model heard the recordings",
    "failed": "failed",
}
_CONTROLS = {
    "without-audio": "the prompt alone, without any sound",
    "tags-only": "names of sounds as text instead of the sound",
    "transcript-only": "a transcript instead of the sound",
    "views": "views of panoramas instead of the sound",
}


class _Bundle(msgspec.Struct):
    """The one member of a submitted file that is read here; the rest is skipped."""

    provenance: Any = None


def host_in(endpoint: str) -> str:
    """The host and port of an endpoint; a function in this process is named as it is.

    Examples
    --------
    >>> host_in("https://api.example.org/v1"), host_in("mine:ask")
    ('api.example.org', 'mine:ask')
    """
    return endpoint.split("://", 1)[1].split("/", 1)[0] if "://" in endpoint else endpoint


def provenance_beside(file: Path) -> dict[str, Any] | None:
    """The provenance beside a prediction file; None if there is none.

    Raises ``Agl1kError`` if it cannot be read, or belongs to another version of the file.
    """
    path = file.with_name(PROVENANCE)
    if not path.is_file():
        return None
    try:
        told = json.loads(path.read_text("utf-8"))
        hashes = told["predictions"]
    except (OSError, ValueError, KeyError, TypeError):
        raise Agl1kError(f"{path} cannot be read. Run agl1k rescore {file.parent}.") from None
    if file.name not in hashes:
        return None
    if hashes[file.name] != sha256_of_file(file):
        raise Agl1kError(
            f"{file} was changed after the run that {path.name} describes. Run agl1k rescore "
            f"{file.parent} to restore it, or move the file to another folder to submit it "
            "without its provenance."
        )
    return dict(told)


def bundled(file: Path, provenance: Mapping[str, Any]) -> bytes:
    """A prediction file of a run and its provenance in one JSON object."""
    bundle = {"provenance": provenance, "predictions": json_lines(file)}
    return json.dumps(bundle, ensure_ascii=False).encode()


def provenance_in(content: bytes) -> Mapping[str, Any] | None:
    """The provenance in a submitted file; None if it has none that agl1k wrote."""
    if content.lstrip()[:1] != b"{" or b'"provenance"' not in content:
        return None
    try:
        told = msgspec.json.decode(content, type=_Bundle).provenance
    except (ValueError, RecursionError):
        return None
    is_ours = isinstance(told, Mapping) and told.get("made_by") in _MADE_BY
    return told if is_ours else None


def provenance_facts(told: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What a board shows of a provenance, as pairs of a label and a short text.

    Examples
    --------
    >>> provenance_facts({"control": "without-audio", "cost": {"usd": 1.5, "source": "reported"}})
    [('Control', 'the prompt alone, without any sound'), ('Cost', '$1.50 (reported)')]
    """
    return [(label, _short(value)) for label, value in _facts(told) if value]


def _facts(told: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    model, endpoint = _map(told, "model"), _map(told, "endpoint")
    yield "Model as asked for", _text(model.get("named"))
    yield "Model as reported back", ", ".join(_texts(model.get("reported")))
    yield "Heard with", ", ".join(_texts(list(_map(told, "heard_with").values())))
    yield "Endpoint", _text(endpoint.get("host"))
    yield "Control", _CONTROLS.get(_text(told.get("control")), _text(told.get("control")))
    yield "Texts from", _text(told.get("texts_from"))
    yield "Listening again", _agent(_map(told, "agent"))
    outcome = _text(_map(told, "hearing_check").get("outcome"))
    yield "Hearing check", _HEARING.get(outcome, outcome)
    yield "Dialect", _dialect(_map(endpoint, "dialect"))
    yield "Prompt's SHA-256", _text(_map(told, "prompt").get("sha256"))
    yield "Parameters", _parameters(_map(told, "parameters"))
    yield "Audio", _audio(_map(told, "audio"), _map(told, "clips"))
    yield "Tokens", _tokens(_map(told, "tokens"))
    yield "Cost", _cost(_map(told, "cost"))
    yield "Answered", _answered(_map(told, "clips"))
    yield "Passes", _text(told.get("passes")) if told.get("passes") != 1 else ""
    dates = [_text(told.get(name))[:10] for name in ("began", "ended")]
    yield "Run", " to ".join(dict.fromkeys(filter(None, dates)))
    yield "Software", f"agl1k {_text(told.get('version'))}" if told.get("version") else ""


def _dialect(told: Mapping[str, Any]) -> str:
    if not told:
        return ""
    way = "streamed" if told.get("streamed") else "plain"
    return f"sound as {_text(told.get('shape'))}, answers {way}"


def _agent(told: Mapping[str, Any]) -> str:
    steps = _number(told.get("steps"))
    if steps is None:
        return ""
    if steps == 0:
        budgets = _number(_map(told, "token_budgets").get("mean"))
        matched = f", with the tokens of an agent ({budgets:,.0f} on average)" if budgets else ""
        return f"no action, answered at once{matched}"
    answers, conversations = _number(told.get("answers")), _number(told.get("conversations"))
    mean = f", {answers / conversations:.1f} answers a clip" if answers and conversations else ""
    return f"up to {steps:.0f} actions{mean}: {', '.join(_texts(told.get('actions_offered')))}"


def _parameters(told: Mapping[str, Any]) -> str:
    given = {name: _text(value) for name, value in told.items() if _text(value)}
    return ", ".join(f"{name} {value}" for name, value in given.items())


def _audio(told: Mapping[str, Any], clips: Mapping[str, Any]) -> str:
    if not told:
        return ""
    sent = _texts(told.get("formats_sent")) or [_text(told.get("format"))]
    rate_khz = (_number(told.get("sample_rate_hz")) or 0) / 1000
    parts = [" and ".join(name.upper() for name in sent)]
    parts += [f"{rate_khz:g} kHz", "one channel"] if rate_khz else []
    kind = ", ".join(filter(None, parts))
    most = _number(told.get("max_seconds"))
    cut = f", at most {most:g} s" if most else ""
    truncated = _number(clips.get("truncated"))
    return kind + cut + (f"; {truncated:,.0f} recordings truncated" if truncated else "")


def _tokens(told: Mapping[str, Any]) -> str:
    counts = [(name, _number(told.get(name))) for name in ("prompt", "completion")]
    return ", ".join(f"{count:,.0f} {name}" for name, count in counts if count)


def _cost(told: Mapping[str, Any]) -> str:
    usd, source = _number(told.get("usd")), _text(told.get("source"))
    if usd is None:
        return ""
    return f"${usd:,.2f} ({source})" if source else f"${usd:,.2f}"


def _answered(told: Mapping[str, Any]) -> str:
    answered, asked = _number(told.get("answered")), _number(told.get("asked"))
    cut_off = _number(told.get("cut_off"))
    if answered is None or asked is None:
        return ""
    cut = f"; {cut_off:,.0f} cut off by the limit on tokens" if cut_off else ""
    return f"{answered:,.0f} of {asked:,.0f} questions{cut}"


def _map(told: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = told.get(name)
    return value if isinstance(value, Mapping) else {}


def _text(value: object) -> str:
    if isinstance(value, str):
        return " ".join(value.split())
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return ""
    return f"{value:g}"


def _texts(value: object) -> list[str]:
    return [text for item in value if (text := _text(item))] if isinstance(value, list) else []


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if abs(value) < 1e15 else None


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"
