"""EfficientAT, the tagger of the paper: 527 AudioSet classes, with weights that the user provides.

MobileNetV3 on log-mel windows of 10 s (Schmid, Koutini and Widmer 2023, "Efficient large-scale
audio tagging via transformer-to-CNN knowledge distillation"; the mn models of any width).
The published ``.pt`` file is read without PyTorch and run as an ONNX graph.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import numpy.typing as npt
import scipy.fft

from agl1k_core.errors import Agl1kError
from agl1k_core.files import sha256_of_file
from agl1k_core.tagging import _checkpoints as checkpoints
from agl1k_core.tagging import audioset
from agl1k_core.tagging._onnx import BatchNorm, FloatArray, Graph, Network

RATE_HZ = 32000
_WINDOW_S = 10.0
_HOP_S = 2.5
_PREEMPHASIS = 0.97
_FRAME, _FRAME_HOP, _FFT, _MELS = 800, 320, 1024, 128
_MEL_TOP_HZ = 15000.0
_LOG_OFFSET = 1e-5
_SHIFT, _SCALE = 4.5, 5.0  # the model's own normalisation
_EPSILON = 1e-3
_N_BLOCKS = 15
_STRIDE_2 = (2, 4, 7, 13)
_FIRST_HARDSWISH = 7
_BATCH = 4


class EfficientAt:
    """The paper's tagger: 527 AudioSet classes in windows of 10 s every 2.5 s.

    Parameters
    ----------
    file
        An ``mn*_as*.pt`` of the authors' releases.
    threads
        Processor threads for the model.

    Raises
    ------
    Agl1kError
        If the file is not such a model, or onnxruntime is not installed.
    """

    name = "efficientat"
    sample_rate_hz = RATE_HZ
    window_s = _WINDOW_S
    hop_s = _HOP_S
    threshold = 0.2

    def __init__(self, file: Path, threads: int = 1) -> None:
        self.labels = tuple(audioset.audioset_classes())
        self.weights_sha256 = sha256_of_file(file) if file.is_file() else ""
        self._network = Network(_graph(checkpoints.read_torch(file), len(self.labels)), threads)

    def predict(self, wave: npt.NDArray[np.float32]) -> FloatArray:
        """Probabilities, shape (windows, 527), of mono sound at 32 kHz.

        Only whole windows count; sound shorter than one is padded with silence.
        """
        n, hop = round(_WINDOW_S * RATE_HZ), round(_HOP_S * RATE_HZ)
        padded = np.pad(wave, (0, max(0, n - len(wave)))).astype(np.float32, copy=False)
        windows = np.lib.stride_tricks.sliding_window_view(padded, n)[::hop]
        batches = [
            self._network.run(np.stack([powers(window) for window in windows[at : at + _BATCH]]))
            for at in range(0, len(windows), _BATCH)
        ]
        return np.concatenate(batches)


def powers(wave: npt.NDArray[np.float32]) -> FloatArray:
    """Powers of the spectrum, shape (frames, 513), of one window of mono sound at 32 kHz."""
    emphasised = wave[1:] - np.float32(_PREEMPHASIS) * wave[:-1]
    centred = np.pad(emphasised, _FFT // 2, mode="reflect")
    window = np.pad(np.hanning(_FRAME), (_FFT - _FRAME) // 2).astype(np.float32)
    frames = np.lib.stride_tricks.sliding_window_view(centred, _FFT)[::_FRAME_HOP]
    spectrum = scipy.fft.rfft(frames * window, axis=1)
    power: FloatArray = spectrum.real**2 + spectrum.imag**2
    return power


def mel_weights() -> FloatArray:
    """Kaldi's triangles on the mel scale, shape (513 bins, 128 bands); the last bin is unused."""
    mel = 1127 * np.log1p(np.arange(_FFT // 2) * RATE_HZ / _FFT / 700)[:, np.newaxis]
    edges = np.linspace(0, 1127 * np.log1p(_MEL_TOP_HZ / 700), _MELS + 2)
    rising = (mel - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - mel) / (edges[2:] - edges[1:-1])
    triangles = np.maximum(0, np.minimum(rising, falling))
    padded: FloatArray = np.pad(triangles, ((0, 1), (0, 0))).astype(np.float32)
    return padded


def _graph(state: dict[str, checkpoints.Array], n_labels: int) -> bytes:
    """The network that a state dict describes; raises ``Agl1kError`` for another network."""
    try:
        _check(state, n_labels)
        graph = Graph(("n", "frames", _FFT // 2 + 1))
        graph.add("MatMul", [mel_weights()])
        graph.add("Add", [np.array(_LOG_OFFSET, np.float32)])
        graph.add("Log")
        graph.add("Add", [np.array(_SHIFT, np.float32)])
        graph.add("Div", [np.array(_SCALE, np.float32)])
        graph.add("Transpose", perm=[0, 2, 1])
        graph.add("Unsqueeze", [np.array([1], np.int64)])
        _conv(graph, state, "features.0", stride=2)
        graph.add("HardSwish")
        for block in range(1, _N_BLOCKS + 1):
            _inverted_residual(graph, state, block)
        _conv(graph, state, f"features.{_N_BLOCKS + 1}")
        graph.add("HardSwish")
        graph.pool()
        graph.linear(state["classifier.2.weight"], state["classifier.2.bias"])
        graph.add("HardSwish")
        graph.linear(state["classifier.5.weight"], state["classifier.5.bias"])
        graph.add("Sigmoid")
        return graph.serialized("efficientat", n_labels, {})
    except KeyError as error:
        raise _not_a_model(f"it lacks {error.args[0]}") from None


def _check(state: dict[str, checkpoints.Array], n_labels: int) -> None:
    outputs = len(state["classifier.5.bias"])
    if outputs != n_labels:
        raise _not_a_model(f"it has {outputs} classes, but AudioSet has {n_labels}")
    several = [name for name in state if re.search(r"conc_se_layers\.[1-9]", name)]
    if several or f"features.{_N_BLOCKS + 2}.0.weight" in state:
        raise _not_a_model("its layers are not those of a plain mn model")


def _not_a_model(why: str) -> Agl1kError:
    return Agl1kError(
        f"The weights file is not an mn model of EfficientAT: {why}. "
        "Use one such as mn10_as_mAP_471.pt from the authors' releases."
    )


def _inverted_residual(graph: Graph, state: dict[str, checkpoints.Array], block: int) -> None:
    """Expand, depthwise, squeeze and excite (if the state has it), project, add."""
    prefix = f"features.{block}.block"
    activation = "HardSwish" if block >= _FIRST_HARDSWISH else "Relu"
    stride = 2 if block in _STRIDE_2 else 1
    before, channels_before = graph.at, 0
    n_parts = 1 + max(
        int(match[1]) for name in state if (match := re.match(rf"{prefix}\.(\d+)\.", name))
    )
    for part in range(n_parts):
        name = f"{prefix}.{part}"
        excite = f"{name}.conc_se_layers.0"
        if f"{excite}.fc1.weight" in state:
            parts = ("fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias")
            graph.squeeze_excite([state[f"{excite}.{part_name}"] for part_name in parts])
            continue
        kernel = state[f"{name}.0.weight"]
        depthwise = kernel.shape[1] == 1 and kernel.shape[2] > 1
        channels_before = channels_before or (len(kernel) if depthwise else kernel.shape[1])
        _conv(graph, state, name, stride=stride if depthwise else 1, depthwise=depthwise)
        if part < n_parts - 1:
            graph.add(activation)
        elif stride == 1 and channels_before == len(kernel):
            graph.add("Add", also=before)


def _conv(
    graph: Graph,
    state: dict[str, checkpoints.Array],
    name: str,
    *,
    stride: int = 1,
    depthwise: bool = False,
) -> None:
    norm = BatchNorm(
        state[f"{name}.1.running_mean"],
        state[f"{name}.1.running_var"],
        state[f"{name}.1.bias"],
        _EPSILON,
        state[f"{name}.1.weight"],
    )
    graph.conv(state[f"{name}.0.weight"], norm, stride=stride, depthwise=depthwise)
