"""A picture of a recording: its spectrogram above its tags over time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import scipy.fft

from agl1k_core import audio
from agl1k_core.errors import Agl1kError
from agl1k_core.extras import check
from agl1k_core.file_names import shown
from agl1k_core.tagging import audioset
from agl1k_core.tagging.tagger import Tagger, Tags, tag

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: One colour per root category, distinguishable with common colour vision (Okabe and Ito 2008).
ROOT_COLOURS = {
    "human": "#d55e00",
    "animal": "#009e73",
    "music": "#cc79a7",
    "nature": "#0072b2",
    "things": "#7a6a00",
    "ambiguous": "#6c757d",
    "background": "#343a40",
}

_RATE_HZ = 32000
_FRAME = 1024
_COLUMNS = 1200
_LOWEST_HZ = 60.0
_DECIBELS = 80.0


def timeline_figure(path: Path, tags: Tags, *, n_classes: int = 12, title: str = "") -> Figure:
    """Draw the spectrogram of a recording above its tags over time.

    Parameters
    ----------
    path
        The recording.
    tags
        Its tags, from ``tag``.
    n_classes
        How many classes are shown: those present longest. The darker a bar, the more
        probable is the class.
    title
        The title of the figure.

    Returns
    -------
    matplotlib.figure.Figure
        Save it as PNG, SVG or PDF with ``figure.savefig``.

    Raises
    ------
    Agl1kError
        If the recording cannot be read or matplotlib is not installed.
    """
    check("matplotlib")
    from matplotlib.figure import Figure

    classes = list(tags.presence)[:n_classes]
    height = 3.2 + 0.28 * max(4, len(classes))
    figure = Figure(figsize=(10, height), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=[2.4, height - 2.4])
    _draw_spectrogram(above, path, tags.duration_s)
    _draw_tags(below, tags, classes)
    above.set_title(title or "What sounds when", loc="left", fontsize=12, parse_math=False)
    return figure


def save_timelines(paths: Sequence[Path], tagger: Tagger, folder: Path) -> None:
    """Tag recordings and save a picture of each as ``001-name.png``; raises ``Agl1kError``."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for number, path in enumerate(paths, 1):
            figure = timeline_figure(path, tag(path, tagger), title=shown(path.name))
            figure.savefig(folder / f"{number:03}-{shown(path.stem)[:60]}.png")
    except OSError as error:
        raise Agl1kError(
            f"Pictures cannot be written to {shown(folder)}: {error.strerror}."
        ) from None


def _draw_spectrogram(axes: Axes, path: Path, duration_s: float) -> None:
    decibels = spectrogram(path, duration_s)
    frequencies_hz = np.fft.rfftfreq(_FRAME, 1 / _RATE_HZ)
    audible = frequencies_hz >= _LOWEST_HZ
    times_s = np.linspace(0, duration_s, decibels.shape[1] + 1)
    edges_hz = np.append(frequencies_hz[audible], _RATE_HZ / 2 + _RATE_HZ / _FRAME)
    axes.pcolormesh(
        times_s, edges_hz, decibels[audible], cmap="magma", vmin=-_DECIBELS, vmax=0, rasterized=True
    )
    axes.set_yscale("log")
    axes.set_yticks([100, 1000, 10000], ["100 Hz", "1 kHz", "10 kHz"])
    axes.minorticks_off()


def spectrogram(path: Path, duration_s: float) -> npt.NDArray[np.float64]:
    """Power in dB relative to the loudest, shape (513 bins to 16 kHz, at most 1,200 columns)."""
    n_frames = max(1, int(duration_s * _RATE_HZ) // _FRAME)
    n_columns = min(_COLUMNS, n_frames)
    power = np.zeros((n_columns, _FRAME // 2 + 1))
    count = np.zeros(n_columns)
    window = np.hanning(_FRAME).astype(np.float32)
    rest, at = np.zeros(0, np.float32), 0
    for block in audio.mono_blocks(path, _RATE_HZ):
        samples = np.concatenate([rest, block])
        whole = len(samples) // _FRAME
        frames = samples[: whole * _FRAME].reshape(whole, _FRAME)
        columns = np.minimum((at + np.arange(whole)) * n_columns // n_frames, n_columns - 1)
        np.add.at(power, columns, np.abs(scipy.fft.rfft(frames * window, axis=1)) ** 2)
        np.add.at(count, columns, 1)
        rest, at = samples[whole * _FRAME :], at + whole
    mean = (power / np.maximum(count, 1)[:, np.newaxis]).T
    loudest = float(mean.max()) or 1.0
    decibels: npt.NDArray[np.float64] = 10 * np.log10(np.maximum(mean / loudest, 1e-12))
    return decibels


def _draw_tags(axes: Axes, tags: Tags, shown: list[str]) -> None:
    column = {label: place for place, label in enumerate(tags.labels)}
    for row, label in enumerate(shown):
        probability = tags.probability[:, column[label]]
        colour = ROOT_COLOURS[(audioset.class_roots(label) or ("ambiguous",))[0]]
        for window in np.flatnonzero(probability >= tags.threshold):
            span = (tags.starts_s[window], tags.hop_s)
            opacity = 0.25 + 0.75 * float(probability[window])
            axes.broken_barh([span], (row - 0.38, 0.76), facecolors=colour, alpha=min(1.0, opacity))
    names = [f"{audioset.class_name(label)}  {tags.presence[label]:.0%}" for label in shown]
    axes.set_yticks(range(len(shown)), names, fontsize=9)
    axes.set_ylim(max(len(shown), 1) - 0.5, -0.5)
    axes.set_xlim(0, tags.duration_s)
    axes.set_xlabel("seconds")
    if not shown:
        message = f"no class reaches the threshold of {tags.threshold:g}"
        axes.text(0.5, 0.5, message, transform=axes.transAxes, ha="center")
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    _draw_legend(axes, shown)


def _draw_legend(axes: Axes, shown: list[str]) -> None:
    from matplotlib.patches import Patch

    roots = {(audioset.class_roots(label) or ("ambiguous",))[0] for label in shown}
    patches = [Patch(color=ROOT_COLOURS[r], label=r) for r in audioset.AUDIOSET_ROOTS if r in roots]
    if patches:
        axes.figure.legend(
            handles=patches,
            ncols=len(patches),
            loc="outside lower center",
            frameon=False,
            fontsize=9,
        )
