"""Errors of the database drivers, in sentences for the operator."""

from __future__ import annotations

import sqlite3

FOR_EVERYBODY = (
    "This server cannot read or store anything at the moment. Please try again in a few seconds: "
    "an answer is never counted twice."
)
DAMAGED = (
    "{where} is damaged, or is not an SQLite database. Nothing was changed. Move the file away "
    "(with its -wal and -shm files) and start again, or restore a backup."
)
FULL = (
    "{where} could not grow: the disk is full. Nothing was stored. Free some space and try again."
)
READ_ONLY = (
    "{where} cannot be written. Give this user the right to write the file and its folder, or set "
    "AGL1K_DATABASE to another place."
)
BUSY = "{where} is locked by another program. Close that program, or try again in a moment."
NOT_OPENED = (
    "{where} cannot be opened. Make sure that its folder exists and can be written, or set "
    "AGL1K_DATABASE to another place."
)
UNREACHABLE = (
    "{where} refuses the connection. Make sure that the server runs, and that host, port, name, "
    "user and password in AGL1K_DATABASE are correct."
)
SILENT = (
    "{where} does not respond. Make sure that its server runs, is not overloaded, and can be "
    "reached; then try again."
)
MOVED = (
    "{where} was deleted, moved or replaced while the server was running. Nothing more is stored. "
    "Stop the server, put the right file in its place, and start again."
)

_SENTENCES = {
    "SQLITE_FULL": FULL,
    "53100": FULL,
    "SQLITE_READONLY": READ_ONLY,
    "25006": READ_ONLY,
    "42501": READ_ONLY,
    "SQLITE_NOTADB": DAMAGED,
    "SQLITE_CORRUPT": DAMAGED,
    "SQLITE_BUSY": BUSY,
    "SQLITE_LOCKED": BUSY,
    "55P03": BUSY,
    "57014": SILENT,
    "SQLITE_CANTOPEN": NOT_OPENED,
}
#: The database keeps callers waiting: whoever comes next would wait, too.
_STALLS = (BUSY, SILENT, UNREACHABLE)


def sentence_of(error: BaseException | None) -> str:
    """What is wrong and what to do, with ``{where}`` for the database."""
    if type(error).__name__ == "ConnectionTimeout":  # psycopg's, which may not be installed
        return SILENT
    code = getattr(error, "sqlite_errorname", None) or getattr(error, "sqlstate", None) or ""
    for known, sentence in _SENTENCES.items():
        if code.startswith(known):
            return sentence
    if code[:2] in ("", "08", "28", "3D", "57") and not isinstance(error, sqlite3.Error):
        return UNREACHABLE
    message = str(error).partition("\n")[0].replace("{", "{{").replace("}", "}}")
    return f"{{where}} reported an error: {message} ({code or 'no code'}). Please report this."


def is_stall(sentence: str) -> bool:
    """Whether the database keeps callers waiting, rather than refusing them at once."""
    return sentence in _STALLS
