"""Where a model put clips and where they are, as a map in one HTML file that needs no network."""

from __future__ import annotations

import base64
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agl1k_core import places
from agl1k_core.extras import Deferred, need

if TYPE_CHECKING:
    import pandas as pd

    from agl1k_core.scoring import Evaluation

folium = Deferred("folium")

#: Readable to the colour-blind: true places, answers, and the lines between them.
_TRUE, _ANSWER, _LAND, _SEA = "#0b6e69", "#c2571a", "#f4f1e8", "#d0e0e8"


def error_map(evaluation: Evaluation) -> str:
    """The page: a line from the true place of each clip to the answer, the longest on top.

    Raises ``Agl1kError`` without folium, or for an evaluation read back from JSON.
    """
    world = folium.Map(
        location=(20, 0), zoom_start=2, tiles=None, world_copy_jump=True, prefer_canvas=True
    )
    _load_from_page(world)
    _land().add_to(world)
    table = evaluation.table.dropna(subset=["latitude", "longitude"])
    for row in table.sort_values("distance_km").itertuples():
        _add_clip(world, row)
    _add_title(world, evaluation, table)
    return str(world.get_root().render())


def _add_clip(world: Any, row: Any) -> None:
    true, answer = (row.true_latitude, row.true_longitude), (row.latitude, row.longitude)
    # the short way around the world
    near = answer[1] + 360 * round((true[1] - answer[1]) / 360)
    words = _in_script(f"{row.key}: {row.distance_km:,.0f} km off")
    line = [true, (answer[0], near)]
    folium.PolyLine(line, color=_ANSWER, weight=1, opacity=0.5, tooltip=words).add_to(world)
    for place, colour in ((line[1], _ANSWER), (true, _TRUE)):
        dot = {"radius": 3, "color": colour, "fill": True, "fill_opacity": 1, "weight": 0}
        folium.CircleMarker(place, tooltip=words, **dot).add_to(world)


def _in_script(text: str) -> str:
    """Text as HTML that stays text in the script, too, where folium puts it between backticks."""
    for letter in "`$\\":
        text = text.replace(letter, f"\0{ord(letter)};")
    return escape(text).replace("\0", "&#")


def _add_title(world: Any, evaluation: Evaluation, shown: pd.DataFrame) -> None:
    km = evaluation.metrics["distance_km"]
    root = world.get_root()
    root.title = f"Errors on {evaluation.benchmark}"
    text = (
        f"<p style='font:14px system-ui;margin:8px'>{len(shown):,} of {evaluation.n_clips:,} clips "
        f"with an answer; mean distance {km:,.0f} km. <span style='color:{_TRUE}'>●</span> true "
        f"place, <span style='color:{_ANSWER}'>●</span> answer.</p>"
    )
    root.html.add_child(folium.Element(text), name="title", index=0)


def _land() -> Any:
    polygons = [[ring.tolist()] for ring in places.land_rings()]
    style = {"color": "#b9b3a3", "weight": 0.6, "fillColor": _LAND, "fillOpacity": 1}
    return folium.GeoJson(
        {"type": "MultiPolygon", "coordinates": polygons},
        style_function=lambda _: style,
        name="land",
        control=False,
    )


def _load_from_page(world: Any) -> None:
    """Put Leaflet into the page; folium would load it, and more, from elsewhere."""
    folder = Path(need("xstatic.pkg.leaflet").BASE_DIR)
    script, sheet = (folder / name for name in ("leaflet.js", "leaflet.css"))
    world.default_js = [("leaflet", _data_url(script, "text/javascript"))]
    world.default_css = [("leaflet_css", _data_url(sheet, "text/css"))]
    header = world.get_root().header
    background = f"<style>#{world.get_name()} {{ background: {_SEA} }}</style>"
    header.add_child(folium.Element(background), name="sea")


def _data_url(file: Path, media_type: str) -> str:
    return f"data:{media_type};base64,{base64.b64encode(file.read_bytes()).decode()}"
