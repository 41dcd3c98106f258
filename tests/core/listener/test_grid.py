"""Land, coast, and the cells between them, against shapely and the places themselves."""

from __future__ import annotations

import numpy as np
import pytest
import shapely

from agl1k_core import places
from agl1k_core.listener import land_grid, talk_shares
from agl1k_core.listener.languages import language_name


@pytest.fixture(scope="module")
def outlines() -> shapely.Geometry:
    """All land, also where a ring runs past ±180°."""
    rings = [shapely.Polygon(ring).buffer(0) for ring in places.land_rings()]
    shifted = [shapely.affinity.translate(ring, x) for ring in rings for x in (-360, 0, 360)]
    outline = shapely.union_all(shifted)
    shapely.prepare(outline)
    return outline


def test_land_is_where_the_outlines_are(outlines: shapely.Geometry) -> None:
    rng = np.random.default_rng(0)
    for lat in [*rng.uniform(-85, 83, 40), 65.01, -16.5]:  # Chukotka and Fiji are at ±180°
        lons = rng.uniform(-180, 180, 300)
        expected = shapely.contains_xy(outlines, lons, np.full(300, lat))
        found = places.land_in_row(float(lat), lons)
        holes = {round(float(x)) for x in lons[found != expected]}
        assert holes <= set(range(46, 56))  # the Caspian Sea, which the union fills


def test_every_piece_is_on_land_or_at_a_populated_place(outlines: shapely.Geometry) -> None:
    grid, known = land_grid(), places.populated_places()
    towns = {*zip(known.lat.tolist(), known.lon.tolist(), strict=True)}
    at_town = [point in towns for point in zip(grid.lat.tolist(), grid.lon.tolist(), strict=True)]
    on_land = shapely.contains_xy(outlines, grid.lon, grid.lat)
    assert (np.array(at_town) | on_land).all()
    assert (np.array(at_town) == (grid.settlements > 0)).all()


def test_every_populated_place_is_in_a_piece_of_its_country() -> None:
    grid, known = land_grid(), places.populated_places()
    codes, counts = np.unique(known.country_codes[known.lat >= -60], return_counts=True)
    for code, count in zip(codes, counts, strict=True):
        assert grid.settlements[grid.country_codes == code].sum() == count


def test_a_point_is_in_its_cell_and_country() -> None:
    grid = land_grid()
    assert ((grid.south <= grid.lat) & (grid.lat <= grid.south + 2)).all()
    assert ((grid.west <= grid.lon) & (grid.lon <= grid.west + grid.width + 1e-9)).all()
    labels = places.label_points(grid.lat, grid.lon)
    assert [label.country_code for label in labels] == grid.country_codes.tolist()


def test_cells_have_nearly_the_same_area() -> None:
    grid = land_grid()
    area = grid.width * np.diff(np.sin(np.radians([grid.south, grid.south + 2])), axis=0)[0]
    assert area.max() / area.min() < 1.35


def test_islands_that_the_outlines_leave_out_are_near_the_sea() -> None:
    grid = land_grid()
    for code in ("MT", "MV", "PF", "BB"):
        assert (grid.near_sea[grid.country_codes == code] == 1).all(), code
    for code in ("MN", "CH", "BO", "TD"):
        assert (grid.near_sea[grid.country_codes == code] == 0).all(), code


def test_the_scores_are_geoscores() -> None:
    grid = land_grid()
    rows = np.random.default_rng(1).integers(0, len(grid), 30)
    for row in rows:
        exact = places.geodesic_km(grid.lat[row], grid.lon[row], grid.lat, grid.lon)
        assert grid.scores[row] == pytest.approx(places.geoscore(exact), rel=0.09, abs=12)


def test_the_coast_is_as_far_as_it_is() -> None:
    # Madrid to the Bay of Biscay, Brussels to the North Sea, Lagos
    found = places.coast_km([40.42, 50.85, 6.45], [-3.70, 4.35, 3.40])
    assert found == pytest.approx([310, 90, 10], abs=35)


def test_the_talk_of_a_country_is_all_of_it() -> None:
    names = ["de", "fr", "it", "rm", "en", "pt", "sq", "lmo", "rmo", "wae", "es", "sr", "ro"]
    assert sum(talk_shares(name).get("CH", 0.0) for name in names) == pytest.approx(1, abs=0.03)
    assert talk_shares("de")["CH"] > talk_shares("fr")["CH"] > talk_shares("en")["CH"] > 0
    assert all(0 < share <= 1 for name in names for share in talk_shares(name).values())


def test_languages_have_names() -> None:
    assert language_name("sw") == "Swahili"
    assert language_name("xx") == "xx"
