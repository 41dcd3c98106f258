"""Proposed places and levels of difficulty: the paper's Tables 2 and 4, and the sphere by hand."""

from __future__ import annotations

import itertools
import math

import numpy as np
import numpy.typing as npt
import pytest
from geopy.distance import great_circle
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from agl1k_core.errors import Agl1kError
from agl1k_core.places import EARTH_KM, unit_vectors
from agl1k_core.wander import LAND_KM2, LEVELS, SPHERE_KM2, Grid, anova_p, spread, trend
from agl1k_core.wander import trend_of_means as of_means

#: Table 4: model; F and its p in tenths; Spearman and its p; slope and its p; mean score of the
#: hard, medium and easy places.
TABLE_4 = [
    ("InternVL2-76B", 7.62, 0.10, 1.00, 0.00, 0.30, 0.08, 64.31, 75.14, 82.15),
    ("InternVL2.5-38B", 2.47, 0.92, 1.00, 0.00, 0.15, 0.28, 75.41, 76.29, 84.64),
    ("InternVL2.5-78B", 0.22, 8.03, 0.50, 0.67, 0.05, 0.44, 74.44, 77.73, 77.17),
    ("InternVL3-38B", 2.81, 0.67, 1.00, 0.00, 0.15, 0.24, 78.52, 80.03, 87.80),
    ("InternVL3-78B", 0.55, 5.82, 1.00, 0.00, 0.07, 0.27, 75.64, 79.60, 80.07),
    ("Phi-4", 0.97, 3.83, 1.00, 0.00, 0.13, 0.04, 71.97, 75.32, 79.61),
    ("Qwen2VL-72B", 0.10, 9.06, 0.50, 0.67, 0.01, 0.77, 79.60, 81.65, 80.33),
    ("Qwen2.5VL-32B", 0.45, 6.42, -0.50, 0.67, -0.03, 0.73, 81.73, 84.09, 80.06),
    ("Qwen2.5VL-72B", 0.87, 4.22, 0.50, 0.67, 0.10, 0.34, 75.36, 81.69, 81.66),
    ("LLaVA-OV-72B", 0.03, 9.71, 0.50, 0.67, 0.02, 0.40, 79.59, 79.46, 80.63),
    ("Gemma-3-27B", 1.01, 3.70, 0.50, 0.67, 0.09, 0.41, 75.39, 74.55, 80.83),
    ("Gemini-2.5 Pro", 3.31, 0.42, 1.00, 0.00, 0.25, 0.18, 52.90, 64.00, 67.70),
    ("Claude Sonnet 4", 2.09, 1.32, 1.00, 0.00, 0.16, 0.08, 67.36, 71.12, 76.94),
    ("GPT-4o", 1.63, 2.04, 1.00, 0.00, 0.16, 0.13, 76.92, 83.48, 86.63),
    ("o3", 9.84, 0.02, 1.00, 0.00, 0.40, 0.10, 59.27, 74.47, 83.18),
]
#: Their printed p is ten times that of F with (2, 69) degrees of freedom.
MISPRINTED = {"InternVL2-76B", "o3"}
#: Table 2: model; occupancy in hundredths; entropy; mean distance to the nearest neighbour, in a
#: unit that is not told; Clark-Evans ratio in tenths.
TABLE_2 = [
    ("InternVL2-76B", 2.73, 3.10, 3.21, 4.63),
    ("InternVL2.5-38B", 1.82, 2.50, 1.27, 1.84),
    ("InternVL2.5-78B", 1.95, 2.58, 1.63, 2.35),
    ("InternVL3-38B", 2.02, 2.66, 1.95, 2.82),
    ("InternVL3-78B", 2.08, 2.62, 1.97, 2.84),
    ("Phi-4", 2.02, 2.38, 1.57, 2.27),
    ("Qwen2VL-72B", 1.95, 2.57, 0.95, 1.38),
    ("Qwen2.5VL-72B", 2.08, 2.60, 2.67, 3.86),
    ("Qwen2.5VL-32B", 2.02, 2.62, 1.42, 2.04),
    ("LLaVA-OV-72B", 2.28, 2.75, 2.34, 3.38),
    ("Gemma-3-27B", 2.47, 2.96, 2.05, 2.96),
    ("Gemini-2.5 Pro", 2.73, 3.23, 2.42, 3.50),
    ("Claude Sonnet 4", 1.89, 2.27, 1.61, 2.33),
    ("GPT-4o", 2.41, 2.92, 2.75, 3.96),
    ("o3", 2.86, 3.21, 3.70, 5.34),
]

