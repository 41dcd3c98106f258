"""Where a language is heard: its speakers in each country, from CLDR."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

#: CLDR counts all who know a language, also those who learned it at school. In a street, one that
#: has no official status is heard less than their number says. These weights are our estimate.
STATUS_WEIGHTS = {"official": 1.0, "regional": 0.5, "": 0.1}

#: Whisper's code of a language -> CLDR's, if they differ.
_CODES = {"jw": "jv", "nb": "no", "nn": "no", "tl": "fil"}


def cldr_code(whisper: str) -> str:
    """CLDR's code of a language that Whisper names.

    Examples
    --------
    >>> cldr_code("tl"), cldr_code("pt")
    ('fil', 'pt')
    """
    return _CODES.get(whisper, whisper)


def language_name(code: str) -> str:
    """The English name of a language; its code if CLDR does not name it.

    Examples
    --------
    >>> language_name("pt")
    'Portuguese'
    """
    name: str = _data()["names"].get(code, code)
    return name


@cache
def talk_shares(language: str) -> Mapping[str, float]:
    """The share of the talk in each country that is in a language.

    A country's people divide their talk among the languages that they know, by the number of those
    who know each, times the weight of its official status in ``STATUS_WEIGHTS``.

    Parameters
    ----------
    language
        CLDR's code.

    Returns
    -------
    Mapping
        0 to 1 by ISO code, without zeros; empty for languages that are spoken in no country.

    Examples
    --------
    >>> shares = talk_shares("pt")
    >>> shares["BR"] > 0.9 > 0.1 > shares["FR"], talk_shares("sa")
    (True, {})
    """
    shares = {code: _share(told, language) for code, told in _data()["countries"].items()}
    return {code: share for code, share in shares.items() if share}


def _share(country: Mapping[str, Any], language: str) -> float:
    weights = {
        name: percent * STATUS_WEIGHTS[status] for name, (percent, status) in country.items()
    }
    return float(weights.get(language, 0.0) / sum(weights.values()))


@cache
def _data() -> Mapping[str, Any]:
    file = resources.files("agl1k_core.listener") / "data" / "speakers.json"
    data: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return data
