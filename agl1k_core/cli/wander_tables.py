"""Graphs, scores and boards of WanderBench as tables for a terminal, and as a page."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any

from agl1k_core import scoring, wander
from agl1k_core.cli.console import aligned

if TYPE_CHECKING:
    from agl1k_core.scoring import Interval, PairedDifference, Rank
    from agl1k_core.wander import (
        ReportedRow,
        ScoredRow,
        SetStatistics,
        Spread,
        WanderBoard,
        WanderScores,
    )

#: So many countries are listed; ``--json`` has them all.
_SHOWN = 12
_STYLE = """
:root { color-scheme: light dark; font: 15px/1.45 system-ui, sans-serif; }
body { margin: 2rem auto; max-width: 75rem; padding: 0 1rem; }
div { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: 0.3rem 0.6rem; text-align: right; border-bottom: 1px solid #8886; }
th:nth-child(-n+2), td:nth-child(-n+2) { text-align: left; }
"""


@cache
def _headings() -> Mapping[str, str]:
    """Column of a board -> its heading."""
    short = {"accuracy": "acc.", "recall": "rec.", "f1": "F1"}
    levels = {
        f"{level}_{name}": f"{level} {heading}"
        for level in wander.RIGHT_LEVELS
        for name, heading in short.items()
    }
    return {"distance_km": "km", "score": "score", **levels}


def set_table(statistics: SetStatistics) -> str:
    """The statistics of a set of graphs."""
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


def score_table(scores: WanderScores) -> str:
    """What was scored, and every metric with its interval."""
    statuses = ", ".join(f"{count:,} {name}" for name, count in scores.statuses.items() if count)
    rows = [("metric", "value", "95 % interval")]
    for name, value in scores.metrics.items():
        rows.append((name, _text(name, value), _interval(name, scores.intervals[name])))
    return f"{scores.name}: {scores.n_graphs:,} graphs, {statuses}\n{aligned(rows)}"


def gain_table(gains: Mapping[str, PairedDifference]) -> str:
    """Paired differences, and whether each is clear."""
    rows: list[Sequence[str]] = [("metric", "first", "second", "difference", "95 % interval", "")]
    for name, pair in gains.items():
        numbers = (_text(name, x) for x in (pair.first, pair.second, pair.difference))
        clear = "clear" if pair.is_clear else "not clear"
        rows.append((name, *numbers, _interval(name, scoring.Interval(pair.low, pair.high)), clear))
    return aligned(rows)


def plain_difference(pair: PairedDifference) -> dict[str, Any]:
    """A paired difference, ready for JSON."""
    numbers = {"difference": pair.difference, "low": pair.low, "high": pair.high}
    return {
        **without_nan(numbers),
        "graphs": pair.n_common,
        "p": pair.p_value,
        "clear": pair.is_clear,
    }


def board_table(board: WanderBoard) -> str:
    """Rows scored here, then the paper's."""
    # an empty last column, as ``aligned`` aligns the last one to the left
    own = aligned(
        [("rank", "model", *_headings().values(), ""), *map(_own_cells, board.scored)], (1,)
    )
    theirs = [("table", "model", *_headings().values(), ""), *map(_their_cells, board.reported)]
    return f"Scored here\n{own}\n\n{_REPORTED}\n{aligned(theirs, (1,))}"


_REPORTED = "As reported in Learning to Wander, on other graphs: not to be ranked with the above"


def board_page(board: WanderBoard) -> str:
    """A page of HTML that needs nothing else."""
    own = _table_html(("rank", "model", *_headings().values()), map(_own_cells, board.scored))
    theirs = _table_html(
        ("table", "model", *_headings().values()), map(_their_cells, board.reported)
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>WanderBench</title><style>{_STYLE}</style></head><body><h1>WanderBench</h1>"
        f"<h2>Scored here</h2><p>{_ranks_note(board)}</p><div>{own}</div>"
        f"<h2>Reported</h2><p>{_REPORTED}.</p><div>{theirs}</div></body></html>\n"
    )


def _ranks_note(board: WanderBoard) -> str:
    n_graphs = board.scored[0].scores.n_graphs if board.scored else 0
    return (
        f"On {n_graphs:,} graphs, by mean distance; in brackets, the range of ranks that the "
        "data allow. With fewer than ten graphs, nothing is ranked."
    )


def _own_cells(row: ScoredRow) -> tuple[str, ...]:
    metrics = row.scores.metrics
    return (_rank(row.rank), row.scores.name, *(_text(n, metrics[n]) for n in _headings()), "")


def _their_cells(row: ReportedRow) -> tuple[str, ...]:
    model = f"{row.model} (acts)" if row.acts else row.model
    return (str(row.table), model, *(_text(n, row.metrics[n]) for n in _headings()), "")


def _rank(rank: Rank | None) -> str:
    if rank is None:
        return "–"
    return f"{rank.place}{'=' if rank.tied else ''} ({rank.best}–{rank.worst})"


def _table_html(header: Iterable[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in header)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row[:-1])}</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _text(metric: str, value: float) -> str:
    """Kilometres with one digit, scores with two, shares with three; "–" for none."""
    if math.isnan(value):
        return "–"
    if metric == "distance_km":
        return f"{value:,.1f}"
    return f"{value:.2f}" if metric == "score" else f"{value:.3f}"


