"""Audio Localizability: how much the sounds of a recording reveal about its place."""

from ._threads import run_all
from .agreement import Agreement, by_continent, judge_agreement
from .api_judge import ApiJudge, read_prompt
from .evidence import gather
from .figures import (
    agreement_figure,
    continents_figure,
    examples_figure,
    top_categories_figure,
)
from .judge_answers import parse_ratings
from .judge_choices import parse_choice
from .judges import TIMEOUT_S, GivingUp, Judge, WordMatchJudge, choose_judges
from .model import ALPHA, GAMMA_KM, THETA, Localizability, fit, tagger_of
from .observations import Evidence, Observations, observe
from .ratings import read_ratings, write_ratings
from .report import ReportInput, about_lines, category_rows, report_numbers, report_page

__all__ = [
    "Localizability",
    "fit",
    "ALPHA",
    "GAMMA_KM",
    "THETA",
    "tagger_of",
    "Evidence",
    "gather",
    "Judge",
    "ApiJudge",
    "WordMatchJudge",
    "choose_judges",
    "TIMEOUT_S",
    "read_prompt",
    "parse_ratings",
    "parse_choice",
    "GivingUp",
    "run_all",
    "observe",
    "Observations",
    "read_ratings",
    "write_ratings",
    "judge_agreement",
    "Agreement",
    "by_continent",
    "ReportInput",
    "report_numbers",
    "report_page",
    "about_lines",
    "category_rows",
    "top_categories_figure",
    "examples_figure",
    "agreement_figure",
    "continents_figure",
]
