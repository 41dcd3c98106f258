"""What all commands share: where they write, and how a refusal ends them."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

import typer
from rich.console import Console

from agl1k_core.errors import Agl1kError

P = ParamSpec("P")
R = TypeVar("R")

out, err = Console(highlight=False), Console(stderr=True, highlight=False, markup=False)


def refusing(command: Callable[P, R]) -> Callable[P, R]:
    """Tell an ``Agl1kError`` on stderr and exit with 1."""

    @wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return command(*args, **kwargs)
        except Agl1kError as error:
            err.print(str(error), soft_wrap=True)
            raise typer.Exit(1) from None

    return wrapped
