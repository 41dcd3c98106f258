"""WanderBench: places that one walks through before saying where they are."""

from .environment import (
    COLOURS,
    MAX_STEPS,
    Action,
    ActionRefusedError,
    Environment,
    Move,
    Panoramas,
    Picture,
    State,
    Step,
    name_of_way,
)
from .faults import Fault, GraphsRefusedError
from .graph import Edge, Graph, Node, turn_to, within_circle
from .graph_files import ReadGraph, inspect_graphs, read_graphs, write_graphs
from .panoramas import Panorama, PanoramaFolder, read_panorama
from .statistics import GraphStatistics, SetStatistics, describe
from .views import Arrow, Camera, FolderViews, encoded, view, with_arrows
from .walks import FEWEST_STEPS, boundary, coverage, steps_from_center

__all__ = [
    "read_graphs",
    "write_graphs",
    "inspect_graphs",
    "ReadGraph",
    "Fault",
    "GraphsRefusedError",
    "Graph",
    "Node",
    "Edge",
    "describe",
    "SetStatistics",
    "GraphStatistics",
    "boundary",
    "coverage",
    "steps_from_center",
    "FEWEST_STEPS",
    "Environment",
    "State",
    "Move",
    "Action",
    "Step",
    "ActionRefusedError",
    "Panoramas",
    "Picture",
    "FolderViews",
    "PanoramaFolder",
    "read_panorama",
    "Panorama",
    "view",
    "with_arrows",
    "Camera",
    "Arrow",
    "encoded",
    "COLOURS",
    "MAX_STEPS",
    "name_of_way",
    "turn_to",
    "within_circle",
]
