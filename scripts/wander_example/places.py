"""The eight places of the example set: where they are, what is written there, what they look like.

Coordinates, languages, names of streets, the sun and the lines on the road are those of
the place. Houses and shops, and the plan of the streets, are invented.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Colour = tuple[int, int, int]
Plant = Literal["conifer", "broadleaf", "palm", "cypress", "none"]


@dataclass(frozen=True)
class Place:
    """A place to draw.

    Parameters
    ----------
    lat, lon
        The centre of the graph.
    words
        Written on shops, in the languages of the place.
    street_names
        Written on posts at corners.
    walls, roofs
        Colours of houses.
    floors
        Fewest and most storeys.
    plant
        What grows between the houses.
    ground, sky
        Colours of the ground beside the streets, and of the sky at the horizon.
    centre_line
        Colour of the line in the middle of the street, None if there is none.
    hills_deg
        How high the hills rise above the horizon; ``hill`` is their colour.
    sea_deg
        The bearings, from and to, at which the horizon is the sea, or None.
    """

    lat: float
    lon: float
    words: tuple[str, ...]
    street_names: tuple[str, ...]
    walls: tuple[Colour, ...]
    roofs: tuple[Colour, ...]
    floors: tuple[int, int]
    plant: Plant
    ground: Colour
    sky: Colour
    centre_line: Colour | None
    hills_deg: float
    hill: Colour
    sea_deg: tuple[float, float] | None = None


WHITE, YELLOW = (238, 238, 232), (232, 190, 52)
BRICK, SLATE, TIN = (156, 82, 60), (84, 90, 98), (150, 60, 58)

PLACES = (
    Place(  # Tbilisi, Georgia
        41.6925, 44.7990,
        ("აფთიაქი", "პური", "ღვინო", "ხინკალი", "წიგნები", "ბანკი"),
        ("კოტე აფხაზის ქუჩა", "აღმაშენებლის გამზირი"),
        ((196, 164, 132), (172, 120, 96), (214, 196, 170), (150, 134, 128)), (BRICK, TIN), (2, 4),
        "cypress", (150, 142, 116), (206, 218, 228), WHITE, 9.0, (112, 122, 96),
    ),
    Place(  # Thessaloniki, Greece
        40.6330, 22.9470,
        ("ΦΑΡΜΑΚΕΙΟ", "ΑΡΤΟΠΟΙΕΙΟ", "ΚΑΦΕΝΕΙΟ", "ΒΙΒΛΙΟΠΩΛΕΙΟ", "ΨΑΡΟΤΑΒΕΡΝΑ", "ΠΕΡΙΠΤΕΡΟ"),
        ("ΟΔΟΣ ΕΓΝΑΤΙΑ", "ΟΔΟΣ ΑΓΙΟΥ ΔΗΜΗΤΡΙΟΥ"),
        ((236, 228, 210), (224, 206, 178), (240, 238, 232), (206, 188, 160)), (BRICK, WHITE),
        (3, 6), "broadleaf", (168, 160, 140), (214, 226, 236), WHITE, 4.0,
        (132, 136, 112), (170, 270),
    ),
    Place(  # Ulaanbaatar, Mongolia
        47.9180, 106.9170,
        ("ЭМИЙН САН", "ДЭЛГҮҮР", "ГУАНЗ", "НОМЫН ДЭЛГҮҮР", "ҮСЧИН", "БАНК"),
        ("ЭНХ ТАЙВНЫ ӨРГӨН ЧӨЛӨӨ", "СӨҮЛИЙН ГУДАМЖ"),
        ((190, 186, 176), (204, 176, 140), (168, 172, 178), (214, 208, 196)), (SLATE, TIN), (3, 7),
        "none", (160, 142, 106), (196, 216, 236), WHITE, 8.0, (142, 128, 96),
    ),
    Place(  # Akureyri, Iceland
        65.6820, -18.0910,
        ("APÓTEK", "BAKARÍ", "BÓKABÚÐ", "SUNDLAUG", "FISKBÚÐ", "KAFFIHÚS"),
        ("HAFNARSTRÆTI", "ÞÓRUNNARSTRÆTI"),
        ((226, 226, 220), (166, 62, 54), (60, 96, 130), (212, 180, 92)), (TIN, SLATE), (1, 3),
        "conifer", (98, 126, 78), (206, 214, 222), WHITE, 14.0, (96, 104, 112), (330, 20),
    ),
    Place(  # Agadir, Morocco
        30.4210, -9.5880,
        ("PHARMACIE", "BOULANGERIE", "ⵜⴰⵃⴰⵏⵓⵜ", "CAFÉ ATLAS", "TÉLÉBOUTIQUE", "LIBRAIRIE"),
        ("AVENUE HASSAN II", "RUE DE MARRAKECH"),
        ((236, 214, 186), (226, 190, 156), (240, 232, 220), (208, 160, 128)), (WHITE, BRICK),
        (2, 4), "palm", (196, 170, 130), (210, 226, 240), WHITE, 5.0, (170, 140, 104), (210, 320),
    ),
    Place(  # Iqaluit, Canada
        63.7480, -68.5190,
        ("ᐃᖃᓗᐃᑦ", "NORTHERN STORE", "ᓂᐅᕕᕐᕕᒃ", "ARCTIC CO-OP", "ᐃᓕᓐᓂᐊᕐᕕᒃ SCHOOL", "POST OFFICE"),
        ("QUEEN ELIZABETH WAY", "ᓄᓇᕗᑦ"),
        ((180, 70, 60), (70, 110, 140), (206, 200, 180), (120, 140, 96)), (SLATE, SLATE), (1, 2),
        "none", (206, 208, 206), (214, 222, 230), None, 3.5, (168, 174, 180), (140, 220),
    ),
    Place(  # Arequipa, Peru
        -16.3980, -71.5370,
        ("BOTICA", "PANADERÍA", "POLLERÍA", "CHIFA", "BODEGA", "PICANTERÍA"),
        ("CALLE MERCADERES", "CALLE SANTA CATALINA"),
        ((240, 236, 226), (232, 224, 208), (196, 98, 66), (74, 108, 160)), (WHITE, BRICK), (1, 3),
        "broadleaf", (176, 156, 122), (182, 208, 238), YELLOW, 16.0, (136, 112, 96),
    ),
    Place(  # Rotorua, New Zealand
        -38.1370, 176.2510,
        ("DAIRY", "FISH & CHIPS", "CHEMIST", "TE KURA", "WHARE PUKAPUKA", "KIA ORA CAFÉ"),
        ("TUTANEKAI STREET", "HINEMOA STREET"),
        ((228, 222, 206), (186, 196, 190), (206, 172, 140), (240, 238, 230)), (TIN, SLATE), (1, 2),
        "broadleaf", (104, 140, 74), (200, 220, 236), WHITE, 6.0, (84, 110, 78), (340, 60),
    ),
)  # fmt: skip
