"""Messages of blocks by number, from message files, with values put in. In: a number, a file, values. Out: the text.

Source: Otter, DSblock 3.3 (DLR 1994), BLOERL and BLOERS: a message begins on a line ``#4 text`` and goes on to the next ``#``; ``<I2>`` stands for
the second integer value, ``<R3>`` for the third real one. For double and text values the source gives no letters; they are ``<D1>`` and ``<C1>``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from tidegate.quick_dataclass import dataclass

__all__ = ["MessageValues", "expanded", "file_name", "message", "messages_of", "starred"]

_BEGINS: Final = re.compile(r"^#[ \t]*(\d+)(?=\s|$)[ \t]?", re.MULTILINE)
_PLACE: Final = re.compile(r"<([IRDC])(\d+)>")
_VARIABLE: Final = re.compile(r"\$(?:\{([^}]*)\}|\(([^)]*)\)|([A-Za-z0-9]+))")
_REAL_DIGITS: Final = 6  # those of a number of single precision
_DOUBLE_DIGITS: Final = 12


@dataclass(frozen=True, slots=True)
class MessageValues:
    """What is put into a message: IW, RW, DW and CW of BLOERS.

    Parameters
    ----------
    integers, reals, doubles, texts : for ``<I1>``, ``<R1>``, ``<D1>``, ``<C1>`` and so on.
    """

    integers: Sequence[int] = ()
    reals: Sequence[float] = ()
    doubles: Sequence[float] = ()
    texts: Sequence[str] = ()

    def of(self, letter: str, number: int) -> str | None:
        """The text for one place; None if there is no such value."""
        values: Sequence[object] = {"I": self.integers, "R": self.reals, "D": self.doubles, "C": self.texts}[letter]
        if not 1 <= number <= len(values):
            return None
        value = values[number - 1]
        if letter == "I":
            return str(int(value))  # pyright: ignore[reportArgumentType] - numbers of any kind
        if letter == "C":
            return str(value).rstrip()
        return f"{float(value):.{_REAL_DIGITS if letter == 'R' else _DOUBLE_DIGITS}g}"  # pyright: ignore[reportArgumentType] - likewise


def expanded(template: str, values: MessageValues) -> str:
    """A template with values in their places; a place for which there is no value stays.

    Examples
    --------
    >>> expanded("Parameter I (= <I2>) has to be in the range <I1> <= I <= <I3>.", MessageValues(integers=(1, 7, 4)))
    'Parameter I (= 7) has to be in the range 1 <= I <= 4.'
    """

    def put(place: re.Match[str]) -> str:
        found = values.of(place[1], int(place[2]))
        return place[0] if found is None else found

    return _PLACE.sub(put, template)


def messages_of(text: str) -> dict[int, str]:
    r"""The templates of a message file by number; of two with one number the first.

    Examples
    --------
    >>> messages_of("a heading\n#1 too small\n#4 first line\n  second line\n")
    {1: 'too small', 4: 'first line\n  second line'}
    """
    found: dict[int, str] = {}
    begins = list(_BEGINS.finditer(text))
    ends = [*(following.start() for following in begins[1:]), len(text)][: len(begins)]
    for begin, end in zip(begins, ends, strict=True):
        # any other line that begins with # ends a message too
        body = re.split(r"^#", text[begin.end() : end], maxsplit=1, flags=re.MULTILINE)[0]
        found.setdefault(int(begin[1]), body.rstrip())
    return found


def file_name(written: str, variables: Mapping[str, str] | None = None) -> str:
    """A file name with the environment variable in front that it asks for: ``$NAME/file``, ``${NAME}file`` or ``$(NAME)file``.

    A variable that is not set stays as it is written.
    """
    known = os.environ if variables is None else variables
    match = _VARIABLE.match(written)
    name = next((group for group in match.groups() if group is not None), "") if match else ""
    return known[name] + written[match.end() :] if match and name in known else written


def message(number: int, text: str, file: str | Path | None, values: MessageValues | None = None, folders: Sequence[Path] = ()) -> str:
    """The message of a number, or ``text`` as it is where there is no such file or number.

    Parameters
    ----------
    file : the message file (LIB); a relative name is looked for in ``folders``, then in the working directory. None or blank for none.
    """
    written = file_name(str(file).strip()) if file is not None else ""
    if not written:
        return text
    for folder in (*folders, Path()):
        path = folder / written
        try:
            template = messages_of(path.read_text(encoding="utf-8", errors="replace")).get(number)
        except OSError:
            continue
        if template is not None:
            return expanded(template, values or MessageValues())
    return text


def starred(text: str) -> str:
    """How a message is printed: five stars and a blank in front."""
    return f"***** {text}"
