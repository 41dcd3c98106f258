"""Make or check the demo pack in ``agl1k_core/benchmarks/demo/``.

    python -m scripts.make_demo_pack            # needs espeak-ng; about two minutes
    python -m scripts.make_demo_pack --tags     # only tags.json: YAMNet's tags of the clips
    python -m scripts.make_demo_pack --check    # needs no synthesis; exit code 1 with problems

``agl1k models install yamnet`` installs YAMNet.

``docs/demo-pack.md`` describes what is in the pack and how it is built.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from agl1k_core.errors import Agl1kError
from agl1k_core.tagging import load_tagger
from scripts.demo_pack import check
from scripts.demo_pack.tags import write_tags

FOLDER = Path(__file__).resolve().parent.parent / "agl1k_core" / "benchmarks" / "demo"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    parser = argparse.ArgumentParser(description="Make or check the demo pack.")
    parser.add_argument("--check", action="store_true", help="check the pack without synthesis")
    parser.add_argument("--tags", action="store_true", help="only tag the existing clips")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="the pack's folder")
    options = parser.parse_args(arguments)
    try:
        if not options.check:
            tagger = load_tagger()
            if not options.tags:
                _make(options.folder)
            write_tags(options.folder, tagger)
        return _check(options.folder)
    except Agl1kError as error:
        print(error, file=sys.stderr)
        return 1


def _make(folder: Path) -> None:
    # Imported here: the check does not need the synthesis.
    from scripts.demo_pack.pack import write_pack
    from scripts.demo_pack.scenes import PLACES

    for line in write_pack(folder, PLACES):
        print(line, flush=True)


def _check(folder: Path) -> int:
    problems, measured = check.check_pack(folder)
    for problem in problems:
        print(problem, file=sys.stderr)
    print(_summary(folder, measured))
    return 1 if problems else 0


def _summary(folder: Path, measured: list[check.Measured]) -> str:
    if not measured:
        return "No clip could be measured."
    total = sum(path.stat().st_size for path in folder.glob("*.mp3"))
    durations = [one.info.duration_s for one in measured]
    peaks = [one.peak_dbfs for one in measured]
    loudness = [one.loudness_lufs for one in measured]
    closest = max(check.alike(measured).items(), key=lambda pair: pair[1], default=(("", ""), 0.0))
    return (
        f"{len(measured)} clips, {total:,} bytes; {min(durations):.1f} to {max(durations):.1f} s;"
        f" peaks {min(peaks):.1f} to {max(peaks):.1f} dBFS;"
        f" loudness {min(loudness):.1f} to {max(loudness):.1f} LUFS;"
        f" most alike: {' and '.join(closest[0])} ({closest[1]:.2f})"
    )


if __name__ == "__main__":
    sys.exit(main())
