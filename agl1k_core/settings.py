"""Configuration by environment variables; ``docs/configuration.md`` lists them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from platformdirs import user_data_path

from agl1k_core.errors import Agl1kError

TABLE_URL = (
    "https://raw.githubusercontent.com/Rising0321/AGL1K/main/data/geoLocalization_schema.csv"
)
LEAST_SECRET_BYTES = 16
AUDIO_URL = "https://archive.org/download/{key}/{file_name}"


@dataclass(frozen=True)
class Settings:
    """Everything that differs between a laptop, a container and a Space."""

    host: str
    port: int
    root_path: str
    data_dir: Path
    database: str
    benchmark: str
    audio_dir: Path | None
    table_url: str
    audio_url: str
    tiles: str
    secret: str
    max_upload_mb: float
    publish_per_hour: int
    rounds_per_hour: int
    hub_dataset: str
    hub_token: str = field(repr=False)
    hub_endpoint: str
    hub_interval_s: float
    hub_max_waiting: int
    hub_flush_s: float
    judge_key: str = field(repr=False)

    @classmethod
    def from_env(cls, env: Mapping[str, str] = os.environ) -> Settings:
        """Read the settings; raises ``Agl1kError`` that names every variable it cannot use."""
        on_space = bool(env.get("SPACE_ID"))
        data_dir = Path(env.get("AGL1K_DATA") or _default_data_dir(on_space))
        problems: list[str] = []
        settings = cls(
            host=env.get("AGL1K_HOST") or ("0.0.0.0" if on_space else "127.0.0.1"),
            port=int(_number(env, "PORT", 7860, problems, lowest=0, highest=65535)),
            root_path=env.get("AGL1K_ROOT_PATH", ""),
            data_dir=data_dir,
            database=env.get("AGL1K_DATABASE") or f"sqlite:///{data_dir / 'agl1k.db'}",
            benchmark=env.get("AGL1K_BENCHMARK") or "demo",
            audio_dir=Path(env["AGL1K_AUDIO"]) if env.get("AGL1K_AUDIO") else None,
            table_url=env.get("AGL1K_TABLE_URL") or TABLE_URL,
            audio_url=env.get("AGL1K_AUDIO_URL") or AUDIO_URL,
            tiles=env.get("AGL1K_TILES", ""),
            secret=_secret(env, problems),
            max_upload_mb=_number(env, "AGL1K_MAX_UPLOAD_MB", 16, problems, lowest=0.001),
            publish_per_hour=int(
                _number(env, "AGL1K_PUBLISH_PER_HOUR", 60, problems, lowest=0, highest=1e9)
            ),
            rounds_per_hour=int(
                _number(env, "AGL1K_ROUNDS_PER_HOUR", 12_000, problems, lowest=1, highest=1e9)
            ),
            hub_dataset=_hub_dataset(env, problems),
            hub_token=env.get("AGL1K_HUB_TOKEN") or env.get("HF_TOKEN") or "",
            hub_endpoint=env.get("HF_ENDPOINT") or "https://huggingface.co",
            hub_interval_s=_number(env, "AGL1K_HUB_INTERVAL_S", 60, problems, lowest=0.1),
            hub_max_waiting=int(
                _number(env, "AGL1K_HUB_MAX_WAITING", 100_000, problems, lowest=1, highest=1e9)
            ),
            hub_flush_s=_number(env, "AGL1K_HUB_FLUSH_S", 6, problems, lowest=0, highest=3600),
            judge_key=env.get("AGL1K_JUDGE_KEY", ""),
        )
        if problems:
            raise Agl1kError("\n".join(problems))
        return settings


def _default_data_dir(on_space: bool) -> Path:
    persistent = Path("/data")
    if on_space and persistent.is_dir() and os.access(persistent, os.W_OK):
        return persistent
    return user_data_path("agl1k", appauthor=False)


def _hub_dataset(env: Mapping[str, str], problems: list[str]) -> str:
    name = env.get("AGL1K_HUB_DATASET", "")
    if name and not re.fullmatch(r"[\w.-]+/[\w.-]+", name, re.ASCII):
        problems.append(
            f"AGL1K_HUB_DATASET={name!r} names no dataset. Set it to OWNER/NAME, or unset it: then "
            "nothing is published."
        )
    if name and not (env.get("AGL1K_HUB_TOKEN") or env.get("HF_TOKEN")):
        problems.append(
            "AGL1K_HUB_DATASET is set, but no token to write to it. Set AGL1K_HUB_TOKEN, or unset "
            "both."
        )
    return name


def _secret(env: Mapping[str, str], problems: list[str]) -> str:
    secret = env.get("AGL1K_SECRET", "")
    if 0 < len(secret.encode()) < LEAST_SECRET_BYTES:
        problems.append(
            f"AGL1K_SECRET is too short to sign with. Give at least {LEAST_SECRET_BYTES} random "
            "characters, or unset it: then the database keeps one."
        )
    return secret


def _number(
    env: Mapping[str, str],
    name: str,
    default: float,
    problems: list[str],
    *,
    lowest: float,
    highest: float = float("inf"),
) -> float:
    text = env.get(name) or str(default)
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if lowest <= value <= highest:
        return value
    limits = f"between {lowest:g} and {highest:g}" if highest < float("inf") else f"from {lowest:g}"
    problems.append(f"{name}={text!r} is not usable. Set a number {limits}, or unset it.")
    return default
