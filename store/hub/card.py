"""The dataset's page: its content, units, and how to have rows deleted."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
from huggingface_hub import DatasetCardData
from sqlalchemy import ColumnElement, distinct, func, select, true

from store.database import Database
from store.hub.layout import DECISIONS, GUESSES, KINDS, REMOVALS, SKIPS, SUBMISSIONS, Kind
from store.schema import guesses, moderation, removals, shards, submissions

LICENCE = "cc-by-4.0"
_MARK = "<!-- AGL1K writes this page and overwrites it. -->"


@dataclass(frozen=True, slots=True)
class Numbers:
    """Statistics of the published rows that this server knows of."""

    rows: dict[str, int]
    players: int
    clips: int
    first_utc: datetime | None
    last_utc: datetime | None


def count(database: Database, pushing: Sequence[str] = ()) -> Numbers:
    """Count the rows that are in the dataset, or will be with the files that are ``pushing``."""
    there = select(shards.c.name).where(
        shards.c.pushed_utc.is_not(None) | shards.c.name.in_(pushing)
    )
    return _count(database, lambda table: table.c.shard.in_(there))


def count_all(database: Database) -> Numbers:
    """Count all rows that may be published."""
    return _count(database, lambda _: true())


def _count(database: Database, published: Callable[[Any], ColumnElement[bool]]) -> Numbers:
    counted = published(guesses)
    standing = published(submissions) & submissions.c.withdrawn_utc.is_(None)
    is_guess = guesses.c.action == "guess"
    conditions = {
        GUESSES.name: counted & is_guess,
        SKIPS.name: counted & ~is_guess,
        SUBMISSIONS.name: standing,
        REMOVALS.name: published(removals),
        DECISIONS.name: published(moderation) & moderation.c.decision_id.is_not(None),
    }
    about_all = select(
        func.count(distinct(guesses.c.player_id)),
        func.count(distinct(guesses.c.clip_key)),
        func.min(guesses.c.created_utc),
        func.max(guesses.c.created_utc),
    ).where(counted)
    with database.read() as connection:
        players, clips, first, last = connection.execute(about_all).one()
        rows = {
            name: connection.scalar(select(func.count()).where(condition)) or 0
            for name, condition in conditions.items()
        }
    return Numbers(rows, players, clips, first, last)


def declaration(kinds: Iterable[str]) -> str:
    """The page's YAML: which files belong to which configuration, and their columns.

    Without it, a file of an older or newer version would break ``load_dataset``.
    """
    declared = [kind for kind in KINDS.values() if kind.name in set(kinds)]
    configs = [
        {"config_name": kind.name, "data_files": [{"split": "train", "path": _pattern(kind)}]}
        for kind in declared
    ]
    infos = [{"config_name": kind.name, "features": _features(kind)} for kind in declared]
    card = DatasetCardData(
        license=LICENCE,
        pretty_name="AGL1K plays",
        tags=["audio", "geolocation", "agl1k"],
        configs=configs,
        dataset_info=infos,
    )
    return f"---\n{card.to_yaml().strip()}\n---\n"


def build(repo: str, kinds: Sequence[str], numbers: Numbers, now: datetime) -> str:
    """The whole page."""
    sections = "\n".join(_section(repo, KINDS[name], numbers) for name in KINDS if name in kinds)
    text = _PAGE.format(
        repo=repo,
        now=f"{now.astimezone(UTC):%Y-%m-%d %H:%M} UTC",
        players=numbers.players,
        clips=numbers.clips,
        span=_span(numbers),
        sections=sections,
        licence=LICENCE,
        mark=_MARK,
    )
    return declaration(kinds) + text


def is_ours(page: str) -> bool:
    """Whether AGL1K wrote the page, so that it may be rewritten."""
    return _MARK in page


def declares(page: str, kinds: Iterable[str]) -> bool:
    """Whether the page declares exactly these kinds with the current columns."""
    return page.startswith(declaration(kinds))


def is_newer(page: str) -> bool:
    """Whether the page declares columns or kinds of rows of a newer version."""
    declared = page.removeprefix("---\n").partition("\n---\n")[0]
    names = re.findall(r"^[- ]+(?:config_)?name: (\S+)$", declared, re.MULTILINE)
    known = {field.name for kind in KINDS.values() for field in kind.fields}
    return not known.union(KINDS).issuperset(names)


def _pattern(kind: Kind) -> str:
    return f"data/{kind.name}/*/*.parquet"


def _features(kind: Kind) -> list[dict[str, str]]:
    return [{"name": field.name, "dtype": _dtype(field.type)} for field in kind.fields]


def _dtype(arrow: pa.DataType) -> str:
    return "float64" if pa.types.is_float64(arrow) else str(arrow)


def _span(numbers: Numbers) -> str:
    if numbers.first_utc is None or numbers.last_utc is None:
        return ""
    return f", taken from {numbers.first_utc:%Y-%m-%d} to {numbers.last_utc:%Y-%m-%d}"


def _section(repo: str, kind: Kind, numbers: Numbers) -> str:
    fields = "\n".join(
        f"| `{field.name}` | {field.type} | {field.about} |" for field in kind.fields
    )
    return (
        f"### `{kind.name}`: {kind.about}\n\n{numbers.rows.get(kind.name, 0):,} rows.\n\n"
        f"```python\nload_dataset({repo!r}, {kind.name!r}, split='train')\n```\n\n"
        f"| column | type | meaning |\n| --- | --- | --- |\n{fields}\n"
    )


_PAGE = """
{mark}

