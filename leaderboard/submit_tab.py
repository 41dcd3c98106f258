"""The tab for trying, publishing and withdrawing prediction files."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import gradio as gr

from agl1k_core.errors import Agl1kError, UnavailableError
from leaderboard import render
from leaderboard.api import Boards
from leaderboard.attempts import HEADER
from leaderboard.reports import Report
from leaderboard.scoring_queue import ScoringQueue
from leaderboard.submit import (
    Form,
    Place,
    dry_run,
    form_problems,
    publish,
    withdraw,
)
from leaderboard.tab import Shown, script
from leaderboard.upload import Upload
from web import login
from web.settings import Settings
from web.threads import writing

_GONE = "The file is no longer on the server. Drop it again."
_WHY_SIGN_IN = (
    "<p class='agl-muted'>Optional: sign in, and the board names you as the one who "
    "published it. You can then withdraw it without its key. Only your Hub name is stored.</p>"
)
_PUBLISH, _PUBLISH_ANYWAY = "Publish", "Publish anyway"
_DETAIL = ("element", "trigger", "watch")
#: The places of the fields with a choice, and of the checkbox, in the form.
_CHOICES, _SHARED = (3, 9), 6


def max_bytes(settings: Settings) -> int:
    """The largest file that is accepted, in bytes."""
    return settings.max_upload_bytes


def run_dry(boards: Boards, settings: Settings, slug: str, path: str, who: str = "") -> Report:
    """The dry run of an uploaded file on the board of that name, for ``who`` if it is sealed."""
    file, most = Path(path), max_bytes(settings)
    return dry_run(file.read_bytes(), file.name, boards[slug], max_bytes=most, who=who)


@dataclass(frozen=True)
class Outcome:
    """What came of publishing, as HTML: the receipt, or everything that is wrong."""

    receipt: str = ""
    problems: str = ""


@dataclass(frozen=True)
class Submitter:
    """Who publishes: ``owner`` is the Hub name that signed in, or ""; ``session`` is that of the
    page, which only the quota sees; ``attempt`` is the one that the page named."""

    owner: str = ""
    session: str = ""
    attempt: str = ""

    @property
    def who(self) -> str:
        """Whom limits count. A session can be made up, so where people can sign in, all who did not
        are counted together."""
        return self.owner or ("" if login.is_offered() else self.session)


def submitter_of(request: gr.Request | None, profile: gr.OAuthProfile | None = None) -> Submitter:
    """Who sent a request."""
    owner = login.name_of(profile)
    if request is None:
        return Submitter(owner)
    return Submitter(owner, request.session_hash or "", request.headers.get(HEADER, ""))


def publish_upload(
    boards: Boards,
    settings: Settings,
    slug: str,
    path: str,
    form: Form,
    by: Submitter = Submitter(),
) -> Outcome:
    """Publish an uploaded file. The upload stays for another try, as long as others do."""
    file, most = Path(path), max_bytes(settings)
    try:
        data = file.read_bytes()
        published = publish(
            data, file.name, form, boards[slug],
            max_bytes=most, owner=by.owner, who=by.who, attempt=by.attempt,
        )  # fmt: skip
    except UnavailableError:
        raise
    except Agl1kError as error:
        return not_published(error)
    except OSError:
        return not_published(Agl1kError(_GONE))
    return Outcome(receipt=render.published_page(published, boards[slug]))


def warnings_before(
    boards: Boards,
    settings: Settings,
    slug: str,
    path: str,
    form: Form,
    asked: str,
    by: Submitter = Submitter(),
) -> Report | None:
    """The report on a file with warnings, unless ``asked`` says that it was shown before.

    A form with problems comes first: nothing could be published yet.
    """
    try:
        found = run_dry(boards, settings, slug, path, by.who)
    except OSError:
        return None  # publishing says so
    again = found.accepted and bool(found.warnings) and asked != found.file_sha256
    return found if again and not form_problems(form.stripped()) else None


def form_of(*given: object) -> Form:
    """What was entered, in the order of the fields of ``Form`` and ``Place``."""
    model, organisation, link, weights, prompt, day, shared, *place = given
    about = [str(text or "") for text in (model, organisation, link, weights, prompt, day)]
    to = Place(*(str(text or "") for text in place))
    return replace(Form(*about), is_shared=bool(shared), to=to)  # type: ignore[arg-type]


def not_published(error: Agl1kError) -> Outcome:
    """Why nothing was published."""
    return Outcome(problems=render.problems_page(error, "Nothing was published"))


def not_scored(error: Agl1kError) -> tuple[Any, Any, str]:
    """Report, form and problems if a file could not be scored."""
    page = render.problems_page(error, "The file was not scored")
    return page, gr.update(visible=False), ""


def withdraw_one(boards: Boards, submission_id: str, key: str, owner: str = "") -> str:
    """Withdraw a submission; returns the outcome as HTML."""
    store = next(iter(boards.values())).submissions
    try:
        return render.note_page(withdraw(store, submission_id or "", key or "", owner))
    except UnavailableError:
        raise
    except Agl1kError as error:
        return render.problems_page(error, "Nothing was withdrawn")


def build_submit(boards: Boards, settings: Settings, scoring_queue: ScoringQueue) -> None:
    """The tab's components and wiring; call it inside ``gr.Blocks``."""
    first = next(iter(boards))
    with gr.Column(elem_classes="agl-submit-tab"):
        gr.HTML(
            "<h2>Submit predictions</h2><p class='agl-muted'>Drop a file: it is scored at once "
            "and nothing is stored. Publish it if you are happy with the result.</p>",
            js_on_load=script("attachSubmit", "element", of="submit.js"),
            apply_default_css=False,
        )
        login.build_login(_WHY_SIGN_IN)
        board = gr.Dropdown(
            [(board.name, slug) for slug, board in boards.items()], value=first, label="Board"
        )
        limits = gr.HTML(_limits(boards, settings, first), apply_default_css=False)
        file = Upload(label="Prediction file", height=140, elem_id="agl-file")
        report = gr.HTML(
            js_on_load=script("attachDetail", *_DETAIL),
            apply_default_css=False,
            elem_id="agl-report",
        )
        with gr.Column(visible=False, elem_id="agl-form") as form:
            fields = _form_fields()
            button = gr.Button(_PUBLISH, variant="primary", elem_id="agl-publish")
            # the hash of the file with warnings about which the visitor was asked
            asked = gr.State("")
        problems = gr.HTML(
            js_on_load=script("attachDetail", *_DETAIL),
            apply_default_css=False,
            elem_id="agl-unpublished",
        )
        receipt = gr.HTML(
            js_on_load=script("attachReceipts", "element", "watch"),
            apply_default_css=False,
            elem_id="agl-receipt",
        )
        _withdrawal(boards)

    def on_file(
        request: gr.Request, profile: gr.OAuthProfile | None, slug: str, path: str | None
    ) -> tuple[Any, Any, str]:
        if not path:
            return "", gr.update(visible=False), ""
        slug = slug or first
        try:
            found = run_dry(boards, settings, slug, path, submitter_of(request, profile).who)
        except OSError:
            return not_scored(Agl1kError(_GONE))
        return render.report_page(found, boards[slug]), gr.update(visible=found.accepted), ""

    scored = scoring_queue.queued(on_file, not_scored)

    async def on_board(
        request: gr.Request, profile: gr.OAuthProfile | None, slug: str, path: str | None
    ) -> tuple[Any, ...]:
        found = await scored(request, profile, slug, path)
        return _limits(boards, settings, slug or first), *found

    def on_publish(
        request: gr.Request,
        profile: gr.OAuthProfile | None,
        before: str,
        slug: str,
        path: str | None,
        *given: str | bool | None,
    ) -> Shown:
        if not path:
            return shown_outcome(not_published(Agl1kError("Drop a prediction file first.")))
        by, entered = submitter_of(request, profile), form_of(*given)
        doubted = warnings_before(boards, settings, slug or first, path, entered, before, by)
        if doubted:
            question = render.question_page(doubted)
            return {problems: question, asked: doubted.file_sha256, button: _PUBLISH_ANYWAY}
        return shown_outcome(publish_upload(boards, settings, slug or first, path, entered, by))

    def shown_outcome(outcome: Outcome) -> Shown:
        """After publishing, file and form are empty; receipts stay until they are dismissed."""
        if not outcome.receipt:
            return {problems: outcome.problems, asked: "", button: _PUBLISH}
        emptied: Shown = dict.fromkeys(fields, "") | {fields[at]: None for at in _CHOICES}
        emptied |= {fields[_SHARED]: True, file: None, problems: "", asked: "", button: _PUBLISH}
        return {receipt: outcome.receipt, **emptied}

    quick: dict[str, Any] = {"queue": False, "api_visibility": "private"}
    shown = [report, form, problems]
    file.change(scored, [board, file], shown, **quick)
    board.change(on_board, [board, file], [limits, *shown], **quick)
    publishing = scoring_queue.queued(on_publish, lambda error: shown_outcome(not_published(error)))
    changed = [problems, receipt, file, asked, button, *fields]
    button.click(publishing, [asked, board, file, *fields], changed, **quick)
    file.change(None, None, button, js=f"() => {_PUBLISH!r}", **quick)


