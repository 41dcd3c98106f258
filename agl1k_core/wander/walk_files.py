"""What became of walks: which actions were taken, and what each further step gained."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agl1k_core.answers import Status
from agl1k_core.benchmarks import Benchmark
from agl1k_core.errors import Agl1kError
from agl1k_core.files import json_lines
from agl1k_core.predictions import read_predictions
from agl1k_core.wander.points import SCALE_KM
from agl1k_core.wander.scores import WanderScores, score_guesses

#: The actions, and a step in which none could be taken.
TAKEN = ("rotate", "move", "back", "guess", "lost")


@dataclass(frozen=True, slots=True)
class Walked:
    """A walk of a model, from ``walks.jsonl``: its graph, its steps, and its error if it failed."""

    key: str
    steps: tuple[Mapping[str, Any], ...]
    error: str = ""


def read_walks(path: Path) -> list[Walked]:
    """The walks in a file of `run_walks`; raises ``Agl1kError`` if it is not one."""
    try:
        lines = json_lines(path)
        return [Walked(line["key"], tuple(line["steps"]), line["error"]) for line in lines]
    except OSError as error:
        raise Agl1kError(f"{path} cannot be read: {error.strerror}.") from None
    except (ValueError, KeyError, TypeError):
        raise Agl1kError(f"{path} is not a file of walks. Run agl1k wander run again.") from None


def actions_taken(walks: Sequence[Walked]) -> dict[str, int]:
    """How often each action was taken, and how many steps were lost."""
    found = Counter(
        step["action"]["name"] if step["action"] else "lost" for one in walks for step in one.steps
    )
    return {name: found[name] for name in TAKEN}


def still_walking(walks: Sequence[Walked]) -> list[int]:
    """How many walks have at least 1, 2, 3, … steps."""
    lengths = [len(one.steps) for one in walks]
    return [sum(length >= n for length in lengths) for n in range(1, max(lengths, default=0) + 1)]


def scores_after(
    walks: Sequence[Walked], benchmark: Benchmark, scale_km: float = SCALE_KM
) -> list[WanderScores]:
    """Scores as if each walk had ended with its 1st, 2nd, 3rd, … answer.

    Parameters
    ----------
    walks
        From `read_walks`. One that ended earlier keeps its last answer.
    benchmark
        From `benchmark_of`.
    scale_km
        As for `score_guesses`.
    """
    return [
        score_guesses(
            benchmark,
            read_predictions([_record(one, n) for one in walks], benchmark),
            name=f"after {n}",
            scale_km=scale_km,
        )
        for n in range(1, len(still_walking(walks)) + 1)
    ]


def _record(walk: Walked, n_steps: int) -> dict[str, object]:
    """The answer of a walk after so many steps."""
    failed = bool(walk.error) and n_steps > len(walk.steps)
    step = walk.steps[min(n_steps, len(walk.steps)) - 1] if walk.steps and not failed else None
    if step is None or step["status"] != Status.ANSWERED:
        return {"key": walk.key, "error": walk.error or "no usable answer"}
    return {"key": walk.key, "latitude": step["latitude"], "longitude": step["longitude"]}
