"""The prompt of a run: ours, or one from a file.

Ours asks for what the paper's prompt asks for (Zhang et al. 2026, "The Sonar Moment", appendix
B.9.1): the five fields, a guess in any case, names in English, nothing but one JSON object.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from agl1k_core.errors import Agl1kError

#: A longer file is not a prompt.
_MOST_CHARACTERS = 20_000


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is asked.

    Attributes
    ----------
    text
        The question.
    source
        ``"agl1k"`` for ours, else the name of the file.

    Examples
    --------
    >>> prompt = default_prompt()
    >>> prompt.source, len(prompt.sha256)
    ('agl1k', 64)
    """

    text: str
    source: str = "agl1k"

    @property
    def sha256(self) -> str:
        """SHA-256 of the text in UTF-8, in hexadecimal."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def default_prompt() -> Prompt:
    """Our own prompt."""
    return _ours("prompt.txt")


def agent_prompt() -> Prompt:
    """Our own prompt for a model that listens again."""
    return _ours("agent_prompt.txt")


def _ours(name: str) -> Prompt:
    path = resources.files("agl1k_core.models") / "data" / name
    return Prompt(path.read_text("utf-8").strip())


def read_prompt(path: Path) -> Prompt:
    """A prompt from a text file; raises ``Agl1kError`` if it is not one."""
    try:
        text = path.read_text("utf-8-sig").strip()
    except OSError as error:
        raise Agl1kError(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise Agl1kError(f"{path} is not UTF-8 text. Save it as UTF-8.") from None
    if not text:
        raise Agl1kError(f"{path} is empty. Write the prompt into it.")
    if len(text) > _MOST_CHARACTERS:
        raise Agl1kError(
            f"{path} has {len(text):,} characters; a prompt has at most {_MOST_CHARACTERS:,}."
        )
    return Prompt(text, path.name)
