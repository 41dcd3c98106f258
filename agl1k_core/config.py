"""Configuration by environment variables; ``docs/configuration.md`` lists them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from platformdirs import user_data_path

from agl1k_core.errors import Agl1kError

TABLE_URL = (
    "https://raw.githubusercontent.com/Rising0321/AGL1K/main/data/geoLocalization_schema.csv"
)
AUDIO_URL = "https://archive.org/download/{key}/{file_name}"


class Environment:
    """Reads environment variables and collects everything that is wrong with them.

    An empty value counts as unset. A value that cannot be used is reported once, by
    ``raise_problems``, together with all others; until then its default takes its place.
    """

    def __init__(self, env: Mapping[str, str] = os.environ) -> None:
        self._env = env
        self._problems: list[str] = []

    @property
    def on_space(self) -> bool:
        """Whether this process runs in a Hugging Face Space."""
        return bool(self.text("SPACE_ID"))

    def text(self, *names: str, default: str = "") -> str:
        """The value of the first variable that is set."""
        return next((value for name in names if (value := self._env.get(name))), default)

    def whole(self, name: str, default: int, *, lowest: float, highest: float) -> int:
        """A whole number between ``lowest`` and ``highest``."""
        value = self.number(name, default, lowest=lowest, highest=highest)
        if value != int(value):
            self.refuse(f"{name}={value} is not usable. Set a whole number, or unset it.")
        return int(value)

    def number(
        self, name: str, default: float, *, lowest: float, highest: float = float("inf")
    ) -> float:
        """A number between ``lowest`` and ``highest``."""
        text = self.text(name, default=str(default))
        value = _float_or_nan(text)
        if lowest <= value <= highest:
            return value
        bounded = highest < float("inf")
        limits = f"between {lowest:g} and {highest:g}" if bounded else f"from {lowest:g}"
        self.refuse(f"{name}={text!r} is not usable. Set a number {limits}, or unset it.")
        return default

    def address(self, name: str, default: str, fields: tuple[str, ...] = ()) -> str:
        """An http or https address; with ``fields``, a template that may use them."""
        address = self.text(name, default=default)
        if address and not _is_address(address, fields):
            template = f", with {' and '.join(f'{{{name}}}' for name in fields)} in it"
            self.refuse(
                f"{name}={address[:80]!r} is not an address. Set one with https:// or http://"
                f"{template if fields else ''}, or unset it."
            )
        return address

    def refuse(self, problem: str) -> None:
        """Add a problem: what is wrong with which variable, and what to set instead."""
        self._problems.append(problem)

    def raise_problems(self) -> None:
        """Raise ``Agl1kError`` with one line per problem, if there are any."""
        if self._problems:
            raise Agl1kError("\n".join(self._problems))


def _float_or_nan(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")


def _is_address(address: str, fields: tuple[str, ...]) -> bool:
    try:
        parts = urlsplit(address)
        if fields:
            address.format(**dict.fromkeys(fields, ""))
    except (ValueError, LookupError, AttributeError):
        return False
    return parts.scheme in ("http", "https") and bool(parts.netloc)


@dataclass(frozen=True)
class Config:
    """Where data is kept, which benchmark is used, and where it comes from."""

    data_dir: Path
    benchmark: str
    audio_dir: Path | None
    table_url: str
    audio_url: str
    judge_key: str = field(repr=False)

    @property
    def models_dir(self) -> Path:
        """The folder for models, beside all other data."""
        return self.data_dir / "models"

    @classmethod
    def from_env(cls, env: Mapping[str, str] = os.environ) -> Config:
        """Read the configuration.

        Raises
        ------
        Agl1kError
            If variables cannot be used; the message names all of them.
        """
        environment = Environment(env)
        config = cls.read(environment)
        environment.raise_problems()
        return config

    @classmethod
    def read(cls, environment: Environment) -> Config:
        """Read the configuration as part of a larger one; problems are added to ``environment``."""
        audio = environment.text("AGL1K_AUDIO")
        return cls(
            data_dir=data_dir(environment),
            benchmark=environment.text("AGL1K_BENCHMARK", default="demo"),
            audio_dir=Path(audio) if audio else None,
            table_url=environment.address("AGL1K_TABLE_URL", TABLE_URL),
            audio_url=environment.address("AGL1K_AUDIO_URL", AUDIO_URL, ("key", "file_name")),
            judge_key=environment.text("AGL1K_JUDGE_KEY"),
        )


def data_dir(environment: Environment) -> Path:
    """The folder for everything that is kept between two runs."""
    named = environment.text("AGL1K_DATA")
    return Path(named) if named else _default_data_dir(environment.on_space)


def _default_data_dir(on_space: bool) -> Path:
    persistent = Path("/data")
    if on_space and persistent.is_dir() and os.access(persistent, os.W_OK):
        return persistent
    return user_data_path("agl1k", appauthor=False)
