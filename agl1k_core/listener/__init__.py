"""The listener: our baseline, which hears sounds and languages and believes in places."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
