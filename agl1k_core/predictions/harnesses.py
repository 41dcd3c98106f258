"""Logs of programs that ask models, as records with a clip and a raw answer.

Batch output of OpenAI and Anthropic, samples of lmms-eval and Inspect, tables of VLMEvalKit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from agl1k_core.predictions.records import ID_KEYS, Records, UnreadableError

Resolve = Callable[[str], str | None]
Record = Mapping[str, object]

#: A clip's key may stand under these names in what a harness asked about.
_DOCUMENT_KEYS = (*ID_KEYS, "index", "audio_id", "sample_id", "clip_id", "name", "file", "audio")
_RAW, _ERROR = "model_output", "error"


def as_records(records: Records, resolve: Resolve) -> Records:
    """Records of a harness's log in our terms; others as they are.

    Raises ``UnreadableError`` for a log in which no record names a clip.
    """
    names = {name.casefold() for name in records.columns}
    found = next(((needed, kind) for needed, kind in _KINDS.items() if {*needed} <= names), None)
    if found is None or not len(records):
        return records
    title, read = found[1]
    clips, answers, errors = zip(*map(read, _rows(records)), strict=True)
    keys = [next(filter(resolve, some), "") or "".join(some[:1]) for some in clips]
    if not any(map(resolve, keys)):
        shown = ", ".join(map(repr, keys[:3]))
        raise UnreadableError(
            f"The file is {title}, whose records name no clip of the benchmark but {shown}",
            "Give each the key of its clip, as in the benchmark's table",
        )
    columns: dict[str, Sequence[object]] = {"key": keys, _RAW: answers, _ERROR: errors}
    return Records(columns, records.numbers, records.lines)


def _rows(records: Records) -> Iterator[Record]:
    for position in range(len(records)):
        yield {name.casefold(): value for name, value in records.record(position).items()}


Row = tuple[list[str], object, object]


def _of_openai(record: Record) -> Row:
    """A line of a batch's output: the response of the API under "response"."""
    response = record.get("response")
    body = response.get("body") if isinstance(response, dict) else None
    failed = body.get("error") if isinstance(body, dict) else None
    error = record.get("error") or failed
    return _names(record, ("custom_id",)), None if error else body, error


def _of_anthropic(record: Record) -> Row:
    result = record.get("result")
    outcome = result if isinstance(result, dict) else {}
    message = outcome.get("message")
    error = None if message else outcome.get("error") or outcome.get("type") or "no result"
    return _names(record, ("custom_id",)), message, error


def _of_lmms_eval(record: Record) -> Row:
    document = record.get("doc")
    names = _names(document, _DOCUMENT_KEYS) if isinstance(document, dict) else []
    answer = record.get("filtered_resps") or record.get("resps")
    while isinstance(answer, list) and answer:
        answer = answer[0]
    return [*names, *_names(record, (*_DOCUMENT_KEYS, "doc_id"))], answer, None


def _of_inspect(record: Record) -> Row:
    output = record.get("output")
    answer = output.get("completion") if isinstance(output, dict) else output
    return _names(record, ("id",)), answer, record.get("error")


def _of_vlmevalkit(record: Record) -> Row:
    """A row of a table: "prediction" is the answer, and "answer" the truth."""
    return _names(record, _DOCUMENT_KEYS), record.get("prediction"), None


def _names(record: Record, fields: Sequence[str]) -> list[str]:
    values = (record.get(field) for field in fields)
    return [str(value) for value in values if isinstance(value, str | int) and value != ""]


#: The names of a record that make it one of a log -> what the log is called, and how it is read.
_KINDS: Mapping[tuple[str, ...], tuple[str, Callable[[Record], Row]]] = {
    ("custom_id", "response"): ("the output of an OpenAI batch", _of_openai),
    ("custom_id", "result"): ("the results of an Anthropic batch", _of_anthropic),
    ("doc_id", "filtered_resps"): ("a log of lmms-eval", _of_lmms_eval),
    ("doc_id", "resps"): ("a log of lmms-eval", _of_lmms_eval),
    ("id", "epoch", "output"): ("a log of Inspect", _of_inspect),
    ("index", "prediction"): ("a table of VLMEvalKit", _of_vlmevalkit),
}
