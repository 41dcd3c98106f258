"""Commands on places that one walks through: wander validate, score, board, and all others."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agl1k_core import wander
from agl1k_core.benchmarks import Benchmark
from agl1k_core.cli import wander_asking, wander_play
from agl1k_core.cli import wander_tables as tables
from agl1k_core.cli.console import Commands, JsonOption, say, warn
from agl1k_core.file_names import shown
from agl1k_core.files import save_text
from agl1k_core.predictions import read_predictions

if TYPE_CHECKING:
    from agl1k_core.wander import ReadGraph, SetStatistics, Walked, WanderScores

app = typer.Typer(
    cls=Commands, no_args_is_help=True, help="Places that one walks through before guessing."
)

GraphPaths = Annotated[
    list[Path],
    typer.Argument(help="JSON files, JSON Lines, or folders of them; - is standard input."),
]
GraphsOption = Annotated[
    list[Path],
    typer.Option("--graphs", "-g", help="Graphs, as for validate; may be repeated."),
]
SkipOption = Annotated[
    bool, typer.Option("--skip-broken", help="Leave out graphs that cannot be used.")
]
ScaleOption = Annotated[
    float, typer.Option("--scale-km", help="Scale of the score, which the paper does not give.")
]

app.add_typer(wander_asking.app)
app.add_typer(wander_play.app)


@app.callback()
def _group() -> None:
    """Places that one walks through before guessing."""


@app.command()
def validate(
    paths: GraphPaths,
    tolerance: Annotated[
        float, typer.Option(min=0, max=180, help="Degrees a way back may be off opposite.")
    ] = 1.0,
    panoramas: Annotated[
        Path | None,
        typer.Option("--panoramas", "-p", file_okay=False, help="Also look for the pictures."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List everything wrong with graphs, and show their statistics. Exit code 1 if anything is.

    Graphs with an error cannot be used; those with a warning can.
    """
    folder = wander.PanoramaFolder(panoramas) if panoramas else None
    found = list(wander.inspect_graphs(paths, tolerance_deg=tolerance, panoramas=folder))
    statistics = wander.describe([one.graph for one in found if one.graph is not None])
    if as_json:
        say(json.dumps({"faults": _faults(found), "statistics": statistics.to_dict()}))
    else:
        _show(found, statistics)
    if not found or any(one.faults for one in found):
        raise typer.Exit(1)


def _faults(found: Sequence[ReadGraph]) -> list[dict[str, object]]:
    return [
        {
            "file": fault.source,
            "graph": fault.graph,
            "severity": "error" if fault.is_fatal else "warning",
            "record": fault.problem.record,
            "line": fault.problem.line,
            "node": fault.problem.node,
            "found": fault.problem.found,
            "todo": fault.problem.todo,
        }
        for one in found
        for fault in one.faults
    ]


def _show(found: Sequence[ReadGraph], statistics: SetStatistics) -> None:
    faults = [fault for one in found for fault in one.faults]
    for fault in faults:
        warn(str(fault))
    n_errors = sum(fault.is_fatal for fault in faults)
    say(
        f"{len(statistics.graphs):,} graphs can be used, "
        f"{sum(one.graph is None for one in found):,} cannot. "
        f"Errors: {n_errors:,}, warnings: {len(faults) - n_errors:,}."
    )
    if statistics.graphs:
        say(tables.set_table(statistics))


@app.command()
def score(
    guesses: Annotated[Path, typer.Argument(help="A prediction file, or a run's folder.")],
    graphs: GraphsOption,
    against: Annotated[
        Path | None, typer.Option("--against", help="Another one, such as guesses made at once.")
    ] = None,
    scale_km: ScaleOption = wander.SCALE_KM,
    skip_broken: SkipOption = False,
    as_json: JsonOption = False,
) -> None:
    """Score guesses of the centres of graphs, with 95 % intervals."""
    on = wander.benchmark_of(wander.read_graphs(graphs, skip_broken=skip_broken))
    own = _scored(guesses, on, scale_km)
    walks = _walks(guesses)
    after = wander.scores_after(walks, on, scale_km)
    other = _scored(against, on, scale_km) if against else None
    gains = wander.gains(own, other) if other else {}
    if as_json:
        told = {name: tables.plain_difference(pair) for name, pair in gains.items()}
        say(json.dumps({
            **own.to_dict(),
            **({"gains": told} if other else {}),
            **({"actions": wander.actions_taken(walks)} if walks else {}),
            **({"after": [one.to_dict() for one in after]} if walks else {}),
        }))  # fmt: skip
        return
    say(tables.score_table(own))
    if walks:
        say(f"\n{tables.actions_line(wander.actions_taken(walks))}")
        say(tables.steps_table(after, wander.still_walking(walks)))
    if other:
        say(f"\n{own.name} less {other.name}, graph by graph:")
        say(tables.gain_table(gains))


@app.command()
def board(
    guesses: Annotated[list[Path], typer.Argument(help="Prediction files, or folders of runs.")],
    graphs: GraphsOption,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", dir_okay=False, help="Write an HTML page.")
    ] = None,
    scale_km: ScaleOption = wander.SCALE_KM,
    skip_broken: SkipOption = False,
    as_json: JsonOption = False,
) -> None:
    """Rank guesses on the same graphs, beside the paper's rows as reported."""
    on = wander.benchmark_of(wander.read_graphs(graphs, skip_broken=skip_broken))
    found = wander.board_of([_scored(path, on, scale_km) for path in guesses])
    if output:
        save_text(output, tables.board_page(found))
        warn(f"Written: {shown(output)}")
    if as_json:
        say(json.dumps(found.to_dict()))
    elif not output:
        say(tables.board_table(found))


def _walks(path: Path) -> list[Walked]:
    """The walks of a run's folder; none of a plain prediction file."""
    file = path / wander.WALKS
    return wander.read_walks(file) if path.is_dir() and file.exists() else []


def _scored(path: Path, on: Benchmark, scale_km: float) -> WanderScores:
    """The scores of a prediction file, or of the one in a run's folder."""
    file = path / "predictions.jsonl" if path.is_dir() else path
    name = path.name if path.is_dir() else path.stem
    return wander.score_guesses(on, read_predictions(file, on), name=name, scale_km=scale_km)
