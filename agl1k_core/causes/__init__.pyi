"""Why a model named the wrong country: misses sorted into the paper's seven causes."""

from .agreement import JointAgreement, PairAgreement, joint_agreement, pair_agreements
from .distribution import counts_of, most_named, summary
from .judging import judge_misses, language_models, question
from .misses import country_misses
from .model import CAUSES, REFUSAL, Miss, Misses, Outcome, Verdict
from .report import (
    about_lines,
    agreement_table,
    cause_page,
    cause_table,
    causes_figure,
    fleiss_line,
)
from .verdicts import (
    PERSON,
    PERSON_TABLE,
    VERDICTS,
    merged,
    read_verdicts,
    with_refusals,
    write_verdicts,
)

__all__ = [
    "country_misses",
    "Misses",
    "Miss",
    "CAUSES",
    "REFUSAL",
    "judge_misses",
    "language_models",
    "question",
    "Verdict",
    "Outcome",
    "read_verdicts",
    "write_verdicts",
    "merged",
    "with_refusals",
    "VERDICTS",
    "PERSON_TABLE",
    "PERSON",
    "summary",
    "counts_of",
    "most_named",
    "pair_agreements",
    "PairAgreement",
    "joint_agreement",
    "JointAgreement",
    "cause_page",
    "causes_figure",
    "cause_table",
    "agreement_table",
    "about_lines",
    "fleiss_line",
]
