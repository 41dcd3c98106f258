"""An answer that says in one sentence why a request is not answered."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi.responses import JSONResponse


def refusal(sentence: str, status: int, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """JSON with the sentence under both names that callers look for: ours, and FastAPI's."""
    return JSONResponse({"error": sentence, "detail": sentence}, status, headers=headers)
