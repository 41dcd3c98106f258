"""Tables as text, as spreadsheets and programs write them: the rows, and what surrounds them.

Columns are separated by commas, semicolons, tabs or bars. Excel adds ghosts: rows and columns that
are empty, and a first line ``sep=;``. Numbers may have a decimal comma and a typographic minus.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache

#: A model's answer may be long; what limits a table is the size of its file.
csv.field_size_limit(2**31 - 1)

_DELIMITERS = ",;\t|"
_SEP_LINE = re.compile(r"sep=(.)\r?\n", re.IGNORECASE)
_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_MARKS = {
    b"\xff\xfe\x00\x00": "utf-32",
    b"\x00\x00\xfe\xff": "utf-32",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
    b"\xef\xbb\xbf": "utf-8-sig",
}
_TYPOGRAPHIC = str.maketrans(
    {**dict.fromkeys("−–﹣－‒", "-"), **dict.fromkeys("\u00a0\u202f\u2009\u200b\ufeff", " ")}
)
_DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+")


class BrokenTableError(ValueError):
    """A table whose quotes do not match, with the line on which the broken row begins."""

    def __init__(self, line: int, reason: str) -> None:
        self.line = line
        super().__init__(reason)


def encoding_of(data: bytes) -> str:
    """The encoding that the first bytes of a text announce; UTF-8 if they announce none."""
    return next((name for mark, name in _MARKS.items() if data.startswith(mark)), "utf-8")


class DelimitedText:
    r"""A table in a text: its header, and its rows with the line on which each begins.

    Parameters
    ----------
    text
        The text, with any line endings.

    Attributes
    ----------
    delimiter
        What separates the columns.
    header
        The names of the columns without surrounding spaces, and without empty ones at the end.

    Raises
    ------
    BrokenTableError
        If the header cannot be read.

    Examples
    --------
    >>> table = DelimitedText("key;latitude;;\na;48,85;;\n;;;\n")
    >>> table.header, list(table.rows())
    (('key', 'latitude'), [(2, ['a', '48,85', '', ''])])
    """

    def __init__(self, text: str) -> None:
        sep = _SEP_LINE.match(text)
        self.delimiter = sep[1] if sep else _delimiter(text)
        self._first_line = 2 if sep else 1
        content = io.StringIO(text[sep.end() :] if sep else text, newline="")
        self._reader = csv.reader(content, delimiter=self.delimiter, strict=True)
        found = next(self._filled(), (self._first_line, []))
        self.header_line = found[0]
        names = tuple(tidy_cell(name) for name in found[1])
        self.header = names[: len(names) - _n_blank_at_the_end(names)]

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """The rows below the header that are not blank; raises ``BrokenTableError``."""
        return self._filled()

    def _filled(self) -> Iterator[tuple[int, list[str]]]:
        line = self._reader.line_num + self._first_line
        try:
            for row in self._reader:
                if any(map(str.strip, row)):
                    yield line, row
                line = self._reader.line_num + self._first_line
        except csv.Error as error:
            raise BrokenTableError(line, str(error)) from None


def tidy_cell(text: str) -> str:
    """A name in a header, or a key, without surrounding spaces and invisible characters."""
    return text.strip().strip("\ufeff\u200b\u2060").strip()


#: Cyrillic and Greek letters, and digits, that look like Latin ones.
_LOOK_ALIKES = str.maketrans(
    "аеорсухіјѕԁһӏкмтвнӊгαοιντυεκρηγ01ıł", "aeopcyxijsdhlkmtbhhraoivtuekpnyolil"
)


@lru_cache(maxsize=1024)
def look_alike(name: str, known: tuple[str, ...]) -> str:
    r"""The known name that a name looks like or abbreviates without being it; empty if none.

    Examples
    --------
    >>> look_alike("l\u0430titude", ("latitude", "longitude")), look_alike("lat", ("latitude",))
    ('latitude', 'latitude')
    """
    folded = unicodedata.normalize("NFKD", name.casefold()).translate(_LOOK_ALIKES)
    plain = "".join(letter for letter in folded if letter.isalnum())
    for other in known:
        target = other.replace("_", "")
        near = SequenceMatcher(None, plain, target).ratio() > 0.85 if plain else False
        if other != name and (near or (len(plain) > 2 and target.startswith(plain))):
            return other
    return ""


def odd_letter(name: str) -> str:
    """The first letter of a name that is not ASCII, with its Unicode name; empty if none."""
    letter = next((letter for letter in name if not letter.isascii()), "")
    return f"{letter!r} ({unicodedata.name(letter, 'unnamed').lower()})" if letter else ""


def plain_number(text: str, *, decimal_comma: bool) -> str:
    """A number with a typographic minus or a decimal comma as Python writes it.

    Examples
    --------
    >>> plain_number("−22,9", decimal_comma=True)
    '-22.9'
    """
    text = text.translate(_TYPOGRAPHIC).strip()
    is_comma = decimal_comma and _DECIMAL_COMMA.fullmatch(text)
    return text.replace(",", ".") if is_comma else text


def _delimiter(text: str) -> str:
    """What separates the names of the first line that is not blank."""
    first = text.lstrip("\ufeff \r\n").partition("\n")[0]
    return max(_DELIMITERS, key=_QUOTED.sub("", first[:100_000]).count)


def _n_blank_at_the_end(names: Sequence[str]) -> int:
    n = 0
    while n < len(names) and not names[len(names) - 1 - n]:
        n += 1
    return n
