"""Panoramas in a folder, found by id, checked before they are decoded."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from agl1k_core.errors import Agl1kError
from agl1k_core.extras import Deferred
from agl1k_core.file_names import shown
from agl1k_core.wander.example import located

if TYPE_CHECKING:
    from PIL import Image

Pillow = Deferred("PIL.Image")

#: The most pixels of a panorama, and bytes of its file. Street View's largest is 13,312 × 6,656.
MOST_PIXELS = 13_312 * 6_656
MOST_BYTES = 200 * 10**6
#: A wider panorama is reduced while it is read.
WIDEST = 4096
#: An equirectangular panorama is twice as wide as high; as a share, this much may be missing.
_TOLERANCE = 0.02


@dataclass(frozen=True)
class Panorama:
    """An equirectangular picture of everything around a point.

    Parameters
    ----------
    pixels
        Red, green and blue, of shape (height, width, 3).
    heading_deg
        The bearing of the middle column, clockwise from north.
    """

    pixels: NDArray[np.uint8] = field(repr=False)
    heading_deg: float = 0.0

    @property
    def picture(self) -> Image.Image:
        """The pixels as a picture."""
        image: Image.Image = Pillow.fromarray(self.pixels)
        return image


class PanoramaFolder:
    """The panoramas in a folder and the folders in it: a file's name without ending is its id.

    The folder ``example`` is that of the example set, unless there is one of that name.

    Raises ``Agl1kError`` if the folder cannot be read.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = located(folder)
        self._paths = _pictures_in(self.folder)

    def __contains__(self, pano_id: object) -> bool:
        return pano_id in self._paths

    def __len__(self) -> int:
        return len(self._paths)

    def path(self, pano_id: str) -> Path:
        """The file of a panorama; raises ``Agl1kError`` unless there is exactly one."""
        paths = self._paths.get(pano_id, [])
        if not paths:
            raise Agl1kError(
                f"{shown(self.folder)} has no panorama {shown(pano_id)}. A panorama's file is "
                "called by its id, for example ID.jpg."
            )
        if len(paths) > 1:
            names = " and ".join(shown(path) for path in paths)
            raise Agl1kError(f"Panorama {shown(pano_id)} has several files: {names}. Keep one.")
        return paths[0]

    def read(self, pano_id: str, heading_deg: float = 0.0) -> Panorama:
        """Read a panorama, whose middle column has the bearing ``heading_deg``.

        Raises ``Agl1kError`` if there is none, or its file is too large or broken.
        """
        return read_panorama(self.path(pano_id), heading_deg)


def _pictures_in(folder: Path) -> Mapping[str, list[Path]]:
    endings = set(Pillow.registered_extensions())
    paths: dict[str, list[Path]] = {}
    try:
        next(folder.iterdir(), None)
        found = sorted(folder.rglob("*"))
    except OSError as error:
        raise Agl1kError(f"{shown(folder)} cannot be read: {error.strerror}.") from None
    for path in found:
        if path.suffix.lower() in endings and path.is_file():
            paths.setdefault(path.stem, []).append(path)
    return paths


def read_panorama(path: Path, heading_deg: float = 0.0) -> Panorama:
    """Read an equirectangular picture of any type that Pillow reads.

    Its size is checked before it is decoded. One wider than `WIDEST` is reduced to at most that.

    Raises
    ------
    Agl1kError
        If the file is missing, too large, broken, or not twice as wide as high.
    """
    try:
        _check_bytes(path)
        with _opened(path) as image:
            _check_size(path, image.width, image.height)
            pixels = np.asarray(_reduced(image).convert("RGB"))
    except Agl1kError:
        raise
    except FileNotFoundError:
        raise Agl1kError(f"{shown(path)} does not exist.") from None
    except Exception as error:  # Pillow's decoders raise errors of many types on broken files
        raise Agl1kError(
            f"{shown(path)} cannot be read as a picture: {_reason(error)}. Get the file again."
        ) from None
    return Panorama(pixels, heading_deg)


def _opened(path: Path) -> Image.Image:
    with warnings.catch_warnings():  # Pillow's about many pixels, which are refused below
        warnings.simplefilter("ignore", Pillow.DecompressionBombWarning)
        image: Image.Image = Pillow.open(path)
        return image


def _check_bytes(path: Path) -> None:
    size = path.stat().st_size
    if size > MOST_BYTES:
        raise Agl1kError(
            f"{shown(path)} has {size / 1e6:,.0f} MB; a panorama may have {MOST_BYTES / 1e6:.0f}."
        )


def _check_size(path: Path, width: int, height: int) -> None:
    if width * height > MOST_PIXELS:
        raise Agl1kError(
            f"{shown(path)} has {width} × {height} pixels; a panorama may have 13312 × 6656."
        )
    if not abs(width / 2 - height) <= max(1, _TOLERANCE * height):
        raise Agl1kError(
            f"{shown(path)} has {width} × {height} pixels; an equirectangular panorama is twice "
            "as wide as high."
        )


def _reduced(image: Any) -> Any:
    if image.width <= WIDEST:
        return image
    image.draft(None, (WIDEST, WIDEST // 2))  # a JPEG is decoded at half its size or less
    return image.convert("RGB").reduce(math.ceil(image.width / WIDEST))


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    known = {
        "UnidentifiedImageError": "its type is not known",
        "DecompressionBombError": "it has more than 13312 × 6656 pixels",
    }
    return known.get(type(error).__name__, "it is broken")