def _limits(boards: Boards, settings: Settings, slug: str) -> str:
    return render.limits_page(boards[slug], max_bytes(settings))


def _form_fields() -> list[Any]:
    """Components in the order of the fields of ``Form`` and ``Place``."""
    gr.HTML("<h3>About the model</h3>", apply_default_css=False)
    with gr.Row():
        model = gr.Textbox(label="Model", elem_id="agl-model")
        organisation = gr.Textbox(label="Organisation (optional)", elem_id="agl-organisation")
    with gr.Row():
        link = gr.Textbox(label="Link (optional)", placeholder="https://…", elem_id="agl-link")
        date = gr.Textbox(
            label="Date of the model (optional)", placeholder="YYYY-MM-DD", elem_id="agl-date"
        )
    weights = gr.Radio(["open", "closed"], label="Weights", elem_id="agl-weights")
    prompt = gr.Textbox(label="Prompt used (optional)", lines=4, max_lines=12, elem_id="agl-prompt")
    shared = gr.Checkbox(
        True,
        label="Others may download the predictions",
        info="If not, the public dataset does not have them either: a server that is restored "
        "from it shows the stored numbers without a rank.",
        elem_id="agl-shared",
    )
    return [model, organisation, link, weights, prompt, date, shared, *_place_fields()]


