"""The science of AGL1K: benchmarks, predictions, places, metrics; no web, no database.

``import agl1k_core as ag`` is all that a script or notebook needs: ``ag.load_benchmark``,
``ag.read_predictions``, ``ag.evaluate``, and the rooms, such as ``ag.audio``. Each name is loaded
when it is first used.

>>> import agl1k_core as ag
>>> ag.parse_answer("It sounds like Paris: 48.85°N, 2.35°E.").latitude
48.85
"""

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
