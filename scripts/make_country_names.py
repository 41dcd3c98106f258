# /// script
# requires-python = ">=3.11"
# dependencies = ["babel>=2.16", "agl1k"]
# ///
"""Write ``agl1k_core/places/data/country_names.json``: country names that countrynames lacks.

The names are Unicode's (CLDR, licence Unicode-3.0), as babel contains them. Names that
``country_code`` does not know, or takes for another country, are kept; names that two countries
share are not, nor short ones in Latin letters, which are too often words. It needs babel:
``pip install babel``.
"""

from __future__ import annotations

import json
from collections import defaultdict
from importlib import resources
from pathlib import Path

from babel import Locale

from agl1k_core.places import country_code, country_name, fold, names_of_our_own

LANGUAGES = """
    en fr de es pt it ca gl eu nl af sv da nb is fi et lv lt pl cs sk sl hr sr mk bg ro hu sq el
    ru uk kk mn tr az ar fa ur he am sw hi bn te ta si ne my km lo th vi id ms fil ja ko zh
    zh_Hant ka hy cy ga
"""
LEAST_LATIN_LETTERS = 4


def names_of_cldr() -> dict[str, dict[str, str]]:
    """For each folded name, a spelling by country code, from all languages."""
    names: dict[str, dict[str, str]] = defaultdict(dict)
    for language in LANGUAGES.split():
        for code, name in Locale.parse(language).territories.items():
            if country_name(code):
                names[fold(name)].setdefault(code, name)
    return names


def missing_names() -> dict[str, list[str]]:
    """By country code, the names that are not recognised without this list."""
    found: dict[str, list[str]] = defaultdict(list)
    own = names_of_our_own()
    for folded, spellings in names_of_cldr().items():
        (code, name), *others = spellings.items()
        is_word = folded.isascii() and len(folded) < LEAST_LATIN_LETTERS
        if not (others or is_word or folded in own or country_code(name) == code):
            found[code].append(name)
    return {code: sorted(found[code]) for code in sorted(found)}


def main() -> None:
    """Write the list from scratch, without the effect of the current one."""
    path = Path(str(resources.files("agl1k_core.places"))) / "data" / "country_names.json"
    about = "Names from CLDR that countrynames lacks; written by scripts/make_country_names.py."
    path.write_text(json.dumps({"_about": about, "names": {}}), encoding="utf-8")
    rows = ",\n    ".join(
        f"{json.dumps(code)}: {json.dumps(names, ensure_ascii=False)}"
        for code, names in missing_names().items()
    )
    path.write_text(
        f'{{\n  "_about": {json.dumps(about)},\n  "names": {{\n    {rows}\n  }}\n}}\n',
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
