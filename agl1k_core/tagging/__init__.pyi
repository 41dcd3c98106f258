"""What sounds in a recording: AudioSet classes over time."""

from .audioset import audioset_classes, class_ids_by_name, class_name, class_roots
from .efficientat import EfficientAt
from .tagger import FloatArray, Tagger, Tags, load_tagger, summary_of_blocks, tag, tag_blocks
from .timeline import save_timelines, timeline_figure
from .yamnet import WHEEL, Yamnet, install_yamnet

__all__ = [
    "load_tagger",
    "install_yamnet",
    "WHEEL",
    "tag",
    "Tags",
    "Tagger",
    "Yamnet",
    "EfficientAt",
    "tag_blocks",
    "summary_of_blocks",
    "FloatArray",
    "timeline_figure",
    "save_timelines",
    "audioset_classes",
    "class_ids_by_name",
    "class_name",
    "class_roots",
]