Table4Row = tuple[str, float, float, float, float, float, float, float, float, float]
Table2Row = tuple[str, float, float, float, float]


# --- Table 4


@pytest.mark.parametrize("row", TABLE_4, ids=lambda row: row[0])
def test_correlation_and_slope_of_table_4_follow_from_its_means(row: Table4Row) -> None:
    _, _, _, *printed, hard, medium, easy = row
    # the means are rounded, too: any within half of their last digit may be the real ones
    signs = itertools.product((-0.005, 0, 0.005), repeat=3)
    means = ((hard + a, medium + b, easy + c) for a, b, c in signs)
    found = [of_means(dict(zip(LEVELS.values(), some, strict=True))) for some in means]
    columns = np.array([(f.spearman, f.spearman_p, f.slope, f.slope_p) for f in found])
    low, high = columns.min(axis=0) - 0.005, columns.max(axis=0) + 0.005
    assert ((low <= printed) & (printed <= high)).all()


@pytest.mark.parametrize("row", TABLE_4, ids=lambda row: row[0])
def test_p_of_table_4_follows_from_f(row: Table4Row) -> None:
    model, f, tenths = row[:3]
    lowest, highest = anova_p(f + 0.005, (2, 69)), anova_p(f - 0.005, (2, 69))
    printed = tenths / 10 / (10 if model in MISPRINTED else 1)
    unit = 0.0005 if model not in MISPRINTED else 0.00005
    assert lowest - unit <= printed <= highest + unit
    if model in MISPRINTED:
        assert not lowest - 0.0005 <= tenths / 10 <= highest + 0.0005


def test_seventy_two_proposals_fit_table_4_and_not_192() -> None:
    # 4 places for each of 6 continents and 3 levels; the text says 192
    assert 4 * 6 * 3 == 72
    off = [
        abs(anova_p(f, (2, n - 3)) - tenths / 10)
        for n in (72, 192)
        for model, f, tenths, *_ in TABLE_4
        if model not in MISPRINTED
    ]
    assert max(off[:13]) < 0.005 < max(off[13:])


def test_trend_of_scores_by_hand() -> None:
    scores = {20.0: [1.0, 2.0, 3.0], 50.0: [2.0, 4.0, 6.0], 80.0: [5.0, 6.0, 10.0]}
    found = trend(scores)
    # means 2, 4, 7 around 13/3; sums of squares between 3·(49/9 + 1/9 + 64/9) = 38, within 2+8+14
    assert found.df == (2, 6)
    assert found.f == pytest.approx((38 / 2) / (24 / 6))
    assert found.f_p == pytest.approx(anova_p(found.f, (2, 6)))
    assert found.slope == pytest.approx((7 - 2) / 60)
    assert (found.spearman, found.spearman_p) == (1.0, 0.0)
    assert found.spearman_exact_p == pytest.approx(1 / 3)


def test_equal_means_have_no_correlation() -> None:
    found = of_means({20.0: 5.0, 50.0: 5.0, 80.0: 5.0})
    assert found.slope == 0
    assert math.isnan(found.spearman)
    assert math.isnan(found.spearman_exact_p)


def test_one_score_per_level_has_no_analysis_of_variance() -> None:
    found = trend({20.0: [1.0], 50.0: [2.0], 80.0: [4.0]})
    assert (found.df, math.isnan(found.f)) == ((2, 0), True)
    assert found.spearman == 1


@pytest.mark.parametrize("scores", [{20.0: [1.0], 50.0: [2.0]}, {20.0: [1.0], 50.0: [], 80.0: [2]}])
def test_a_trend_needs_three_levels(scores: dict[float, list[float]]) -> None:
    with pytest.raises(Agl1kError, match="at least three levels"):
        trend(scores)


# --- Table 2


