"""Builds the web app and serves it: ``python app.py`` or ``agl1k serve``."""

from __future__ import annotations

import argparse
import asyncio
import logging
import math
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from threading import Thread
from typing import Any, cast

from agl1k_core.errors import Agl1kError, UnavailableError
from agl1k_core.file_names import shown_lines
from agl1k_core.files import temporary_folder

if __name__ == "__main__":  # Gradio cannot even be imported without such a folder
    try:
        temporary_folder()
    except Agl1kError as error:
        sys.exit(str(error))

import gradio as gr
from fastapi import FastAPI

from agl1k_core import __version__, benchmarks, places
from agl1k_core.benchmarks import Benchmark, Registry, open_registry, read_tags
from game.api import play_router
from game.cards import RoundCards
from game.clips import ClipStore, clip_router
from game.dependencies import Content, ModelAnswers, Opponents, Surroundings, all_heard
from game.heard import Heard
from game.moves import Moves
from game.rounds import Game
from game.screens import compile_templates, credits_html
from game.tab import PLAYER_OF_BROWSER, build_play, stage_options, tab_html
from leaderboard.api import leaderboard_router
from leaderboard.board import Board
from leaderboard.cards import is_of_board, row_card
from leaderboard.client_api import build_endpoints
from leaderboard.scoring_queue import ScoringQueue
from leaderboard.submit_tab import build_submit
from leaderboard.tab import build_leaderboard
from store.database import Database
from store.guesses import GuessStore
from store.hub.connect import publisher_for, unready
from store.hub.publisher import Publisher
from store.moderation import HiddenNicknames, ModerationLog
from store.rooms import RoomStore
from store.scorings import Scorings
from store.submissions import SubmissionStore
from store.uploads import SharedUploads
from ui import frame
from ui.card import Card
from ui.cards import Cards, Query, card_router
from ui.early import early_html
from ui.model_guess import ModelGuess, Opponent
from ui.place_search import search_router
from web import login
from web.addresses import UnderPath, named_tab
from web.gradio_adapter import n_sessions, upload_into
from web.headers import HeadedApp, header_values
from web.health import health_router
from web.limits import BodyLimit, WholeTexts
from web.metrics import CountRequests, Metrics, Reading, metrics_router
from web.overload import Admission, Load
from web.page import QUIET, Page, mount
from web.quota import Quota
from web.repeats import OncePerMinute
from web.server import listening, serve
from web.settings import Settings
from web.static import mount_static
from web.unavailable import explain_unavailable
from web.uploads import Uploads
from web.visitors import NoteAddress, Visitors

log = logging.getLogger("agl1k")

#: One visitor's share of the files that everybody may publish in an hour.
PUBLISH_SHARE = 0.25
#: Of the rounds that everybody may start in an hour, the share kept for those who play already.
KEPT_ROUNDS = 0.2

TABS = {"play": "Play", "leaderboard": "Leaderboard", "submit": "Submit", "about": "About"}


@dataclass(frozen=True)
class Quotas:
    """What everybody together may do within an hour."""

    rounds: Quota
    files: Quota


@dataclass(frozen=True)
class Services:
    """Everything that the pages are built from."""

    settings: Settings
    registry: Registry
    played: Mapping[str, Benchmark]
    database: Database
    clips: ClipStore
    guesses: GuessStore
    boards: Mapping[str, Board]
    heard: Heard
    game: Game
    moves: Moves
    quotas: Quotas
    load: Load
    publisher: Publisher | None
    uploads: Uploads

    def start(self) -> None:
        """Begin background work; no answer should wait for the geocoder."""
        Thread(target=self.warm_reveals, daemon=True).start()
        Thread(target=self.warm_boards, daemon=True).start()
        if self.publisher is not None:
            self.publisher.start()

    def warm_reveals(self) -> None:
        """Prepare templates, and what reveals say about labels, which takes the geocoder."""
        compile_templates()
        places.label_points([0.0], [0.0])
        for benchmark in self.played.values():
            benchmark.label_note("")

    def warm_boards(self) -> None:
        """Score what the boards show, so that their first visitors need not wait for it."""
        for board in self.boards.values():
            with suppress(Agl1kError):  # the visitor's request says what is wrong
                board.warm()

    def close(self) -> None:
        """End background work, push what still waits, and close the database."""
        self.clips.close()
        if self.publisher is not None:
            with suppress(UnavailableError):  # logged; what waits is pushed after the next start
                self.publisher.stop(self.settings.store.hub.flush_s)
        self.database.close()

    def notice(self) -> str:
        """The current problems, as HTML for everybody; "" if there are none."""
        return frame.notice_html(self.publisher.notice() if self.publisher else "")

    def problems(self) -> list[str]:
        """Why players cannot play at the moment; empty if they can."""
        return [*unready(self.database, self.publisher), *self.quotas.rounds.problems()]

    def readings(self) -> list[Reading]:
        """What ``/metrics`` reports besides requests; none of it asks the database."""
        rounds, files = self.quotas.rounds, self.quotas.files
        return [
            Reading("rounds_started", "Rounds that players started", lambda: rounds.n_taken,
                    only_grows=True),
            Reading("refused", "Visits and rounds refused because too many people play",
                    lambda: self.load.refused, "what", only_grows=True),
            Reading("busy", "1 if hardly any player was answered in time lately",
                    lambda: self.load.is_busy),
            Reading("quota_left", "What everybody together may still do within the hour",
                    lambda: {"rounds": rounds.left, "files": files.left}, "quota"),
            Reading("hub_waiting_rows", "Rows that the public dataset does not have yet",
                    lambda: self.publisher.waiting_rows if self.publisher else 0),
            Reading("database_connections", "Connections to the database in use",
                    lambda: self.database.connections_in_use),
            Reading("database_stalled", "1 if the last caller waited for the database in vain",
                    lambda: self.database.is_stalled),
        ]  # fmt: skip

    def own_id(self, player_token: object) -> str:
        """The player's id, as Markdown for the About tab."""
        return frame.own_id_markdown(self.game.player_id(player_token))


