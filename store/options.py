"""Options of the store by environment variables; ``docs/configuration.md`` lists them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from agl1k_core.config import Environment, data_dir


@dataclass(frozen=True)
class HubOptions:
    """The dataset that rows are published in, and how; nothing is published without a dataset."""

    dataset: str
    token: str = field(repr=False)
    endpoint: str
    interval_s: float
    max_waiting: int
    flush_s: float

    @classmethod
    def read(cls, environment: Environment) -> HubOptions:
        """Read the options; problems stay in ``environment``."""
        token = environment.text("AGL1K_HUB_TOKEN", "HF_TOKEN")
        return cls(
            dataset=_dataset(environment, token),
            token=token,
            endpoint=environment.text("HF_ENDPOINT", default="https://huggingface.co"),
            interval_s=environment.number("AGL1K_HUB_INTERVAL_S", 60, lowest=0.1),
            max_waiting=environment.whole("AGL1K_HUB_MAX_WAITING", 100_000, lowest=1, highest=1e9),
            flush_s=environment.number("AGL1K_HUB_FLUSH_S", 6, lowest=0, highest=3600),
        )


def _dataset(environment: Environment, token: str) -> str:
    name = environment.text("AGL1K_HUB_DATASET")
    if name and not re.fullmatch(r"[\w.-]+/[\w.-]+", name, re.ASCII):
        environment.refuse(
            f"AGL1K_HUB_DATASET={name!r} is not the name of a dataset. Set it to OWNER/NAME, or "
            "unset it to publish nothing."
        )
    if name and not token:
        environment.refuse(
            "AGL1K_HUB_DATASET is set, but there is no token to write to it. Set AGL1K_HUB_TOKEN, "
            "or unset both."
        )
    return name


@dataclass(frozen=True)
class StoreOptions:
    """The database, as an SQLAlchemy URL, and the Hub."""

    database: str
    hub: HubOptions

    @classmethod
    def from_env(cls, env: Mapping[str, str] = os.environ) -> StoreOptions:
        """Read the options; raises ``Agl1kError`` that names all variables it cannot use."""
        environment = Environment(env)
        options = cls.read(environment)
        environment.raise_problems()
        return options

    @classmethod
    def read(cls, environment: Environment) -> StoreOptions:
        """Read the options; problems stay in ``environment``."""
        in_data_dir = f"sqlite:///{data_dir(environment) / 'agl1k.db'}"
        return cls(
            database=environment.text("AGL1K_DATABASE", default=in_data_dir),
            hub=HubOptions.read(environment),
        )
