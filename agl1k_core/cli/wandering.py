"""Commands on places that one walks through: wander validate."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from agl1k_core import wander
from agl1k_core.cli.console import Commands, JsonOption, aligned, say, warn
from agl1k_core.wander import ReadGraph, SetStatistics

app = typer.Typer(
    cls=Commands, no_args_is_help=True, help="Places that one walks through before guessing."
)

#: So many countries are listed; ``--json`` has them all.
_SHOWN = 12

GraphPaths = Annotated[
    list[Path],
    typer.Argument(help="JSON files, JSON Lines, or folders of them; - is standard input."),
]


@app.callback()
def _group() -> None:
    """Places that one walks through before guessing."""


@app.command()
def validate(
    paths: GraphPaths,
    tolerance: Annotated[
        float, typer.Option(min=0, max=180, help="Degrees a way back may be off opposite.")
    ] = 1.0,
    as_json: JsonOption = False,
) -> None:
    """List everything wrong with graphs, and show their statistics. Exit code 1 if anything is.

    Graphs with an error cannot be used; those with a warning can.
    """
    found = list(wander.inspect_graphs(paths, tolerance_deg=tolerance))
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
        f"{sum(one.graph is None for one in found):,} cannot: {n_errors:,} errors, "
        f"{len(faults) - n_errors:,} warnings."
    )
    if statistics.graphs:
        say(_table(statistics))


def _table(statistics: SetStatistics) -> str:
    graphs = statistics.graphs
    steps = [one.mean_steps for one in graphs if one.mean_steps is not None]
    rows = [
        ("nodes", f"{statistics.n_nodes:,}"),
        ("pairs of nodes with a way", f"{statistics.n_edges:,}"),
        ("mean degree", f"{statistics.mean_degree:.2f}"),
        ("mean steps between nodes", f"{sum(steps) / len(steps):.2f}" if steps else "–"),
        ("most steps from a centre", f"{max(one.max_steps_from_center for one in graphs):,}"),
        ("boundary nodes", f"{sum(one.n_boundary for one in graphs):,}"),
        ("unreachable nodes", f"{sum(one.n_unreachable for one in graphs):,}"),
        (
            f"centres at least {wander.FEWEST_STEPS} steps from the boundary",
            f"{statistics.n_covered:,} of {len(graphs):,}",
        ),
        ("continents", _counts(statistics.continents)),
        ("countries", _counts(statistics.countries)),
    ]
    return aligned(rows)


def _counts(counts: Mapping[str, int]) -> str:
    """The most frequent names, and how many more there are."""
    shown = [f"{name or 'unknown'} {count:,}" for name, count in counts.items()][:_SHOWN]
    more = len(counts) - len(shown)
    return ", ".join([*shown, f"and {more:,} more"] if more else shown)
