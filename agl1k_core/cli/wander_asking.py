"""Commands that ask models: wander run and propose; and wander spread and trend."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from tqdm import tqdm

from agl1k_core import models, wander
from agl1k_core.benchmarks import TableRow, missing_column, read_rows
from agl1k_core.cli import wander_tables as tables
from agl1k_core.cli.asking import (
    ApiKeyOption,
    BaseUrlOption,
    ConcurrencyOption,
    MaxCostOption,
    MaxTokensOption,
    ModelOption,
    PriceOption,
    PromptOption,
    PythonOption,
    RateOption,
    RepeatOption,
    RetriesOption,
    SeedOption,
    TemperatureOption,
    TimeoutOption,
    listeners_on,
    model_of,
    patience_of,
    price_of,
)
from agl1k_core.cli.console import JsonOption, say, warn, warn_all
from agl1k_core.errors import Agl1kError, Problem, Problems
from agl1k_core.file_names import shown
from agl1k_core.inputs import name_of
from agl1k_core.models import RunLimits

app = typer.Typer()


@app.command()
def run(
    graphs: Annotated[list[Path], typer.Argument(help="Graphs, as for validate.")],
    panoramas: Annotated[
        Path, typer.Option("--panoramas", "-p", file_okay=False, help="Pictures, named by id.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the run.")],
    model: ModelOption = "",
    base_url: BaseUrlOption = "",
    python: PythonOption = "",
    steps: Annotated[
        int, typer.Option(min=1, max=20, help="Steps, with the guess; 1: answer at once.")
    ] = wander.MAX_STEPS,
    as_published: Annotated[
        bool, typer.Option("--as-published", help="The habits of the authors' program.")
    ] = False,
    fov: Annotated[float, typer.Option(min=10, max=150, help="Field of view, degrees.")] = 90.0,
    skip_broken: Annotated[
        bool, typer.Option("--skip-broken", help="Leave out what cannot be used or seen.")
    ] = False,
    api_key_env: ApiKeyOption = "",
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first N graphs.")] = None,
    concurrency: ConcurrencyOption = 4,
    rate: RateOption = None,
    timeout: TimeoutOption = 120.0,
    max_retries: RetriesOption = 5,
    temperature: TemperatureOption = None,
    seed: SeedOption = None,
    max_tokens: MaxTokensOption = None,
    prompt_file: PromptOption = None,
    max_cost: MaxCostOption = None,
    price: PriceOption = "",
    repeat: RepeatOption = 1,
    ask_failed: Annotated[
        bool, typer.Option("--ask-failed", help="Ask again about graphs whose error was final.")
    ] = False,
) -> None:
    """Let a model walk through graphs and say where it is. Run again to resume."""
    views = wander.FolderViews(wander.PanoramaFolder(panoramas), fov_deg=fov)
    places = _with_panoramas(
        wander.read_graphs(graphs, skip_broken=skip_broken), views.folder, skip_broken=skip_broken
    )
    if repeat > 1 and seed is not None:
        raise Agl1kError("With --seed, the passes of --repeat would be the same. Leave out one.")
    parameters = _parameters(temperature, seed, max_tokens)
    patience = patience_of(timeout, max_retries, python)
    asked = model_of(model, base_url, python, api_key_env, parameters, patience)
    settings = wander.WalkSettings(
        model or python,
        base_url or python,
        models.read_prompt(prompt_file) if prompt_file else wander.wander_prompt(),
        parameters,
        wander.WalkRules(steps, as_published),
        f"{views.size[0]} × {views.size[1]} pixels, field of view {fov:g}°",
    )
    limits = RunLimits(
        limit=limit, concurrency=concurrency, per_minute=rate, max_cost=max_cost,
        price=price_of(price), repeat=repeat, patience=patience, ask_failed=ask_failed,
    )  # fmt: skip
    with tqdm(unit="graph", disable=None) as bar:
        result, stopped = wander.run_walks(
            places, views, asked, settings, output, limits, listeners_on(bar)
        )
    for line in result.lines("graphs"):
        say(line)
    say(f"Walks: {shown(output / wander.WALKS)}")
    if stopped:
        raise Agl1kError(stopped)


@app.command()
def propose(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the run.")],
    model: ModelOption = "",
    base_url: BaseUrlOption = "",
    python: PythonOption = "",
    places: Annotated[
        int, typer.Option(min=1, max=50, help="Places for each continent and difficulty.")
    ] = wander.PLACES_EACH,
    api_key_env: ApiKeyOption = "",
    concurrency: ConcurrencyOption = 4,
    rate: RateOption = None,
    timeout: TimeoutOption = 120.0,
    max_retries: RetriesOption = 5,
    temperature: TemperatureOption = None,
    seed: SeedOption = None,
    max_tokens: MaxTokensOption = None,
    max_cost: MaxCostOption = None,
    price: PriceOption = "",
    as_json: JsonOption = False,
) -> None:
    """Ask a model for places of three difficulties on six continents. Run again to resume."""
    parameters = _parameters(temperature, seed, max_tokens)
    patience = patience_of(timeout, max_retries, python)
    asked = model_of(model, base_url, python, api_key_env, parameters, patience)
    settings = wander.PosingSettings(model or python, base_url or python, parameters, places)
    limits = RunLimits(
        concurrency=concurrency, per_minute=rate, max_cost=max_cost, price=price_of(price),
        patience=patience,
    )  # fmt: skip
    with tqdm(unit="question", disable=None) as bar:
        found = wander.ask_for_places(asked, settings, output, limits, listeners_on(bar))
    warn_all(found.problems)
    warn(f"{len(found.places)} places: {shown(output / wander.PLACES)}")
    if found.places:
        points = [(place.latitude, place.longitude) for place in found.places]
        _show_spread(points, wander.Grid(), wander.LAND_KM2, as_json=as_json)
    if found.stopped:
        raise Agl1kError(found.stopped)


@app.command()
def spread(
    table: Annotated[Path, typer.Argument(help="CSV with latitude and longitude.")],
    rows: Annotated[int, typer.Option(min=1, help="Cells of the grid from south to north.")] = 32,
    columns: Annotated[int, typer.Option(min=1, help="Cells from west to east.")] = 48,
    equal_area: Annotated[
        bool, typer.Option("--equal-area", help="Cells of equal area rather than equal angles.")
    ] = False,
    area_km2: Annotated[
        float, typer.Option(min=1, help="Where places could be. Default: land, no Antarctica.")
    ] = wander.LAND_KM2,
    as_json: JsonOption = False,
) -> None:
    """Measure how places are spread over the world."""
    problems = Problems(name_of(table))
    found = [
        (row.number("latitude", -90, 90), row.number("longitude", -180, 180))
        for row in _rows(table, ("latitude", "longitude"), problems)
    ]
    points = _complete(found, problems, "latitude and longitude")
    _show_spread(points, wander.Grid(rows, columns, equal_area), area_km2, as_json=as_json)


@app.command()
def trend(
    table: Annotated[
        Path, typer.Argument(help="CSV with level (hard, medium, easy or a number) and score.")
    ],
    as_json: JsonOption = False,
) -> None:
    """Test whether scores follow levels of difficulty."""
    problems = Problems(name_of(table))
    found = [
        (_level(row), row.number("score", float("-inf")))
        for row in _rows(table, ("level", "score"), problems)
    ]
    scores: dict[float, list[float]] = {}
    for level, score in _complete(found, problems, "level and score"):
        scores.setdefault(level, []).append(score)
    told = asdict(wander.trend(scores))
    say(json.dumps(tables.without_nan(told)) if as_json else tables.trend_table(told))


def _with_panoramas(
    graphs: Sequence[wander.Graph], folder: wander.PanoramaFolder, *, skip_broken: bool
) -> list[wander.Graph]:
    """Graphs in which one sees all that one can reach; raises ``Agl1kError`` about others.

    With ``skip_broken``, ways to nodes without a panorama are closed, and graphs without one of
    the centre left out.
    """
    missing = {
        graph.key: [node.pano_id for node in graph.nodes if node.pano_id not in folder]
        for graph in graphs
    }
    lines = [
        f"{key}: {len(ids):,} of the nodes have no panorama, such as {ids[0]}"
        for key, ids in missing.items()
        if ids
    ]
    kept = [
        graph.closed_to(missing[graph.key]) if missing[graph.key] else graph
        for graph in graphs
        if graph.center_id in folder
    ]
    if lines and (not skip_broken or not kept):
        todo = f"Add them to {shown(folder.folder)}, or do without them with --skip-broken."
        raise Agl1kError("\n".join([*lines, todo]))
    warn_all(lines)
    return kept


def _parameters(
    temperature: float | None, seed: int | None, max_tokens: int | None
) -> dict[str, float | int | None]:
    return {"temperature": temperature, "seed": seed, "max_tokens": max_tokens}


def _show_spread(
    points: Sequence[tuple[float, float]], grid: wander.Grid, area_km2: float, *, as_json: bool
) -> None:
    lat, lon = zip(*points, strict=True)
    found = wander.spread(lat, lon, grid=grid, area_km2=area_km2)
    say(json.dumps(tables.without_nan(asdict(found))) if as_json else tables.spread_table(found))


def _rows(table: Path, names: Sequence[str], problems: Problems) -> list[TableRow]:
    """The rows of a table that has these columns, among others."""

    def columns(header: list[str], width: int, problems: Problems) -> list[str]:
        for name in names:
            if name not in header:
                problems.add(missing_column(name, header, f"Give the columns {', '.join(names)}"))
        return header

    empty = Problem("The table has no rows", "Give some")
    return list(read_rows(table, problems, columns, empty))


def _complete(
    rows: Sequence[tuple[float | None, float | None]], problems: Problems, what: str
) -> list[tuple[float, float]]:
    """Pairs of numbers; raises ``FileRefusedError`` if one is missing or there was a problem."""
    for number, pair in enumerate(rows, 1):
        if None in pair and not problems.total:
            problems.add(Problem(f"{what} are not both given", "Fill in both", record=number))
    problems.raise_if_any()
    return [(a, b) for a, b in rows if a is not None and b is not None]


def _level(row: TableRow) -> float | None:
    named = wander.LEVELS.get(row.text("level").casefold())
    return named if named is not None else row.number("level", float("-inf"))
