"""Audio Localizability: how much the sounds of a recording reveal about its place."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
