"""A ``gr.File`` that accepts only uploaded files."""

from __future__ import annotations

from typing import Any

import gradio as gr

from web.gradio_adapter import FileData, ListFiles
from web.inputs import NOT_UPLOADED
from web.uploads import is_uploaded


class Upload(gr.File):
    """``gr.File`` for one file, safe in an app that is mounted rather than launched.

    In a mounted app, Gradio does not check that a caller's file was uploaded: it would read
    any path on the server and fetch any address. The initializer stays Gradio's, because the page
    receives the parameters that it names.
    """

    def get_block_name(self) -> str:
        return "file"

    async def async_move_resource_to_block_cache(self, url_or_file_path: Any) -> str | None:
        """The file itself; files outside the folder of uploads are refused, and none is copied."""
        require_uploaded(url_or_file_path)
        return str(url_or_file_path)

    def preprocess(self, payload: ListFiles | FileData | None) -> Any:
        """Path of the uploaded file; any other is refused, however it is given."""
        if isinstance(payload, FileData):
            require_uploaded(payload.path)
            return payload.path
        return super().preprocess(payload)


def require_uploaded(path: object) -> None:
    """Raise ``gr.Error`` unless the path is in the folder of uploads."""
    if not path or not is_uploaded(str(path)):
        raise gr.Error(NOT_UPLOADED, print_exception=False)
