"""Which judges rate, as a person names them on the command line."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from agl1k_core.errors import Agl1kError
from agl1k_core.localizability.judges import ApiJudge, Judge, WordMatchJudge

_API = re.compile(r"(?P<model>.+?)@(?P<url>https?://[^\s,]+)(?:,(?P<variable>[A-Za-z_]\w*))?")


def choose_judges(
    specs: Sequence[str],
    env: Mapping[str, str],
    *,
    key: str = "",
    cache_dir: Path | None = None,
    attempts: int = 5,
    temperature: float | None = 0.0,
) -> list[Judge]:
    """Judges by their names: ``word-match``, or ``MODEL@URL[,VARIABLE]`` for an API.

    The key of an API is in the variable of ``env`` that is named, else it is ``key``. Raises
    ``Agl1kError`` with all that is wrong with them.
    """
    problems: list[str] = []
    judges: list[Judge] = []
    for spec in specs:
        found = _API.fullmatch(spec)
        if spec == WordMatchJudge().name:
            judges.append(WordMatchJudge())
        elif found is None:
            problems.append(
                f"There is no judge {spec!r}. Name word-match, or an API as MODEL@URL, such as "
                "some-model@http://127.0.0.1:8000/v1."
            )
        elif found["variable"] and not env.get(found["variable"]):
            problems.append(
                f"The key of {found['model']} is to be in {found['variable']}, which is not set."
            )
        else:
            judges.append(
                ApiJudge(
                    found["model"],
                    found["url"],
                    env[found["variable"]] if found["variable"] else key,
                    cache_dir=cache_dir,
                    attempts=attempts,
                    temperature=temperature,
                )
            )
    names = [judge.name for judge in judges]
    problems += [
        f"Two judges have the name {name}. Name each once."
        for name in dict.fromkeys(names)
        if names.count(name) > 1
    ]
    if problems:
        raise Agl1kError("\n".join(problems))
    return judges


@dataclass
class GivingUp:
    """A judge that is asked no more once it failed ``after`` times in a row.

    A wrong key or a server that is down would else cost every recording its retries.
    """

    judge: Judge
    after: int = 5
    _failures: int = field(default=0, init=False)
    _lock: Lock = field(default_factory=Lock, init=False, repr=False)

    @property
    def name(self) -> str:
        """The judge's name."""
        return self.judge.name

    def rate(self, reasoning: str, categories: Sequence[str]) -> dict[str, float]:
        """See ``Judge.rate``; raises ``Agl1kError`` at once after too many failures."""
        if self._failures >= self.after:
            raise Agl1kError(f"{self.name} was asked no more after {self.after} failures in a row.")
        try:
            rated = self.judge.rate(reasoning, categories)
        except Agl1kError:
            self._count(self._failures + 1)
            raise
        self._count(0)
        return rated

    def _count(self, failures: int) -> None:
        with self._lock:
            self._failures = failures
