"""Find the model that ``FILE[:MODEL]`` names (stage: command line). In goes that text, out come a lowerable object and the file's module."""

from __future__ import annotations

import importlib.util
import math
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any, Final, cast

from tidegate.errors import UsageError
from tidegate.frontends.components import load_component
from tidegate.model import Lowerable
from tidegate.names import close_names, unknown_name
from tidegate.quick_dataclass import dataclass

__all__ = ["STORED", "Source", "load_source"]

STORED: Final = ".tgm"
_PREFIX: Final = "_tidegate_file_"  # a private name, so that a file called json.py hides nothing


@dataclass(frozen=True, slots=True)
class Source:
    """A model found in a file.

    Parameters
    ----------
    model : what to simulate.
    name : what it is called there.
    path : of the file.
    t_span : the file's own time span, if it has one.
    """

    model: Lowerable
    name: str
    path: Path
    t_span: tuple[float, float] | None


def load_source(text: str) -> Source:
    """Run the file and take the model out of it.

    Raises
    ------
    UsageError
        If there is no such file, or no such model in it, or several and none is named.
    """
    path, name = _split(text)
    if path.suffix == STORED:
        return _stored(path, name)
    module = _import(path)
    name, found = _named(module, path, name) if name else _only(module, path)
    # an instance is what can be simulated; a class stands for the instance with its own default values
    model: Any = _made(found, name, path) if isinstance(found, type) else found
    return Source(cast(Lowerable, model), name, path, _t_span(module, path))


def _made(kind: Any, name: str, path: Path) -> Any:
    """The instance with a class's own default values."""
    try:
        return kind()
    except TypeError as error:
        if error.__traceback__ is not None and error.__traceback__.tb_next is not None:
            raise  # by a body
        hint = f"a line at the top level of {path} that makes it, e.g. model = {name}(...)"
        raise UsageError(f"{name} in {path} cannot be made without values: {error}", hint=hint) from None


def _stored(path: Path, name: str) -> Source:
    """A component that a file holds; opening it runs nothing."""
    try:
        kind = load_component(path)
    except UsageError as error:
        raise UsageError(error.message, hint=error.hint) from None  # nothing that the user has written led here
    if name not in ("", kind.__name__):
        raise unknown_name("model", name, [kind.__name__], of=str(path))
    return Source(cast(Lowerable, kind()), kind.__name__, path, None)


def _split(text: str) -> tuple[Path, str]:
    whole = Path(text)
    head, colon, tail = text.rpartition(":")
    # a drive letter is no file: "C:\models\tank.py" has nothing to split
    if colon and len(head) > 1 and not whole.is_file() and all(part.isidentifier() for part in tail.split(".")):
        path, name = Path(head), tail
    else:
        path, name = whole, ""
    if path.is_dir():
        raise UsageError(f"{path} is a folder", hint="name a Python file in it")
    if not path.is_file():
        folder = path.parent if path.parent.is_dir() else Path()
        close = close_names(path.name, (file.name for suffix in (".py", STORED) for file in sorted(folder.glob(f"*{suffix}"))))
        hint = " or ".join(str(path.parent / other) for other in close)
        raise UsageError(f"there is no file {path}", hint=hint or "a Python file, e.g. tank.py:model")
    if path.suffix not in (".py", STORED):
        raise UsageError(
            f"{path} is no Python file", hint=f"a file whose name ends in .py, or a component that tg.precompile has put into a {STORED} file"
        )
    return path, name


def _import(path: Path) -> ModuleType:
    resolved = path.resolve()
    name = _PREFIX + resolved.stem
    spec = importlib.util.spec_from_file_location(name, resolved)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} cannot be read as Python", hint="a file whose name ends in .py")
    module = importlib.util.module_from_spec(spec)
    # as `python FILE` does, so that the file may import its neighbours
    folder = str(resolved.parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:
        if error.filename:
            raise
        raise UsageError(f"{path} is no text in Python: {error.msg}", hint="a file that `python` runs") from None
    except SystemExit as stop:
        hint = 'put that part under `if __name__ == "__main__":`'
        raise UsageError(f"{path} ended itself with exit({stop.code}) when it was read", hint=hint) from stop
    return module


def _is_model(value: object, module: ModuleType) -> bool:
    if isinstance(value, type):
        # imported classes, above all the base class itself, are tools and not models
        return value.__module__ == module.__name__ and hasattr(value, "lower")
    return isinstance(value, Lowerable) and not isinstance(value, str | bytes | ModuleType)


def _models(module: ModuleType) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in vars(module).items():
        if not name.startswith("_") and _is_model(value, module) and not any(value is other for other in found.values()):
            found[name] = value
    return found


def _named(module: ModuleType, path: Path, name: str) -> tuple[str, Any]:
    value: Any = module
    for part in name.split("."):
        if not hasattr(value, part):
            raise unknown_name("model", name, list(_models(module)), of=str(path))
        value = getattr(value, part)
    if not _is_model(value, module) and not (isinstance(value, type) and hasattr(value, "lower")):
        raise UsageError(
            f"{name} in {path} is {_described(value)}, not a model", hint=_choice(_models(module)) or "make one with tg.ode, tg.dae or tg.Component"
        )
    return name, value


def _only(module: ModuleType, path: Path) -> tuple[str, Any]:
    models = _models(module)
    if "model" in models:
        return "model", models["model"]
    instances = {name: value for name, value in models.items() if not isinstance(value, type)}
    candidates = instances or models
    if not candidates:
        raise UsageError(f"{path} holds no model", hint="model = tg.ode(...), tg.dae(...) or a subclass of tg.Component at the top level of the file")
    if len(candidates) > 1:
        raise UsageError(f"{path} holds {len(candidates)} models", hint=_choice(f"{path}:{name}" for name in candidates))
    return next(iter(candidates.items()))


def _choice(names: Iterable[str]) -> str:
    return " or ".join(names)


def _described(value: object) -> str:
    return f"a {type(value).__name__}"


def _t_span(module: ModuleType, path: Path) -> tuple[float, float] | None:
    given: Any = getattr(module, "t_span", None)
    if given is None:
        return None
    try:
        first, last = (float(value) for value in given)
    except (TypeError, ValueError):
        raise UsageError(f"t_span in {path} is {given!r}", hint="two numbers: t_span = (0, 20)") from None
    if not (math.isfinite(first) and math.isfinite(last)):
        raise UsageError(f"t_span in {path} is {given!r}", hint="two finite numbers: t_span = (0, 20)")
    return first, last
