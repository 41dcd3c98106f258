"""What a tagger hears in the finished clips: ``tags.json``, which the game tells with the place.

The clips are tagged as players hear them, decoded from their files. So a tag may well be wrong: a
synthetic bird need not convince.
"""

from __future__ import annotations

from pathlib import Path

from agl1k_core.folder_tags import TAGS, ClipTags, tags_json
from agl1k_core.localizability import tagger_of
from agl1k_core.tables import read_folder
from agl1k_core.tagging import Tagger, tag

#: Shares that are shorter than a twentieth of the time are not told, so they are not kept.
LEAST = 0.05


def write_tags(folder: Path, tagger: Tagger) -> None:
    """Tag every clip of a pack; raises ``Agl1kError`` where one cannot be read."""
    clips, told = {}, None
    for clip in read_folder(folder).clips:
        tags = tag(folder / clip.file_name, tagger)
        kept = {name: round(t, 3) for name, t in tags.presence.items() if t >= LEAST}
        clips[clip.key], told = ClipTags(kept), tagger_of(tags)
    (folder / TAGS).write_text(tags_json(clips, told), "utf-8")
