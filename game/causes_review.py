"""Sorting a model's misses into causes: listen, read what it said, and choose one of seven.

Each verdict is written to ``person.csv`` immediately, and ``agl1k causes`` compares it with those
of the judges, which the page does not show.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from agl1k_core import causes
from agl1k_core.benchmarks import Benchmark, Clip, read_tags
from agl1k_core.causes import CAUSES, PERSON, PERSON_TABLE, Miss, Outcome, Verdict
from agl1k_core.curation import Decision
from agl1k_core.errors import Agl1kError
from agl1k_core.predictions import read_predictions
from game.review_desk import Desk
from game.review_facts import ModelAnswer


@dataclass(frozen=True)
class CauseLedger:
    """A person's verdicts in a table; those on earlier answers of the model stay, unseen."""

    path: Path
    misses: Mapping[str, Miss]

    def read(self) -> dict[str, Decision]:
        """See ``Ledger.read``."""
        found, _ = causes.merged([self._stored()], self.misses)
        return {verdict.key: Decision(verdict.cause, verdict.answer) for verdict in found}

    def write(self, decisions: Mapping[str, Decision]) -> None:
        """See ``Ledger.write``."""
        _, others = causes.merged([self._stored()], self.misses)
        verdicts = [
            self._verdict(key, found)
            for key, found in decisions.items()
            if found.decision or found.note
        ]
        causes.write_verdicts(self.path, [*verdicts, *others], self.misses)

    def _stored(self) -> list[Verdict]:
        return causes.read_verdicts(self.path) if self.path.is_file() else []

    def _verdict(self, key: str, found: Decision) -> Verdict:
        outcome = Outcome.JUDGED if found.decision else Outcome.UNREADABLE
        fingerprint = self.misses[key].fingerprint
        return Verdict(key, PERSON, outcome, found.decision, found.note, fingerprint)


class CauseReview(Desk):
    """The misses of a prediction file, except refusals, and the cause of each.

    Parameters
    ----------
    file
        A prediction file.
    benchmark
        The clips that it is about.
    folder
        Where the verdicts are stored.
    limit
        At most so many misses, those that ``agl1k causes --limit`` chooses.

    Raises
    ------
    Agl1kError
        If a file cannot be read, or there is nothing to sort.
    """

    def __init__(
        self, file: Path, benchmark: Benchmark, folder: Path, limit: int | None = None
    ) -> None:
        predictions = read_predictions(file, benchmark)
        found = causes.country_misses(benchmark, predictions)
        wanted = found.sample(limit) if limit else found
        self._misses = {miss.key: miss for miss in found.misses}
        if not wanted.to_judge:
            raise Agl1kError(f"{file.name} has no wrong country to sort.")
        super().__init__(
            benchmark,
            [miss.key for miss in wanted.to_judge],
            CauseLedger(folder / PERSON_TABLE, self._misses),
            {cause: cause for cause in CAUSES},
            read_tags(benchmark.audio_dir),
            predictions,
        )

    def answer(self, clip: Clip) -> ModelAnswer | None:
        """See ``Desk.answer``: with everything that the model said."""
        answer = super().answer(clip)
        return replace(answer, reason=self._misses[clip.key].said) if answer else None

    def tally(self, counts: Mapping[str, int]) -> list[str]:
        """See ``Desk.tally``: one number, as a line that grows would move the buttons."""
        return [f"{sum(counts[cause] for cause in CAUSES)} sorted"]
