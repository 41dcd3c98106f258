"""Writes convolutional networks as ONNX graphs, and runs them.

``Graph`` has the few layers that audio taggers consist of; it folds batch normalisation into the
convolution before it. ``Network`` runs a graph in onnxruntime, which needs no model framework.
Both are installed by ``pip install "agl1k[curate]"``.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agl1k_core.errors import Agl1kError
from agl1k_core.extras import need

FloatArray = npt.NDArray[np.float32]

_OPSET = 17
_IR_VERSION = 8


class BatchNorm:
    """The scale and shift that a normalisation adds to a convolution."""

    def __init__(
        self,
        mean: FloatArray,
        variance: FloatArray,
        shift: FloatArray,
        epsilon: float,
        scale: FloatArray | float = 1.0,
    ) -> None:
        self.scale = (scale / np.sqrt(variance + epsilon)).astype(np.float32)
        self.shift = (shift - mean * self.scale).astype(np.float32)


class Graph:
    """A chain of layers under construction; ``at`` names the output of the newest layer."""

    def __init__(self, input_shape: tuple[int | str, ...]) -> None:
        need("onnx.numpy_helper")
        self._onnx = need("onnx")
        self._nodes: list[Any] = []
        self._weights: list[Any] = []
        self._input_shape = input_shape
        self.at = "input"

    def conv(
        self,
        kernel: FloatArray,
        norm: BatchNorm,
        *,
        stride: int = 1,
        depthwise: bool = False,
        same_upper: bool = False,
    ) -> None:
        """Convolution and normalisation; ``kernel``: (out, in, height, width), odd height, width.

        ``same_upper`` pads as TensorFlow does, else by half the kernel on every side.
        """
        height, width = kernel.shape[2:]
        half = [height // 2, width // 2] * 2
        padding: dict[str, Any] = {"auto_pad": "SAME_UPPER"} if same_upper else {"pads": half}
        weights = [kernel * norm.scale[:, None, None, None], norm.shift]
        group = len(kernel) if depthwise else 1
        attributes: dict[str, Any] = {
            "kernel_shape": [height, width],
            "strides": [stride] * 2,
            "group": group,
        }
        self.add("Conv", weights, **attributes, **padding)

    def linear(self, weight: FloatArray, bias: FloatArray) -> None:
        """``x @ weight.T + bias``; ``weight``: (out, in)."""
        self.add("Gemm", [weight, bias], transB=1)

    def squeeze_excite(self, weights: list[FloatArray]) -> None:
        """Scale channels by two layers, each (weight, bias), of the channels' means."""
        before = self.at
        self.pool()
        self.linear(*weights[:2])
        self.add("Relu")
        self.linear(*weights[2:])
        self.add("Sigmoid")
        self.add("Unsqueeze", [np.array([2, 3], np.int64)])
        self.add("Mul", also=before)

    def pool(self) -> None:
        """Mean over height and width: (n, channels)."""
        self.add("GlobalAveragePool")
        self.add("Flatten")

    def add(
        self,
        kind: str,
        weights: list[npt.NDArray[Any]] | None = None,
        *,
        also: str = "",
        **attributes: Any,
    ) -> None:
        """Add a node to the newest output, with its weights and the output named ``also``."""
        name = f"{kind}{len(self._nodes)}"
        names = [f"{name}_{place}" for place in range(len(weights or []))]
        for weight, weight_name in zip(weights or [], names, strict=True):
            keep = weight if weight.dtype == np.int64 else weight.astype(np.float32)
            array = np.ascontiguousarray(keep)
            self._weights.append(self._onnx.numpy_helper.from_array(array, weight_name))
        inputs = [self.at, *names, *([also] if also else [])]
        self._nodes.append(self._onnx.helper.make_node(kind, inputs, [name], **attributes))
        self.at = name

    def serialized(self, name: str, n_outputs: int, metadata: Mapping[str, str]) -> bytes:
        """The checked model, with metadata about the origin of its weights."""
        onnx = self._onnx
        info, kind = onnx.helper.make_tensor_value_info, onnx.TensorProto.FLOAT
        ends = [info("input", kind, self._input_shape)], [info(self.at, kind, ["n", n_outputs])]
        graph = onnx.helper.make_graph(self._nodes, name, *ends, self._weights)
        opset = [onnx.helper.make_opsetid("", _OPSET)]
        model = onnx.helper.make_model(graph, opset_imports=opset, ir_version=_IR_VERSION)
        onnx.helper.set_model_props(model, dict(metadata))
        onnx.checker.check_model(model)
        serialized: bytes = model.SerializeToString()
        return serialized


class Network:
    """A graph that runs on ``threads`` threads; raises ``Agl1kError`` if it cannot be loaded."""

    def __init__(self, model: Path | bytes, threads: int = 1) -> None:
        runtime = need("onnxruntime")
        options = runtime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        source = model if isinstance(model, bytes) else str(model)
        try:
            self._session = runtime.InferenceSession(
                source, options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # onnxruntime raises a class of its own for each cause
            where = "The model" if isinstance(model, bytes) else model.name
            raise Agl1kError(f"{where} cannot be loaded: {error}. Install it again.") from None

    @property
    def metadata(self) -> dict[str, str]:
        """The metadata that was given to ``Graph.serialized``."""
        return dict(self._session.get_modelmeta().custom_metadata_map)

    def run(self, batch: FloatArray) -> FloatArray:
        """The output for a batch of inputs."""
        output: FloatArray = self._session.run(None, {"input": batch})[0]
        return output
