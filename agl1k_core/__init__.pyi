"""The public face: what ``import agl1k_core as ag`` offers."""

from . import (
    answers,
    audio,
    benchmarks,
    causes,
    curation,
    listener,
    localizability,
    models,
    places,
    predictions,
    scoring,
    tagging,
    wander,
)
from .answers import Answer, Status, parse_answer
from .benchmarks import Benchmark, Clip, load_benchmark
from .errors import Agl1kError, FileRefusedError, Problem
from .places import country_code, geodesic_km, geoscore
from .predictions import Predictions, read_predictions
from .scoring import (
    PAPER,
    PEOPLE,
    STRICT,
    Comparison,
    Evaluation,
    Protocol,
    baseline,
    compare,
    evaluate,
)

__all__ = [
    "load_benchmark",
    "Benchmark",
    "Clip",
    "read_predictions",
    "Predictions",
    "parse_answer",
    "Answer",
    "Status",
    "evaluate",
    "Evaluation",
    "compare",
    "Comparison",
    "baseline",
    "Protocol",
    "STRICT",
    "PAPER",
    "PEOPLE",
    "country_code",
    "geodesic_km",
    "geoscore",
    "Agl1kError",
    "FileRefusedError",
    "Problem",
    "benchmarks",
    "answers",
    "predictions",
    "scoring",
    "places",
    "audio",
    "tagging",
    "localizability",
    "curation",
    "models",
    "wander",
    "causes",
    "listener",
]

__version__: str
