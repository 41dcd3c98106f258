"""The result of a curation, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from agl1k_core.benchmarks import PRESENT_FROM
from agl1k_core.curation.collection import why_unlisted
from agl1k_core.curation.pipeline import Curated
from agl1k_core.curation.selection import Reason

_SAID = {
    Reason.SELECTED: "in the benchmark",
    Reason.NO_LINE: "out: the recording is not in the table",
    Reason.NO_PLACE: "out: no place is known",
    Reason.LICENCE: "out: the licence forbids derivatives or redistribution",
    Reason.BROKEN: "out: no recording, or a broken one",
    Reason.FILTER: "out: an acoustic filter",
    Reason.DURATION: "out: too short or too long",
    Reason.NOT_LOCALIZABLE: "out: not localizable",
    Reason.REJECTED: "out: rejected by a person",
    Reason.NOT_COPIED: "out: no copy without tags could be made",
    Reason.CONTRADICTION: "out: the same recording is listed at several places",
    Reason.SAME_RECORDING: "out: the same recording is already in",
    Reason.NEAR_DUPLICATE: "out: another clip of the same place and time is in",
    Reason.COUNTRY_FULL: "out: its country has enough clips",
    Reason.NOT_NEEDED: "out: not needed, as the selection is full or would lose its balance",
}


def counts(curated: Curated) -> dict[Reason, int]:
    """The number of recordings for each reason, in the order of ``Reason``."""
    found = Counter(item.verdict.reason for item in curated.judged)
    collection = curated.collection
    found.update(why_unlisted(collection, path)[0] for path in collection.unlisted)
    return {reason: found[reason] for reason in Reason if found[reason]}


def summary_lines(curated: Curated) -> list[str]:
    """The counts in words: a line for each reason, then what is in."""
    chosen = [item.clip for item in curated.chosen]
    speech = sum(clip.classes.get("human", 0.0) >= PRESENT_FROM for clip in chosen)
    countries = {clip.country for clip in chosen}
    lines = [f"{n} {_SAID[reason]}" for reason, n in counts(curated).items()]
    lines.append(
        f"{speech} with speech, {len(chosen) - speech} without, from {len(countries)} countries"
    )
    if curated.provenance["rules"]["balanced"] and len(chosen) > 1 and speech in (0, len(chosen)):
        lines.append(f"Not balanced: no clip with{'out' if speech else ''} speech could be taken")
    return lines


def summary_markdown(curated: Curated) -> str:
    """The text of ``summary.md``: counts, countries, outcomes of broken files, settings."""
    chosen = [item.clip for item in curated.chosen]
    by_country = Counter(clip.country or "unknown" for clip in chosen)
    broken = Counter(
        item.analysis.outcome for item in curated.judged if item.verdict.reason is Reason.BROKEN
    )
    sections = [
        "# Result",
        _bullets(summary_lines(curated)),
        "`report.csv` says why each recording is in or out.",
        "## Countries",
        _bullets([f"{country}: {n}" for country, n in _sorted(by_country)] or ["none"]),
    ]
    if broken:
        sections += [
            "## Files that cannot be used",
            _bullets([f"{o}: {n}" for o, n in _sorted(broken)]),
        ]
    return "\n\n".join([*sections, "## Settings", _bullets(_how(curated.provenance))]) + "\n"


def localizability_line(provenance: Mapping[str, Any]) -> str:
    """The localizability model that was used, if any."""
    model = provenance["localizability"]
    if model is None:
        return (
            "Localizability: no fitted model was given, so it excluded and preferred no clip; ties "
            "were broken by a hash of the key"
        )
    data = model["provenance"].get("data_sha256", "unknown")
    return (
        f"Localizability: above {model['theta']:g}, by a model fitted to "
        f"{model['provenance'].get('n_recordings', 'unknown')} recordings (data {data[:12]})"
    )


def _how(provenance: Mapping[str, Any]) -> list[str]:
    tagger, filters, rules = (provenance[name] for name in ("tagger", "filters", "rules"))
    tags = "Tags: none; speech and classes are from the table"
    if tagger:
        tags = (
            f"Tags: {tagger['name']}, weights {tagger['weights_sha256'][:12]}, "
            f"present from {tagger['threshold']:g}; classes are shares of time of their roots"
        )
    set_rules = [f"{name} {value}" for name, value in rules.items() if value is not None]
    limits = [f"{name} {_setting(value)}" for name, value in (filters or {}).items()]
    return [
        f"Acoustic filters: {', '.join(limits) or 'none'}",
        tags,
        localizability_line(provenance),
        f"Selection: {', '.join(set_rules)}",
    ]


def _setting(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _sorted(found: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))


def _bullets(lines: list[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)
