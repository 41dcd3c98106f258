"""Finds and interprets the fields of an answer that is already an object.

In a list of candidates the most confident one counts, or the first if no confidence is given.
Both coordinates always come from the same object.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib import resources

from agl1k_core import places
from agl1k_core.answers.coordinates import Angle, ordered, read_angle, read_pair
from agl1k_core.answers.model import GIVEN, LABELS, Answer, Status
from agl1k_core.answers.reasoning import is_reasoning, is_reasoning_part

_NAMES = {
    "latitude": "latitude lat latdeg latitudedeg latitudedegrees",
    "longitude": "longitude lon lng long londeg lngdeg longitudedeg longitudedegrees",
    "city": "city town cityname nearestcity citytown cityortown citylocality municipality locality",
    "country": "country countryname nation countryorregion",
    "continent": "continent continentname",
    "reason": "reason reasoning rationale explanation justification analysis thoughtprocess "
    "chainofthought",
    "pair": "coordinates coordinate coords coord latlng latlon latlong latitudelongitude "
    "latitudeandlongitude gps gpscoordinates gpslocation point position geocoordinates geo "
    "geometry location geolocation",
    "latitude side": "latitudedirection latdirection latdir latitudehemisphere lathemisphere "
    "latituderef latref",
    "longitude side": "longitudedirection londirection lngdirection longdirection londir "
    "longitudehemisphere lonhemisphere lnghemisphere longituderef lonref lngref",
    "reversed pair": "lnglat lonlat longlat longitudelatitude",
}


def _field_words() -> dict[str, list[str]]:
    path = resources.files("agl1k_core.answers") / "data" / "field_words.json"
    words: dict[str, list[str]] = json.loads(path.read_text(encoding="utf-8"))
    return {name: words[name] for name in GIVEN}


def _plain(key: str) -> str:
    return "".join(char for char in key.casefold() if char.isalnum())


#: Names of the fields of a place in languages other than English.
FIELD_WORDS = _field_words()
_FIELD_OF_KEY = {_plain(word): name for name, words in FIELD_WORDS.items() for word in words}
_FIELD_OF_KEY |= {key: name for name, keys in _NAMES.items() for key in keys.split()}
_PREFIX = re.compile(
    r"^(?:(?:most)?(?:predicted|prediction|pred|estimated|estimate|guessed|guess|final|best|likely"
    r"|approximate|approx|probable|center|centre|answer))+"
)
_ASIDE = re.compile(r"alternativ|other|second|runner|previous|draft|example|rejected|discard")
_TRUTH = re.compile(r"^(?:true|truth|groundtruth|actual|reference|gold)")

#: An answer has a handful of fields; anything larger is not an answer, but must not take forever.
_MOST_NODES = 5000
_MOST_KEYS = 64
_LONGEST_LABEL = 300

_CONFIDENCE = ("confidence", "probability", "prob", "likelihood", "certainty", "confidencescore")

Fields = dict[str, object]


def field_of_key(key: str) -> str | None:
    """The field that a key means, ignoring case, spacing and prefix; None for other keys."""
    return None if len(key) > _MOST_KEYS else _field_of_key(key)


@lru_cache(maxsize=4096)
def _field_of_key(key: str) -> str | None:
    plain = _plain(key)
    return _FIELD_OF_KEY.get(plain) or _FIELD_OF_KEY.get(_PREFIX.sub("", plain))


def find_fields(tree: object) -> Fields:
    """The fields of an answer in nested objects and lists, as found; outer objects come first."""
    found: Fields = {}
    for node in _objects(tree):
        local = _local_fields(node)
        if "latitude" in local and "longitude" in local and not _has_point(found):
            found |= {name: local[name] for name in ("latitude", "longitude")}
        found = {**local, **found}
    return found


def places_something(fields: Mapping[str, object]) -> bool:
    """Whether there is any field of a place, even an empty one."""
    return any(name in fields for name in GIVEN)


def _has_point(fields: Mapping[str, object]) -> bool:
    return "latitude" in fields and "longitude" in fields


def _objects(tree: object) -> Iterator[Mapping[str, object]]:
    """Objects from the outside in; of a list of objects, only the one that counts."""
    queue: deque[object] = deque([tree])
    aside: deque[object] = deque()
    for _ in range(_MOST_NODES):
        if not queue:
            queue, aside = aside, deque()
        if not queue:
            return
        node = queue.popleft()
        if isinstance(node, dict) and not is_reasoning_part(node):
            yield node
            for key, value in node.items():
                plain = _plain(str(key)[:_MOST_KEYS])
                if isinstance(value, dict | list) and not _is_no_answer(str(key), plain):
                    (aside if _ASIDE.search(plain) else queue).append(value)
        elif isinstance(node, list):
            queue.extend(_first_placing(node))


def _is_no_answer(key: str, plain: str) -> bool:
    return bool(_TRUTH.match(plain)) or is_reasoning(key)


def _first_placing(items: list[object]) -> list[object]:
    nested: list[object] = [item for item in items[:_MOST_NODES] if isinstance(item, dict | list)]
    placing: list[object] = [
        x for x in nested if isinstance(x, dict) and places_something(_local_fields(x))
    ]
    if not placing:
        return nested
    confidences = [_confidence(item) for item in placing if isinstance(item, dict)]
    if any(confidence is None for confidence in confidences):
        return placing[:1]
    return [placing[confidences.index(max(x for x in confidences if x is not None))]]


def _confidence(item: Mapping[str, object]) -> float | None:
    """The confidence that an object states: a number, or text such as "60 %"."""
    for key, value in item.items():
        if _plain(str(key)[:_MOST_KEYS]) in _CONFIDENCE:
            found = read_angle(value)
            of_a_hundred = isinstance(value, str) and "%" in value
            return found.degrees / (100 if of_a_hundred else 1) if found else None
    return None


def _local_fields(node: Mapping[str, object]) -> Fields:
    """The fields of one object itself, with pairs split into two fields."""
    found: Fields = {}
    pairs: Fields = {}
    for key, value in node.items():
        name = field_of_key(key) if isinstance(key, str) else None
        if name is None:
            continue
        if name in {"pair", "reversed pair"}:
            pairs.update(_pair_fields(value, lon_first=name != "pair" or _is_geojson(node)))
        elif name not in found or found[name] in (None, ""):
            found[name] = value
    for name in ("latitude", "longitude"):
        side = found.pop(f"{name} side", None)
        if isinstance(side, str) and isinstance(found.get(name), int | float | str):
            found[name] = f"{found[name]} {side}"
    return {**pairs, **found}


def _is_geojson(node: Mapping[str, object]) -> bool:
    return str(node.get("type", "")).casefold() == "point"


def _pair_fields(value: object, *, lon_first: bool) -> Fields:
    """Fields of a value with both coordinates, or of text such as "City, Country"."""
    if isinstance(value, list) and len(value) in (2, 3):
        angles = [read_angle(item) for item in value[:2]]
        if angles[0] and angles[1]:
            return _point_fields(angles[0], angles[1], lon_first=lon_first)
    if isinstance(value, str) and len(value) <= _LONGEST_LABEL:
        pair = read_pair(value, lon_first=lon_first)
        if pair:
            return {"latitude": pair[0], "longitude": pair[1]}
        return _named_place(value)
    return {}


def _point_fields(first: Angle, second: Angle, *, lon_first: bool) -> Fields:
    pair = (second.degrees, first.degrees) if lon_first else ordered(first, second)
    return {"latitude": pair[0], "longitude": pair[1]} if pair else {}


def _named_place(text: str) -> Fields:
    if places.is_refusal(text):
        return {"city": text, "country": text}
    country = places.country_code(text)
    first, _, rest = text.partition(",")
    if country and rest:
        return {"city": first.strip(), "country": rest.rpartition(",")[2].strip()}
    return {"country": text} if country else {}


def judge(fields: Mapping[str, object], *, spoken: bool) -> Answer:
    """Status, point and labels from an answer's fields.

    (0, 0) is a refusal whatever the labels say; a single 0 is a coordinate. ``spoken`` means that
    the fields are the model's own words, where null says "I cannot tell"; in a table, null is an
    empty cell.
    """
    labels = {name: clean_label(fields.get(name)) for name in LABELS}
    point = read_point(fields.get("latitude"), fields.get("longitude"))
    if point == (0.0, 0.0):
        status, point = Status.REFUSED, None
    elif point is not None:
        status = Status.ANSWERED
    else:
        status = _status_without_point(fields, any(labels.values()), spoken)
    lat, lon = point or (None, None)
    reason = fields.get("reason")
    return Answer(
        status,
        lat,
        lon,
        **labels,
        reason=reason if isinstance(reason, str) and reason else None,
        given={name: fields.get(name) for name in GIVEN},
    )


def read_point(latitude: object, longitude: object) -> tuple[float, float] | None:
    """A point on Earth, in degrees, from two values as found; None if they are not a point."""
    lat, lon = read_angle(latitude), read_angle(longitude)
    if lat is None or lon is None:
        return None
    if (lat.axis, lon.axis) == ("longitude", "latitude"):
        lat, lon = lon, lat
    if not (abs(lat.degrees) <= 90 and abs(lon.degrees) <= 180):
        return None
    return lat.degrees, lon.degrees


def _status_without_point(fields: Mapping[str, object], labelled: bool, spoken: bool) -> Status:
    """Unparseable if any field attempts an answer, refused if one declines."""
    values = [fields[name] for name in GIVEN if name in fields]
    coordinates = [fields.get("latitude"), fields.get("longitude")]
    if labelled or any(_is_attempt(value) for value in coordinates):
        return Status.UNPARSEABLE
    if any(places.is_refusal(value) or _is_zero(value) for value in values):
        return Status.REFUSED
    if spoken:
        return Status.REFUSED if values else Status.UNPARSEABLE
    return Status.ERROR


def _is_attempt(value: object) -> bool:
    return not (is_blank(value) or places.is_refusal(value) or _is_zero(value))


def is_blank(value: object) -> bool:
    """Whether a field is empty."""
    return value is None or (isinstance(value, str) and not value.strip()) or value in ([], {})


def _is_zero(value: object) -> bool:
    angle = read_angle(value)
    return angle is not None and angle.degrees == 0.0


def clean_label(value: object) -> str | None:
    """A place name as text; None if the value is empty or declines to answer."""
    if isinstance(value, list) and value:
        value = ", ".join(item for item in value if isinstance(item, str))
    elif isinstance(value, dict):
        value = value.get("name")
    if not isinstance(value, str):
        return None
    text = value[: _LONGEST_LABEL * 4].strip(" \t\r\n*_`\"'“”")[:_LONGEST_LABEL]
    return None if not text or places.is_refusal(text) else text
