"""Belief maps: a world map with the probability of each cell, as SVG."""

from __future__ import annotations

from functools import cache
from xml.sax.saxutils import escape

import numpy as np
import numpy.typing as npt

from agl1k_core.listener.belief import Heard, Pin, believe, pin, pin_at, reason_for
from agl1k_core.listener.grid import CELL_DEGREES, Grid, land_grid
from agl1k_core.places import land_path

FloatArray = npt.NDArray[np.float64]

#: Pixels per degree.
_SCALE = 3.0
_NORTH, _SOUTH = 84.0, -60.0
_TOP, _BOTTOM = 48, 62
_WIDTH, _HEIGHT = round(360 * _SCALE), round((_NORTH - _SOUTH) * _SCALE)
#: From likely to unlikely: steps of cividis, which read the same with every colour vision (Nuñez
#: et al. 2018). The cells of a step and of those above it hold so much of the belief.
_STEPS = ((0.5, "#00224e"), (0.8, "#575d6d"), (0.95, "#a59c74"))
_LAND, _SEA, _INK, _PIN = "#e4e4e0", "#f8fafc", "#1b1f24", "#d55e00"


def belief_map(
    belief: FloatArray, place: Pin, title: str, reason: str, *, with_outline: bool = True
) -> str:
    """Draw a belief as an SVG document; the same belief gives the same bytes.

    Parameters
    ----------
    belief
        One probability per piece of ``land_grid()``, as from ``believe``.
    place
        The pin.
    title
        What the belief is about, such as the clip's key.
    reason
        What was heard, in words, as from ``reason_for``.
    with_outline
        Whether the outline of land is in the document; False if it is the second map of a page.
    """
    grid = land_grid()
    height = _TOP + _HEIGHT + _BOTTOM
    told = _pin_text(place)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" '
        f'viewBox="0 0 {_WIDTH} {height}" font-family="sans-serif" role="img">',
        f"<title>{_text(title)}</title>",
        f"<desc>{_text(f'{told} {reason}')}</desc>",
        f'<defs><path id="agl-land" d="{_outline()}"/></defs>' if with_outline else "",
        f'<rect width="{_WIDTH}" height="{height}" fill="#fff"/>',
        _words(12, 20, f"{title}: {told}", 16),
        _words(12, 40, reason, 13),
        f'<svg y="{_TOP}" width="{_WIDTH}" height="{_HEIGHT}" overflow="hidden">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="{_SEA}"/>',
        f'<use href="#agl-land" fill="{_LAND}"/>',
        *_cells(belief, grid),
        '<use href="#agl-land" fill="none" stroke="#777" stroke-width="0.6"/>',
        _marker(place),
        "</svg>",
        *_legend(),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def map_of(
    heard: Heard,
    title: str,
    at: tuple[float, float] | None = None,
    *,
    with_outline: bool = True,
) -> str:
    """The belief map of what was heard, with the pin ``at`` a point; see ``belief_map``."""
    belief = believe(heard)
    place = pin_at(belief, *at) if at else pin(belief)
    return belief_map(belief, place, title, reason_for(heard, belief), with_outline=with_outline)


def _pin_text(place: Pin) -> str:
    where = ", ".join(filter(None, (place.label.city, place.label.country)))
    point = f"{place.lat:.2f}, {place.lon:.2f}"
    return f"{where} ({point}), expected geoscore {place.expected_geoscore:,.0f}."


def _text(text: str) -> str:
    """Text that XML can hold."""
    return escape("".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text))


def _words(x: float, y: float, text: str, size: int) -> str:
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="{_INK}">{_text(text)}</text>'


def _x(lon: float) -> float:
    return (lon + 180) * _SCALE


def _y(lat: float) -> float:
    return (_NORTH - lat) * _SCALE


@cache
def _outline() -> str:
    return land_path(_x, _y)


def _cells(belief: FloatArray, grid: Grid) -> list[str]:
    """The cells that together hold most of a belief, as one path per colour."""
    corners = np.column_stack([grid.south, grid.west, grid.width])
    cells, which = np.unique(corners, axis=0, return_inverse=True)
    shares = np.bincount(which.ravel(), belief, len(cells))
    order = np.argsort(-shares, kind="stable")
    before = np.cumsum(shares[order]) - shares[order]
    paths, start = [], 0
    for share, colour in _STEPS:
        end = int(np.searchsorted(before, share))
        boxes = "".join(_box(*strip) for strip in _strips(cells[order[start:end]]))
        paths.append(f'<path d="{boxes}" fill="{colour}"/>')
        start = end
    return paths


def _strips(cells: FloatArray) -> list[tuple[float, float, float]]:
    """Cells (south, west, width) with neighbours in a row joined."""
    strips: list[tuple[float, float, float]] = []
    for south, west, width in sorted(map(tuple, cells.tolist())):
        if strips and strips[-1][0] == south and abs(sum(strips[-1][1:]) - west) < width / 2:
            strips[-1] = (south, strips[-1][1], west + width - strips[-1][1])
        else:
            strips.append((south, west, width))
    return strips


def _box(south: float, west: float, width: float) -> str:
    across, down = width * _SCALE, CELL_DEGREES * _SCALE
    return f"M{_x(west):.1f} {_y(south + CELL_DEGREES):.1f}h{across:.1f}v{down:.1f}h{-across:.1f}Z"


def _marker(place: Pin) -> str:
    x, y = _x(place.lon), _y(place.lat)
    return (
        f'<path d="M{x:.1f} {y:.1f}l-7 -18h14Z" fill="{_PIN}" stroke="#fff" stroke-width="1.5"/>'
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="#fff" stroke="{_PIN}"/>'
    )


def _legend() -> list[str]:
    y = _TOP + _HEIGHT + 14
    parts = [f'<path d="M20 {y + 16}l-6 -16h12Z" fill="{_PIN}"/>', _words(34, y + 12, "pin", 13)]
    for number, (share, colour) in enumerate(_STEPS):
        x = 80 + number * 250
        words = f"{share:.0%} of the belief" if not number else f"with these, {share:.0%}"
        parts.append(f'<rect x="{x}" y="{y}" width="26" height="16" fill="{colour}"/>')
        parts.append(_words(x + 34, y + 12, words, 13))
    about = "The map ends at 60° S; land in light grey. Coast: Natural Earth. Places: GeoNames."
    return [*parts, _words(12, y + 38, about, 12)]
