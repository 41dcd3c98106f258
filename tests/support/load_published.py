"""Load a dataset as its users do; print rows, ids and column types as JSON.

Run by test_hub_dataset.py: ``python load_published.py REPO_OR_FOLDER CONFIG...``.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from datasets import load_dataset


def described(repo: str, config: str) -> dict[str, Any]:
    plain = load_dataset(repo, config, split="train")
    streamed = load_dataset(repo, config, split="train", streaming=True)
    id_column = "submission_id" if config == "submissions" else "guess_id"
    return {
        "ids": sorted(plain[id_column]),
        "streamed_ids": sorted(row[id_column] for row in streamed),
        "types": {name: str(feature.dtype) for name, feature in plain.features.items()},
        "streamed_types": {name: str(feature.dtype) for name, feature in streamed.features.items()},
        "first": {name: str(value) for name, value in plain[0].items()},
    }


if __name__ == "__main__":
    repo, *configs = sys.argv[1:]
    found = {config: described(repo, config) for config in configs}
    sys.stdout.write(json.dumps(found))
    sys.stdout.flush()
    os._exit(0)  # otherwise the threads of the streaming reader would be waited for
