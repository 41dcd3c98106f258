"""Runs models on a benchmark: endpoints, the check that they hear, and the journal of answers."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
