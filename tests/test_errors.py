"""The tree on top of errors.py is the whole tree."""

from __future__ import annotations

import importlib
import pkgutil
import re

import tidegate as tg
from tidegate import errors
from tidegate.integrators.kernel_cache import kernel

NATIVE = ("tidegate.events.", "tidegate.integrators.", "tidegate.linear.", "tidegate.sensitivity.", "tidegate.csmp.machine.")


def every_exception() -> set[type[BaseException]]:
    """All exception classes below the base, after every module was loaded."""
    for module in pkgutil.walk_packages(tg.__path__, "tidegate."):
        if not module.name.endswith("__main__"):
            # machine code is kept by what it is made of; imported as other modules are, Numba would keep it by the date of one file, and run it
            # when others have changed
            load = kernel if module.name.startswith(NATIVE) else importlib.import_module
            load(module.name)
    found: set[type[BaseException]] = {errors.TidegateError, errors.InterruptedRunError}
    waiting: list[type[BaseException]] = [errors.TidegateError]
    while waiting:
        below = [kind for kind in waiting.pop().__subclasses__() if kind.__module__.startswith("tidegate")]
        found.update(below)
        waiting += below
    return found


def test_every_exception_is_in_the_tree_and_public() -> None:
    names = {kind.__name__ for kind in every_exception()}
    assert names == set(re.findall(r"^[ │├└─]*(\w+Error)\b", errors.__doc__ or "", re.MULTILINE))
    assert names == {name for name in tg.__all__ if name.endswith("Error")}


def test_an_unknown_name_is_what_python_expects() -> None:
    for base in (tg.UsageError, AttributeError, KeyError):
        assert issubclass(tg.UnknownNameError, base)