@pytest.mark.parametrize("row", TABLE_2, ids=lambda row: row[0])
def test_occupancies_of_table_2_are_cells_of_the_default_grid(row: Table2Row) -> None:
    cells = round(row[1] / 100 * Grid().n_cells)
    # so many places, each in a cell of its own
    number = np.arange(cells)
    lat = -87.0 + 180 / 32 * (number % 32)
    lon = -176.0 + 360 / 48 * (number // 32)
    assert round(100 * spread(lat, lon).occupancy, 2) == row[1]


def test_no_smaller_grid_has_the_occupancies_of_table_2() -> None:
    def fits(n_cells: int) -> bool:
        shares = (row[1] / 100 for row in TABLE_2)
        return all(abs(round(x * n_cells) / n_cells - x) <= 0.00005 + 1e-12 for x in shares)

    assert fits(1536)
    assert not any(fits(n) for n in range(1, 1536))


def test_one_number_of_places_and_one_area_explain_table_2() -> None:
    # the ratio is of the mean distance and 0.5·sqrt(area/n); distances are in 100 km
    areas = [72 * 4 * (100 * nearest / (tenths / 10)) ** 2 for *_, nearest, tenths in TABLE_2]
    assert np.median(areas) == pytest.approx(1.384e8, rel=0.005)
    assert np.median(areas) * 70 / 72 == pytest.approx(LAND_KM2, rel=0.005)


# --- the sphere


def share(*places: tuple[float, float]) -> float:
    lat, lon = zip(*places, strict=True)
    return spread(lat, lon).hull_km2 / SPHERE_KM2


EQUATOR = [(0.0, float(lon)) for lon in range(-180, 180, 15)]


@pytest.mark.parametrize(
    ("places", "expected"),
    [
        ([(12.0, 34.0)], 0),
        ([(12.0, 34.0)] * 5, 0),
        ([(12.0, 34.0), (-12.0, -146.0)], 0),  # antipodes
        ([(12.0, 34.0), (-12.0, -146.0), (50.0, 0.0)], 0),  # and one more: half a great circle
        ([(0.0, 0.0), (0.0, 50.0), (0.0, 120.0)], 0),  # part of a great circle
        (EQUATOR, 0),
        ([*EQUATOR, (90.0, 0.0)], 1 / 2),
        ([*EQUATOR, (-3.0, 7.0)], 1 / 2),
        ([*EQUATOR, (3.0, 0.0), (-3.0, 7.0)], 1),
        ([(90.0, 0.0), (0.0, 0.0), (0.0, 90.0)], 1 / 8),
        ([(90.0, 0.0), (-90.0, 0.0), (0.0, 10.0), (0.0, 70.0)], 1 / 6),  # between two meridians
        ([(90.0, 0.0), (-90.0, 9.0), (0.0, 170.0), (9.0, -130.0)], 1 / 6),
        ([(10.0, 170.0), (10.0, -170.0), (20.0, 180.0)], share((10, -10), (10, 10), (20, 0))),
        ([(10.0, 180.0), (10.0, -180.0), (20.0, 180.0)], 0),
        ([(80.0, lon) for lon in (0.0, 90.0, 180.0, -90.0)], 4 * share((90, 0), (80, 0), (80, 90))),
        ([(90.0, 0.0), (90.0, 90.0), (90.0, -90.0)], 0),
    ],
)  # fmt: skip
def test_hulls_of_known_area(places: list[tuple[float, float]], expected: float) -> None:
    assert share(*places) == pytest.approx(expected, abs=1e-12)


def test_the_cap_around_a_pole() -> None:
    lon = np.linspace(-180, 180, 3600, endpoint=False)
    cap = spread(np.full(3600, 60.0), lon).hull_km2
    assert cap == pytest.approx(
        2 * math.pi * EARTH_KM**2 * (1 - math.sin(math.radians(60))), rel=1e-5
    )


def test_a_small_triangle_has_its_flat_area() -> None:
    one_metre = 1e-3 / EARTH_KM * 180 / math.pi
    hull = spread([10, 10 + one_metre, 10], [20, 20, 20 + one_metre / math.cos(math.radians(10))])
    assert hull.hull_km2 == pytest.approx(0.5e-6, rel=1e-4)


def random_points(rng: np.random.Generator, n: int, width: float) -> npt.NDArray[np.float64]:
    points = rng.normal(size=(n, 3)) * width + [1, 0, 0]
    return np.asarray(points / np.linalg.norm(points, axis=1, keepdims=True))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(4, 12), st.sampled_from([0.3, 0.7, 1.5, 5.0]))
