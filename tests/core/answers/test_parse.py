"""Raw answers of models: how each is parsed, and that no text breaks the parser."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agl1k_core import places
from agl1k_core.answers import parse_answer
from agl1k_core.answers.coordinates import pair_in_prose, read_angle, read_pair
from agl1k_core.answers.parse import embedded_objects

CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "cases" / "answers.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_cases(case: dict[str, Any]) -> None:
    answer = parse_answer(case["answer"])
    assert answer.status == case["status"], case["why"]
    assert (answer.latitude, answer.longitude) == (case["latitude"], case["longitude"])
    assert places.country_code(answer.country) == places.country_code(case["country"])


@pytest.mark.parametrize(
    "text",
    [
        "Latitude: 48.85, Longitude: 2.35",
        "I guess latitude 48.85 and longitude 2.35",
        "48.85° N, 2.35° E",
        "N 48.85, E 2.35",
        "2.35° E, 48.85° N",
        "My guess is Paris (48.85, 2.35).",
        "Lat 48,85; Lon 2,35",
        "City: Paris, Country: France, Latitude: 48.85, Longitude: 2.35",
        "**City:** Paris\n**Latitude:** 48.85\n**Longitude:** 2.35",
        "| City | Paris |\n| Latitude | 48.85 |\n| Longitude | 2.35 |",
        "Breitengrad: 52.5 oder Latitude: 48.85\nLongitude: 2.35",
        "I hear bells. **Latitude:** 48.85 **Longitude:** 2.35",
        "<answer><latitude>48.85</latitude><longitude>2.35</longitude></answer>",
        "Latitude – 48.85\nLongitude – 2.35",
        "Lat/Long: 48.85/2.35",
        '{"coordinates": "48.85, 2.35"}',
        '{"coordinates": [48.85, 2.35]}',
        '{"type": "Point", "coordinates": [2.35, 48.85]}',
        '{"location": "POINT (2.35 48.85)"}',
        '{"geometry": "SRID=4326;POINT Z (2.35 48.85 35.0)"}',
        '{"lat": "48°51\'00\\"N", "lon": "2°21\'00\\"E"}',
        '{"Predicted Latitude": "approximately 48.85", "Predicted Longitude": "2.35 degrees east"}',
        '{"predicted_latitude": "48.85", "predicted_longitude": "2.35", "true_latitude": "1"}',
        '{"latitude": 48.85, "longitude": 2.35, "reason": "cut of',
        '{"latitude": 48.85, "longitude": 2.35',
        "{'latitude': 48.85, 'longitude': 2.35, 'city': None}",
        "{“latitude”: 48.85, “longitude”: 2.35}",
        '{"latitude": 48.85 N, "longitude": 2.35 E,}',
        'I\'m sorry, I can\'t be sure. {"latitude": 48.85, "longitude": 2.35}',
        'Draft {"lat": 1.5, "lon": 2.5}, final {"lat": 48.85, "lon": 2.35}',
        '{"candidates": [{"lat": 48.85, "lon": 2.35}, {"lat": 1.5, "lon": 2.5}]}',
        '{"alternative": {"lat": 1.5, "lon": 2.5}, "best": {"lat": 48.85, "lon": 2.35}}',
        '{"choices": [{"message": {"content": "{\\"lat\\": 48.85, \\"lon\\": 2.35}"}}]}',
        '"{\\"lat\\": 48.85, \\"lon\\": 2.35}"',
        'It is {"lat": 9, "lon": 9}</think>{"lat": 48.85, "lon": 2.35}',
    ],
)
def test_one_point_in_many_spellings(text: str) -> None:
    answer = parse_answer(text)
    assert answer.status == "answered"
    assert answer.latitude == pytest.approx(48.85)
    assert answer.longitude == pytest.approx(2.35)


@pytest.mark.parametrize(
    "text",
    [
        "| latitude | longitude |\n|---|:-:|\n| -33.87 | 151.21 |\n| 1 | 2 |",
        "latitude,longitude,city\n-33.87,151.21,Sydney",
        "City\tLat\tLon\nSydney\t33.87 S\t151.21 E",
        "$\\text{Latitude} = 33.87^\\circ S$, $\\text{Longitude} = 151.21^{\\circ} E$",
        "\\boxed{\\text{Latitude: } -33.87, \\text{Longitude: } 151.21}",
        "\\(33.87^\\circ\\,\\mathrm{S},\\ 151.21^\\circ\\,\\mathrm{E}\\)",
        "纬度：-33.87，经度：151.21，城市：悉尼", "緯度: -33.87、経度: 151.21",
        "南纬33.87度，东经151.21度", "南緯33度52分12秒、東経151度12分36秒",
        "위도: -33.87, 경도: 151.21",
        "Широта: -33.87, долгота: 151.21", "خط العرض: -33.87، خط الطول: 151.21",
        "अक्षांश: -33.87, देशांतर: 151.21", "Latitud: -33,87\nLongitud: 151,21\nPaís: Australia",
        "about 33.87° S latitude and 151.21° E longitude", "(lon, lat) = (151.21, -33.87)",
        "longitude, latitude: 151.21, -33.87", "POINT(151.21 -33.87)", "-33.87 151.21",
        "Latitude: 33°52'12\" S\nLongitude: 151°12'36\" E", "33 52 12 S, 151 12 36 E",
        "33d52m12s S, 151d12m36s E", "Latitude: 33.87 (South)\nLongitude: 151.21 (East)",
        '{"latitude": 33.87, "latitude_direction": "S", "longitude": 151.21, "lon_ref": "E"}',
        "Latitude: -33.87 (confidence: 0.7)\nLongitude: 151.21 (confidence: 0.6)",
        "1. Sydney (-33.87, 151.21) - 60%\n2. Perth (-31.95, 115.86) - 40%",
        "**Guess #1:** 33.87° S, 151.21° E\n**Guess #2:** 31.95° S, 115.86° E",
        "1. -31.95, 115.86\n2. -33.87, 151.21\n\nFinal answer: -33.87, 151.21",
        "1. Latitude: -33.87\n2. Longitude: 151.21",
        '[{"lat": 1, "lon": 2, "confidence": "20 %"},'
        ' {"lat": -33.87, "lon": 151.21, "confidence": 0.8}]',
        "Oceania; Australia; Sydney; -33.87; 151.21",
    ],
)  # fmt: skip
def test_a_point_far_from_plain_text(text: str) -> None:
    answer = parse_answer(text)
    assert answer.status == "answered"
    assert answer.latitude == pytest.approx(-33.87)
    assert answer.longitude == pytest.approx(151.21)


@pytest.mark.parametrize(
    "text",
    [
        "Latitude: between 40 and 45\nLongitude: between 0 and 5",
        "The bird sings at 2.5, 3.5 kHz.",
        "Bells at 3.5, 4.5 s", "Latitude: 30 to 31, Longitude: 31 to 32", "12/05",
    ],
)  # fmt: skip
def test_ranges_and_measurements_are_no_points(text: str) -> None:
    assert parse_answer(text).status == "unparseable"


@pytest.mark.parametrize(
    ("text", "country"),
    [
        ("Latitude: 48,85\nLongitude: 2,35\nVille : Paris\nPays : France", "France"),
        ("Breitengrad: 52,5\nLängengrad: 13,4\nLand: Deutschland", "Deutschland"),
        ("纬度：39.9\n经度：116.4\n国家：中国", "中国"),
        ("lat,lon,country\n1,2,Kenya", "Kenya"),
    ],
)
def test_names_of_places_under_keys_of_other_languages(text: str, country: str) -> None:
    assert parse_answer(text).country == country


def test_hemispheres_survive_the_repair_of_broken_json() -> None:
    answer = parse_answer('{"latitude": 33.87 S, "longitude": 70.65 W}')
    assert (answer.latitude, answer.longitude) == (-33.87, -70.65)


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("  \n", "error"), (None, "error"), ("Error: 429 Too Many Requests", "error"),
        ("HTTP 500", "error"), ('{"error": {"code": 429}}', "error"),
        ("Request timed out", "error"),
        ("openai.RateLimitError: slow down", "error"), ("<html>502 Bad Gateway</html>", "error"),
        ("Unknown", "refused"), ("null", "refused"), ("Lo siento, no puedo.", "refused"),
        ("抱歉，我无法确定位置。", "refused"), ("I don't know where this is.", "refused"),
        ("As an AI I am unable to listen to audio.", "refused"),
        ('{"latitude": null, "longitude": null, "city": null}', "refused"),
        ('{"latitude": "N/A", "longitude": "N/A", "country": "Unknown"}', "refused"),
        ('{"latitude": 0, "longitude": 0, "country": "Ghana"}', "refused"),
        ('{"latitude": "0.0° N", "longitude": "0"}', "refused"),
        ('{"answer": "I cannot determine the place."}', "refused"),
        *[(words, "refused") for words in [
            "The audio does not contain enough information to say where.", "idk", "Not enough info",
            "I didn't receive an audio file.", "Could you share the clip?", "I must decline.",
            "This could be anywhere in the world.", "It lacks distinctive features.",
            "There's no way of knowing where this is.", "Nothing here points to a specific place.",
            "Không thể xác định vị trí.", "Konum belirlenemiyor.", "Nie mogę określić miejsca.",
            "Ik kan de locatie niet bepalen.", "Jag kan inte avgöra platsen.", "ไม่สามารถระบุได้",
            "निर्धारित नहीं किया जा सकता", "Tidak dapat menentukan lokasi.", "לא ניתן לקבוע",
            "Non sono in grado di dirlo.", "Der Ort lässt sich nicht bestimmen.", "Не знаю.",
            '{"error": "I cannot determine the location"}',
        ]],
        ('{"error": "Unable to process the request: timeout"}', "error"),
        *[(words, "unparseable") for words in [
            "A dog barks while rain falls.", "Wind, distant traffic. No speech.",
            "There is no music, only a car passing.", "The crowd does not sing.",
        ]],
        ("{}", "unparseable"), ("[]", "unparseable"), ("42", "unparseable"),
        ('{"latitude": NaN, "longitude": 2}', "unparseable"),
        ('{"latitude": 1e999, "longitude": 2}', "unparseable"),
        ('{"latitude": 10, "longitude": 200}', "unparseable"),
        ('{"latitude": 48.85, "longitude": 1', "unparseable"),
        ("<think>maybe 48.85° N, 2.35° E", "unparseable"),
        ("Birds sing.", "unparseable"),
    ],
)  # fmt: skip
def test_without_a_point(text: object, status: str) -> None:
    answer = parse_answer(text)
    assert answer.status == status
    assert answer.latitude is None
    assert answer.longitude is None


@pytest.mark.parametrize(
    "text",
    [
        '{"latitude": null, "longitude": null, "country": "France"}',
        '{"latitude": "Unknown", "longitude": "Unknown", "country": "France"}',
        '{"latitude": "48.85 N", "longitude": "somewhere", "country": "France"}',
        '{"city": "Paris", "country": "France", "lat',
        "Country: France",
        "- **Country**: France\n- **City**: Unknown",
    ],
)
def test_labels_count_without_a_point(text: str) -> None:
    answer = parse_answer(text)
    assert answer.status == "unparseable"
    assert answer.country == "France"


@pytest.mark.parametrize("value", [True, "", "between 40 and 50", "1e999", [], {}, "9" * 5000])
def test_no_angle(value: object) -> None:
    assert read_angle(value) is None


@pytest.mark.parametrize(
    ("value", "degrees"),
    [(5, 5.0), ("−33,87", -33.87), ("S 33.87", -33.87), ("48° 51′ 36″ N", 48.86),
     ("48:51:36 N", 48.86), ("2.35 W", -2.35), ("-0°30'", -0.5), ("48.85 ± 0.1", 48.85),
     ({"degrees": 48, "minutes": 30, "direction": "S"}, -48.5)],
)  # fmt: skip
def test_angles(value: object, degrees: float) -> None:
    angle = read_angle(value)
    assert angle is not None
    assert angle.degrees == pytest.approx(degrees)


def test_pairs() -> None:
    assert read_pair("48,85; 2,35") == (48.85, 2.35)
    assert read_pair("116.4, 39.9") == (39.9, 116.4)  # only this order gives a point on Earth
    assert read_pair("1 N, 2 N") is None
    assert pair_in_prose("first 1.5, 2.5 then 3.5, 4.5.") == (3.5, 4.5)


@settings(deadline=None)
@given(
    st.floats(-90, 90).map(lambda x: round(x, 5)), st.floats(-180, 180).map(lambda x: round(x, 5))
)
def test_json_numbers_and_their_texts_come_back(lat: float, lon: float) -> None:
    for form in (lat, lon), (f"{lat:.5f}", f"{lon:.5f}"):
        answer = parse_answer(json.dumps({"latitude": form[0], "longitude": form[1]}))
        expected = (None, None) if lat == lon == 0 else (lat, lon)
        assert (answer.latitude, answer.longitude) == expected


@settings(deadline=None)
@given(st.text(max_size=300))
def test_no_text_breaks_it(text: str) -> None:
    assert parse_answer(text).status in {"answered", "refused", "unparseable", "error"}


@settings(deadline=None)
@given(
    st.sampled_from([case["answer"] for case in CASES if case["answer"]]),
    st.integers(0, 300), st.integers(0, 20), st.text(alphabet='{}[]",:\\°NS-.0123 \n', max_size=8),
)  # fmt: skip
def test_no_damage_to_an_answer_breaks_it(text: str, start: int, cut: int, put: str) -> None:
    answer = parse_answer(text[:start] + put + text[start + cut :])
    usable = answer.latitude is not None and answer.longitude is not None
    assert usable == (answer.status == "answered")
    if answer.latitude is not None and answer.longitude is not None:
        assert abs(answer.latitude) <= 90
        assert abs(answer.longitude) <= 180


@settings(deadline=None)
@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["lat", "longitude", "city", "coordinates", "answer", "location", "x"]),
        inner, max_size=4),
))  # fmt: skip
def test_no_object_breaks_it(tree: object) -> None:
    assert parse_answer(json.dumps(tree)).status in {"answered", "refused", "unparseable", "error"}


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, "{" * 100_000, '{"a":' * 30_000, '{"' * 50_000, '{"' + "{" * 100_000,
     "<think>" * 20_000, "*" * 100_000, "1°" * 50_000, "lat:" * 30_000, "9" * 100_000,
     '"lat":"' * 20_000, "1. 2.5, 3.5 s\n" * 20_000, "lat,lon\n" * 20_000, "\\text{" * 30_000,
     "$" * 100_000, "1 1 1 " * 30_000, "POINT(" * 30_000, "北纬1" * 40_000,
     '{"lat":' + "9" * 100_000 + ',"lon":1}'],
)  # fmt: skip
def test_hostile_texts_end_without_an_answer(text: str) -> None:
    assert parse_answer(text).latitude is None


def test_hostile_braces_are_given_up_on() -> None:
    assert list(embedded_objects('{"a' * 50_000)) == []
    assert list(embedded_objects('x {"a": 1} y [{"b": 2}]')) == [{"a": 1}, [{"b": 2}]]


@pytest.mark.shared
def test_every_real_answer_of_gpt_4o_audio_is_read(shared_data: Path) -> None:
    path = shared_data / "answers-gpt-4o-audio-preview-sample.jsonl"
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert len(records) == 60
    for record in records:
        answer = parse_answer(record["model_output"])
        assert answer.status == "answered"
        assert places.country_code(answer.country)
        assert f'"latitude": {answer.latitude:.2f}'[:-1] in record["model_output"]
