"""Settings of the server by environment variables; ``docs/configuration.md`` lists them."""

from __future__ import annotations

import hashlib
import math
import os
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Network, ip_network
from pathlib import Path

from agl1k_core.config import Config, Environment
from store.options import StoreOptions
from web.headers import HUB

LEAST_SECRET_BYTES = 16
#: Without a setting, one address may start this part of all rounds if they get short.
ADDRESS_SHARE = 0.05
#: A Space is reached through the platform's proxies alone, from private networks.
_PROXIES_OF_A_SPACE = "10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, fc00::/7"


@dataclass(frozen=True)
class Settings:
    """Everything that differs between a laptop, a container and a Space."""

    config: Config
    store: StoreOptions
    host: str
    port: int
    root_path: str
    tiles: str
    secret: str = field(repr=False)
    max_upload_mb: float
    upload_dir: Path
    uploads_mb: float
    publish_per_hour: int
    rounds_per_hour: int
    rounds_per_player: int
    rounds_per_address: int
    trusted_proxies: tuple[str, ...]
    frames: tuple[str, ...]
    sealed_per_day: int
    sealed_in_all_per_day: int
    busy_ms: float
    metrics_address: tuple[str, int] | None
    metrics_token: str = field(repr=False)

    @property
    def max_upload_bytes(self) -> int:
        """Size of the largest file that may be uploaded."""
        return int(self.max_upload_mb * 2**20)

    @property
    def uploads_bytes(self) -> int:
        """Size of all uploads together."""
        return int(self.uploads_mb * 2**20)

    @classmethod
    def from_env(cls, env: Mapping[str, str] = os.environ) -> Settings:
        """Read the settings; raises ``Agl1kError`` that names all variables it cannot use."""
        environment = Environment(env)
        config = Config.read(environment)
        rounds_per_hour = environment.whole("AGL1K_ROUNDS_PER_HOUR", 12_000, lowest=1, highest=1e9)
        settings = cls(
            config=config,
            store=StoreOptions.read(environment),
            host=environment.text("AGL1K_HOST", default=_default_host(environment)),
            port=environment.whole("PORT", 7860, lowest=0, highest=65535),
            root_path=_root_path(environment),
            tiles=environment.address("AGL1K_TILES", ""),
            secret=_secret(environment),
            max_upload_mb=environment.number(
                "AGL1K_MAX_UPLOAD_MB", 16, lowest=0.001, highest=100_000
            ),
            upload_dir=_upload_dir(environment, config.data_dir),
            uploads_mb=environment.number("AGL1K_UPLOADS_MB", 256, lowest=1, highest=1e6),
            publish_per_hour=environment.whole("AGL1K_PUBLISH_PER_HOUR", 60, lowest=0, highest=1e9),
            rounds_per_hour=rounds_per_hour,
            rounds_per_player=environment.whole(
                "AGL1K_ROUNDS_PER_PLAYER", 120, lowest=1, highest=1e9
            ),
            rounds_per_address=environment.whole(
                "AGL1K_ROUNDS_PER_ADDRESS",
                math.ceil(rounds_per_hour * ADDRESS_SHARE),
                lowest=1,
                highest=1e9,
            ),
            trusted_proxies=_trusted_proxies(environment),
            frames=_frames(environment),
            sealed_per_day=environment.whole("AGL1K_SEALED_PER_DAY", 5, lowest=0, highest=1e6),
            sealed_in_all_per_day=environment.whole(
                "AGL1K_SEALED_IN_ALL_PER_DAY", 50, lowest=0, highest=1e6
            ),
            busy_ms=environment.number("AGL1K_BUSY_MS", 500, lowest=0.001, highest=1e6),
            metrics_address=_address(environment),
            metrics_token=_metrics_token(environment),
        )
        environment.raise_problems()
        return settings


def _upload_dir(environment: Environment, data_dir: Path) -> Path:
    """By default not beside the database, which needs its disk."""
    of = hashlib.sha256(os.fsencode(data_dir.absolute())).hexdigest()[:8]
    default = Path(tempfile.gettempdir()) / f"agl1k-uploads-{of}"
    return Path(environment.text("AGL1K_UPLOADS", default=str(default)))


def _default_host(environment: Environment) -> str:
    return "0.0.0.0" if environment.on_space else "127.0.0.1"


def _secret(environment: Environment) -> str:
    secret = environment.text("AGL1K_SECRET")
    if 0 < len(secret.encode()) < LEAST_SECRET_BYTES:
        environment.refuse(
            f"AGL1K_SECRET is too short to sign with. Set at least {LEAST_SECRET_BYTES} random "
            "characters, or unset it; a secret is then created and kept in the database."
        )
    return secret


def _address(environment: Environment) -> tuple[str, int] | None:
    text = environment.text("AGL1K_METRICS_ADDRESS")
    found = re.fullmatch(r"(\[[0-9a-fA-F:.]+\]|[\w.-]+):(\d{1,5})", text, re.ASCII)
    if text and (found is None or int(found[2]) > 65535):
        environment.refuse(
            f"AGL1K_METRICS_ADDRESS={text!r} is not an address to listen on. Set one like "
            "127.0.0.1:9100, or unset it."
        )
        return None
    return (found[1].strip("[]"), int(found[2])) if found else None


def _trusted_proxies(environment: Environment) -> tuple[str, ...]:
    """Networks; those of IPv4 also as a server that listens on IPv6 sees them."""
    default = _PROXIES_OF_A_SPACE if environment.on_space else ""
    text = environment.text("AGL1K_TRUSTED_PROXIES", default=default)
    networks: list[str] = []
    for part in filter(None, map(str.strip, text.split(","))):
        try:
            network = ip_network(part)
        except ValueError:
            environment.refuse(
                f"AGL1K_TRUSTED_PROXIES: {part[:80]!r} is not an address or a network. Set some "
                "like 127.0.0.1, 10.0.0.0/8, separated by commas, or unset it."
            )
            continue
        networks.append(str(network))
        if isinstance(network, IPv4Network):
            networks.append(f"::ffff:{network.network_address}/{96 + network.prefixlen}")
    return tuple(networks)


def _frames(environment: Environment) -> tuple[str, ...]:
    """Origins; "none" for nobody."""
    text = environment.text("AGL1K_FRAMES", default=", ".join(HUB))
    parts = [] if text == "none" else [*filter(None, map(str.strip, text.split(",")))]
    for part in parts:
        if not re.fullmatch(r"https?://(?:\*\.)?[\w.-]+(?::(?:\d{1,5}|\*))?", part, re.ASCII):
            environment.refuse(
                f"AGL1K_FRAMES: {part[:80]!r} is no site. Set some like https://example.org or "
                "https://*.example.org, separated by commas, or none, or unset it."
            )
    return tuple(parts)


def _metrics_token(environment: Environment) -> str:
    token = environment.text("AGL1K_METRICS_TOKEN")
    if 0 < len(token) < LEAST_SECRET_BYTES or not re.fullmatch(r"[!-~]*", token):
        environment.refuse(
            f"AGL1K_METRICS_TOKEN is not a usable token. Set at least {LEAST_SECRET_BYTES} random "
            "letters and digits, or unset it."
        )
    return token


def _root_path(environment: Environment) -> str:
    path = environment.text("AGL1K_ROOT_PATH").rstrip("/")
    if not re.fullmatch(r"(?:/[^/\s?#]+)*", path):
        environment.refuse(
            f"AGL1K_ROOT_PATH={path!r} is not a path. Set one like /arena, or unset it."
        )
    return path
