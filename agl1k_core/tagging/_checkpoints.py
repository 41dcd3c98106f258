"""Reads weights from checkpoints without the frameworks that wrote them.

Two formats are read as arrays by name: TensorFlow's checkpoint (a LevelDB table of names, sizes and
offsets beside a file of raw values) and PyTorch's zip archive (a pickle that refers to raw values).
The pickle may refer only to what tensors need, so a weights file cannot run code.
"""

from __future__ import annotations

import pickle
import struct
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agl1k_core.errors import Agl1kError

Array = npt.NDArray[Any]
Weights = dict[str, npt.NDArray[np.float32]]

_FOOTER_BYTES = 48
_FLOAT32 = 1  # DT_FLOAT


def read_tensorflow(prefix: Path) -> Weights:
    """The float32 variables of ``<prefix>.index`` and ``<prefix>.data-00000-of-00001``.

    Raises ``Agl1kError`` if the files are not such a checkpoint.
    """
    index = prefix.with_name(prefix.name + ".index").read_bytes()
    values = prefix.with_name(prefix.name + ".data-00000-of-00001").read_bytes()
    try:
        entries = dict(_table(index))
        found = {key.decode(): _bundle_entry(entry) for key, entry in entries.items() if key}
    except (IndexError, struct.error, UnicodeDecodeError) as error:
        raise Agl1kError(
            f"{prefix.name}.index is not a TensorFlow checkpoint: {error}. Install the model again."
        ) from None
    return {
        name: np.frombuffer(values, "<f4", size // 4, offset).reshape(shape)
        for name, (kind, shape, offset, size) in found.items()
        if kind == _FLOAT32
    }


def read_torch(path: Path) -> dict[str, Array]:
    """The tensors of a state dict that was written by ``torch.save``.

    Raises ``Agl1kError`` for another file, or a pickle that names anything but tensors.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            pickled = next((name for name in names if name.endswith("/data.pkl")), None)
            if pickled is None:
                raise Agl1kError(f"{path.name} was not written by torch.save: it has no data.pkl.")
            folder = pickled.removesuffix("data.pkl")
            with archive.open(pickled) as file:
                state = _TensorUnpickler(file, archive, folder).load()
    except (zipfile.BadZipFile, FileNotFoundError, IsADirectoryError) as error:
        raise Agl1kError(
            f"{path.name} is not a weights file of PyTorch 1.6 or later ({error}). "
            "Use the .pt file as the model's authors published it."
        ) from None
    except (pickle.UnpicklingError, KeyError, ValueError, EOFError, TypeError) as error:
        raise Agl1kError(f"{path.name} is damaged: {error}. Fetch it again.") from None
    if not isinstance(state, dict) or not all(isinstance(v, np.ndarray) for v in state.values()):
        raise Agl1kError(f"{path.name} is not a state dict. Save state_dict() alone.")
    return dict(state)


def _table(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Keys and values of a LevelDB table whose blocks are not compressed."""
    position = 0
    footer = data[-_FOOTER_BYTES:]
    for _ in range(2):  # skip the metaindex, which is empty
        _, position = _varint(footer, position)
    offset, position = _varint(footer, position)
    size, _ = _varint(footer, position)
    for _, handle in _block(data, offset, size):
        block_offset, position = _varint(handle, 0)
        block_size, _ = _varint(handle, position)
        yield from _block(data, block_offset, block_size)


def _block(data: bytes, offset: int, size: int) -> Iterator[tuple[bytes, bytes]]:
    if data[offset + size]:
        raise Agl1kError("The index of the checkpoint is compressed, which is not supported.")
    block = data[offset : offset + size]
    (n_restarts,) = struct.unpack("<I", block[-4:])
    end = len(block) - 4 - 4 * n_restarts
    position, key = 0, b""
    while position < end:
        shared, position = _varint(block, position)
        n_key, position = _varint(block, position)
        n_value, position = _varint(block, position)
        key = key[:shared] + block[position : position + n_key]
        position += n_key
        yield key, block[position : position + n_value]
        position += n_value


def _bundle_entry(data: bytes) -> tuple[int, tuple[int, ...], int, int]:
    """Type, shape, offset and size from a ``BundleEntryProto``."""
    fields = _message(data)
    shape = _message(fields[2][0]).get(2, []) if 2 in fields else []
    sizes = tuple(_message(dimension).get(1, [0])[0] for dimension in shape)
    return fields.get(1, [0])[0], sizes, fields.get(4, [0])[0], fields.get(5, [0])[0]


def _message(data: bytes) -> dict[int, list[Any]]:
    """The values of a protocol buffer by field number."""
    position = 0
    fields: dict[int, list[Any]] = {}
    while position < len(data):
        tag, position = _varint(data, position)
        value: Any
        if tag & 7 == 0:
            value, position = _varint(data, position)
        else:
            n = {1: 8, 5: 4}.get(tag & 7, 0)
            if not n:
                n, position = _varint(data, position)
            value = data[position : position + n]
            position += n
        fields.setdefault(tag >> 3, []).append(value)
    return fields


def _varint(data: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, position


_STORAGES = {
    "FloatStorage": "<f4",
    "HalfStorage": "<f2",
    "DoubleStorage": "<f8",
    "LongStorage": "<i8",
    "IntStorage": "<i4",
}


class _TensorUnpickler(pickle.Unpickler):
    def __init__(self, file: Any, archive: zipfile.ZipFile, folder: str) -> None:
        super().__init__(file)
        self._archive = archive
        self._folder = folder

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _tensor
        if (module, name) == ("torch._utils", "_rebuild_parameter"):
            return _parameter
        if module == "torch" and name in _STORAGES:
            return partial(np.dtype, _STORAGES[name])
        raise Agl1kError(
            f"The weights file names {module}.{name}, which is not a tensor, so it is not loaded. "
            "Use the file as the model's authors published it."
        )

    def persistent_load(self, pid: Any) -> Array:
        _, dtype, key, _, n = pid
        if not str(key).isalnum():
            raise pickle.UnpicklingError(f"storage {key!r}")
        data = self._archive.read(f"{self._folder}data/{key}")
        make_dtype: Callable[[], np.dtype[Any]] = dtype
        return np.frombuffer(data, make_dtype(), n)


def _tensor(
    storage: Array, offset: int, size: tuple[int, ...], stride: tuple[int, ...], *_: Any
) -> Array:
    last = offset + sum((n - 1) * step for n, step in zip(size, stride, strict=True))
    if min(offset, *size, *stride, 0) < 0 or (0 not in size and last >= len(storage)):
        raise pickle.UnpicklingError(f"a tensor of {size} does not fit into {len(storage)} values")
    steps = tuple(step * storage.itemsize for step in stride)
    return np.lib.stride_tricks.as_strided(storage[offset:], size, steps).copy()


def _parameter(tensor: Array, *_: Any) -> Array:
    return tensor