def open_services(settings: Settings) -> Services:
    """Open the database and the benchmarks; raises ``Agl1kError`` if one cannot be opened."""
    registry = open_registry(settings.config)
    played = _played(registry)
    tags = {slug: read_tags(source.audio_dir) for slug, source in played.items()}
    database = Database(settings.store.database)
    publisher = publisher_for(settings.store.hub, database)
    n_files = settings.publish_per_hour
    quotas = Quotas(
        Quota(
            "rounds started",
            settings.rounds_per_hour,
            settings.rounds_per_player,
            kept=KEPT_ROUNDS,
            per_address=settings.rounds_per_address,
        ),
        Quota("files published", n_files, math.ceil(n_files * PUBLISH_SHARE)),
    )
    load = Load(settings.busy_ms / 1000)
    admit = {} if publisher is None else {"admit": publisher.admit}
    hidden = HiddenNicknames(ModerationLog(database))
    guesses = GuessStore(database, is_hidden=hidden, **admit)
    submissions = SubmissionStore(database, admit=_publishing(quotas.files, publisher))
    clips = ClipStore(settings.config.data_dir / "clips")
    scorings = Scorings(
        database, each=settings.sealed_per_day, in_all=settings.sealed_in_all_per_day
    )
    boards = _boards(registry, settings, submissions, guesses, scorings)
    secret = settings.secret.encode() or database.secret("tokens")
    content = Content(played, clips, _model_answers(boards), tags, _opponents(boards))
    heard = Heard()
    surroundings = Surroundings(
        admit=_starting(quotas.rounds, load),
        give_back=quotas.rounds.give_back,
        # of several servers, another one may have sent the sound
        heard=all_heard if database.is_shared else heard.of,
        admit_code=_trying(),
    )
    game = Game(content, guesses, RoomStore(database, hidden), secret, surroundings)
    shared = SharedUploads(database, settings.uploads_bytes) if database.is_shared else None
    limits = (settings.max_upload_bytes, settings.uploads_bytes)
    uploads = Uploads(settings.upload_dir, *limits, shared)
    database.serve()
    moves = Moves(game, [*played])
    return Services(
        settings,
        registry,
        played,
        database,
        clips,
        guesses,
        boards,
        heard,
        game,
        moves,
        quotas,
        load,
        publisher,
        uploads,
    )


def _played(registry: Registry) -> dict[str, Benchmark]:
    """What can be played, the default first; a game on a sealed benchmark would reveal places."""
    slugs = dict.fromkeys([registry.default, *registry.benchmarks])
    found = {slug: registry.benchmarks[slug] for slug in slugs}
    return {slug: benchmark for slug, benchmark in found.items() if not benchmark.sealed}


def _starting(quota: Quota, load: Load) -> Callable[[str], None]:
    """A function that raises ``Agl1kError`` if a player may start no round at present."""
    visitors = Visitors()

    def admit(player_id: str) -> None:
        load.admit_round()
        quota.take(player_id, visitors.current())

    return admit


def _trying() -> Callable[[], None]:
    """A function that raises ``Agl1kError`` if too many codes of other devices were tried."""
    visitors = Visitors()
    quota = Quota("codes tried", 1200, 20)

    def admit() -> None:
        address = visitors.current()
        quota.take(address, address)

    return admit


