"""Attributes that a thing does not have, answered with where what was meant is. In go classes that users hold objects of, out come the same.

Python itself says ``'Event' object has no attribute 't'``, and names an attribute that is close only where nobody catches the error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tidegate.names import close_names

__all__ = ["answering", "no_attribute"]


def no_attribute(thing: object, name: str, called: str, other_words: Mapping[str, str]) -> AttributeError:
    """What is said of a name that is no attribute.

    Parameters
    ----------
    called : how users call such a thing, as ``event``.
    other_words : by a name that something has elsewhere, where it is here.
    """
    close = [] if name.startswith("_") else close_names(name, [one for one in dir(type(thing)) if not one.startswith("_")])
    instead = other_words.get(name) or (f"did you mean {called}.{close[0]}?" if close else "")
    return AttributeError(f"{type(thing).__name__!r} object has no attribute {name!r}" + (f"; {instead}" if instead else ""), name=name, obj=thing)


def answering[T: type](called: str, other_words: Mapping[str, str]) -> Callable[[T], T]:
    """The same class, whose objects answer for names that they do not have.

    Parameters
    ----------
    called, other_words : as for ``no_attribute``.

    Examples
    --------
    >>> @answering("tank", {"height": "tank.level"})
    ... class Tank:
    ...     level = 1.0
    >>> Tank().height
    Traceback (most recent call last):
    AttributeError: 'Tank' object has no attribute 'height'; tank.level
    """

    def with_answers(kind: T) -> T:
        def __getattr__(self: object, name: str) -> Any:  # noqa: N807 - it becomes one
            if hasattr(type(self), name):  # a property that has failed: its own error is the one to tell
                return object.__getattribute__(self, name)
            raise no_attribute(self, name, called, other_words)

        kind.__getattr__ = __getattr__
        return kind

    return with_answers
