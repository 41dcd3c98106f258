"""The listener: our baseline, which hears sounds and languages and believes in places."""

from .belief import Heard, Pin, believe, likely_countries, pin, pin_at, reason_for, spoken
from .ears import MAX_SECONDS, Ears, SpeechDetector
from .grid import Grid, land_grid
from .languages import language_name, talk_shares
from .listening import NAME, Listened, listen, prediction, recordings_to_hear
from .pictures import belief_map, map_of
from .sounds import Rule, applying, rules
from .stored import Stored, stored_predictions

__all__ = [
    "listen",
    "recordings_to_hear",
    "Listened",
    "Ears",
    "SpeechDetector",
    "MAX_SECONDS",
    "Heard",
    "believe",
    "pin",
    "pin_at",
    "Pin",
    "prediction",
    "reason_for",
    "likely_countries",
    "belief_map",
    "map_of",
    "spoken",
    "talk_shares",
    "language_name",
    "applying",
    "Rule",
    "rules",
    "Grid",
    "land_grid",
    "stored_predictions",
    "Stored",
    "NAME",
]
