"""Audio Localizability: how much the sounds of a recording tell of its place."""

from .agreement import by_continent, judge_agreement
from .evidence import gather
from .judges import ApiJudge, GivingUp, Judge, WordMatchJudge, choose_judges
from .model import (
    ALPHA,
    GAMMA_KM,
    THETA,
    Evidence,
    Localizability,
    Observations,
    fit,
    observe,
    tagger_of,
)
from .ratings import read_ratings, write_ratings
from .report import Material, about_lines, category_rows, report_numbers, report_page

__all__ = [
    "ALPHA",
    "ApiJudge",
    "Evidence",
    "GAMMA_KM",
    "GivingUp",
    "Judge",
    "Localizability",
    "Material",
    "Observations",
    "THETA",
    "WordMatchJudge",
    "about_lines",
    "judge_agreement",
    "by_continent",
    "category_rows",
    "choose_judges",
    "fit",
    "gather",
    "observe",
    "read_ratings",
    "report_numbers",
    "report_page",
    "tagger_of",
    "write_ratings",
]
