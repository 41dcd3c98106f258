"""Values as the script behind the published numbers reads them.

It reads the file with pandas, which makes numbers of a column that contains nothing else, and then
compares texts. So the integer -1 is a refusal beside words or among integers, but not beside
decimals, where it becomes -1.0.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
ObjectArray = npt.NDArray[np.object_]


def coordinate_refusals(values: ObjectArray, words: frozenset[str]) -> BoolArray:
    """Which values of a column of coordinates are refusals: null, or one of ``words``."""
    numbers = _as_numbers(values)
    if numbers is None:
        return text_refusals(values, words)
    integers = bool((np.abs(numbers) < 2**63).all()) and all(map(_is_integer, values))
    refused = np.isnan(numbers)
    for word in words:
        number = _float(word)
        if number is not None and word == (str(int(number)) if integers else str(number)):
            refused |= (numbers == number) & (integers | ~np.signbit(numbers * (number == 0)))
    return refused


def text_refusals(values: ObjectArray, words: frozenset[str]) -> BoolArray:
    """Which values are refusals, by their texts: null, or one of ``words``."""
    hits = (is_null(value) or str(value).strip().lower() in words for value in values)
    return np.fromiter(hits, dtype=np.bool_, count=len(values))


def plain_numbers(values: ObjectArray) -> FloatArray:
    """Values as numbers; NaN for null and for text that is more than a number, such as "2.3 W"."""
    numbers = (_float(value) for value in values)
    return np.array([math.nan if x is None else x for x in numbers], dtype=np.float64)


def is_null(value: object) -> bool:
    """Whether pandas takes a value of a JSON file for null."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def _as_numbers(values: ObjectArray) -> FloatArray | None:
    """A column as numbers, NaN for null; None if it contains anything else."""
    numbers = np.empty(len(values), dtype=np.float64)
    for position, value in enumerate(values):
        number = math.nan if value is None else _float(value)
        if number is None:
            return None
        numbers[position] = number
    return numbers


def _is_integer(value: object) -> bool:
    try:
        return int(value) == float(value)  # type: ignore[call-overload, arg-type, no-any-return]
    except (TypeError, ValueError, OverflowError):
        return False


def _float(value: object) -> float | None:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
