"""The grid that beliefs are about: cells of land of equal area, cut at borders.

Rows of cells are 2° high, and their cells 2° of a great circle wide, so that cells have nearly the
same area. A *piece* is the part of a cell that belongs to one country: a belief knows countries,
and its pin must lie in the country that it is meant for. A piece is there if it has a populated
place, or land in the outlines; so islands that the outlines leave out are there, and the sea is
not. Land south of 60° S is left out: it has no country and no populated place to name.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

from agl1k_core import places
from agl1k_core.places import coast_km, land_in_row

FloatArray = npt.NDArray[np.float64]
Texts = npt.NDArray[np.str_]

CELL_DEGREES = 2.0
#: Land is looked up once in each square of so many degrees.
_SAMPLE_DEGREES = 0.5
_SOUTHERNMOST = -60.0
#: Surf carries a kilometre or two; the outlines are off by up to this much.
_NEAR_SEA_KM = 30.0


@dataclass(frozen=True, eq=False)
class Grid:
    """The pieces of all land, in a fixed order; all arrays have one element per piece.

    Attributes
    ----------
    lat, lon
        The point that stands for a piece, in degrees: a populated place or a point on land.
    country_codes
        The country's ISO code.
    settlements
        Number of populated places.
    area
        Area of land, in any unit.
    near_sea
        Share of the populated places near the sea, or of the land if there are none, 0 to 1.
    south, west, width
        The cell: its southern and western edge and its width, in degrees.
    """

    lat: FloatArray
    lon: FloatArray
    country_codes: Texts
    settlements: FloatArray
    area: FloatArray
    near_sea: FloatArray
    south: FloatArray
    west: FloatArray
    width: FloatArray

    def __len__(self) -> int:
        return len(self.lat)

    @cached_property
    def countries(self) -> tuple[tuple[str, ...], npt.NDArray[np.int64]]:
        """The codes of all countries, in order, and the position among them of each piece's."""
        codes, which = np.unique(self.country_codes, return_inverse=True)
        return tuple(codes.tolist()), which

    @cached_property
    def scores(self) -> npt.NDArray[np.float32]:
        """Geoscore of a pin at each piece (rows) if the truth is at each piece (columns).

        On the sphere, which differs from the ellipsoid by less than 0.6 %.
        """
        points = places.unit_vectors(self.lat, self.lon)
        scores = np.empty((len(self), len(self)), dtype=np.float32)
        for at, point in enumerate(points):
            chord = np.linalg.norm(points - point, axis=1)
            scores[at] = places.geoscore(places.great_circle_km(chord))
        return scores


@dataclass(frozen=True)
class _Points:
    """Populated places, or samples of land."""

    lat: FloatArray
    lon: FloatArray
    country_codes: Texts
    near_sea: FloatArray


