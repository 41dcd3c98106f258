"""Commands of packages above the core, which are in a checkout but not in the wheel."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Sequence
from pathlib import Path

import agl1k_core
from agl1k_core.errors import Agl1kError
from agl1k_core.extras import check
from agl1k_core.files import temporary_folder


def run_above(module: str, argv: Sequence[str], *, needs: str) -> None:
    """Run a module above the core as ``__main__``; it must not be imported here.

    Raises ``Agl1kError`` if there is no checkout, no folder for temporary files, or if ``needs``, a
    module of an extra, is missing.
    """
    folder = str(find_checkout())
    check(needs)
    temporary_folder()
    if folder not in sys.path:
        sys.path.insert(0, folder)
    sys.argv = [*argv]
    runpy.run_module(module, run_name="__main__")


def find_checkout() -> Path:
    """The folder with ``app.py`` that this package is part of, else the current one."""
    for folder in (Path(agl1k_core.__file__).parents[1], Path.cwd()):
        if (folder / "app.py").is_file() and (folder / "store" / "admin.py").is_file():
            return folder
    raise Agl1kError(
        "This command needs a checkout of the repository, because the package has only the "
        "science. Run it in the checkout's folder."
    )
