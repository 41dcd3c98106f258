"""Reads names of continents, countries and cities as people and models write them.

Countries become ISO 3166-1 alpha-2 codes, and XK for Kosovo. Names are matched exactly after
folding case, accents and punctuation, never fuzzily: a fuzzy match would turn Niger into Nigeria.
"""

from __future__ import annotations

import json
import re
import unicodedata
import warnings
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib import resources
from typing import Any

import countrynames
from countrynames.mappings import mappings as iso_alpha_3

warnings.filterwarnings("ignore", message="Install .pyicu.")

#: Longer texts are prose, not names.
_LONGEST_NAME = 120

_DATA = resources.files("agl1k_core.places") / "data"
_SPECIAL_LETTERS = str.maketrans(
    {"ø": "o", "đ": "d", "ð": "d", "ł": "l", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th"}
)
_SILENT = str.maketrans("", "", ".'’‘ʼ`´")
#: Lower combining classes are those of nuktas, kana voicing marks, viramas, and vowels.
_LOWEST_ACCENT = 10
_AMERICA = "america"
_ALTERNATIVES = re.compile(r"\s(?:or|and/or|vs\.?|versus|oder|ou)\s|[/;|]", re.IGNORECASE)
_LEADING = re.compile(
    r"^(?:(?:most |very )?(?:possibly|probably|likely)|maybe|perhaps|potentially|presumably"
    r"|my (?:best )?guess(?: is)?|i (?:think|guess|believe)|best guess|or|somewhere in|in|the"
    r"|rural|urban|coastal|mainland|continental|upper|lower|inland|country)\s+"
)
_SIDES = {"n": "north", "s": "south", "e": "east", "w": "west"}
_ABBREVIATIONS = {
    "rep": "republic", "dem": "democratic", "ppl": "peoples", "fed": "federal", "st": "saint",
    "sts": "states", "is": "islands", "isl": "islands", "isls": "islands", "terr": "territory",
}  # fmt: skip
_FLAG_A, _TAG_0, _BLACK_FLAG = 0x1F1E6, 0xE0000, "\N{WAVING BLACK FLAG}"
_FLAG_LETTERS = frozenset(chr(_FLAG_A + place) for place in range(26))
_DIRECTION = re.compile(
    r"^(?:central|mid|(?:north|south|east|west)(?:ern)?|(?:north|south) ?(?:east|west)(?:ern)?)\s+"
)
_TRAILING = re.compile(r"\s+(?:probably|possibly|maybe|perhaps|likely|most likely|or similar)$")
_ASIDE = re.compile(r"[(\[]([^()\[\]]*)[)\]]")
_SEPARATOR = re.compile(r"[,()\[\]:–—]| - ")
_REFUSAL_TAIL = re.compile(
    r"(?: (?:location|place|city|town|country|continent|region|area|coordinates?))?"
    r"(?: (?:from|based|due|without|with|given|because|as|since|in|by|for|at|solely|using)\b.*)?$"
)
_STATE = re.compile(
    r"^(?:(?:arab|bolivarian|co ?operative|democratic|federal|federated|federative|former|hashemite"
    r"|independent|islamic|kingdom|oriental|peoples|plurinational|popular|socialist|sovereign"
    r"|united|unitary|yugoslav) ){0,3}"
    r"(?:republic|kingdom|states?|commonwealth|union|sultanate|principality|grand duchy|emirate)"
    r" of (?:the )?"
)


def country_code(name: object) -> str | None:
    """Find the country that a name means, in any of 64 languages.

    Parts of a country give the country (Scotland: GB). Several countries, former countries and
    regions that are not administrative units give None (Germany or Austria, USSR, Siberia). So do
    two-letter codes other than US and UK, which are too often ordinary words.

    Parameters
    ----------
    name
        A name as people and models write it; anything but text gives None.

    Returns
    -------
    str or None
        ISO 3166-1 alpha-2 code, or XK for Kosovo.

    Examples
    --------
    >>> country_code("the Republic of Korea"), country_code("Edinburgh, Scotland")
    ('KR', 'GB')
    >>> country_code("Germany or Austria") is None
    True
    """
    if not isinstance(name, str) or len(name) > _LONGEST_NAME:
        return None
    return _country_code(name)


def country_name(code: str) -> str:
    """English short name of a country.

    Parameters
    ----------
    code
        ISO 3166-1 alpha-2 code.

    Returns
    -------
    str
        The name; empty if there is no such code.

    Examples
    --------
    >>> country_name("KR")
    'South Korea'
    """
    return _countries().get(code, ("",))[0]


def continent_of(code: str) -> str | None:
    """Continent of a country.

    Parameters
    ----------
    code
        ISO 3166-1 alpha-2 code.

    Returns
    -------
    str or None
        One of the six English names or Antarctica; None if there is no such code.

    Examples
    --------
    >>> continent_of("KR")
    'Asia'
    """
    row = _countries().get(code)
    return row[1] if row else None


def canonical_continent(name: object) -> str | None:
    """Find the continent that a name means.

    Parameters
    ----------
    name
        A name as people and models write it; anything but text gives None.

    Returns
    -------
    str or None
        One of the six English names or Antarctica; None for no continent or several.

    Examples
    --------
    >>> canonical_continent("S. America"), canonical_continent("Southeast Asia")
    ('South America', 'Asia')
    >>> canonical_continent("Asia or Europe") is None
    True
    """
    if not isinstance(name, str) or len(name) > _LONGEST_NAME:
        return None
    return _canonical_continent(name)


def canonical_city(name: object) -> str:
    """Fold the case, accents and spacing of a city's name, so that equal names are equal texts.

    Parameters
    ----------
    name
        A name; anything but text gives an empty one.

    Examples
    --------
    >>> canonical_city("  São   PAULO ")
    'sao paulo'
    """
    if not isinstance(name, str):
        return ""
    return _known_city(name) if len(name) <= _LONGEST_NAME else _folded_city(name)


def _folded_city(name: str) -> str:
    return " ".join(_fold_letters(name).replace("’", "'").split())


_known_city = lru_cache(maxsize=65536)(_folded_city)


@cache
def _data(name: str) -> Any:
    return json.loads((_DATA / name).read_text(encoding="utf-8"))


def _countries() -> dict[str, tuple[str, ...]]:
    countries: dict[str, tuple[str, ...]] = _data("countries.json")["countries"]
    return countries


def _fold_letters(text: str) -> str:
    """Text without case, accents, compatibility forms and invisible characters."""
    if text.isascii():
        return text.casefold()
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    return "".join(filter(_is_kept, decomposed)).translate(_SPECIAL_LETTERS)


def _is_kept(char: str) -> bool:
    """Drops accents and points, not marks that are letters: vowels of Asian scripts, dakuten."""
    category = unicodedata.category(char)
    if category == "Mn":
        return unicodedata.combining(char) < _LOWEST_ACCENT
    return category not in {"Cf", "Cc"}


def fold(text: str) -> str:
    """Text with folded letters, no dots or apostrophes, and one space for all other punctuation."""
    letters = _fold_letters(text.replace("\t", " ").replace("\n", " ")).translate(_SILENT)
    letters = letters.replace("&", " and ")
    return " ".join("".join(c if c.isalnum() or _is_mark(c) else " " for c in letters).split())


def _is_mark(char: str) -> bool:
    return not char.isascii() and unicodedata.category(char) in {"Mc", "Mn", "Lm"}


@cache
def _known_names() -> dict[str, str | None]:
    """Country codes by folded name, from all our tables; None for names of no country."""
    others = _data("country_names.json")["names"]
    names = {fold(name): code for code, known in others.items() for name in known}
    return names | names_of_our_own()


def names_of_our_own() -> dict[str, str | None]:
    """Country codes by folded name, from the tables that we wrote ourselves."""
    aliases = _data("country_aliases.json")
    names: dict[str, str | None] = {fold(row[0]): code for code, row in _countries().items()}
    for code, others in aliases["names"].items():
        names.update((fold(other), code) for other in others)
    names.update((fold(name), None) for name in aliases["none"])
    return names


@cache
def _alpha_3_codes() -> frozenset[str]:
    return frozenset(code.casefold() for code in iso_alpha_3.values())


@lru_cache(maxsize=65536)
def _country_code(text: str) -> str | None:
    folded = fold(text)
    if folded in _known_names():
        return _known_names()[folded]
    if not any(char.isalpha() for char in folded):
        return _code_of_flags(text)
    if _ALTERNATIVES.search(text):
        return _agreed([_country_code(part) for part in _ALTERNATIVES.split(text) if part.strip()])
    whole = _single_country(text.strip(), folded)
    bare, *asides = _without_asides(text)
    parts = [bare, *asides] if asides else _SEPARATOR.split(text)
    parts = [part for part in parts if fold(part)]
    if whole is None and len(parts) == 2 and "," in text:  # Korea, Dem. People's Rep. of
        turned = [fold(f"{parts[1]}{of}{parts[0]}") for of in (" ", " of ")]
        whole = _single_country(turned[0], turned[0]) or _single_country(turned[1], turned[1])
    if whole or len(parts) < 2:
        return whole or (_country_code(parts[0]) if asides and parts else None)
    return _most_precise(parts)


def _code_of_flags(text: str) -> str | None:
    """The country of a text that is a single flag, such as 🇫🇷, or 🏴 with a part of GB."""
    letters = "".join(chr(ord(char) - _FLAG_A + ord("A")) for char in text if char in _FLAG_LETTERS)
    if _BLACK_FLAG in text:
        tags = "".join(chr(ord(char) - _TAG_0) for char in text if 0 < ord(char) - _TAG_0 < 0x7F)
        letters += tags[:2].upper()
    return letters if letters in _countries() else None


def _without_asides(text: str) -> list[str]:
    """A text without its brackets, then their contents."""
    asides = [aside.strip() for aside in _ASIDE.findall(text)]
    bare = _ASIDE.sub(" ", text).strip(" ()[]") if asides else text
    return [bare, *(aside for aside in asides if fold(aside) not in ("", "country"))] + (
        [""] if asides else []
    )


def _single_country(text: str, folded: str) -> str | None:
    """The code of a single name, also after a hedge, a direction or a form of state."""
    if folded in _known_names():
        return _known_names()[folded]
    code = _library_code(text, folded)
    for pattern in (_LEADING, _TRAILING, _STATE, _DIRECTION):
        if code:
            return code
        shorter = pattern.sub("", folded, count=1)
        if shorter != folded and shorter and not (pattern is _DIRECTION and shorter == _AMERICA):
            code = _single_country(shorter, shorter)
            if pattern is _DIRECTION and code == "SD" and folded.startswith("south"):
                code = "SS"  # however Sudan is spelled
    if code is None and (written_out := _written_out(folded)) != folded:
        code = _single_country(written_out, written_out)
    return code


def _written_out(folded: str) -> str:
    """A name with abbreviations as in statistical tables written out: "Dem Rep", "S", "Is"."""
    first, *rest = folded.split() or [""]
    words = [_SIDES.get(first, first) if rest else first, *rest]
    return " ".join(_ABBREVIATIONS.get(word, word) for word in words)


def _library_code(text: str, folded: str) -> str | None:
    """The code by countrynames, matched exactly, except for words that only look like codes."""
    if folded.isascii() and len(folded) <= 2:
        return None
    # Its own cache never forgets; ours is bounded.
    look_up = countrynames.to_code.__wrapped__
    found = look_up(text) or look_up(folded)
    if found is None or _is_word_not_code(text, folded):
        return None
    found = _data("country_aliases.json")["codes"].get(found, found).split("-")[0]
    return found if found in _countries() else None


def _is_word_not_code(text: str, folded: str) -> bool:
    latin = countrynames.util.normalize_name(text) or ""
    if len(latin) <= 2 and len(folded) <= 3:
        return True
    return latin in _alpha_3_codes() and not (text.isascii() and text.isupper())


def _agreed(codes: Sequence[str | None]) -> str | None:
    """The code, if all alternatives have the same."""
    return codes[0] if len(set(codes)) == 1 else None


def _most_precise(parts: Sequence[str]) -> str | None:
    """The one country among parts such as "City, Country"; a territory comes before its state.

    "Spain, Portugal" names two, so it gives None. A part that countrynames lists only as a city or
    region yields to a country's own name: Hamilton, Canada is not in Bermuda.
    """
    codes = {fold(part): code for part in parts if (code := _country_code(part))}
    found = {code for name, code in codes.items() if name in _known_names()} or {*codes.values()}
    if found == {"GE", "US"}:  # Atlanta, Georgia, USA
        return "US"
    states = {_countries()[code][2] for code in found if len(_countries()[code]) > 2}
    return _agreed(sorted(found - states)) if found else None


@cache
def _continent_names() -> dict[str, str]:
    table = _data("continents.json")["continents"]
    return {fold(name): continent for continent, names in table.items() for name in names}


@lru_cache(maxsize=4096)
def _canonical_continent(text: str) -> str | None:
    folded = fold(text)
    names = _continent_names()
    if folded in names:
        return names[folded]
    parts = [part for part in re.split(r"[,()/;|]|\s(?:or|and|oder|ou)\s|&", text) if fold(part)]
    if len(parts) > 1:
        return _agreed([_canonical_continent(part) for part in parts])
    shorter = _DIRECTION.sub("", _LEADING.sub("", folded))
    return names.get(shorter) if shorter != _AMERICA else None


@cache
def _refusals() -> frozenset[str]:
    return frozenset(fold(word) for word in _data("refusals.json")["words"])


def is_refusal(text: object) -> bool:
    """Whether a field says, in a word or phrase, that there is no answer; empty fields do not."""
    if not isinstance(text, str) or len(text) > _LONGEST_NAME or not text.strip():
        return False
    return _is_refusal(text)


@lru_cache(maxsize=65536)
def _is_refusal(text: str) -> bool:
    folded = fold(text)
    shorter = _REFUSAL_TAIL.sub("", folded)
    return not folded or folded in _refusals() or (bool(shorter) and shorter in _refusals())
