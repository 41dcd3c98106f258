"""Sends a dataset to the Hugging Face Hub."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agl1k_core.benchmarks import FOLDER_INFO, OUT_OF_PLAY, SUFFIXES, TAGS
from agl1k_core.curation.dataset_card import MAP
from agl1k_core.errors import Agl1kError
from agl1k_core.extras import Deferred
from agl1k_core.file_names import shown

if TYPE_CHECKING:
    import huggingface_hub
else:
    huggingface_hub = Deferred("huggingface_hub")

CARD = "README.md"
#: Files of an earlier push that a new one replaces.
_OURS = [
    *("data/*.parquet", "metadata.jsonl", MAP, TAGS, OUT_OF_PLAY),
    *(f"*{suffix}" for suffix in SUFFIXES),
]
_SENTENCES = {
    401: "The Hub does not accept the token (401). Set AGL1K_HUB_TOKEN to a valid one.",
    403: "The token may not write to the dataset {name} (403). Set AGL1K_HUB_TOKEN to one with "
    "write access to it.",
    404: "The Hub has no dataset {name} that the token may write to (404).",
    429: "The Hub asks clients to wait (429). Push again later.",
}


def push_dataset(
    folder: Path, name: str, *, token: str = "", endpoint: str = "", private: bool = False
) -> str:
    """Send the files of a folder to a dataset, which is created if it does not exist.

    Parameters
    ----------
    folder
        The folder of ``export_dataset``.
    name
        OWNER/NAME.
    token
        A token with write access. Default: that of ``hf auth login``.
    endpoint
        The address of the Hub. Default: the library's.
    private
        Whether a new dataset is private.

    Returns
    -------
    str
        The address of the dataset.

    Raises
    ------
    Agl1kError
        If the Hub does not take it, or a dataset without places would go beside one with them.
    """
    api = huggingface_hub.HfApi(endpoint=endpoint or None, token=token or None)
    where: dict[str, Any] = {"repo_id": name, "repo_type": "dataset"}
    try:
        if _is_sealed(folder / FOLDER_INFO):
            _check_no_places(api, where)
        api.create_repo(**where, private=private, exist_ok=True)
        api.upload_folder(
            **where,
            folder_path=folder,
            commit_message="Benchmark written by agl1k export-dataset",
            delete_patterns=_OURS,
        )
    except Agl1kError:
        raise
    except Exception as error:  # of the Hub and of the network, of many kinds
        raise _explained(error, name, folder) from None
    return f"{api.endpoint}/datasets/{name}"


def _is_sealed(info: Path) -> bool:
    sealed: object = json.loads(info.read_text("utf-8")).get("sealed")
    return sealed is True


def _check_no_places(api: Any, where: dict[str, Any]) -> None:
    """Refuse a dataset with clips that is not sealed: its earlier revisions stay readable."""
    try:
        files = {*api.list_repo_files(**where)} - {".gitattributes", CARD}
    except huggingface_hub.errors.RepositoryNotFoundError:
        return
    info = FOLDER_INFO in files and api.hf_hub_download(**where, filename=FOLDER_INFO)
    if files and not (info and _is_sealed(Path(info))):
        raise Agl1kError(
            f"The dataset {where['repo_id']} may hold the places of clips, also in earlier "
            "revisions. Push to a new name."
        )


def _explained(error: Exception, name: str, folder: Path) -> Agl1kError:
    """The error in words: never an address or a body, which may be signed."""
    status = getattr(getattr(error, "response", None), "status_code", None)
    other = (
        f"The Hub answered with status {status}. Push again later."
        if status
        else f"The Hub cannot be reached ({type(error).__name__}). Check the network."
    )
    sentence = _SENTENCES.get(status or 0, other).format(name=name)
    return Agl1kError(f"{sentence} The dataset is in {shown(folder)}.")
