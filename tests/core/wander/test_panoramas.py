"""Panoramas in folders: any type of picture, and broken ones, in sentences."""

from __future__ import annotations

import io
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from agl1k_core.errors import Agl1kError
from agl1k_core.wander import PanoramaFolder, read_panorama


def write(path: Path, size: tuple[int, int] = (64, 32), mode: str = "RGB") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.linear_gradient("L").resize(size).convert(mode).save(path)
    return path


def refusal(path: Path) -> str:
    with pytest.raises(Agl1kError) as refused:
        read_panorama(path)
    assert path.name in str(refused.value)
    return str(refused.value)


@pytest.mark.parametrize("name", ["a.jpg", "a.JPEG", "a.png", "a.webp", "a.tif", "a.bmp", "a.gif"])
def test_any_type_of_picture_is_found_by_id_and_read(tmp_path: Path, name: str) -> None:
    write(tmp_path / "deep" / name)
    folder = PanoramaFolder(tmp_path)
    assert "a" in folder
    assert len(folder) == 1
    panorama = folder.read("a", 30)
    assert panorama.pixels.shape == (32, 64, 3)
    assert panorama.heading_deg == 30
    assert panorama.pixels[0].max() < panorama.pixels[-1].min()


@pytest.mark.parametrize("mode", ["L", "P", "RGBA", "LA", "1"])
def test_any_kind_of_colour_becomes_rgb(tmp_path: Path, mode: str) -> None:
    assert read_panorama(write(tmp_path / "a.png", mode=mode)).pixels.shape == (32, 64, 3)


def test_ids_with_dots_and_signs_are_whole_names(tmp_path: Path) -> None:
    write(tmp_path / "CAoS.x-_9.jpg")
    folder = PanoramaFolder(tmp_path)
    assert folder.path("CAoS.x-_9").name == "CAoS.x-_9.jpg"
    assert "CAoS" not in folder


@pytest.mark.parametrize("pano_id", ["b", "../a", "/etc/passwd", "", "a.jpg"])
def test_an_id_without_a_file_is_named(tmp_path: Path, pano_id: str) -> None:
    write(tmp_path / "in" / "b.jpg")
    write(tmp_path / "a.jpg")
    folder = PanoramaFolder(tmp_path / "in")
    if pano_id == "b":
        assert folder.path("b").name == "b.jpg"
        return
    with pytest.raises(Agl1kError, match="has no panorama"):
        folder.path(pano_id)


def test_an_id_with_two_files_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "a.jpg")
    write(tmp_path / "old" / "a.png")
    with pytest.raises(Agl1kError, match=r"a\.jpg and .*a\.png"):
        PanoramaFolder(tmp_path).read("a")


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Agl1kError, match=r"nowhere cannot be read: No such file"):
        PanoramaFolder(tmp_path / "nowhere")
    with pytest.raises(Agl1kError, match=r"cannot be read: Not a directory"):
        PanoramaFolder(write(tmp_path / "a.jpg"))


def test_a_shape_that_is_no_panorama_is_refused(tmp_path: Path) -> None:
    assert "80 × 60 pixels" in refusal(write(tmp_path / "a.png", (80, 60)))
    read_panorama(write(tmp_path / "odd.png", (101, 50)))


def test_broken_files_are_refused_in_a_sentence(tmp_path: Path) -> None:
    whole = write(tmp_path / "whole.jpg", (512, 256)).read_bytes()
    for name, data in {
        "cut.jpg": whole[: len(whole) // 2],
        "text.jpg": b"<html>Not found</html>",
        "empty.png": b"",
        "zeros.webp": bytes(1000),
    }.items():
        path = tmp_path / name
        path.write_bytes(data)
        message = refusal(path)
        assert "cannot be read as a picture" in message
        assert "Get the file again." in message
    assert "does not exist" in refusal(tmp_path / "gone.jpg")


def test_the_size_is_checked_before_a_file_is_decoded(tmp_path: Path) -> None:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    header = struct.pack(">IIBBBBB", 60_000, 30_000, 8, 2, 0, 0, 0)
    bomb = tmp_path / "bomb.png"
    bomb.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", b""))
    assert "it has more than 13312 × 6656 pixels" in refusal(bomb)
    header = struct.pack(">IIBBBBB", 14_000, 7_000, 8, 2, 0, 0, 0)
    bomb.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", b""))
    assert "14000 × 7000 pixels; a panorama may have 13312 × 6656" in refusal(bomb)


def test_a_wide_panorama_is_reduced_and_keeps_its_places(tmp_path: Path) -> None:
    wide = np.zeros((4_400, 8_800, 3), np.uint8)
    wide[:, 2_200:] = 200  # from a quarter of the width on
    for name in ("a.png", "a.jpg"):
        buffer = io.BytesIO()
        Image.fromarray(wide).save(buffer, "PNG" if name.endswith("png") else "JPEG")
        (tmp_path / name).write_bytes(buffer.getvalue())
        row = read_panorama(tmp_path / name).pixels[100, :, 0]
        assert 2048 <= len(row) <= 4096
        assert np.argmax(row > 100) / len(row) == pytest.approx(0.25, abs=0.001)