def test_hulls_agree_with_counting_directions(seed: int, n: int, width: float) -> None:
    # a direction is in the hull if the points add up to it with weights that are not negative
    rng = np.random.default_rng(seed)
    points = random_points(rng, n, width)
    directions = rng.normal(size=(1000, 3))
    inside = np.mean([nnls(points.T, d / np.linalg.norm(d))[1] < 1e-9 for d in directions])
    lat = np.degrees(np.arcsin(points[:, 2]))
    lon = np.degrees(np.arctan2(points[:, 1], points[:, 0]))
    found = spread(lat, lon).hull_km2 / SPHERE_KM2
    assert abs(found - inside) <= 5 * math.sqrt(max(found * (1 - found), 1e-3) / 1000)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(3, 9))
def test_turning_the_sphere_changes_nothing(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    lat, lon = rng.uniform(-90, 90, n), rng.uniform(-180, 180, n)
    here, there = spread(lat, lon), spread(-lat, (lon + 100) % 360 - 180)
    assert there.hull_km2 == pytest.approx(here.hull_km2, rel=1e-9, abs=1e-3)
    assert there.nearest_km == pytest.approx(here.nearest_km, rel=1e-9)


points = st.tuples(st.floats(-90, 90), st.floats(-180, 180))


@given(st.lists(points, min_size=2, max_size=9))
def test_nearest_neighbours_agree_with_geopy(places: list[tuple[float, float]]) -> None:
    nearest = [
        min(
            great_circle(here, there, radius=EARTH_KM).km
            for j, there in enumerate(places)
            if j != i
        )
        for i, here in enumerate(places)
    ]
    found = spread(*zip(*places, strict=True))
    # near the antipode, a chord says little about the angle
    assume(np.mean(nearest) < 19_000)
    assert found.nearest_km == pytest.approx(np.mean(nearest), rel=1e-6, abs=1e-3)
    random = 0.5 / math.sqrt(len(places) / LAND_KM2)
    assert found.clark_evans == pytest.approx(found.nearest_km / random)


def test_neighbours_of_special_places() -> None:
    assert math.isnan(spread([1], [2]).nearest_km)
    assert spread([1, 1, 1], [2, 2, 2]).nearest_km == 0
    assert spread([5, -5], [10, -170]).nearest_km == pytest.approx(math.pi * EARTH_KM)
    assert spread([0, 0], [179.5, -179.5]).nearest_km == pytest.approx(math.radians(1) * EARTH_KM)
    assert spread([90, 90], [0, 77]).nearest_km == pytest.approx(0, abs=1e-9)


def test_random_places_on_the_sphere_have_a_ratio_of_one() -> None:
    rng = np.random.default_rng(7)
    lat = np.degrees(np.arcsin(rng.uniform(-1, 1, 20_000)))
    found = spread(lat, rng.uniform(-180, 180, 20_000), area_km2=SPHERE_KM2)
    assert found.clark_evans == pytest.approx(1, abs=0.01)


def test_occupancy_and_entropy_by_hand() -> None:
    found = spread([1, 2, 50, -50], [1, 2, 1, 1], grid=Grid(2, 2))
    assert found.occupancy == 2 / 4
    assert found.entropy == pytest.approx(-(0.75 * math.log(0.75) + 0.25 * math.log(0.25)))
    alone = spread([1], [2])
    assert (alone.occupancy, alone.entropy) == (1 / 1536, 0)


def test_both_names_of_the_date_line_and_the_poles_are_in_the_grid() -> None:
    assert spread([10, 10], [180, -180]).occupancy == 1 / 1536
    cells = Grid().cells([90, -90, 90], [180, 0, -180])
    assert cells.min() >= 0
    assert cells.max() < 1536
    assert cells[0] == cells[2]


def test_cells_of_equal_area() -> None:
    rng = np.random.default_rng(3)
    lat = np.degrees(np.arcsin(rng.uniform(-1, 1, 60_000)))
    cells = Grid(4, 6, equal_area=True).cells(lat, rng.uniform(-180, 180, 60_000))
    counts = np.bincount(cells, minlength=24)
    assert counts.min() > 2250
    assert counts.max() < 2750


@pytest.mark.parametrize(
    ("lat", "lon", "told"),
    [([], [], "no places"), ([91], [0], "not a point"), ([math.nan], [0], "not a point"),
     ([0], [math.inf], "not a point")],
)  # fmt: skip
def test_what_is_no_place_is_refused(lat: list[float], lon: list[float], told: str) -> None:
    with pytest.raises(Agl1kError, match=told):
        spread(lat, lon)


def test_unit_vectors_are_on_the_sphere() -> None:
    vectors = unit_vectors([0, 90, -45], [0, 12, 180])
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1)
