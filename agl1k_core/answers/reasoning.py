"""Removes a model's reasoning from its answer, whatever tags surround it.

Models write ``<think>``, ``[THINK]``, ``◁think▷``, ``<|START_THINKING|>``, ``<seed:think>``,
``<|channel|>analysis``, and more. What is inside, or was never closed, is not the answer. Neither
is what stands before a closing tag whose opening tag was part of the prompt.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

#: Names that are also headings: in square brackets, they are tags only if one closes them.
_HEADINGS = r"reason(?:ing)?|analysis|reflections?|rationale|plan(?:ning)?|deliberation"
_NAMES = (
    r"(?:ant)?_?think(?:ing)?(?:[_ -]?process)?|thoughts?(?:[_ -]?process)?|cot"
    r"|chain[_ -]?of[_ -]?thoughts?|scratch[_-]?pad|(?:inner|internal)?[_ -]?monologue"
    r"|(?:inner|internal)[_ -]?(?:thoughts?|thinking|reasoning)|self[_-]?reflection"
    rf"|reasoning[_ -]?(?:content|process|steps?)|{_HEADINGS}"
)
_EDGE = r"start|begin|end|stop"
_TAG = (
    r"(?P<bracket><|＜|〈|⟨|&lt;|◁|【|\[)\s?(?:(?P<slash>[/\\])\s?)?[|｜]?\s?(?P<slash2>[/\\]\s?)?(?:[a-z][\w-]{0,20}:)?"
    rf"(?:(?P<before>{_EDGE})[_ ▁-]?(?:of[_ ▁-]?)?)?(?P<name>{_NAMES})(?:[_ -](?P<after>{_EDGE}))?"
    r"(?:\s[^<>\[\]]{0,200}?)?(?P<empty>/)?\s?[|｜]?(?:>|＞|〉|⟩|&gt;|▷|】|\])"
)
_CHANNEL = r"<\|channel\|?>\s{0,3}(?P<of>[a-z]{1,20})(?:[^<>\n]{0,80}<\|message\|>)?"
_MARK = re.compile(
    rf"(?P<tag>{_TAG})|(?P<channel>{_CHANNEL})"
    r"|(?P<details><details\s[^<>]{0,40}\b(?:reasoning|thinking)\b[^<>]{0,200}>)"
    r"|(?P<unused><unused94>)|(?P<end><unused95>|<channel\|>|<\|end\|>|</details>)"
    r"|(?P<answer><[|｜](?:start_response|begin[_▁]of[_▁](?:solution|answer|response))[|｜]>)",
    re.IGNORECASE,
)
_CLOSED_HEADING = re.compile(rf"[\[【]\s?/\s?({_HEADINGS})", re.IGNORECASE)
_HEADING = re.compile(_HEADINGS, re.IGNORECASE)
_FINAL_CHANNELS = {"final", "answer", "response", "content", "text"}
_FENCED = re.compile(
    rf"^[ \t]{{0,8}}```(?:{_NAMES})[ \t]*$.*?(?:^[ \t]{{0,8}}```[ \t]*$|\Z)",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
_KEY = re.compile(
    rf"(?!analysis|plan)(?:{_NAMES})s?(?:[_ -]?(?:content|text|details|blocks?))?", re.IGNORECASE
)
#: Without their tags, channels look like "analysisWe need … assistantfinal{…}".
_BARE_CHANNEL = re.compile(r"\s*(?:assistant)?analysis(?=[A-Z\"'({\[])")
_BARE_FINAL = re.compile(r"assistant\s?final(?![a-z])")
_PREAMBLE = re.compile(r"\s*here(?: is|'s) my (?:thought|thinking|reasoning) process\s?:", re.I)
_RESPONSE = re.compile(r"here(?: is|'s) my (?:final )?(?:response|answer)\s?:", re.IGNORECASE)
_CONTROL = re.compile(r"<[|｜][^<>|｜\n]{1,40}[|｜]>(?:assistant\b)?")


def without_reasoning(text: str) -> str:
    """The text outside the model's reasoning; empty if there is nothing else.

    Parameters
    ----------
    text
        The raw answer.

    Returns
    -------
    str
        What is left, in time linear in the length of the text.

    Examples
    --------
    >>> from agl1k_core.answers import without_reasoning
    >>> without_reasoning("[THINK]Lisbon?[/THINK]Porto")
    'Porto'
    >>> without_reasoning("Lisbon? No.</think>Porto")
    'Porto'
    >>> without_reasoning("Porto<think>or rather")
    'Porto'
    """
    text = _FENCED.sub("", text)
    outside = _Outside()
    closed = {name.casefold() for name in _CLOSED_HEADING.findall(text)}
    for mark in _MARK.finditer(text):
        if not _is_heading(mark, closed):
            outside.take(text, mark)
    return _CONTROL.sub(" ", _without_preamble(outside.rest(text)))


def is_reasoning(name: str) -> bool:
    """Whether a key of an object, or the type of a message's part, names the model's reasoning."""
    return bool(_KEY.fullmatch(name.strip()[:40]))


def is_reasoning_part(node: Mapping[str, object]) -> bool:
    """Whether an object is the part of a message that contains the model's reasoning."""
    kind = node.get("type")
    return isinstance(kind, str) and is_reasoning(kind)


