"""From raw recordings to a benchmark: filters, tags, localizability, then a selection.

This follows Zhang et al. 2026, "The Sonar Moment", section 3.3. Its last step is a person's: the
decisions that ``review`` saved in the folder count in the next run. Without a fitted localizability
model, clips are neither excluded nor ranked by it, and the summary says so.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from agl1k_core.benchmarks import CLASSES, PRESENT_FROM, Clip
from agl1k_core.curation import results_cache
from agl1k_core.curation.analysis import Analysis, Analyzer, analyze_all
from agl1k_core.curation.collection import Collection, licence_refusal
from agl1k_core.curation.copies import Copy, find_copies, groups
from agl1k_core.curation.results_cache import ResultsCache
from agl1k_core.curation.selection import Candidate, Reason, SelectionRules, Verdict, select
from agl1k_core.errors import Agl1kError
from agl1k_core.localizability import Localizability

#: Root category of AudioSet by class of a clip. AudioSet has one root, "Channel, environment and
#: background", which is ``environment`` here; ``channel`` keeps the value of the table.
ROOT_OF_CLASS = {
    "human": "human",
    "animal": "animal",
    "music": "music",
    "nature": "nature",
    "environment": "background",
    "things": "things",
    "ambiguous": "ambiguous",
}
KEEP, REJECT = "keep", "reject"

CopiesRule = Literal["drop", "report"]

#: ``analyze_all``, or a function with the same parameters and results.
AnalyzeAll = Callable[..., Iterable[tuple[Path, Analysis]]]


@dataclass(frozen=True)
class Rules:
    """What decides which clips are in, besides their analyses.

    Parameters
    ----------
    selection
        Target, balance, distances and limits.
    min_duration_s, max_duration_s
        Limits of duration in seconds. Default: none.
    copies
        Whether copies found by their landmarks count as the same recording, or are only reported.
        Needs an ``Analyzer`` with ``landmarks``.
    """

    selection: SelectionRules = field(default_factory=SelectionRules)
    min_duration_s: float = 0.0
    max_duration_s: float | None = None
    copies: CopiesRule = "drop"


@dataclass(frozen=True)
class Judged:
    """One clip with its verdict.

    Attributes
    ----------
    clip
        The clip with its true duration and the classes from its tags.
    path
        Its recording, if there is one.
    analysis
        The analysis of the recording.
    verdict
        Whether the clip is in, and why.
    localizability
        Its score, if there is a model.
    copy_of
        With which clips it has its sound in common, found by landmarks; a sentence for each.
    """

    clip: Clip
    path: Path | None
    analysis: Analysis
    verdict: Verdict
    localizability: float | None = None
    copy_of: str = ""


@dataclass(frozen=True)
class Curated:
    """The result of a curation.

    Attributes
    ----------
    collection
        The table and the recordings.
    judged
        Every clip with its verdict, in the order of the table.
    provenance
        The settings, for ``curation.json``.
    """

    collection: Collection
    judged: tuple[Judged, ...]
    provenance: Mapping[str, Any]

    @property
    def chosen(self) -> tuple[Judged, ...]:
        """The clips that are in."""
        return tuple(item for item in self.judged if item.verdict.is_in)


def curate(
    collection: Collection,
    analyzer: Analyzer,
    rules: Rules,
    work: Path,
    *,
    model: Localizability | None = None,
    decisions: Mapping[str, str] | None = None,
    workers: int = 1,
    analyze: AnalyzeAll = analyze_all,
    progress: Callable[[int, int], None] | None = None,
) -> Curated:
    """Analyze all recordings of a collection and choose among them.

    Parameters
    ----------
    collection
        The table and the recordings, from ``open_collection``.
    analyzer
        Filters and tagger.
    rules
        What decides which clips are in.
    work
        A folder that keeps the analyses, so that an interrupted run is resumed.
    model
        A fitted localizability model. Default: none.
    decisions
        A person's decisions by key, ``KEEP`` or ``REJECT``.
    workers
        Number of processes; 0 analyzes in this process.
    analyze
        ``analyze_all``, or ``analyze_on_ray``.
    progress
        Called with the number of files done and the number of all files.

    Raises
    ------
    Agl1kError
        If the model was fitted to the tags of another tagger, or the work folder cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from agl1k_core.benchmarks import read_demo
    >>> from agl1k_core.curation import open_collection
    >>> collection = open_collection(read_demo().audio_dir)
    >>> rules = Rules(SelectionRules(target=6))
    >>> with tempfile.TemporaryDirectory() as work:
    ...     curated = curate(collection, Analyzer(), rules, Path(work), workers=0)
    >>> len(curated.judged), len(curated.chosen)
    (24, 6)
    """
    _check_model(model, analyzer)
    analyses = analyze_collection(
        collection, analyzer, work, workers=workers, analyze=analyze, progress=progress
    )
    decided = decisions or {}
    clips = {
        clip.key: _with_classes(clip, analyses[clip.key]) for clip in collection.benchmark.clips
    }
    scores = {
        key: model.score(item.tags["presence"])
        for key, item in analyses.items()
        if model and item.tags
    }
    verdicts: dict[str, Verdict] = {}
    for key, clip in clips.items():
        verdict = _unlicensed(clip) or _alone(
            analyses[key], decided.get(key), rules, model, scores.get(key)
        )
        if verdict:
            verdicts[key] = verdict
    candidates = [
        _candidate(collection, clip, analyses[key], scores.get(key, 0.0), decided.get(key) == KEEP)
        for key, clip in clips.items()
        if key not in verdicts
    ]
    copies = _copies(candidates, analyses)
    told = _told(copies)
    if rules.copies == "drop":
        candidates = _united(candidates, copies)
    verdicts |= select(_with_countries(candidates, collection), rules.selection, told)
    judged = tuple(
        Judged(
            clip,
            collection.files[key],
            analyses[key],
            verdicts[key],
            scores.get(key),
            told.get(key, ""),
        )
        for key, clip in clips.items()
    )
    return Curated(collection, judged, _provenance(analyzer, rules, model))


def analyze_collection(
    collection: Collection,
    analyzer: Analyzer,
    work: Path,
    *,
    workers: int = 1,
    analyze: AnalyzeAll = analyze_all,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Analysis]:
    """The analysis of each clip's recording, by key, saved in ``work`` for the next run.

    ``analyze`` is ``analyze_all``, or does the same elsewhere. Raises ``Agl1kError``.
    """
    paths = {path for path in collection.files.values() if path}
    by_path: dict[Path, Analysis] = {}
    stamps = {path: results_cache.stamp(path, collection.folder) for path in paths}
    with ResultsCache(work, analyzer) as kept:
        for path in paths:
            known = kept.known(stamps[path])
            if known:
                by_path[path] = known
        todo = sorted(paths - by_path.keys())
        _tell(progress, len(by_path), len(paths))
        for path, analysis in analyze(todo, analyzer, workers=workers):
            kept.add(stamps[path], analysis)
            by_path[path] = analysis
            _tell(progress, len(by_path), len(paths))
    missing = Analysis(
        "missing", "Its recording was not found. Check the column 'file' of the table."
    )
    return {key: by_path[path] if path else missing for key, path in collection.files.items()}


def _tell(progress: Callable[[int, int], None] | None, done: int, total: int) -> None:
    if progress:
        progress(done, total)


def _check_model(model: Localizability | None, analyzer: Analyzer) -> None:
    if model is None:
        return
    fitted, given = model.provenance.get("tagger"), analyzer.settings["tagger"]
    if given is None:
        raise Agl1kError("Localizability needs tags. Choose a tagger, or leave the model out.")
    if fitted and fitted != given:
        raise Agl1kError(
            f"The localizability model was fitted to the tags of {fitted}, but these are of "
            f"{given}. Tag with the same model, or fit a new one."
        )


def _with_classes(clip: Clip, analysis: Analysis) -> Clip:
    """The clip with its true duration, and with the classes of its tags if it has any."""
    duration_s = clip.duration_s if analysis.duration_s is None else round(analysis.duration_s, 3)
    roots = analysis.tags.get("roots")
    if roots is None:
        return replace(clip, duration_s=duration_s)
    classes = {ours: round(roots[theirs], 4) for ours, theirs in ROOT_OF_CLASS.items()}
    merged = {**clip.classes, **classes}
    ordered = {name: merged[name] for name in CLASSES if name in merged}
    return replace(clip, duration_s=duration_s, classes=ordered)


def _unlicensed(clip: Clip) -> Verdict | None:
    """Why no copy of a clip may be given away; None if one may, or nothing is known."""
    refusal = licence_refusal(clip)
    return Verdict(Reason.LICENCE, refusal) if refusal else None


def _alone(
    analysis: Analysis,
    decision: str | None,
    rules: Rules,
    model: Localizability | None,
    score: float | None,
) -> Verdict | None:
    """Why a clip is out, whatever the other clips are; None if it is a candidate."""
    if analysis.outcome != "ok":
        return Verdict(Reason.BROKEN, f"{analysis.outcome}: {analysis.message}")
    if analysis.failures:
        return Verdict(Reason.FILTER, f"It is {' and '.join(analysis.failures.values())}.")
    duration_s = analysis.duration_s or 0.0
    if duration_s < rules.min_duration_s:
        return Verdict(
            Reason.DURATION, f"{duration_s:.1f} s are shorter than {rules.min_duration_s:g} s."
        )
    if rules.max_duration_s is not None and duration_s > rules.max_duration_s:
        return Verdict(
            Reason.DURATION, f"{duration_s:.1f} s are longer than {rules.max_duration_s:g} s."
        )
    if model and score is not None and not model.is_localizable(score):
        detail = f"Its localizability of {score:.3f} is not above {model.theta:g}."
        return Verdict(Reason.NOT_LOCALIZABLE, detail)
    if decision == REJECT:
        return Verdict(Reason.REJECTED, "A person rejected it in review.")
    return None


def _candidate(
    collection: Collection, clip: Clip, analysis: Analysis, score: float, wanted: bool
) -> Candidate:
    return Candidate(
        key=clip.key,
        lat=clip.lat,
        lon=clip.lon,
        country=clip.country,
        speech=clip.classes.get("human", 0.0) >= PRESENT_FROM,
        sound=analysis.sound_sha256 or analysis.file_sha256,
        rank=score,
        recorded=collection.recorded.get(clip.key),
        wanted=wanted,
    )


def _copies(candidates: list[Candidate], analyses: Mapping[str, Analysis]) -> list[Copy]:
    found = {one.key: analyses[one.key] for one in candidates}
    peaks = {key: analysis.peaks for key, analysis in found.items()}
    return find_copies(peaks, {key: item.duration_s or 0.0 for key, item in found.items()})


def _told(copies: list[Copy]) -> dict[str, str]:
    """What each copy has in common with others."""
    sentences: dict[str, list[str]] = defaultdict(list)
    for copy in copies:
        for key in (copy.a, copy.b):
            sentences[key].append(copy.sentence(key))
    return {key: " ".join(said) for key, said in sentences.items()}


def _united(candidates: list[Candidate], copies: list[Copy]) -> list[Candidate]:
    """Candidates in which copies share the hash of their sound."""
    by_key = {one.key: one for one in candidates}
    bytewise: dict[str, str] = {}
    same = [(bytewise.setdefault(one.sound, one.key), one.key) for one in candidates]
    first = groups(by_key, [*same, *((copy.a, copy.b) for copy in copies)])
    return [replace(one, sound=by_key[first[one.key]].sound) for one in candidates]


def _with_countries(candidates: list[Candidate], collection: Collection) -> list[Candidate]:
    """Candidates with the codes of their countries, which unite spellings of a name."""
    benchmark = collection.benchmark
    codes = dict(zip(benchmark.index, benchmark.country_codes, strict=True))
    return [replace(one, country=codes[one.key] or one.country) for one in candidates]


def _provenance(analyzer: Analyzer, rules: Rules, model: Localizability | None) -> dict[str, Any]:
    return {
        **{name: value for name, value in analyzer.settings.items() if name != "version"},
        "rules": {
            **vars(rules.selection),
            "min_duration_s": rules.min_duration_s,
            "max_duration_s": rules.max_duration_s,
            "copies": rules.copies if analyzer.landmarks else None,
        },
        "localizability": model.to_dict() if model else None,
    }
