"""Why a model named the wrong country: misses sorted into the paper's seven causes."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
