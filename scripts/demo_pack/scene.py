"""A scene: layers by sound class, mixed, levelled and measured."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy import ndimage  # type: ignore[import-untyped,unused-ignore]

from scripts.demo_pack import dsp
from scripts.demo_pack.dsp import Course, Rng, Sound
from scripts.demo_pack.levels import loudness_lufs

LOUDNESS_LUFS = -17.5
CEILING_DB = -3.2
FADE_S = (0.7, 1.6)

#: A class is heard in a frame if it reaches the floor and is at most this far below the mix.
FRAME_S = 0.1
CLASS_FLOOR_DB = -48.0
BELOW_MIX_DB = -18.0


@dataclass
class Scene:
    """Layers of one clip. ``decay_s`` and ``wet`` are the space that all of them share."""

    duration_s: float
    rng: Rng
    decay_s: float = 0.4
    wet: float = 0.0
    layers: dict[str, Sound] = field(default_factory=dict)

    def bed(
        self, sound_class: str, x: Sound, level_db: float, points: Course | None = None
    ) -> None:
        """A layer all along; ``points`` moves its level over time (factors)."""
        moved = x if points is None else x * dsp.course(points, len(x) / dsp.RATE)
        self._add(sound_class, moved * dsp.gain(level_db), 0.0)

    def add(self, sound_class: str, x: Sound, at_s: float, level_db: float) -> None:
        """One event, brought to ``level_db`` (RMS while it sounds)."""
        self._add(sound_class, dsp.unit(x) * dsp.gain(level_db), at_s)

    def _add(self, sound_class: str, x: Sound, at_s: float) -> None:
        layer = self.layers.setdefault(sound_class, dsp.silence(self.duration_s))
        dsp.place(layer, x, at_s)

    def render(self) -> Rendered:
        """The finished clip, and for how much of the time each class is heard in it."""
        seed = int(self.rng.integers(2**32))
        spaced = {
            name: dsp.fades(
                dsp.band(
                    dsp.reverb(np.random.default_rng(seed), layer, self.decay_s, self.wet), 35, None
                ),
                *FADE_S,
            )
            for name, layer in sorted(self.layers.items())
        }
        mix = np.asarray(sum(spaced.values()))
        factor = level(mix)
        stems = {name: layer * factor for name, layer in spaced.items()}
        return Rendered(limit(mix * factor), stems)


@dataclass(frozen=True)
class Rendered:
    """Samples of a clip, and its layers at the same level."""

    samples: Sound
    stems: dict[str, Sound]

    def shares(self) -> dict[str, float]:
        """Share of frames in which each class is heard, with two decimals."""
        total = frame_power(np.asarray(sum(self.stems.values())))
        return {
            name: round(float(_sounds(frame_power(stem), total).mean()), 2)
            for name, stem in self.stems.items()
        }

    def speech_over_bed_db(self) -> float | None:
        """Median level of the voices over everything else, in frames with voices."""
        if "human" not in self.stems:
            return None
        human = frame_power(self.stems["human"])
        rest = frame_power(np.asarray(sum(s for n, s in self.stems.items() if n != "human")))
        spoken = human >= np.quantile(human, 0.5)
        return float(np.median(10 * np.log10(human[spoken] / (rest[spoken] + 1e-12))))


def _sounds(stem: Sound, total: Sound) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    loud = (stem >= 10 ** (CLASS_FLOOR_DB / 10)) & (stem >= total * 10 ** (BELOW_MIX_DB / 10))
    return np.asarray(loud)


def frame_power(x: Sound) -> Sound:
    """Mean square per frame of ``FRAME_S``."""
    size = dsp.length(FRAME_S)
    return np.asarray((x[: len(x) // size * size].reshape(-1, size) ** 2).mean(axis=1))


def level(mix: Sound) -> float:
    """The factor that brings a mix to the common loudness once it is limited."""
    factor = 1.0
    for _ in range(4):
        factor *= dsp.gain(LOUDNESS_LUFS - loudness_lufs(limit(mix * factor), dsp.RATE))
    return factor


def limit(x: Sound) -> Sound:
    """Keep peaks below the ceiling: the gain falls before a peak and rises slowly after it."""
    ceiling = dsp.gain(CEILING_DB)
    needed = np.minimum(1.0, ceiling / np.maximum(np.abs(x), 1e-9))
    reach = dsp.length(0.02)
    lowest = ndimage.minimum_filter1d(needed, 2 * reach + 1)
    smooth = ndimage.uniform_filter1d(lowest, reach)
    return np.asarray(x * np.minimum(smooth, needed))


@dataclass(frozen=True)
class Place:
    """A clip to make: its place, its texts, and how it is built.

    ``name`` seeds the clip and is never written to a file.
    """

    name: str
    latitude: float
    longitude: float
    title: str
    description: str
    duration_s: float
    build: Callable[[Scene], None]

    def render(self) -> Rendered:
        """Build the scene; the same name gives the same samples."""
        seed = int.from_bytes(hashlib.sha256(self.name.encode()).digest()[:8], "big")
        scene = Scene(self.duration_s, np.random.default_rng(seed))
        self.build(scene)
        return scene.render()
