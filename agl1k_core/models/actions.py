"""What a model that listens again may ask for: reading its answer, and doing what it asks.

An answer that names no action that can be done is not guessed at: the model is told why.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from agl1k_core import audio
from agl1k_core.errors import Agl1kError
from agl1k_core.models.messages import Picture, Samples, Sound
from agl1k_core.models.replies import Reply
from agl1k_core.models.sounds import RATE_HZ, encoded
from agl1k_core.models.step_objects import StepObject, step_object

COMMIT, SPECTROGRAM, EVENTS = "commit", "spectrogram", "events"
_SEGMENT = ("start_s", "end_s")
#: Action -> its arguments.
ACTIONS: Mapping[str, tuple[str, ...]] = {
    "hear": _SEGMENT,
    "slow_down": (*_SEGMENT, "factor"),
    "band_pass": (*_SEGMENT, "low_hz", "high_hz"),
    "boost": (*_SEGMENT, "gain_db"),
    SPECTROGRAM: _SEGMENT,
    EVENTS: (),
    COMMIT: (),
}
#: Longer sounds are not sent again.
MOST_S = 60.0
_BY_LETTERS = {name.replace("_", ""): name for name in ACTIONS}
_NUMBER = re.compile(r"\s*([-+]?\d{1,9}(?:\.\d{0,9})?)\s*(?:s|hz|db|x)?\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Action:
    """An action with its arguments: times in seconds, frequencies in Hz, gain in dB."""

    name: str
    arguments: Mapping[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """For the journal, with the name first."""
        return {"name": self.name, **self.arguments}


@dataclass(frozen=True, slots=True)
class StepAnswer:
    """What a model says at a step.

    ``action`` is None if none can be read; ``problem`` then says why, in a sentence for the model.
    """

    reason: str = ""
    uncertain: str = ""
    action: Action | None = None
    problem: str = ""

    def to_dict(self) -> dict[str, Any]:
        """For the journal."""
        return {
            "reason": self.reason,
            "uncertain": self.uncertain,
            "action": self.action.to_dict() if self.action else None,
            "problem": self.problem,
        }


def read_step(reply: Reply) -> StepAnswer:
    """What a model says at a step; never raises.

    Examples
    --------
    >>> said = '{"action": {"name": "Boost", "start_s": 0, "end_s": 2, "gain_db": "9 dB"}}'
    >>> read_step(Reply(said)).action
    Action(name='boost', arguments={'start_s': 0.0, 'end_s': 2.0, 'gain_db': 9.0})
    >>> read_step(Reply("Paris, I think.")).problem
    'It is not a JSON object.'
    """
    found, problem = step_object(reply)
    if found is None:
        return StepAnswer(problem=problem)
    action, problem = _action_in(found)
    return StepAnswer(found.words("reason"), found.words("uncertain"), action, problem)


def _action_in(asked: StepObject) -> tuple[Action | None, str]:
    """The action that an answer asks for, or why there is none."""
    if not asked.name:
        return None, 'It has no action such as {"name": "commit"}.'
    known = _BY_LETTERS.get(asked.letters)
    if known is None:
        shown = repr(asked.name[:40])
        return None, f"There is no action {shown}. The actions are: {', '.join(ACTIONS)}."
    values = {key: _number(asked.arguments.get(key)) for key in ACTIONS[known]}
    missing = [key for key, value in values.items() if value is None]
    if missing:
        return None, f"The action {known} needs a number for {' and '.join(missing)}."
    return Action(known, {key: value for key, value in values.items() if value is not None}), ""


def _number(value: object) -> float | None:
    if isinstance(value, str):
        match = _NUMBER.fullmatch(value)
        return float(match[1]) if match else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) < 1e9 else None  # also if it is not a number


@dataclass(frozen=True, slots=True)
class Evidence:
    """What an action gives: words, and the sound or the picture that they are about."""

    text: str
    part: Sound | Picture | None = None

    def to_dict(self) -> dict[str, Any] | None:
        """How the sound or the picture was sent, for the journal; None if there is neither."""
        match self.part:
            case Sound() as sound:
                seconds = round(sound.duration_s, 3)
                return {"format": sound.format, "seconds": seconds, "sha256": sound.sha256}
            case Picture() as picture:
                return {"format": "png", "sha256": picture.sha256}
        return None


def evidence_of(action: Action, recording: Sound, events: Callable[[], str]) -> Evidence:
    """Do what a model asks for.

    Parameters
    ----------
    action
        Any action but ``commit``.
    recording
        The recording as it was sent, with its samples.
    events
        Lists what a tagger found in it.

    Raises
    ------
    Agl1kError
        If it cannot be done; the message is for the model.
    """
    if action.name == EVENTS:
        return Evidence(f"What a tagger found, which may be wrong:\n{events()}")
    part = _segment(action, recording)
    what = _described(action)
    if action.name == SPECTROGRAM:
        png = audio.spectrogram_png(part, RATE_HZ, action.arguments["start_s"])
        return Evidence(f"{what}, as a picture.", Picture(png))
    edited = _edited(action, part)
    sound = encoded(edited, recording.format)
    return Evidence(f"{what}: {sound.duration_s:.1f} s of sound.", sound)


def _segment(action: Action, recording: Sound) -> Samples:
    start_s, end_s = (action.arguments[name] for name in _SEGMENT)
    assert recording.samples is not None
    part = audio.segment(recording.samples, RATE_HZ, start_s, end_s)
    lasts_s = len(part) / RATE_HZ * max(1.0, action.arguments.get("factor", 1.0))
    if lasts_s > MOST_S + 0.01:
        raise Agl1kError(f"That would last {lasts_s:.1f} s. Ask for at most {MOST_S:g} s at once.")
    return part


def _edited(action: Action, part: Samples) -> Samples:
    given = action.arguments
    match action.name:
        case "slow_down":
            return audio.slowed(part, given["factor"])
        case "band_pass":
            return audio.band_passed(part, RATE_HZ, given["low_hz"], given["high_hz"])
        case "boost":
            return audio.boosted(part, RATE_HZ, given["gain_db"])
    return part


def _described(action: Action) -> str:
    """Words such as "The segment from 2 to 5 s, slowed down 2 times"."""
    given = {name: f"{value:g}" for name, value in action.arguments.items()}
    how = {
        "slow_down": ", slowed down {factor} times",
        "band_pass": ", from {low_hz} to {high_hz} Hz only",
        "boost": ", {gain_db} dB louder",
    }.get(action.name, "")
    return ("The segment from {start_s} to {end_s} s" + how).format(**given)
