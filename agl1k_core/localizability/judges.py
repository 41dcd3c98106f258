"""Judges: how much each sound category contributed to a model's reasoning about a place.

A judge reads the reasoning and rates categories on a five-level scale from 0 to 1 (Zhang et al.
2026, "The Sonar Moment", section 3.3.1 and appendix B.9.2). ``ApiJudge`` asks a language model
through any API with OpenAI's chat completions; ``WordMatchJudge`` needs no network and only counts
the words of a category's name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Protocol, TypeVar

from agl1k_core.errors import Agl1kError
from agl1k_core.localizability.api_judge import PATIENCE, PROMPT, ApiJudge
from agl1k_core.localizability.judge_answers import LEVELS

T = TypeVar("T")

#: Seconds until a judge's answer must be complete.
TIMEOUT_S = PATIENCE.attempt_s


class Judge(Protocol):
    """Rates how much categories contributed to a reasoning; ``name`` identifies the judge."""

    @property
    def name(self) -> str: ...

    def rate(self, reasoning: str, categories: Sequence[str]) -> dict[str, float]:
        """The contribution of each category, 0 to 1; raises ``Agl1kError``."""
        ...


@dataclass(frozen=True)
class WordMatchJudge:
    """Counts the mentions of a category; for trying the pipeline offline, not for results.

    Each part of the name between commas counts ("Waves, surf": waves or surf), in singular and
    plural, unless a word such as "no" comes shortly before it. One to four mentions give the
    levels 0.2, 0.5, 0.8 and 1.
    """

    name: str = "word-match"

    def rate(self, reasoning: str, categories: Sequence[str]) -> dict[str, float]:
        """See ``Judge.rate``; never raises."""
        text = reasoning.casefold()
        return {name: LEVELS[min(_mentions(text, name), len(LEVELS) - 1)] for name in categories}


_NEGATED = re.compile(
    r"\b(no|not|without|never|lacks?|absence of|neither)\s+([^\s.,;:!?]+\s+){0,2}\Z"
)


def _mentions(text: str, category: str) -> int:
    starts = (match.start() for match in _pattern(category).finditer(text))
    return sum(not _NEGATED.search(text[max(0, start - 40) : start]) for start in starts)


@cache
def _pattern(category: str) -> re.Pattern[str]:
    bare = re.sub(r"\(.*?\)", "", category).casefold()
    parts = [part.strip() for part in bare.split(",") if part.strip()]
    return re.compile("|".join(rf"\b(?:{_either(part)})\b" for part in parts) or r"(?!)")


def _either(phrase: str) -> str:
    """The phrase in singular or plural, with spaces of any kind."""
    *first, last = phrase.split()
    endings = [re.escape(last) + "(?:s|es)?"]
    if re.search(r"[^s]s\Z", last) and len(last) > 3:
        endings.append(re.escape(last[:-1]))
    if re.search(r"[^aeiou]y\Z", last):
        endings.append(re.escape(last[:-1]) + "ies")
    return r"\s+".join([*map(re.escape, first), f"(?:{'|'.join(endings)})"])


_API = re.compile(r"(?P<model>.+?)@(?P<url>https?://[^\s,]+)(?:,(?P<variable>[A-Za-z_]\w*))?")


def choose_judges(
    specs: Sequence[str],
    env: Mapping[str, str],
    *,
    key: str = "",
    cache_dir: Path | None = None,
    attempts: int = PATIENCE.attempts,
    timeout_s: float = TIMEOUT_S,
    temperature: float | None = 0.0,
    prompt: str = PROMPT,
) -> list[Judge]:
    """Judges by name: ``word-match``, or ``MODEL@URL[,VARIABLE]`` for an API.

    An API's key is in the named variable of ``env``; without one it is ``key``. An answer must
    be complete after ``timeout_s``. Raises ``Agl1kError`` that lists everything that is
    wrong.
    """
    problems: list[str] = []
    judges: list[Judge] = []
    patience = replace(PATIENCE, attempts=attempts, read_s=timeout_s, attempt_s=timeout_s)
    api = ApiJudge("", "", key, cache_dir, temperature, patience, prompt)
    for spec in specs:
        try:
            judges.append(_judge_named(spec, env, api))
        except Agl1kError as error:
            problems.append(str(error))
    problems += [
        f"Several judges have the name {name}. Give each only once."
        for name, count in Counter(judge.name for judge in judges).items()
        if count > 1
    ]
    if problems:
        raise Agl1kError("\n".join(problems))
    return judges


def _judge_named(spec: str, env: Mapping[str, str], api: ApiJudge) -> Judge:
    """A judge by name; ``api`` is a template, complete except for model and address."""
    if spec == WordMatchJudge().name:
        return WordMatchJudge()
    found = _API.fullmatch(spec)
    if found is None:
        raise Agl1kError(
            f"There is no judge {spec!r}. Give word-match, or an API as MODEL@URL, such as "
            "some-model@http://127.0.0.1:8000/v1."
        )
    model, url, variable = found["model"], found["url"], found["variable"]
    if variable and not env.get(variable):
        raise Agl1kError(f"The key of {model} should be in {variable}, which is not set.")
    return replace(api, model=model, base_url=url, key=env[variable] if variable else api.key)


@dataclass
class GivingUp:
    """Stops asking a judge after ``after`` failures in a row.

    Otherwise a wrong key or a server that is down would cost every recording its retries.
    """

    name: str
    after: int = 5
    _failures: int = field(default=0, init=False)
    _lock: Lock = field(default_factory=Lock, init=False, repr=False)

    def call(self, ask: Callable[[], T]) -> T:
        """The result of ``ask``; raises ``Agl1kError`` at once after too many failures."""
        if self._failures >= self.after:
            raise Agl1kError(
                f"{self.name} is no longer asked after {self.after} failures in a row."
            )
        try:
            answer = ask()
        except Agl1kError:
            self._count(self._failures + 1)
            raise
        self._count(0)
        return answer

    def _count(self, failures: int) -> None:
        with self._lock:
            self._failures = failures
