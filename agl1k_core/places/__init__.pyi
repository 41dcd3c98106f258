"""Names of places, labels of points, and distances between points."""

from .geocoder import PlaceLabel, distinct_labels, label_points
from .geodesy import (
    MAX_GEOSCORE,
    NO_POINT_KM,
    compass_direction,
    geodesic_km,
    geodesic_line,
    geoscore,
    is_point,
    wrap_longitude,
)
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
    "MAX_GEOSCORE",
    "NO_POINT_KM",
    "PlaceLabel",
    "canonical_city",
    "canonical_continent",
    "compass_direction",
    "continent_of",
    "country_code",
    "country_name",
    "distinct_labels",
    "fold",
    "geodesic_km",
    "geodesic_line",
    "geoscore",
    "is_point",
    "is_refusal",
    "label_points",
    "names_of_our_own",
    "wrap_longitude",
]
