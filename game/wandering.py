"""A person walks through graphs of panoramas and guesses where they are.

No Gradio here. One person plays at a time, on their own machine. The page knows a panorama only by
a random address and sees no truth before the guess is in the file of answers, which is also a
prediction file: `agl1k wander score` reads it.
"""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agl1k_core.errors import Agl1kError
from agl1k_core.file_names import shown
from agl1k_core.files import append_durably
from agl1k_core.places import geodesic_line
from agl1k_core.predictions import read_predictions
from agl1k_core.wander import (
    MAX_STEPS,
    RIGHT_LEVELS,
    SCALE_KM,
    Action,
    Environment,
    Graph,
    Node,
    PanoramaFolder,
    benchmark_of,
    encoded,
    read_graphs,
    score_guesses,
)

_STALE = "This page was behind. Here is where you are now."


@dataclass(frozen=True, slots=True)
class Way:
    """A way that can be taken; its name is that of a colour."""

    name: str
    direction_deg: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is shown once a guess is stored; ``right`` has the levels at which it is."""

    guess: tuple[float, float]
    truth: tuple[float, float]
    label: str
    distance_km: float
    score: float
    right: tuple[str, ...]
    line: tuple[tuple[float, float], ...] = field(repr=False, default=())


@dataclass(frozen=True, slots=True)
class Scene:
    """What the page may know.

    ``moment`` identifies it, ``address`` is that of the panorama, ``middle_deg`` the bearing of its
    middle. ``can_return``: whether there is a start to return to. ``outcome`` is None until the
    guess is stored. ``mean_score`` is that of all guesses.
    """

    moment: str
    number: int
    total: int
    address: str
    middle_deg: float
    ways: tuple[Way, ...]
    can_return: bool
    steps_left: int
    outcome: Outcome | None
    n_guesses: int
    mean_score: float | None


class Wandering:
    """The walks through a set of graphs, those without an answer first to last.

    Parameters
    ----------
    graphs
        A folder or file of graphs.
    answers
        The file to which answers are appended; graphs that have one are not played again.
    panoramas
        The folder of panoramas; by default, ``graphs``.
    max_steps
        Steps of a walk, the guess included; looking around is none.
    scale_km
        The scale of the score.

    Raises
    ------
    Agl1kError
        If graphs, panoramas or answers cannot be read, or no graph's centre has a panorama.
    """

    def __init__(
        self,
        graphs: Path,
        answers: Path,
        *,
        panoramas: Path | None = None,
        max_steps: int = MAX_STEPS,
        scale_km: float = SCALE_KM,
    ) -> None:
        self._panoramas = PanoramaFolder(panoramas or graphs)
        found = read_graphs([graphs])
        self._graphs = [g for g in found if g.center_id in self._panoramas]
        #: Keys of graphs whose centre has no panorama, which are not played.
        self.without_panorama = [g.key for g in found if g.center_id not in self._panoramas]
        if not self._graphs:
            raise Agl1kError(
                f"No graph's centre has a panorama in {shown(self._panoramas.folder)}. Name the "
                "folder with the panoramas with --panoramas."
            )
        self._answers, self._max_steps, self._scale_km = answers, max_steps, scale_km
        self._outcomes = self._read_outcomes()
        self._addresses: dict[str, Node] = {}
        self._lock = threading.Lock()
        self._moment = ""
        self._begin(self._first_open())

    # --- what the page does

    def scene(self, message: str = "") -> tuple[Scene, str]:
        """What is to see now, and a message."""
        with self._lock:
            return self._scene(), message

    def move(self, moment: str, way: str) -> tuple[Scene, str]:
        """Take a way; the message says if that is not possible."""
        return self._act(moment, lambda: self._take(way))

    def back(self, moment: str) -> tuple[Scene, str]:
        """Return to the start."""
        return self._act(moment, self._return)

    def guess(self, moment: str, lat: float, lon: float) -> tuple[Scene, str]:
        """Store a guess, and only then show where it was."""
        return self._act(moment, lambda: self._store(lat, lon))

    def proceed(self, moment: str) -> tuple[Scene, str]:
        """Go to the next graph without an answer, once this one has one."""
        return self._act(moment, self._proceed)

    def picture(self, address: str) -> bytes | None:
        """The panorama at an address as JPEG, without the metadata of its file.

        Raises ``Agl1kError`` if it cannot be read.
        """
        node = self._addresses.get(address)
        if node is None:
            return None
        return encoded(self._panoramas.read(node.pano_id).picture)

    # --- the walk

    def _act(self, moment: str, act: Callable[[], object]) -> tuple[Scene, str]:
        """Act on the scene that the page shows, unless it is not the current one."""
        with self._lock:
            if moment != self._moment:
                return self._scene(), _STALE
            try:
                act()
            except Agl1kError as error:
                return self._scene(), str(error)
            self._moment = secrets.token_urlsafe(9)
            return self._scene(), ""

    def _begin(self, number: int) -> None:
        self._number = number
        self._walk = Environment(self._graphs[number], self._max_steps)
        self._moment = secrets.token_urlsafe(9)
        self._of_node: dict[str, str] = {}

    def _take(self, way: str) -> None:
        self._refuse_over()
        for move in self._walk.state.moves:
            if move.way == way and move.target_id not in self._panoramas:
                raise Agl1kError("There is no panorama that way. It cost no step.")
        self._walk.act(Action("move", way=way))

    def _return(self) -> None:
        self._refuse_over()
        self._walk.act(Action("back"))

    def _store(self, lat: float, lon: float) -> None:
        self._refuse_over()
        record, outcome = self._record(lat, lon)
        try:
            append_durably(self._answers, json.dumps(record, ensure_ascii=False))
        except OSError as error:
            raise Agl1kError(
                f"The guess could not be stored in {shown(self._answers)}: {error.strerror}. Make "
                "room, then guess again."
            ) from None
        self._walk.act(Action("guess", lat=lat, lon=lon))
        self._outcomes[self._graph.key] = outcome

    def _refuse_over(self) -> None:
        if self._outcome is not None:
            raise Agl1kError("The guess was made. Go on to the next place.")

    def _record(self, lat: float, lon: float) -> tuple[dict[str, Any], Outcome]:
        outcome = self._scored(self._graph, lat, lon)
        steps = [
            {"action": step.action.kind, "way": step.action.way, "pano_id": step.after.node.pano_id}
            for step in self._walk.history
            if step.action is not None
        ]
        return {
            "key": self._graph.key,
            "latitude": lat,
            "longitude": lon,
            "at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "max_steps": self._max_steps,
            "steps": steps,
            "distance_km": round(outcome.distance_km, 6),
            "score": round(outcome.score, 6),
            "scale_km": self._scale_km,
        }, outcome

    def _proceed(self) -> None:
        if self._outcome is None:
            raise Agl1kError("Guess first.")
        if len(self._outcomes) >= len(self._graphs):
            raise Agl1kError("That was the last place.")
        self._begin(self._first_open())

    def _first_open(self) -> int:
        """The first graph without an answer; the last one if all have one."""
        open_ones = (n for n, graph in enumerate(self._graphs) if graph.key not in self._outcomes)
        return next(open_ones, len(self._graphs) - 1)

    @property
    def _graph(self) -> Graph:
        return self._graphs[self._number]

    @property
    def _outcome(self) -> Outcome | None:
        return self._outcomes.get(self._graph.key)

    def _scene(self) -> Scene:
        state, outcome = self._walk.state, self._outcome
        is_guess_next = state.must_guess or outcome is not None
        scores = [one.score for one in self._outcomes.values()]
        return Scene(
            moment=self._moment,
            number=self._number + 1,
            total=len(self._graphs),
            address=self._address(state.node),
            middle_deg=state.node.heading_deg,
            ways=() if is_guess_next else tuple(Way(m.way, m.direction_deg) for m in state.moves),
            can_return=not is_guess_next and state.node is not self._graph.center,
            steps_left=0 if outcome else state.steps_left,
            outcome=outcome,
            n_guesses=len(scores),
            mean_score=sum(scores) / len(scores) if scores else None,
        )

    def _address(self, node: Node) -> str:
        """A random name for a panorama in this walk."""
        if node.pano_id not in self._of_node:
            self._of_node[node.pano_id] = secrets.token_urlsafe(16)
            self._addresses[self._of_node[node.pano_id]] = node
        return self._of_node[node.pano_id]

    # --- answers and scores

    def _scored(self, graph: Graph, lat: float, lon: float) -> Outcome:
        benchmark = benchmark_of([graph])
        told = [{"key": graph.key, "latitude": lat, "longitude": lon}]
        metrics = score_guesses(
            benchmark, read_predictions(told, benchmark), scale_km=self._scale_km
        ).metrics
        (clip,) = benchmark.clips
        return Outcome(
            guess=(lat, lon),
            truth=(clip.lat, clip.lon),
            label=", ".join(name for name in (clip.city, clip.country) if name),
            distance_km=metrics["distance_km"],
            score=metrics["score"],
            right=tuple(level for level in RIGHT_LEVELS if metrics[f"{level}_accuracy"] == 1),
            line=tuple(geodesic_line(lat, lon, clip.lat, clip.lon)),
        )

    def _read_outcomes(self) -> dict[str, Outcome]:
        """What the answers in the file score, by graph of this set."""
        graphs = {graph.key: graph for graph in self._graphs}
        return {
            answer["key"]: self._scored(
                graphs[answer["key"]], answer["latitude"], answer["longitude"]
            )
            for answer in read_answers(self._answers)
            if answer["key"] in graphs
        }


def read_answers(path: Path) -> Sequence[Mapping[str, Any]]:
    """The answers in a file of `Wandering`; none if there is no file.

    Lines that a killed process left incomplete are skipped. Raises ``Agl1kError`` if the file
    cannot be read, or has something else in it.
    """
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return []
    except OSError as error:
        raise Agl1kError(f"{shown(path)} cannot be read: {error.strerror}.") from None
    found = (_answer(path, number, line) for number, line in enumerate(lines, 1) if line.strip())
    return [answer for answer in found if answer is not None]


def _answer(path: Path, number: int, line: bytes) -> Mapping[str, Any] | None:
    try:
        answer = json.loads(line)
        if abs(answer["latitude"]) <= 90 and abs(answer["longitude"]) <= 180 and answer["key"]:
            return dict(answer)
    except (ValueError, TypeError, KeyError):
        if line.startswith(b'{"key": ') and not line.endswith(b"}"):
            return None
    raise Agl1kError(
        f"{shown(path)}, line {number}: this is no answer of `agl1k wander play`. Name another "
        "file with --answers."
    )