class _Outside:
    """Collects the text outside tags, which may be nested."""

    def __init__(self) -> None:
        self._kept: list[str] = []
        self._open: list[str] = []
        self._start = 0

    def take(self, text: str, mark: re.Match[str]) -> None:
        """Take the text up to a tag, and the tag."""
        before = text[self._start : mark.start()]
        if not self._open:
            self._kept.append(before)
        self._start = mark.end()
        kind, name = mark.lastgroup, _name(mark)
        if kind == "answer":
            self._open.clear()
            self._kept.clear()
        elif kind == "end":
            self._close_if_open(name)
        elif _closes(mark):
            self._close(name)
        elif not mark["empty"]:
            self._opened(name, at_once=not before.strip())

    def rest(self, text: str) -> str:
        """All that was outside, with the text behind the last tag."""
        return "".join(self._kept) + ("" if self._open else text[self._start :])

    def _opened(self, name: str, *, at_once: bool) -> None:
        """Note a tag; one repeated at once, as after a prompt that ends with it, counts once."""
        same = bool(self._open) and self._open[-1] == name
        if not (same and (at_once or name == "channel")):
            self._open.append(name)

    def _close(self, name: str) -> None:
        """Close a tag and all inside it; without one of that name, the innermost."""
        if not self._open:
            self._kept.clear()  # the opening tag was part of the prompt
        elif name in self._open:
            self._close_if_open(name)
        else:
            self._open.pop()

    def _close_if_open(self, name: str) -> None:
        if name in self._open:
            last = len(self._open) - 1 - self._open[::-1].index(name)
            del self._open[last:]


_ENDS = {"<unused95>": "unused", "</details>": "details"}


def _name(mark: re.Match[str]) -> str:
    if mark.lastgroup == "tag":
        return str(mark["name"]).casefold()
    if mark.lastgroup == "end":
        return _ENDS.get(mark[0].casefold(), "channel")
    return str(mark.lastgroup)


def _closes(mark: re.Match[str]) -> bool:
    if mark.lastgroup == "channel":
        return mark["of"].casefold() in _FINAL_CHANNELS
    edge = (mark["before"] or mark["after"] or "").casefold()
    return bool(mark["slash"] or mark["slash2"]) or edge in {"end", "stop"}


def _is_heading(mark: re.Match[str], closed: set[str]) -> bool:
    """Whether a tag is rather a heading such as "[Analysis]"."""
    if (
        mark.lastgroup != "tag"
        or mark["bracket"] not in "[【"
        or not _HEADING.fullmatch(mark["name"])
    ):
        return False
    return mark["name"].casefold() not in closed


def _without_preamble(text: str) -> str:
    """The text without reasoning that only words mark, at its very beginning."""
    for begins, ends in ((_BARE_CHANNEL, _BARE_FINAL), (_PREAMBLE, _RESPONSE)):
        if begins.match(text):
            last = [match.end() for match in ends.finditer(text)]
            return text[last[-1] :] if last else ""
    return text