def _publishing(quota: Quota, publisher: Publisher | None) -> Callable[[str], None]:
    """A function that raises ``Agl1kError`` if somebody may store no submission at present."""

    def admit(who: str) -> None:
        if publisher is not None:
            publisher.admit()
        quota.take(who)

    return admit


def _boards(
    registry: Registry,
    settings: Settings,
    submissions: SubmissionStore,
    guesses: GuessStore,
    scorings: Scorings,
) -> dict[str, Board]:
    """One board per benchmark, the default first; AGL1K has one even if its table is missing."""
    known = {slug: (benchmark.name, benchmark) for slug, benchmark in registry.benchmarks.items()}
    slugs = dict.fromkeys([registry.default, benchmarks.PUBLISHED_SLUG, *known])

    def loader(slug: str) -> Callable[[], Benchmark]:
        if slug in known:
            return lambda: known[slug][1]
        return lambda: benchmarks.load_benchmark(slug, settings.config)

    return {
        slug: Board(slug, known[slug][0] if slug in known else "AGL1K", loader(slug),
                    submissions, guesses, data_dir=settings.config.data_dir, scorings=scorings)
        for slug in slugs
    }  # fmt: skip


def _model_answers(boards: Mapping[str, Board]) -> ModelAnswers:
    def answers(benchmark: Benchmark, keys: Sequence[str]) -> Mapping[str, Sequence[ModelGuess]]:
        return boards[benchmark.slug].model_guesses(keys)

    return answers


def _opponents(boards: Mapping[str, Board]) -> Opponents:
    def opponents(benchmark: Benchmark, *, fresh: bool) -> Sequence[Opponent] | None:
        return boards[benchmark.slug].opponents(fresh=fresh)

    return opponents


def build_page(services: Services) -> gr.Blocks:
    """The page: a header and four tabs."""
    with Page(title="AGL1K: hear a place, find it on the map") as page:
        gr.HTML(frame.header_html(), padding=False)
        notice = gr.HTML(padding=False, elem_classes="agl-news")
        tabs = _build_tabs(services)
        page.load(
            select_tab,
            gr.Textbox(visible=False),
            tabs,
            js="(_) => location.href",
            **QUIET,
        )
        page.load(services.notice, None, notice, **QUIET)
    return cast(gr.Blocks, page)


def select_tab(address: object) -> Any:
    """Select the tab that the page's address names; without one, that of the visitor stays."""
    named = named_tab(address, [*TABS])
    return gr.update(selected=named) if named else gr.skip()


def _build_tabs(services: Services) -> gr.Tabs:
    """Build the four tabs, with the game in the first and the player's id in the last."""
    settings = services.settings
    scoring_queue = ScoringQueue()
    with gr.Tabs(elem_id="agl-tabs") as tabs:
        with _tab("play"):
            build_play()
        with _tab("leaderboard"):
            build_leaderboard(services.boards, tiles=settings.tiles)
        with _tab("submit"):
            build_submit(services.boards, settings, scoring_queue)
        with _tab("about") as about:
            gr.Markdown(frame.about_markdown(), elem_classes="agl-about")
            gr.HTML(credits_html(services.played.values()), padding=False)
            own_id = gr.Markdown(elem_classes="agl-about")
    token = gr.Textbox(visible=False)
    about.select(services.own_id, token, own_id, js=PLAYER_OF_BROWSER, **QUIET)
    build_endpoints(services.boards, settings, scoring_queue)
    return cast(gr.Tabs, tabs)


def _tab(name: str) -> gr.Tab:
    return gr.Tab(TABS[name], id=name, elem_id=f"agl-tab-{name}")


def first_view(services: Services) -> str:
    """What is seen and played before Gradio has built the page."""
    names = {slug: benchmark.name for slug, benchmark in services.played.items()}
    stage = tab_html(services.moves, names, next(iter(names)))
    options = stage_options(services.settings.tiles)
    return early_html(frame.header_html(), TABS, stage, options)


@asynccontextmanager
async def running(services: Services) -> AsyncIterator[None]:
    """Run the background work until the block ends, then close everything."""
    services.start()
    async with services.uploads.swept():
        yield
    await asyncio.to_thread(services.close)