@lru_cache(maxsize=1)
def land_grid() -> Grid:
    """The grid, made once from the populated places and the outlines of land."""
    is_land = _land_mask()
    towns, samples = _towns(is_land), _samples(is_land)
    town_cells, sample_cells = _cells(towns.lat, towns.lon), _cells(samples.lat, samples.lon)
    codes = np.concatenate([towns.country_codes, samples.country_codes])
    names, country = np.unique(codes, return_inverse=True)
    cell = np.concatenate([town_cells, sample_cells])
    keys, piece = np.unique(cell * len(names) + country, return_inverse=True)
    at_towns, at_samples = piece[: len(town_cells)], piece[len(town_cells) :]
    settlements = np.bincount(at_towns, minlength=len(keys)).astype(np.float64)
    area = np.bincount(at_samples, np.cos(np.radians(samples.lat)), len(keys))
    of_towns = _middles(towns, at_towns, len(keys))
    of_samples = _middles(samples, at_samples, len(keys))
    lat, lon, near_sea = np.where(settlements > 0, of_towns, of_samples)
    places_of = names[keys % len(names)]
    edges = _edges(keys // len(names))
    return Grid(lat, lon, places_of, settlements, area.astype(np.float64), near_sea, *edges)


def _land_mask() -> npt.NDArray[np.bool_]:
    """Whether the middle of each square of ``_SAMPLE_DEGREES`` is land, from south to north."""
    half = _SAMPLE_DEGREES / 2
    lons = np.arange(-180 + half, 180, _SAMPLE_DEGREES)
    return np.array([land_in_row(lat, lons) for lat in np.arange(-90 + half, 90, _SAMPLE_DEGREES)])


def _towns(is_land: npt.NDArray[np.bool_]) -> _Points:
    known = places.populated_places()
    row = np.minimum((known.lat + 90) // _SAMPLE_DEGREES, is_land.shape[0] - 1).astype(int)
    column = ((known.lon + 180) // _SAMPLE_DEGREES).astype(int) % is_land.shape[1]
    near = (coast_km(known.lat, known.lon) <= _NEAR_SEA_KM) | ~is_land[row, column]
    kept = known.lat >= _SOUTHERNMOST
    codes, near_sea = known.country_codes[kept], near[kept].astype(np.float64)
    return _Points(known.lat[kept], known.lon[kept], codes, near_sea)


def _samples(is_land: npt.NDArray[np.bool_]) -> _Points:
    row, column = np.nonzero(is_land)
    lat = np.asarray((row + 0.5) * _SAMPLE_DEGREES - 90, dtype=np.float64)
    lon = np.asarray((column + 0.5) * _SAMPLE_DEGREES - 180, dtype=np.float64)
    lat, lon = lat[lat >= _SOUTHERNMOST], lon[lat >= _SOUTHERNMOST]
    labels, which = places.distinct_labels(lat, lon)
    codes = np.array([label.country_code for label in labels])[which]
    return _Points(lat, lon, codes, (coast_km(lat, lon) <= _NEAR_SEA_KM).astype(np.float64))


def _columns(row: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The number of cells in a row."""
    middle = (row + 0.5) * CELL_DEGREES - 90
    wanted = np.round(360 / CELL_DEGREES * np.cos(np.radians(middle)))
    return np.asarray(np.maximum(1, wanted), dtype=np.int64)


#: More than the cells in any row.
_ROW_STRIDE = 1000


def _cells(lat: FloatArray, lon: FloatArray) -> npt.NDArray[np.int64]:
    """The number of the cell that holds each point."""
    last = round(180 / CELL_DEGREES) - 1
    row = np.clip((lat + 90) // CELL_DEGREES, 0, last).astype(np.int64)
    n_columns = _columns(row)
    column = ((lon + 180) / 360 * n_columns).astype(np.int64) % n_columns
    return row * _ROW_STRIDE + column


def _edges(cells: npt.NDArray[np.int64]) -> tuple[FloatArray, FloatArray, FloatArray]:
    row, column = cells // _ROW_STRIDE, cells % _ROW_STRIDE
    width: FloatArray = 360.0 / _columns(row).astype(np.float64)
    return row.astype(np.float64) * CELL_DEGREES - 90, column * width - 180, width


def _middles(points: _Points, piece: npt.NDArray[np.int64], n_pieces: int) -> FloatArray:
    """Per piece, latitude and longitude of the point nearest to the mean, and mean ``near_sea``.

    Pieces without a point are NaN.
    """
    n = np.maximum(np.bincount(piece, minlength=n_pieces), 1)
    mean_lat, mean_lon, near_sea = (
        np.bincount(piece, values, n_pieces) / n
        for values in (points.lat, points.lon, points.near_sea)
    )
    away = np.hypot(
        points.lat - mean_lat[piece],
        (points.lon - mean_lon[piece]) * np.cos(np.radians(points.lat)),
    )
    order = np.lexsort((points.lon, points.lat, away, piece))
    found, first = np.unique(piece[order], return_index=True)
    middle = np.full((3, n_pieces), np.nan)
    nearest = order[first]
    middle[:, found] = points.lat[nearest], points.lon[nearest], near_sea[found]
    return middle
