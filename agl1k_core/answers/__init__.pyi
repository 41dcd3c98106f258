"""What a model answered: status, point and names, from fields or from prose."""

from .fields import clean_label, field_of_key, find_fields, is_blank, judge
from .model import GIVEN, LABELS, Answer, Status
from .parse import objects_in, parse_answer
from .reasoning import without_reasoning

__all__ = [
    "parse_answer",
    "objects_in",
    "without_reasoning",
    "Answer",
    "Status",
    "GIVEN",
    "LABELS",
    "find_fields",
    "field_of_key",
    "judge",
    "is_blank",
    "clean_label",
]
