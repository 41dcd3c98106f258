"""What is written in a recording beside its sound: tags of any container, GUANO, iXML."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from agl1k_core.audio._endings import iff_chunks
from agl1k_core.audio.decode import opened_container
from agl1k_core.delimited import encoding_of

_MAX_BYTES = 1 << 20  # of a chunk of text


def written_tags(path: Path) -> dict[str, str]:
    """The tags of a recording by name, in lower case.

    FFmpeg reads ID3, Vorbis comments, RIFF's ``INFO``, ``bext``, APE, ASF, Matroska and the boxes
    of MP4, and gives them common names, such as ``comment`` and ``location``. From WAV, fields of
    GUANO (as ``guano|loc position``) and of iXML (as ``ixml|location|location_gps``) are added.

    Parameters
    ----------
    path
        The recording. A server gives it to ``Shelter.written_tags``.

    Raises
    ------
    Agl1kError
        If the file is not a recording; the message says why.

    Examples
    --------
    >>> from agl1k_core.benchmarks import read_demo
    >>> written_tags(read_demo().audio_dir / "d01.mp3")
    {}
    """
    with opened_container(path) as container:
        streams = (container, container.streams.audio[0])
        tags = {
            name.casefold(): value.strip()
            for one in streams
            for name, value in one.metadata.items()
        }
        is_wav = "wav" in container.format.name.split(",")
    return tags | (_of_chunks(path) if is_wav else {})


def _of_chunks(path: Path) -> dict[str, str]:
    """The fields in the chunks of a WAV file that FFmpeg does not read."""
    tags: dict[str, str] = {}
    with path.open("rb") as file:
        for name, content in _texts(file):
            tags |= _guano(content) if name == b"guan" else _ixml(content)
    return tags


def _texts(file: BinaryIO) -> Iterator[tuple[bytes, bytes]]:
    for chunk in iff_chunks(file, is_big=file.read(4) == b"RIFX"):
        if chunk.name in (b"guan", b"iXML"):
            file.seek(chunk.start)
            yield chunk.name, file.read(min(chunk.size, _MAX_BYTES))


def _guano(content: bytes) -> dict[str, str]:
    """The fields of GUANO 1.0: ``name: value`` on each line."""
    lines = content.decode("utf-8", "replace").strip("\0").splitlines()
    pairs = (line.partition(":") for line in lines)
    return {
        f"guano|{name.strip().casefold()}": value.strip() for name, colon, value in pairs if colon
    }


def _ixml(content: bytes) -> dict[str, str]:
    """The elements of iXML that hold text, by their path."""
    text = content.decode(encoding_of(content), "replace").strip("\0 \r\n\ufeff\ufffd")
    try:
        return dict(_leaves(ET.fromstring(text), "ixml"))
    except (ET.ParseError, ValueError, RecursionError):
        return {}


def _leaves(tree: ET.Element, path: str) -> Iterator[tuple[str, str]]:
    for element in tree:
        name = f"{path}|{element.tag.casefold()}"
        text = (element.text or "").strip()
        if text:
            yield name, text
        yield from _leaves(element, name)
