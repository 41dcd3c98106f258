# /// script
# requires-python = ">=3.11"
# dependencies = ["babel>=2.16", "agl1k"]
# ///
"""Write what ``agl1k listen`` knows about the world, in ``agl1k_core/listener/data/``.

    pip install babel
    python -m scripts.make_listener_data

``speakers.json`` is Unicode's (CLDR, licence Unicode-3.0): the share of a territory's people that
knows a language, and whether it is official there, as Babel contains them. ``land.json`` is the
coast of ``assets/map/world-coarse.json.gz`` (Natural Earth, public domain).
"""

from __future__ import annotations

import gzip
import json
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from babel import Locale
from babel.core import get_global
from babel.languages import get_territory_language_info

from agl1k_core.places import country_name

ROOT = Path(__file__).resolve().parent.parent
#: Languages of smaller shares, in percent, are left out.
LEAST_PERCENT = 0.1
#: CLDR's official status -> ours.
STATUSES = {
    "official": "official",
    "de_facto_official": "official",
    "official_regional": "regional",
    "None": "",
}
STATUS_ORDER = ("official", "regional", "")
#: Languages of CLDR that Whisper does not tell from a larger one.
MEMBERS = {
    "ar": "acm acw aeb afb ajp apc apd arq ars ary arz mey shu",
    "de": "bar gsw ksh nds pfl swg vmf",
    "fa": "haz prs",
    "hi": "awa bgc bho hne mag",
    "it": "egl lij lmo nap pms rgn scn vec",
    "no": "nb nn",
    "pa": "lah pnb",
    "zh": "cdo gan hak hsn nan wuu",
}
#: Official in one state, and the mother tongue of nobody.
LEFT_OUT = ("la",)
DIALECTS = {name: language for language, names in MEMBERS.items() for name in names.split()}


def speakers() -> dict[str, dict[str, tuple[float, str]]]:
    """By country code, its languages as [percent of the people, status]."""
    codes = sorted(filter(country_name, get_global("territory_languages")))
    return {code: languages for code in codes if (languages := _languages(code))}


def _languages(code: str) -> dict[str, tuple[float, str]]:
    """The languages of a territory; one in several scripts, or with its dialects, is one."""
    shares: dict[str, tuple[float, str]] = {}
    for name, told in get_territory_language_info(code).items():
        language = name.partition("_")[0]
        language = DIALECTS.get(language, language)
        status = STATUSES[str(told["official_status"])]
        before, other = shares.get(language, (0.0, ""))
        shares[language] = (
            max(before, float(told["population_percent"] or 0)),
            min(status, other, key=STATUS_ORDER.index),
        )
    return {
        name: shares[name]
        for name in sorted(shares)
        if shares[name][0] >= LEAST_PERCENT and name not in LEFT_OUT
    }


def names(countries: dict[str, dict[str, tuple[float, str]]]) -> dict[str, str]:
    """The English names of all languages of the countries that CLDR names."""
    spoken = sorted({name for told in countries.values() for name in told})
    known = Locale.parse("en").languages
    return {name: known[name] for name in spoken if name in known}


def land() -> list[list[float]]:
    """The rings of all land, each as longitude, latitude, longitude, … in degrees."""
    topology = json.loads(gzip.decompress((ROOT / "assets/map/world-coarse.json.gz").read_bytes()))
    scale, origin = (np.array(topology["transform"][name]) for name in ("scale", "translate"))
    rings = []
    for polygon in topology["objects"]["land"]["arcs"]:
        for (arc,) in polygon:
            points = np.cumsum(np.array(topology["arcs"][arc]), axis=0) * scale + origin
            rings.append(points.round(2).ravel().tolist())
    return rings


def main() -> None:
    """Write both files and print their sizes."""
    countries = speakers()
    _write("listener", "speakers.json", {"names": names(countries), "countries": countries})
    _write("places", "land.json", {"rings": land()})


def _write(room: str, name: str, content: dict[str, Any]) -> None:
    about = {"_about": "Written by scripts/make_listener_data.py, which names the sources."}
    text = json.dumps(about | content, ensure_ascii=False, separators=(",", ":"))
    text = text.replace("},", "},\n").replace("],[", "],\n[")  # lines that can be compared
    path = Path(str(resources.files("agl1k_core"))) / room / "data" / name
    path.write_text(text + "\n", "utf-8")
    print(f"{name:15} {len(text) / 1000:6.0f} kB")


if __name__ == "__main__":
    main()
