"""What a model answered: status, point and names, from fields or from prose."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
