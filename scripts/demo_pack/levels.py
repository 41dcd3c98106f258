"""Loudness by EBU R 128, measured with FFmpeg's filter in PyAV."""

from __future__ import annotations

from fractions import Fraction

import av
import numpy as np
import numpy.typing as npt


def loudness_lufs(samples: npt.NDArray[np.float64], rate_hz: int) -> float:
    """Integrated loudness of a mono sound, in LUFS."""
    graph = av.filter.Graph()
    source = graph.add_abuffer(
        sample_rate=rate_hz, format="fltp", layout="mono", time_base=Fraction(1, rate_hz)
    )
    meter = graph.add("ebur128", "metadata=1:framelog=quiet")
    sink = graph.add("abuffersink")
    source.link_to(meter)
    meter.link_to(sink)
    graph.configure()
    frame = av.AudioFrame.from_ndarray(
        np.ascontiguousarray(samples[None, :], dtype=np.float32), format="fltp", layout="mono"
    )
    frame.sample_rate = rate_hz
    frame.pts = 0
    graph.push(frame)
    graph.push(None)
    return _last_reading(graph)


def _last_reading(graph: av.filter.Graph) -> float:
    reading = float("-inf")
    while True:
        try:
            frame = graph.pull()
        except (av.error.BlockingIOError, av.error.EOFError):
            return reading
        reading = float(frame.metadata.get("lavfi.r128.I", reading))
