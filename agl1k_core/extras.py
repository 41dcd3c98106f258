"""Modules that only an extra of the package installs, such as ``agl1k[audio]``."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from agl1k_core.errors import Agl1kError

#: Module -> the extra that installs it, and what it is needed for.
_EXTRAS = {
    "av": ("audio", "Reading recordings"),
    "plotly": ("figures", "Drawing figures"),
    "folium": ("maps", "Drawing maps"),
    "xstatic": ("maps", "Drawing maps"),
    "matplotlib": ("curate", "Drawing sound"),
    "librosa": ("agent", "Listening again"),
    "faster_whisper": ("speech", "Transcribing speech"),
    "onnx": ("curate", "Tagging"),
    "onnxruntime": ("curate", "Tagging"),
    "PIL": ("wander", "Reading panoramas"),
    "gradio": ("app", "Serving pages"),
    "sqlalchemy": ("app", "Keeping a server"),
    "inspect_ai": ("inspect", "Asking models by Inspect"),
    "datasets": ("hub", "Reading datasets"),
    "huggingface_hub": ("hub", "Reading datasets"),
    "pyarrow": ("parquet", "Reading Parquet files and logs of Inspect"),
}


def check(name: str) -> None:
    """Raise ``Agl1kError`` that names the extra if a module is not installed; imports nothing."""
    package = name.partition(".")[0]
    if find_spec(package) is None:
        extra, purpose = _EXTRAS[package]
        raise Agl1kError(
            f"{purpose} needs {package}, which is not installed. Run: pip install 'agl1k[{extra}]'"
        )


def need(name: str) -> ModuleType:
    """Import a module of an extra; raises ``Agl1kError`` that names the extra if it is missing."""
    check(name)
    return import_module(name)


class Deferred:
    """A stand-in for a module of an extra, which is imported on first use."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(need(self._name), attribute)
