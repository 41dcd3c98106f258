"""Configuration by environment variables; ``docs/configuration.md`` lists them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from platformdirs import user_data_path

from agl1k_core.errors import Agl1kError

TABLE_URL = (
    "https://raw.githubusercontent.com/Rising0321/AGL1K/main/data/geoLocalization_schema.csv"
)
LEAST_SECRET_BYTES = 16
_AUDIO_FIELDS = "key file_name"
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
            port=_whole(env, "PORT", 7860, problems, lowest=0, highest=65535),
            root_path=_root_path(env, problems),
            data_dir=data_dir,
            database=env.get("AGL1K_DATABASE") or f"sqlite:///{data_dir / 'agl1k.db'}",
            benchmark=env.get("AGL1K_BENCHMARK") or "demo",
            audio_dir=Path(env["AGL1K_AUDIO"]) if env.get("AGL1K_AUDIO") else None,
            table_url=_address(env, "AGL1K_TABLE_URL", TABLE_URL, problems),
            audio_url=_address(env, "AGL1K_AUDIO_URL", AUDIO_URL, problems, _AUDIO_FIELDS),
            tiles=_address(env, "AGL1K_TILES", "", problems),
            secret=_secret(env, problems),
            max_upload_mb=_number(
                env, "AGL1K_MAX_UPLOAD_MB", 16, problems, lowest=0.001, highest=100_000
            ),
            publish_per_hour=_whole(
                env, "AGL1K_PUBLISH_PER_HOUR", 60, problems, lowest=0, highest=1e9
            ),
            rounds_per_hour=_whole(
                env, "AGL1K_ROUNDS_PER_HOUR", 12_000, problems, lowest=1, highest=1e9
            ),
            hub_dataset=_hub_dataset(env, problems),
            hub_token=env.get("AGL1K_HUB_TOKEN") or env.get("HF_TOKEN") or "",
            hub_endpoint=env.get("HF_ENDPOINT") or "https://huggingface.co",
            hub_interval_s=_number(env, "AGL1K_HUB_INTERVAL_S", 60, problems, lowest=0.1),
            hub_max_waiting=_whole(
                env, "AGL1K_HUB_MAX_WAITING", 100_000, problems, lowest=1, highest=1e9
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


def _root_path(env: Mapping[str, str], problems: list[str]) -> str:
    path = env.get("AGL1K_ROOT_PATH", "").rstrip("/")
    if not re.fullmatch(r"(?:/[^/\s?#]+)*", path):
        problems.append(f"AGL1K_ROOT_PATH={path!r} is no path. Set one like /arena, or unset it.")
    return path


def _address(
    env: Mapping[str, str], name: str, default: str, problems: list[str], fields: str = ""
) -> str:
    """An address of http or https, or the default; where it has ``fields``, a template of them."""
    address = env.get(name) or default
    try:
        parts = urlsplit(address)
        usable = not address or (parts.scheme in ("http", "https") and bool(parts.netloc))
        if fields:
            address.format(**dict.fromkeys(fields.split(), ""))
    except (ValueError, LookupError, AttributeError):
        usable = False
    if not usable:
        holding = f", with {{{fields.replace(' ', '} and {')}}} in it" if fields else ""
        problems.append(
            f"{name}={address[:80]!r} is no address. Set one with https:// or http://{holding}, or "
            "unset it."
        )
    return address


def _whole(
    env: Mapping[str, str],
    name: str,
    default: int,
    problems: list[str],
    *,
    lowest: float,
    highest: float,
) -> int:
    value = _number(env, name, default, problems, lowest=lowest, highest=highest)
    if value != int(value):
        problems.append(f"{name}={value} is not usable. Set a whole number, or unset it.")
    return int(value)


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
