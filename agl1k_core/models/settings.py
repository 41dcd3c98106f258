"""The settings of a run: those that make its answers what they are, which must not change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import httpx

from agl1k_core.benchmarks import Benchmark
from agl1k_core.errors import Agl1kError
from agl1k_core.models.plans import AgentPlan
from agl1k_core.models.prompts import Prompt, default_prompt
from agl1k_core.models.sounds import Treatment

#: What the model gets instead of sound, to tell hearing from guessing.
Control = Literal["", "without-audio", "tags-only", "transcript-only", "views"]


@dataclass(frozen=True)
class RunSettings:
    """What a run asks, and how.

    Attributes
    ----------
    model
        The model's name.
    where
        The endpoint's base URL, or ``module:function`` for a model in this process.
    prompt
        The prompt.
    treatment
        How recordings are prepared.
    parameters
        ``temperature``, ``seed``, ``max_tokens``; None if the endpoint's default is used.
    control
        What the model gets instead of sound; empty if it gets the sound.
    texts
        The text about each clip that takes the place of sound, by key.
    texts_source
        Where these texts come from, such as a tagger's name and weights.
    agent
        How far the model may listen again; None to ask one question.
    about
        Whatever else the answers depend on, named for people.
    """

    model: str
    where: str
    prompt: Prompt = field(default_factory=default_prompt)
    treatment: Treatment = field(default_factory=Treatment)
    parameters: Mapping[str, float | int | None] = field(default_factory=dict)
    control: Control = ""
    texts: Mapping[str, str] = field(default_factory=dict)
    texts_source: str = ""
    agent: AgentPlan | None = None
    about: Mapping[str, Any] = field(default_factory=dict)

    @property
    def with_sound(self) -> bool:
        """Whether the model gets sound."""
        return not self.control

    @property
    def listens_again(self) -> bool:
        """Whether the model may take actions."""
        return self.agent is not None and self.agent.steps > 0

    def identity(self, benchmark: Benchmark) -> dict[str, Any]:
        """Everything that the answers depend on, named for people."""
        return {
            "benchmark": benchmark.slug,
            "benchmark's content": benchmark.content_hash,
            "model": self.model,
            "endpoint": without_secrets(self.where),
            "prompt": self.prompt.sha256,
            "control": self.control,
            "texts instead of sound": self.texts_source,
            "audio format": self.treatment.format,
            "maximum seconds": self.treatment.max_seconds,
            **{name: self.parameters.get(name) for name in ("temperature", "seed", "max_tokens")},
            **(self.agent.identity() if self.agent else {}),
            **self.about,
        }


def refuse_agent_without_sound(control: Control) -> None:
    """Raise ``Agl1kError`` if an agent is to be run with a control that sends no sound."""
    if control:
        raise Agl1kError(f"An agent needs sound, so --agent does not go with --{control}.")


def refuse_changes(folder: object, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Raise ``Agl1kError`` that names each setting in which a resumed run differs.

    Examples
    --------
    >>> refuse_changes("mine", {"seed": 1}, {"seed": 1})
    >>> refuse_changes("mine", {"seed": 1}, {"seed": 2})
    Traceback (most recent call last):
    agl1k_core.errors.Agl1kError: The run in mine cannot be resumed with other settings: seed ...
    """
    changed = [
        f"{name} was {_shown(before.get(name))}, now it is {_shown(now.get(name))}"
        for name in {**before, **now}
        if before.get(name) != now.get(name)
    ]
    if changed:
        raise Agl1kError(
            f"The run in {folder} cannot be resumed with other settings: {'; '.join(changed)}. "
            "Use the earlier settings, or another folder for a new run."
        )


def without_secrets(address: str) -> str:
    """An address without user, password, query and fragment; anything else as it is."""
    if "://" not in address:
        return address
    url = httpx.URL(address)
    return str(url.copy_with(username=None, password=None, query=None, fragment=None)).rstrip("/")


def _shown(value: object) -> str:
    """A value in a message; hashes are shortened, None and "" mean the default."""
    if value is None or value == "":
        return "not set"
    text = str(value)
    return f"{text[:12]}…" if len(text) == 64 else repr(value)
