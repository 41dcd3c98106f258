"""The example set in the package: eight small graphs with drawn panoramas.

It is synthetic, made by ``scripts/make_wander_example.py``, and serves to try things offline.
"""

from __future__ import annotations

from pathlib import Path

#: The name of the example set wherever a folder of graphs or panoramas is asked for.
EXAMPLE = "example"


def located(path: Path) -> Path:
    """A path, or the example set's folder if it is called by name and nothing else is.

    Examples
    --------
    >>> located(Path("example")).name, located(Path("graphs"))
    ('example', PosixPath('graphs'))
    """
    if path.as_posix() == EXAMPLE and not path.exists():
        return Path(__file__).with_name("example")
    return path
