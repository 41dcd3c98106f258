"""The science of AGL1K: benchmarks, predictions, places, metrics; no web, no database."""

__version__ = "0.1.0"
