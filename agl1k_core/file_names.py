r"""Names of files as text: on a terminal, in tables, and back.

A file's name is bytes. Python keeps those that the system's encoding cannot decode as lone
surrogates, which no encoding can write. Here such a byte becomes ``\xNN``.
"""

from __future__ import annotations

import os
import re
import unicodedata
from pathlib import Path

#: Categories of characters that control a terminal or change the order of text.
_CONTROLS = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
#: They join letters and emoji, and are part of ordinary names.
_JOINERS = "\u200c\u200d"
_ESCAPES = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}
_BYTE = re.compile(r"\\x([0-9a-fA-F]{2})")


def shown(name: str | os.PathLike[str]) -> str:
    r"""A name for people to read: on one line, without anything that controls a terminal.

    Parameters
    ----------
    name
        The name or path of a file.

    Examples
    --------
    >>> print(shown("two\nlines \x1b[31m.wav"), shown(os.fsdecode(b"caf\xe9.wav")))
    two\nlines \x1b[31m.wav caf\xe9.wav
    """
    return "".join(map(_visible, _as_unicode(os.fspath(name))))


def shown_lines(text: str) -> str:
    """A text of several lines, with each line as ``shown`` gives it."""
    return "\n".join(map(shown, text.split("\n")))


def written(name: str | os.PathLike[str]) -> str:
    r"""A name for a file in UTF-8, such as a table; ``named`` gives the name back.

    Bytes that are not UTF-8, and those of characters that ``shown`` escapes, become ``\xNN``. So
    does a backslash that would be taken for one of those. All other names stay as they are.

    Examples
    --------
    >>> print(written(os.fsdecode(b"caf\xe9.wav")), written("a\nb.wav"), written(r"a\xff.wav"))
    caf\xe9.wav a\x0ab.wav a\x5cxff.wav
    """
    text = _BYTE.sub(r"\\x5cx\1", _as_unicode(os.fspath(name)))
    return "".join(_as_bytes(c) if _is_control(c) else c for c in text)


def name_in(folder: Path, path: Path) -> str:
    """The name of a file within a folder, as tables write it."""
    return written(path.relative_to(folder).as_posix())


def named(text: str) -> str:
    r"""The name that ``written`` wrote.

    Examples
    --------
    >>> named(r"caf\xe9.wav") == os.fsdecode(b"caf\xe9.wav")
    True
    """
    parts = _BYTE.split(text)
    return os.fsdecode(
        b"".join(
            bytes.fromhex(part) if at % 2 else part.encode("utf-8", "surrogatepass")
            for at, part in enumerate(parts)
        )
    )


def _as_unicode(name: str) -> str:
    """A name as if the system's encoding were UTF-8, which it need not be."""
    try:
        return os.fsencode(name).decode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # not the name of a file on this system
        return name


def _is_control(character: str) -> bool:
    return unicodedata.category(character) in _CONTROLS and character not in _JOINERS


def _is_byte(character: str) -> bool:
    return "\udc80" <= character <= "\udcff"


def _as_bytes(character: str) -> str:
    if _is_byte(character):
        return rf"\x{ord(character) - 0xDC00:02x}"
    return "".join(rf"\x{byte:02x}" for byte in character.encode("utf-8", "surrogatepass"))


def _visible(character: str) -> str:
    if not _is_control(character):
        return character
    if _is_byte(character):
        return _as_bytes(character)
    code = ord(character)
    return _ESCAPES.get(character) or (rf"\x{code:02x}" if code < 256 else rf"\u{code:04x}")
