"""Numbers that stand for texts: the values of a variable like ``"idle"`` or ``"heating"``, and truth values. In: what a user gives. Out: its number,
or a sentence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, Final, cast

import numpy as np

from tidegate.errors import UsageError

__all__ = ["TRUTHS", "Texts", "flag_attributes", "flag_text", "text_of", "text_problem", "texts_to_numbers"]

Texts = tuple[tuple[str, int], ...]

TRUTHS: Final[Texts] = (("False", 0), ("True", 1))


def text_of(member: Enum) -> str:
    """The text of a member of an enumeration: its value if that is one, else its name."""
    return member.value if isinstance(member.value, str) else member.name


def flag_attributes(texts: Texts) -> dict[str, Any]:
    """What a dataset says of such numbers, by the CF conventions, section 3.5; nothing where there are no texts.

    Examples
    --------
    >>> flag_attributes((("on", 0), ("out of order", 4)))
    {'flag_values': array([0, 4], dtype=int32), 'flag_meanings': 'on out_of_order'}
    """
    if not texts:
        return {}
    return {
        "flag_values": np.array([value for _, value in texts], dtype=np.int32),
        "flag_meanings": " ".join("_".join(text.split()) for text, _ in texts),
    }


def flag_text(attributes: Mapping[str, Any], value: float) -> str:
    """What such attributes say of a number, "" where they say nothing.

    Examples
    --------
    >>> flag_text(flag_attributes(TRUTHS), 1.0)
    'True'
    """
    pairs = zip(attributes.get("flag_values", ()), str(attributes.get("flag_meanings", "")).split(), strict=True)
    return next((text for own, text in pairs if own == value), "")


def text_problem(name: str, value: object, texts: Texts) -> str:
    """What is said of a value that is none of a variable's texts.

    Examples
    --------
    >>> text_problem("state", "of", (("on", 0), ("off", 1)))
    "state is one of 'on', 'off', and not 'of'"
    """
    return f"{name} is one of {', '.join(repr(text) for text, _ in texts)}, and not {value!r}"


def texts_to_numbers(name: str, value: Any, texts: Texts) -> Any:
    """What stands for a text, or for a member of an enumeration; everything else as it is.

    Raises
    ------
    UsageError : it is none of the texts.
    """
    if texts and isinstance(value, list | tuple):
        return [texts_to_numbers(f"{name}[{k}]", item, texts) for k, item in enumerate(cast("Sequence[Any]", value))]
    if texts and isinstance(value, Enum):
        value = text_of(value)
    if not texts or not isinstance(value, str):
        return value
    if value not in dict(texts):
        hint = f"{name}={texts[0][0]!r}; a model of functions knows the texts that it names, or all members of an enumeration"
        raise UsageError(text_problem(name, value, texts), hint=hint)
    return dict(texts)[value]
