"""``agl1k`` and ``python -m agl1k_core``; the commands are in ``cli``.

Processes that analyze recordings load this module again, and should not load all the commands.
"""

from __future__ import annotations


def main() -> None:
    """Entry point of ``agl1k`` and ``python -m agl1k_core``."""
    from agl1k_core.cli.main import app

    app(prog_name="agl1k")


if __name__ == "__main__":
    main()
