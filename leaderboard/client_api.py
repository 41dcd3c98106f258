"""The board for programs that use ``gradio_client``; ``docs/leaderboard-api.md`` documents it.

Files come through ``Upload``, which accepts only uploaded files: a plain ``gr.api``
would read any path that a caller names.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import gradio as gr

from agl1k_core.errors import Agl1kError, UnavailableError
from leaderboard import submit
from leaderboard.api import Boards, view_of
from leaderboard.board import Board
from leaderboard.compare import compare, to_json
from leaderboard.export import to_json as view_json
from leaderboard.query import complaints, parse
from leaderboard.scoring_queue import ScoringQueue
from leaderboard.submit_tab import form_of, max_bytes, run_dry, submitter_of
from leaderboard.upload import Upload
from web.page import Refusal
from web.settings import Settings
from web.threads import reading, writing

Json = dict[str, Any]


def refused(message: str) -> Refusal:
    """An error for the caller; neither a traceback nor the caller's file is logged."""
    return Refusal(message)


class Endpoints:
    """The functions behind the endpoints; they raise ``gr.Error`` with a message for the caller."""

    def __init__(self, boards: Boards, settings: Settings) -> None:
        self.boards, self.settings = boards, settings

    def board_of(self, slug: str) -> Board:
        """The board with this slug, or the first if it is empty."""
        if slug and slug not in self.boards:
            raise refused(
                f"There is no board {slug[:40]!r}. The boards are: {', '.join(self.boards)}."
            )
        return self.boards[slug] if slug else next(iter(self.boards.values()))

    def leaderboard(self, board: str, query: str) -> Json:
        """Rows of a board; ``query`` as in its address, such as ``subset=speech``."""
        chosen = self.board_of(board)
        query = query or ""
        wrong = complaints(dict(parse_qsl(query)))
        if wrong:
            raise refused(". ".join(wrong))
        asked = replace(parse(query), board=chosen.slug)
        return view_json(view_of(self.boards, asked))

    def compare(self, board: str, first: str, second: str) -> Json:
        """Paired differences of two rows, by their ``row_id``."""
        try:
            return to_json(compare(self.board_of(board), first, second))
        except UnavailableError:
            raise
        except Agl1kError as error:
            raise refused(str(error)) from None

    def dry_run(self, file: str, board: str, request: gr.Request | None = None) -> Json:
        """The whole report on a prediction file; the file is not stored."""
        if not file:
            raise refused("Give a prediction file: gradio_client.handle_file(path).")
        chosen = self.board_of(board)
        who = submitter_of(request).who
        return run_dry(self.boards, self.settings, chosen.slug, file, who).to_dict()

    def publish(
        self,
        file: str,
        board: str,
        model: str,
        organisation: str,
        link: str,
        weights: str,
        prompt: str,
        model_date: str,
        is_shared: bool,
        row: str,
        key: str,
        relation: str,
        request: gr.Request | None = None,
    ) -> Json:
        """Publish a prediction file; the result contains the key for withdrawing it.

        With ``row``, the id of a submission, and its ``key``, the file goes to that row: it
        "replaces" its files, or is another "run". Sent again with the same header
        ``Idempotency-Key``, the same is returned and nothing is published.
        """
        if not file:
            raise refused("Give a prediction file: gradio_client.handle_file(path).")
        about = (model, organisation, link, weights, prompt, model_date)
        form = form_of(*about, is_shared, row, key, relation)
        by = submitter_of(request)
        try:
            done = submit.publish(
                Path(file).read_bytes(),
                Path(file).name,
                form,
                self.board_of(board),
                max_bytes=max_bytes(self.settings),
                who=by.who,
                attempt=by.attempt,
            )
        except UnavailableError:
            raise
        except Agl1kError as error:
            raise refused(str(error)) from None
        return {
            "submission_id": done.submission.submission_id,
            "row_id": done.submission.row_id,
            "withdraw_key": done.withdraw_key or None,
            "held": done.held or None,
            "board": done.submission.benchmark,
            "model": done.submission.model,
            "warnings": [str(warning) for warning in done.warnings],
            "evaluation": dict(done.submission.evaluation),
        }

    def withdraw(self, submission_id: str, withdraw_key: str) -> Json:
        """Take a submission off its board, with the key shown when it was published."""
        store = next(iter(self.boards.values())).submissions
        try:
            message = submit.withdraw(store, submission_id or "", withdraw_key or "")
        except UnavailableError:
            raise
        except Agl1kError as error:
            raise refused(str(error)) from None
        return {"withdrawn": True, "message": message}


def _busy(error: Agl1kError) -> Json:
    raise refused(str(error)) from None


def build_endpoints(boards: Boards, settings: Settings, scoring_queue: ScoringQueue) -> None:
    """Expose the endpoints; call it inside ``gr.Blocks``. The page does not show them."""
    endpoints = Endpoints(boards, settings)
    with gr.Row(visible=False):
        file = Upload(label="file")
        answer = gr.JSON(label="answer")

        def text(label: str, value: str = "") -> gr.Textbox:
            return gr.Textbox(value=value, label=label)

        def expose(function: Callable[..., Any], inputs: list[Any]) -> None:
            name = function.__name__
            gr.Button(name).click(function, inputs, answer, queue=False, api_name=name)

        board = text("board")
        expose(reading(endpoints.leaderboard), [board, text("query")])
        expose(reading(endpoints.compare), [board, text("first"), text("second")])
        expose(scoring_queue.queued(endpoints.dry_run, _busy), [file, board])
        about = [text("organisation"), text("link"), text("weights"), text("prompt")]
        shared = gr.Checkbox(True, label="is_shared")
        place = [text("row"), text("key"), text("relation")]
        described = [text("model"), *about, text("model_date"), shared, *place]
        expose(scoring_queue.queued(endpoints.publish, _busy), [file, board, *described])
        expose(writing(endpoints.withdraw), [text("submission_id"), text("withdraw_key")])
