"""Tags of the finished clips: ``tags.json``, which the game shows together with the place.

The tagger gets the decoded files that players hear. Its tags may be wrong, because a synthetic bird
does not always convince it.
"""

from __future__ import annotations

from pathlib import Path

from agl1k_core.benchmarks import TAGS, ClipTags, read_folder, tags_json
from agl1k_core.localizability import tagger_of
from agl1k_core.tagging import Tagger, tag


def write_tags(folder: Path, tagger: Tagger) -> None:
    """Tag every clip of a pack; raises ``Agl1kError`` if one cannot be read."""
    clips, tagged_by = {}, None
    for clip in read_folder(folder).clips:
        tags = tag(folder / clip.file_name, tagger)
        clips[clip.key], tagged_by = ClipTags(tags.presence), tagger_of(tags)
    (folder / TAGS).write_text(tags_json(clips, tagged_by), "utf-8")