def _interval(metric: str, interval: Interval) -> str:
    if math.isnan(interval.low):
        return ""
    return f"{_text(metric, interval.low)} to {_text(metric, interval.high)}"


# --- walks


def steps_table(scores: Sequence[WanderScores], walking: Sequence[int]) -> str:
    """The scores after each step, and what was gained over the first answer."""
    rows: list[Sequence[str]] = [
        ("answers", "walks", *_step_headings().values(), "km over the first answer", "")
    ]
    for number, (one, n) in enumerate(zip(scores, walking, strict=True), 1):
        pair = wander.gains(one, scores[0])["distance_km"]
        gain = f"{pair.difference:+,.1f} ({pair.low:,.1f} to {pair.high:,.1f})"
        metrics = (_text(name, one.metrics[name]) for name in _step_headings())
        clear = "clear" if pair.is_clear else "not clear"
        own = ("", "") if number == 1 else (gain, clear)
        rows.append((str(number), f"{n:,}", *metrics, *own))
    return aligned(rows)


@cache
def _step_headings() -> Mapping[str, str]:
    levels = {f"{level}_recall": f"{level} rec." for level in wander.RIGHT_LEVELS}
    return {"distance_km": "km", "score": "score", **levels}


def actions_line(taken: Mapping[str, int]) -> str:
    """Which actions were taken, and how many steps were lost."""
    return "Actions: " + ", ".join(f"{name} {count:,}" for name, count in taken.items())


# --- proposals


def spread_table(found: Spread) -> str:
    """How places are spread."""
    return aligned(
        [
            ("places", f"{found.n:,}"),
            ("occupancy", f"{found.occupancy:.4f}"),
            ("entropy (nats)", f"{found.entropy:.2f}"),
            ("hull area (km²)", f"{found.hull_km2:,.0f}"),
            ("mean distance to the nearest (km)", _or_dash(found.nearest_km, ",.1f")),
            ("Clark-Evans ratio", _or_dash(found.clark_evans, ".3f")),
        ]
    )


def trend_table(told: Mapping[str, Any]) -> str:
    """Whether scores follow levels."""
    between, within = told["df"]
    return aligned(
        [
            ("test", "value", "p"),
            (f"F({between}, {within})", _or_dash(told["f"], ".2f"), _or_dash(told["f_p"], ".4f")),
            ("Spearman", _or_dash(told["spearman"], ".2f"), _or_dash(told["spearman_p"], ".4f")),
            ("Spearman, exact", "", _or_dash(told["spearman_exact_p"], ".4f")),
            ("slope", _or_dash(told["slope"], ".4f"), _or_dash(told["slope_p"], ".4f")),
        ]
    )


def without_nan(told: Mapping[str, Any]) -> dict[str, Any]:
    """The same with None for NaN, ready for JSON."""
    return {k: None if isinstance(x, float) and math.isnan(x) else x for k, x in told.items()}


def _or_dash(value: float, form: str) -> str:
    return "–" if math.isnan(value) else format(value, form)
