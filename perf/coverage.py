"""How often intervals contain the true value, and how often equal models are told apart.

Samples are drawn from a large file, or from made-up players, whose own numbers are the true values.
`docs/statistics.md` shows the results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from agl1k_core import places, predictions, scoring
from agl1k_core.answers import Status
from agl1k_core.benchmarks import Benchmark
from agl1k_core.predictions import Predictions
from agl1k_core.scoring import METRICS, PEOPLE, Evaluation
from perf import data
from perf.table import Measured

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

SIZES = (24, 100, 500, 1444)
N_SAMPLES = 300
N_PLAYERS = (5, 10, 50)
N_BOARDS = 300
N_EQUAL = 20
#: A share of 0.95 over so many samples has a standard error of 1.3 %; the goal is 93 to 97.
LEAST, MOST = 93 - 2.6, 5 + 2.6

_COLUMNS = ("keys", "status", "lat", "lon", "city", "country", "continent", "reason")
#: Those whose true value is neither 0 nor 1, nor a tie, and that are not nearly never or always so.
SHOWN = (
    "distance_km", "geoscore", "country_accuracy", "within_500km", "distance_q50_km",
    "balanced_distance_km", "balanced_country_accuracy",
)  # fmt: skip


def run() -> Iterator[Measured]:
    """Coverage in percent by number of clips and of players, then levels of comparisons."""
    benchmark, file, _ = data.real_or_made_up()
    population = predictions.read_predictions(file, benchmark)
    for n in SIZES:
        yield from _shown(coverage_of_clips(benchmark, population, n), f"{n} clips")
    for n in N_PLAYERS:
        yield from _shown(coverage_of_players(n), f"{n} players")
    for n in (1, 4, 10, 24, 100, 1444):
        pair, board = levels(n)
        what = f"{N_EQUAL} equal models on {n} clips"
        yield Measured("coverage", f"{what}: pairs told apart", pair, "%", MOST)
        yield Measured("coverage", f"{what}: boards with any ranked apart", board, "%", MOST)


def _shown(covered: Mapping[str, float], what: str) -> Iterator[Measured]:
    for metric in SHOWN:
        if np.isfinite(covered[metric]):
            least = LEAST if "clips" in what else None
            yield Measured("coverage", f"{metric}, {what}", covered[metric], "%", least, "at least")


def coverage_of_clips(
    benchmark: Benchmark, population: Predictions, n: int, n_samples: int = N_SAMPLES
) -> dict[str, float]:
    """In how many percent of samples of ``n`` clips each metric's interval contains the value of
    all clips; NaN for a metric that has no interval there.

    Continents have the same shares of every sample, since balanced means are within continents.
    """
    random = np.random.default_rng(n)
    protocol = replace(PEOPLE, name="drawn")
    truth = scoring.evaluate(benchmark, population, protocol, intervals=False).metrics
    continents = np.array(
        [benchmark.clips[benchmark.index[key]].continent for key in population.keys]
    )
    strata = [np.flatnonzero(continents == name) for name in np.unique(continents)]

    def draw() -> Evaluation:
        rows = [random.choice(s, max(1, round(n * len(s) / len(continents)))) for s in strata]
        drawn = {name: getattr(population, name)[np.concatenate(rows)] for name in _COLUMNS}
        return scoring.evaluate(benchmark, replace(population, given={}, **drawn), protocol)

    return _coverage(draw, truth, n_samples)


def coverage_of_players(n: int, n_samples: int = N_SAMPLES) -> dict[str, float]:
    """The same for samples of ``n`` players of unequal skill, each with one to four rounds."""
    benchmark = data.made_up_benchmark(200)
    random = np.random.default_rng(n)
    many = scoring.evaluate(benchmark, _players(benchmark, 3000, random), PEOPLE, intervals=False)

    def draw() -> Evaluation:
        return scoring.evaluate(benchmark, _players(benchmark, n, random), PEOPLE)

    return _coverage(draw, many.metrics, n_samples)


def _coverage(
    draw: Callable[[], Evaluation], truth: Mapping[str, float], n_samples: int
) -> dict[str, float]:
    inside, known = dict.fromkeys(METRICS, 0), dict.fromkeys(METRICS, 0)
    for _ in range(n_samples):
        for metric, ends in draw().intervals.items():
            known[metric] += ends.low <= ends.high
            inside[metric] += ends.low <= truth[metric] <= ends.high
    return {m: 100 * inside[m] / known[m] if known[m] else float("nan") for m in METRICS}


def _players(benchmark: Benchmark, n: int, random: np.random.Generator) -> Predictions:
    """Guesses whose errors depend on the player's skill."""
    clips, who, off = [], [], []
    for player in range(n):
        skill, n_guesses = np.exp(random.normal(1.8, 0.5)), 5 * random.integers(1, 5)
        clips += random.choice(len(benchmark), n_guesses, replace=False).tolist()
        who += [str(player)] * n_guesses
        off.append(random.normal(0, skill, (n_guesses, 2)))
    lat, lon = (np.array([benchmark.lat, benchmark.lon])[:, clips] + np.concatenate(off).T).round(4)
    lat, lon = np.clip(lat, -89, 89), (lon + 180) % 360 - 180
    labels = places.label_points(lat, lon)
    city, country, continent = (
        np.array([getattr(label, name) for label in labels], dtype=object)
        for name in ("city", "country", "continent")
    )
    return Predictions(
        keys=np.array([benchmark.clips[clip].key for clip in clips], dtype=object),
        status=np.full(len(clips), Status.ANSWERED, dtype=object),
        lat=lat,
        lon=lon,
        reason=np.full(len(clips), "", dtype=object),
        clusters=np.array(who, dtype=object),
        city=city,
        country=country,
        continent=continent,
    )


def levels(n_clips: int, n_boards: int = N_BOARDS) -> tuple[float, float]:
    """Of boards of equal models: in percent, how many pairs `compare` calls clearly different, and
    on how many boards `rank` sets any two apart."""
    benchmark = data.made_up_benchmark(n_clips)
    random = np.random.default_rng(n_clips)
    apart = boards = 0
    for _ in range(n_boards):
        board = [_equal(benchmark, random) for _ in range(N_EQUAL)]
        pair = scoring.compare(board[0], board[1], metrics=["distance_km"])
        apart += pair["distance_km"].is_clear
        ranks = scoring.rank(board, "distance_km")
        boards += len({rank.place for rank in ranks if rank}) > 1
    return 100 * apart / n_boards, 100 * boards / n_boards


def _equal(benchmark: Benchmark, random: np.random.Generator) -> Evaluation:
    """A model like all others: most answers near, some far, a fifth refused."""
    n = len(benchmark)
    off = random.exponential(8, n) * random.choice([-1, 1], n)
    refused = random.random(n) < 0.2
    nothing = np.full(n, "", dtype=object)
    made = Predictions(
        keys=np.array([clip.key for clip in benchmark.clips], dtype=object),
        status=np.where(refused, Status.REFUSED, Status.ANSWERED).astype(object),
        lat=np.where(refused, np.nan, np.clip(benchmark.lat + off, -89, 89)),
        lon=np.where(refused, np.nan, benchmark.lon),
        city=nothing,
        country=nothing,
        continent=nothing,
        reason=nothing,
    )
    return scoring.evaluate(benchmark, made, intervals=False)
