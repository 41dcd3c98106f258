"""What sounds in a recording: AudioSet classes over time."""

from .audioset import audioset_classes, class_ids_by_name, class_name, class_roots
from .efficientat import RATE_HZ, EfficientAt
from .onnx import FloatArray
from .tagger import Tagger, Tags, load_tagger, summary_of_blocks, tag
from .timeline import timeline_figure
from .yamnet import WHEEL, Yamnet, install_yamnet

__all__ = [
    "EfficientAt",
    "FloatArray",
    "RATE_HZ",
    "Tagger",
    "Tags",
    "WHEEL",
    "Yamnet",
    "audioset_classes",
    "class_ids_by_name",
    "class_name",
    "class_roots",
    "install_yamnet",
    "load_tagger",
    "summary_of_blocks",
    "tag",
    "timeline_figure",
]