def create_app(settings: Settings) -> FastAPI:
    """The whole app as ASGI; raises ``Agl1kError`` if it cannot be opened."""
    services = open_services(settings)
    app = HeadedApp(
        header_values(settings.frames, settings.tiles),
        title="AGL1K",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        lifespan=lambda _: running(services),
    )
    app.state.services = services
    app.include_router(health_router(services.problems))
    app.include_router(clip_router(services.clips, services.game.resolve, services.heard.note))
    app.include_router(leaderboard_router(services.boards))
    app.include_router(play_router(services.moves))
    cards = Cards(frame.HOME_CARD, _card_of(services))
    app.include_router(card_router(cards))
    app.include_router(search_router())
    mount_static(app)
    explain_unavailable(app)
    app.add_middleware(WholeTexts)
    app.add_middleware(BodyLimit, max_bytes=settings.max_upload_bytes + 2**20)
    app.add_middleware(Admission, load=services.load)
    app.add_middleware(NoteAddress)
    if settings.metrics_token or settings.metrics_address:
        app.state.metrics = _measure(app, services)
    mounted = mount(
        app,
        build_page(services),
        services.uploads,
        **frame.look(frame.first_head()),
        early=first_view(services),
        later=frame.later_head(),
        tags=cards.tags,
        root_path=settings.root_path or None,
        max_file_size=settings.max_upload_bytes,
    )
    mounted.add_middleware(UnderPath, path=settings.root_path)
    login.guard(mounted)
    return mounted


def _card_of(services: Services) -> Callable[[Query], Card]:
    """A function that finds how a link is shown elsewhere."""
    names = {slug: benchmark.name for slug, benchmark in services.registry.benchmarks.items()}
    rounds = RoundCards(
        services.guesses, services.game.tokens, names, lambda: datetime.now(UTC).date()
    )

    def card_of(query: Query) -> Card:
        if is_of_board(query):
            return row_card(services.boards, query) or frame.HOME_CARD
        return rounds.of(query) or frame.HOME_CARD

    return card_of


def _measure(app: FastAPI, services: Services) -> Metrics:
    """Count requests from now on, and report them at ``/metrics`` if there is a token for it."""
    sessions = Reading("sessions", "Sessions of pages in memory", lambda: n_sessions(app))
    metrics = Metrics(*services.readings(), sessions)
    if services.settings.metrics_token:
        app.include_router(metrics_router(metrics, services.settings.metrics_token))
    app.add_middleware(CountRequests, metrics=metrics)
    return metrics


@contextmanager
def _metrics_served(app: FastAPI, settings: Settings) -> Iterator[None]:
    """Serve metrics on their own address during the block, if one is set."""
    if settings.metrics_address is None:
        yield
        return
    with app.state.metrics.served(*settings.metrics_address):
        yield


def _not_started(error: OSError) -> str:
    named = f" ({str(error.filename)[:200]})" if error.filename else ""
    return (
        f"Cannot start: {error.strerror or error}{named}. Make sure that the folders and files "
        "named by AGL1K_DATA, AGL1K_BENCHMARK, AGL1K_AUDIO and AGL1K_UPLOADS can be read and "
        "written."
    )


def _settings(arguments: list[str] | None) -> Settings:
    """The settings of the environment, changed by options of the command line."""
    parser = argparse.ArgumentParser(prog="app.py", description="Serve AGL1K.")
    parser.add_argument("--host", help="address to listen on")
    parser.add_argument("--port", type=int, help="port to listen on")
    wanted = parser.parse_args(arguments)
    settings = Settings.from_env()
    return replace(
        settings,
        host=wanted.host or settings.host,
        port=settings.port if wanted.port is None else wanted.port,
    )


def _log_to_stderr() -> None:
    handler = logging.StreamHandler()
    handler.addFilter(OncePerMinute())
    form = "%(levelname)s %(name)s: %(message)s"
    logging.basicConfig(level=logging.WARNING, format=form, handlers=[handler])
    log.setLevel(logging.INFO)


def main(arguments: list[str] | None = None) -> int:
    """Serve until stopped; returns 1 if the app cannot be opened."""
    _log_to_stderr()
    with ExitStack() as metrics:
        return _served(arguments, metrics)


def _served(arguments: list[str] | None, metrics: ExitStack) -> int:
    try:
        settings = _settings(arguments)
        listener = listening(settings.host, settings.port)
        upload_into(settings.upload_dir)
        app = create_app(settings)
        metrics.enter_context(_metrics_served(app, settings))
    except Agl1kError as error:
        print(shown_lines(str(error)), file=sys.stderr)  # noqa: T201 - there is no page yet
        return 1
    except OSError as error:
        print(_not_started(error), file=sys.stderr)  # noqa: T201
        return 1
    for problem in app.state.services.registry.problems:
        log.warning("%s", problem)
    log.info("AGL1K %s on http://%s:%s", __version__, settings.host, listener.getsockname()[1])
    serve(app, listener, trusted_proxies=app.state.services.settings.trusted_proxies)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
