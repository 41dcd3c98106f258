"""The page of ``agl1k causes --review``, on which a person sorts misses into causes."""

from __future__ import annotations

import argparse
from pathlib import Path

from fastapi import FastAPI

from agl1k_core import benchmarks
from agl1k_core.causes import CAUSES, PERSON_TABLE
from agl1k_core.config import Config
from game.causes_review import CauseReview
from game.review_page import Choice, Wording, add_address, app_of, serve_page

PORT = 7862
_WORDING = Wording(
    "AGL1K: why is the country wrong?",
    [
        Choice(cause, f"{number} {cause}", f"agl-choice-{number}")
        for number, cause in enumerate(CAUSES, 1)
    ],
    f"<kbd>1</kbd> to <kbd>{len(CAUSES)}</kbd> choose, <kbd>u</kbd> undo",
    PERSON_TABLE,
)


def create_app(
    file: Path, folder: Path, config: Config, benchmark: str = "", limit: int | None = None
) -> FastAPI:
    """The page as ASGI; raises ``Agl1kError`` if a file cannot be read."""
    on = benchmarks.load_benchmark(benchmark or config.benchmark, config)
    return app_of(CauseReview(file, on, folder, limit), config, _WORDING)


def main(arguments: list[str] | None = None) -> int:
    """Serve until stopped. Returns 1 if the files cannot be opened."""
    parser = argparse.ArgumentParser(prog="agl1k causes --review")
    parser.add_argument("file", type=Path, help="a prediction file")
    parser.add_argument("folder", type=Path, help="where verdicts are stored")
    parser.add_argument("--benchmark", default="", help="the clips that the file is about")
    parser.add_argument("--limit", type=int, help="at most so many misses")
    add_address(parser, PORT)
    wanted = parser.parse_args(arguments)
    return serve_page(
        lambda: create_app(
            wanted.file, wanted.folder, Config.from_env(), wanted.benchmark, wanted.limit
        ),
        wanted.host,
        wanted.port,
    )


if __name__ == "__main__":
    raise SystemExit(main())
