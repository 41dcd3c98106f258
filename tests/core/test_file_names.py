"""Names of files as text: nothing controls the terminal, and every name can be written."""

from __future__ import annotations

import os
import subprocess
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agl1k_core.file_names import named, shown, shown_lines, written

NAMES = st.binary(min_size=1).map(os.fsdecode) | st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1
)


@given(NAMES)
def test_every_name_is_written_as_utf_8_and_comes_back(name: str) -> None:
    text = written(name)
    text.encode("utf-8")
    assert shown(text) == text
    assert named(text) == name


@given(NAMES)
def test_nothing_that_is_shown_controls_a_terminal(name: str) -> None:
    text = shown(name)
    text.encode("utf-8")
    assert not {"Cc", "Cs", "Zl", "Zp"} & {*map(unicodedata.category, text)}
    assert not {"\u202e", "\u2066", "\u200f", "\ufeff"} & {*text}


@given(st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1))
def test_ordinary_names_are_shown_as_they_are(name: str) -> None:
    assert shown(name) == name


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a\nb", r"a\nb"),
        ("a\tb\rc", r"a\tb\rc"),
        ("\x1b]0;title\x07", r"\x1b]0;title\x07"),
        ("\x9b31m", r"\x9b31m"),
        ("\u202egpj.exe", r"\u202egpj.exe"),
        ("a\u2028b", r"a\u2028b"),
        (os.fsdecode(b"\xff\xc3\xa9"), "\\xffé"),
        ("\N{WOMAN}\u200d\N{ROCKET}", "\N{WOMAN}\u200d\N{ROCKET}"),
        ("[bold]x[/]", "[bold]x[/]"),
        ("/etc/..", "/etc/.."),
    ],
)
def test_controls_are_escaped(name: str, expected: str) -> None:
    assert shown(name) == expected


def test_lines_of_a_message_stay_lines() -> None:
    assert shown_lines("one\x1b[2J\ntwo\n") == "one\\x1b[2J\ntwo\n"


@pytest.mark.server
def test_a_name_is_written_alike_in_every_locale() -> None:
    code = "import os,sys; from agl1k_core.file_names import written; " + (
        "sys.stdout.buffer.write(written(os.fsdecode(b'\\xc3\\xa9\\xff')).encode())"
    )
    env = {**os.environ, "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"}
    for mode in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-c", code], env={**env, "PYTHONUTF8": mode}, capture_output=True
        )
        assert done.stdout.decode() == "é\\xff", done.stderr
