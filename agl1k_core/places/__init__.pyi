"""Names of places, labels of points, and distances between points."""

from .extents import Extent, surroundings
from .geocoder import (
    PlaceLabel,
    PopulatedPlaces,
    distinct_labels,
    label_points,
    populated_places,
)
from .geodesy import (
    EARTH_KM,
    MAX_GEOSCORE,
    NO_POINT_KM,
    bearing_in_words,
    compass_direction,
    geodesic_km,
    geodesic_line,
    geoscore,
    great_circle_km,
    pair_km,
    unit_vectors,
)
from .land import coast_km, land_in_row, land_path, land_rings
from .names import (
    canonical_city,
    canonical_continent,
    continent_of,
    country_code,
    country_name,
    fold,
    is_refusal,
    names_of_our_own,
)

__all__ = [
    "country_code",
    "country_name",
    "continent_of",
    "canonical_continent",
    "canonical_city",
    "is_refusal",
    "fold",
    "names_of_our_own",
    "Extent",
    "surroundings",
    "label_points",
    "distinct_labels",
    "PlaceLabel",
    "populated_places",
    "PopulatedPlaces",
    "geodesic_km",
    "pair_km",
    "geoscore",
    "MAX_GEOSCORE",
    "NO_POINT_KM",
    "geodesic_line",
    "compass_direction",
    "bearing_in_words",
    "unit_vectors",
    "great_circle_km",
    "EARTH_KM",
    "coast_km",
    "land_rings",
    "land_in_row",
    "land_path",
]
