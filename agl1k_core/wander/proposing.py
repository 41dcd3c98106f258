"""How well a model poses tasks: how its places are spread, and whether its levels are levels.

Sources
-------
* Learning to Wander, Table 2: occupancy, entropy, hull area, distance to the nearest neighbour and
  Clark-Evans ratio of proposed places. Its formulas are lost. Occupancies are multiples of 1/1536,
  so its grid has 1,536 cells, such as 32 × 48. Here, everything is measured on a sphere.
* Table 4: one-way analysis of variance of the scores per level of difficulty; Spearman's
  correlation and the least-squares slope of the levels' means at 20, 50 and 80.
* Clark & Evans 1954, "Distance to nearest neighbor as a measure of spatial relationships in
  populations": the mean distance over ``0.5 / sqrt(n / area)``, which is 1 for random places.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np
import numpy.typing as npt
from scipy import stats
from scipy.spatial import ConvexHull, QhullError, cKDTree

from agl1k_core.errors import Agl1kError
from agl1k_core.places import EARTH_KM, great_circle_km, unit_vectors

FloatArray = npt.NDArray[np.float64]

#: Area of all land without Antarctica, in km².
LAND_KM2 = 134.7e6
#: Area of the whole sphere, in km².
SPHERE_KM2 = 4 * math.pi * EARTH_KM**2
#: Position of each level of difficulty on the paper's scale, where 80 is easy.
LEVELS: Mapping[str, float] = {"hard": 20.0, "medium": 50.0, "easy": 80.0}

#: Singular values and offsets below this, for unit vectors, are rounding.
_ROUNDING = 1e-12
#: Exact tests list all orders of so many levels at most.
_MOST_PERMUTED = 8


@dataclass(frozen=True, slots=True)
class Grid:
    """Cells of equal steps in longitude, and in latitude or, if ``equal_area``, in its sine.

    Examples
    --------
    >>> Grid().n_cells
    1536
    >>> Grid(2, 2).cells([10.0, -10.0, 90.0], [-180.0, 179.0, 180.0]).tolist()
    [2, 1, 2]
    """

    n_lat: int = 32
    n_lon: int = 48
    equal_area: bool = False

    @property
    def n_cells(self) -> int:
        """How many cells there are."""
        return self.n_lat * self.n_lon

    def cells(self, lat: npt.ArrayLike, lon: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """The cell of each point; 180° is the same meridian as -180°."""
        phi = np.asarray(lat, dtype=np.float64)
        height = (1 + np.sin(np.radians(phi))) / 2 if self.equal_area else (phi + 90) / 180
        row = np.clip(np.floor(height * self.n_lat), 0, self.n_lat - 1)
        across = (np.asarray(lon, dtype=np.float64) + 180) % 360 / 360
        column = np.clip(np.floor(across * self.n_lon), 0, self.n_lon - 1)
        return np.asarray(row * self.n_lon + column, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Spread:
    """How places are spread over the world.

    Attributes
    ----------
    n
        Places.
    occupancy
        Share of the grid's cells that have a place.
    entropy
        Of the places' distribution over the cells, in nats.
    hull_km2
        Area of the smallest convex region of the sphere that has all places; that of the whole
        sphere if no hemisphere has them all.
    nearest_km
        Mean distance from each place to the nearest other one, NaN with a single place.
    clark_evans
        ``nearest_km`` over what random places would have: below 1 they are clustered.
    """

    n: int
    occupancy: float
    entropy: float
    hull_km2: float
    nearest_km: float
    clark_evans: float


def spread(
    lat: npt.ArrayLike,
    lon: npt.ArrayLike,
    *,
    grid: Grid | None = None,
    area_km2: float = LAND_KM2,
) -> Spread:
    """Measure how places are spread (Learning to Wander, Table 2).

    Parameters
    ----------
    lat, lon
        Degrees, shape ``(n,)``.
    grid
        For occupancy and entropy; by default the 1,536 cells of the table.
    area_km2
        The area where places could be, for the Clark-Evans ratio.

    Raises
    ------
    Agl1kError
        If there is no place, or one is not a point.

    Examples
    --------
    >>> octant = spread([0.0, 0.0, 90.0], [0.0, 90.0, 0.0])
    >>> round(octant.hull_km2 * 8 / SPHERE_KM2, 6), round(octant.nearest_km)
    (1.0, 10008)
    """
    phi, theta = (np.atleast_1d(np.asarray(values, dtype=np.float64)) for values in (lat, lon))
    if not len(phi):
        raise Agl1kError("There are no places.")
    if not (np.isfinite(theta).all() and (np.abs(phi) <= 90).all()):
        raise Agl1kError("A place is not a point: give latitudes from -90 to 90, and longitudes.")
    grid = grid or Grid()
    counts = np.unique(grid.cells(phi, theta), return_counts=True)[1]
    points = unit_vectors(phi, theta)
    nearest = _nearest_km(points)
    return Spread(
        n=len(phi),
        occupancy=len(counts) / grid.n_cells,
        entropy=float(stats.entropy(counts)),
        hull_km2=hull_share(points) * SPHERE_KM2,
        nearest_km=nearest,
        clark_evans=nearest / (0.5 * math.sqrt(area_km2 / len(phi))),
    )


def _nearest_km(points: FloatArray) -> float:
    if len(points) < 2:
        return math.nan
    chord = cKDTree(points).query(points, k=2)[0][:, 1]
    return float(great_circle_km(chord).mean())


def hull_share(points: FloatArray) -> float:
    """Share of the sphere within the convex hull of unit vectors, shape ``(n, 3)``.

    The planes of the hull's sides through the centre of the sphere have outward normals. The hull
    is 2π less the angles between neighbouring normals, by the theorem of Gauss and Bonnet. So a
    hemisphere has one normal, the region between two meridians has two, the sphere has none.

    Examples
    --------
    >>> hull_share(np.vstack([np.eye(3), -np.eye(3)]))
    1.0
    """
    distinct = np.unique(points, axis=0)
    spread_out = np.linalg.svd(distinct, compute_uv=False)
    if len(distinct) < 3 or spread_out[2] < _ROUNDING * len(distinct):
        return 0.0  # all on one great circle
    middle = distinct.mean(axis=0)
    if (distinct @ middle > 0.1 * np.linalg.norm(middle)).all():
        return _share_of_polygon(distinct, middle / np.linalg.norm(middle))
    return _share_of_cone(distinct)


def _share_of_polygon(points: FloatArray, middle: FloatArray) -> float:
    """The share of a hull around ``middle``, which is exact for small ones, too."""
    axis = np.eye(3)[np.argmin(np.abs(middle))]
    east = np.cross(axis, middle)
    east /= np.linalg.norm(east)
    flat = points @ np.column_stack([east, np.cross(middle, east)]) / (points @ middle)[:, None]
    # great circles are straight lines in this projection
    try:
        corners = points[ConvexHull((flat - flat.mean(axis=0)) / np.ptp(flat)).vertices]
    except QhullError:
        return 0.0  # thinner than rounding
    a, b, c = corners[:1], corners[1:-1], corners[2:]
    volume = np.einsum("ij,ij->i", np.cross(b - a, c - a), np.broadcast_to(a, b.shape))
    sides = 1 + b @ a[0] + c @ a[0] + np.einsum("ij,ij->i", b, c)
    return float(np.abs(2 * np.arctan2(volume, sides)).sum() / (4 * math.pi))


def _share_of_cone(points: FloatArray) -> float:
    hull = ConvexHull(np.vstack([points, np.zeros(3)]))
    normals, offsets = hull.equations[:, :3], hull.equations[:, 3]
    normals = _distinct(normals[np.abs(offsets) < 1e-9])
    if not len(normals):
        return 1.0
    outward = normals.mean(axis=0)
    if len(normals) == 1:
        return 0.5
    order = np.argsort(_around(normals, outward)) if len(normals) > 2 else np.arange(2)
    ordered = normals[order]
    turns = [_angle(a, b) for a, b in zip(ordered, np.roll(ordered, -1, axis=0), strict=True)]
    return (2 * math.pi - sum(turns)) / (4 * math.pi)


def _distinct(normals: FloatArray) -> FloatArray:
    kept: list[FloatArray] = []
    for normal in normals:
        if all(_angle(normal, other) > 1e-7 for other in kept):
            kept.append(normal)
    return np.array(kept).reshape(-1, 3)


def _around(vectors: FloatArray, axis: FloatArray) -> FloatArray:
    """The angle of each vector around an axis."""
    first = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    second = np.cross(axis, first) / np.linalg.norm(axis)
    return np.asarray(np.arctan2(vectors @ second, vectors @ first), dtype=np.float64)


def _angle(a: FloatArray, b: FloatArray) -> float:
    return float(np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b))


# --- difficulty


@dataclass(frozen=True, slots=True)
class Trend:
    """Whether scores follow levels of difficulty.

    Attributes
    ----------
    f, f_p
        One-way analysis of variance of the scores; NaN if only means are known.
    df
        Its degrees of freedom, between and within levels.
    spearman, spearman_p
        Rank correlation of the levels' means with their position; its p by Student's t, as in the
        paper, which is 0 for any three means in order.
    spearman_exact_p
        Its p over all orders of the means: with three levels, never below 1/3.
    slope, slope_p
        Least-squares slope of the means over the position, and its p.
    """

    f: float
    f_p: float
    df: tuple[int, int]
    spearman: float
    spearman_p: float
    spearman_exact_p: float
    slope: float
    slope_p: float


def trend(scores: Mapping[float, npt.ArrayLike]) -> Trend:
    """Test whether scores follow levels (Learning to Wander, Table 4).

    Parameters
    ----------
    scores
        Position of a level, such as those in `LEVELS` -> the scores at that level.

    Raises
    ------
    Agl1kError
        If there are fewer than three levels, or one has no score.

    Examples
    --------
    >>> found = trend({20: [60, 64], 50: [70, 74], 80: [82, 84]})
    >>> found.df, found.spearman, round(found.slope, 3)
    ((2, 3), 1.0, 0.35)
    """
    groups = {level: np.asarray(some, dtype=np.float64) for level, some in scores.items()}
    if len(groups) < 3 or not all(len(some) for some in groups.values()):
        raise Agl1kError("A trend needs scores of at least three levels.")
    n = sum(map(len, groups.values()))
    df = (len(groups) - 1, n - len(groups))
    f, f_p = math.nan, math.nan
    if df[1] > 0:
        f, f_p = map(float, stats.f_oneway(*groups.values()))
    means = {level: float(some.mean()) for level, some in groups.items()}
    return _with_means(means, f, f_p, df)


def trend_of_means(means: Mapping[float, float]) -> Trend:
    """The same of means alone, without the analysis of variance."""
    if len(means) < 3:
        raise Agl1kError("A trend needs means of at least three levels.")
    return _with_means(means, math.nan, math.nan, (0, 0))


def anova_p(f: float, df: tuple[int, int]) -> float:
    """The p of a value of F with degrees of freedom between and within groups.

    Examples
    --------
    >>> round(anova_p(3.31, (2, 69)), 3)  # Gemini-2.5 Pro in the paper's Table 4
    0.042
    """
    return float(stats.f.sf(f, *df))


def _with_means(means: Mapping[float, float], f: float, f_p: float, df: tuple[int, int]) -> Trend:
    levels, values = list(means), list(means.values())
    are_equal = len(set(values)) == 1
    rho, rho_p = (math.nan, math.nan) if are_equal else stats.spearmanr(levels, values)
    line = stats.linregress(levels, values)
    return Trend(
        f=f,
        f_p=f_p,
        df=df,
        spearman=float(rho),
        spearman_p=float(rho_p),
        spearman_exact_p=_exact_p(levels, values, float(rho)),
        slope=float(line.slope),
        slope_p=float(line.pvalue),
    )


def _exact_p(levels: Sequence[float], values: Sequence[float], rho: float) -> float:
    """Share of all orders of the values whose correlation is at least as strong."""
    if len(levels) > _MOST_PERMUTED or math.isnan(rho):
        return math.nan
    ranks = stats.rankdata(values)
    orders = np.array(list(permutations(ranks)))
    strength = np.abs((orders - ranks.mean()) @ (stats.rankdata(levels) - ranks.mean()))
    own = np.abs((ranks - ranks.mean()) @ (stats.rankdata(levels) - ranks.mean()))
    return float((strength >= own - 1e-9).mean())
