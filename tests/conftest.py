"""What all tests share: hypothesis never fails a test for being slow."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("agl1k", deadline=None)
settings.load_profile("agl1k")
