"""What all tests share: hypothesis never fails a test for being slow."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

settings.register_profile("agl1k", deadline=None)
settings.load_profile("agl1k")


@pytest.fixture(autouse=True)
def _same_folder_for_uploads() -> Iterator[None]:
    """An app sets where uploads go for its whole process; no test leaves that to the next."""
    name = "GRADIO_TEMP_DIR"
    before = os.environ.get(name)
    yield
    if before is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = before
