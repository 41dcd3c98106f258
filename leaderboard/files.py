"""Submitted prediction files, for everybody who wants to compute a row's numbers again."""

from __future__ import annotations

from dataclasses import dataclass

from agl1k_core.errors import Agl1kError
from leaderboard.board import Board


@dataclass(frozen=True, slots=True)
class SubmittedFile:
    """A file as it was submitted."""

    name: str
    content: bytes


def submitted_file(board: Board, submission_id: str) -> SubmittedFile:
    """The file of a submission of a row on the board, replaced ones included.

    Raises ``Agl1kError`` if there is none, or its submitter does not share it.
    """
    found = board.submission(submission_id)
    if found is None:
        raise Agl1kError(
            f"The board {board.slug} has no submission {submission_id[:40]!r}. Look its id up in "
            "the details of its row."
        )
    if not found.is_shared:
        raise Agl1kError(f"The submitter of {found.model} does not share this file.")
    return SubmittedFile(found.file_name, board.submissions.file(submission_id))
