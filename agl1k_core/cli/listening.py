"""The command of our baseline: listen."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from tqdm import tqdm

from agl1k_core import listener, models, tagging
from agl1k_core.benchmarks import Benchmark, recording_name
from agl1k_core.cli.console import BenchmarkOption, benchmark_of, say, warn
from agl1k_core.config import Config
from agl1k_core.errors import Agl1kError
from agl1k_core.file_names import shown
from agl1k_core.files import make_folder, save_text
from agl1k_core.listener import Ears, Listened

app = typer.Typer()

_SHOWN = 5


@app.command()
def listen(
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The prediction file.", dir_okay=False)
    ],
    benchmark: BenchmarkOption = None,
    audio: Annotated[
        Path | None,
        typer.Option(
            "--audio", file_okay=False, exists=True, help="Recordings. Default: the benchmark's."
        ),
    ] = None,
    clip: Annotated[
        list[str] | None, typer.Option("--clip", help="Only this clip; may be repeated.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first N clips.")] = None,
    pictures: Annotated[
        Path | None, typer.Option("--pictures", file_okay=False, help="Folder for belief maps.")
    ] = None,
    whisper: Annotated[
        str,
        typer.Option("--whisper", help="Instead of the installed one: a model's name or folder."),
    ] = "",
    without_speech: Annotated[
        bool, typer.Option("--without-speech", help="Do not listen for languages.")
    ] = False,
) -> None:
    """Our baseline: hear sounds and languages in each clip, and say where it was recorded."""
    on = benchmark_of(benchmark)
    recordings, missing = listener.recordings_to_hear(on, clip, limit, audio)
    if missing:
        names = ", ".join(missing[:_SHOWN]) + (" …" if len(missing) > _SHOWN else "")
        warn(f"{len(missing)} clips have no recording and are left out: {names}")
    ears = _ears(whisper, without_speech)
    if pictures:
        make_folder(pictures)  # before hearing, which takes long
    with tqdm(total=len(recordings), unit="clip", disable=None) as bar:
        result = listener.listen(on, recordings, ears, output, bar.update)
    for key, sentence in result.errors.items():
        warn(f"{key}: {sentence}")
    if pictures:
        _draw(result, on, pictures)
    _show(result, on)


def _ears(whisper: str, without_speech: bool) -> Ears:
    """The ears that the options name; raises ``Agl1kError`` with the command that installs them."""
    folder = Config.from_env().models_dir
    tagger = tagging.load_tagger("yamnet", models_dir=folder)
    if without_speech:
        if whisper:
            raise Agl1kError("Give --whisper or --without-speech, not both.")
        return Ears(tagger, None)
    model = whisper or models.whisper_folder(folder)
    if model is None:
        raise Agl1kError(
            "Whisper is not installed here. Run: agl1k models install whisper. Or listen for "
            "sounds only with --without-speech."
        )
    return Ears(tagger, models.Whisper(str(model)))


def _draw(result: Listened, on: Benchmark, folder: Path) -> None:
    for key, heard in result.heard.items():
        name = Path(recording_name(on.clip(key))).stem
        save_text(folder / f"{name}.svg", listener.map_of(heard, key))
    say(f"Belief maps: {shown(folder)}")


def _show(result: Listened, on: Benchmark) -> None:
    from agl1k_core import predictions
    from agl1k_core.cli import reports

    read = predictions.read_predictions(result.file, on)
    say(reports.headline_of(read, on))
    say(f"Predictions: {shown(result.file)}")
