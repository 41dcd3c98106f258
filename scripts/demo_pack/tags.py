"""What a tagger hears in the finished clips: ``tags.json``, which the game tells with the place.

The clips are tagged as players hear them, decoded from their files. So a tag may well be wrong: a
synthetic bird need not convince.
"""

from __future__ import annotations

from pathlib import Path

from agl1k_core.benchmarks import TAGS, ClipTags, read_folder, tags_json
from agl1k_core.localizability import tagger_of
from agl1k_core.tagging import Tagger, tag


def write_tags(folder: Path, tagger: Tagger) -> None:
    """Tag every clip of a pack; raises ``Agl1kError`` where one cannot be read."""
    clips, told = {}, None
    for clip in read_folder(folder).clips:
        tags = tag(folder / clip.file_name, tagger)
        clips[clip.key], told = ClipTags(tags.presence), tagger_of(tags)
    (folder / TAGS).write_text(tags_json(clips, told), "utf-8")