# AGL1K plays

[AGL1K](https://github.com/Rising0321/AGL1K) asks: given only a sound, where on Earth was it made?
These are the answers of the people who played the arena, and the prediction files of the models on
its leaderboard, published automatically by the server.

Counted on {now}: {players:,} players, {clips:,} clips{span}.

{sections}
The place in an answer is a guess about a recording; it says nothing about where the player was.

## How ids are made

`player_id` is a random 128-bit number that the server gave to a browser and signed, so that nobody
can play under another player's id. It is not derived from an account, an address or a device;
another browser is another player. `guess_id` is derived from the round and the position in it, so
an answer counts once. `round_id` and `submission_id` are random. The dataset contains no nicknames,
network addresses, browser names or e-mail addresses: the server does not publish nicknames, and
does not store the rest.

Rows are added every few minutes and files of past days are joined, so a row may move between files;
its id does not change. Each id occurs once; if a failed upload duplicates one, joining removes it.

## Having rows deleted

The About tab of the arena shows your player id. Send it to the people who run the arena, or open a
discussion here: they run `agl1k admin forget PLAYER_ID`, which rewrites the files without your
rows, erases the history of this repository, and deletes the old files. A submission is withdrawn
on the Submit tab, with its key or by the owner who was signed in, with the same effect. All servers
that publish here delete the rows, too: `removals` names them by hashes, which reveal no id.
Copies that others have made cannot be deleted.

## Before you use submissions

Operators hold submissions back that look too good to be answers, and hide others. The arena's
boards do not show these, but their rows are here: leave out those whose last row in `decisions` is
`hold` or `hide`.

## Licence and citation

{licence}. Cite this dataset by its address and date, and the paper:

```bibtex
@inproceedings{{zhang2026sonar,
  title = {{The Sonar Moment: An Audio Geo-Localization Benchmark for Audio-Language Models}},
  author = {{Zhang, Ruixing and Liu, Zihan and Sun, Leilei and Zhu, Tongyu and Lv, Weifeng}},
  booktitle = {{Findings of the Association for Computational Linguistics: ACL 2026}},
  pages = {{26045--26065}},
  year = {{2026}},
  url = {{https://aclanthology.org/2026.findings-acl.1297/}}
}}
```
"""
