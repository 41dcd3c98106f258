"""Labels of points."""

from __future__ import annotations

import threading

import numpy as np

from agl1k_core.places import PlaceLabel, label_points


def test_label_points() -> None:
    labels = label_points(
        [48.8566, np.nan, 91.0, 0.0, -18.14, np.inf], [2.3522, 0.0, 0.0, 181.0, 178.44, 0.0]
    )
    assert labels[0] == PlaceLabel("Paris", "FR", "France", "Europe")
    assert labels[4] == PlaceLabel("Suva", "FJ", "Fiji", "Oceania")
    assert [labels[i] for i in (1, 2, 3, 5)] == [PlaceLabel()] * 4
    assert label_points([], []) == []


def test_label_points_from_several_threads() -> None:
    found: list[str] = []
    threads = [
        threading.Thread(target=lambda: found.append(label_points([52.5], [13.4])[0].city))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1