def _place_fields() -> list[Any]:
    """Components in the order of ``Place``'s fields."""
    with gr.Accordion("Add it to a row of yours", open=False, elem_id="agl-place"):
        with gr.Row():
            info = "The id in the details of its row."
            row = gr.Textbox(label="Submission", info=info, elem_id="agl-row")
            label = "Withdrawal key" + (" (not needed signed in)" if login.is_offered() else "")
            key = gr.Textbox(label=label, type="password", info="Shown when it was published.")
        relation = gr.Radio(
            [("Replaces its files", "replaces"), ("Is another run of the same model", "run")],
            label="The new file",
            info="The row keeps its address. Replaced files stay in its history; of several runs, "
            "the row shows the mean and the range.",
            elem_id="agl-relation",
        )
    return [row, key, relation]


def _withdrawal(boards: Boards) -> None:
    with gr.Accordion("Withdraw a submission", open=False, elem_id="agl-withdraw"):
        with gr.Row():
            submission = gr.Textbox(label="Submission")
            label = "Withdrawal key"
            if login.is_offered():
                label += " (not needed for what you published signed in)"
            key = gr.Textbox(label=label, type="password")
        button = gr.Button("Withdraw")
        message = gr.HTML(apply_default_css=False)

    @writing
    def on_withdraw(profile: gr.OAuthProfile | None, submission_id: str, withdraw_key: str) -> str:
        return withdraw_one(boards, submission_id, withdraw_key, login.name_of(profile))

    button.click(on_withdraw, [submission, key], message, queue=False, api_visibility="private")
