"""`tg.precompile` and `tg.load_component`: a component in a file (front end of components: an instance goes into the file, a class comes out).

Equations are kept as a graph, put together and under full names (DSblock 4.0a as we read it, section 10, grade "graph"): Python's part of the work is
done, aliases, index and states are found out in the whole of which the component becomes a part. In the grade "sealed" names that are not public are
numbers (``sealed``). A file holds data, no code: opening it runs nothing.
"""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final, Literal, cast

from tidegate.errors import TidegateError, UnknownNameError, UsageError
from tidegate.expressions.tracing import written_at
from tidegate.frontends.components.component import Component
from tidegate.frontends.components.connectors import Connector, Flow, InputSignal, OutputSignal, Potential
from tidegate.frontends.components.declarations import ATTRIBUTES, UNSET, Declaration, Input, Modification, Output, Parameter
from tidegate.frontends.components.lower_component import lower
from tidegate.frontends.components.model_part import ModelPart, declaration_of
from tidegate.frontends.components.part_array import Array, PartArray
from tidegate.frontends.components.sealed import sealed, without_names_of_tables
from tidegate.model import Model, Variable, VariableRole, element_names
from tidegate.model.portable import as_data, from_data
from tidegate.model.ports import OpenModel
from tidegate.wrong_calls import explained

__all__ = ["StoredPart", "load_component", "precompile"]

_FORMAT: Final = "tidegate component"
_VERSION: Final = 2
_MOST_BYTES: Final = 1 << 28  # what a file may unpack to
_KINDS: Final[dict[str, type[Declaration]]] = {kind.__name__: kind for kind in (Potential, Flow, InputSignal, OutputSignal, Input, Output, Parameter)}


@explained
def precompile(
    component: Component, path: str | os.PathLike[str], *, grade: Literal["graph", "sealed"] = "graph", public: Sequence[str] | None = None
) -> Path:
    """Put a component into a file, from which `load_component` makes a class again; connectors and parameters stay open.

    Parameters
    ----------
    component : an instance; values given to it are the defaults of the class.
    path : of the file, usually with the suffix ``.tgm``; it is written whole or not at all.
    grade : ``"sealed"`` leaves in the file nothing readable but the class's name, connectors, inputs, outputs and what is public.
    public : of a sealed component names of variables and parameters that stay, or of parts with all in them; every parameter if not given.
        Parameters that are not public are numbers from then on.

    Raises
    ------
    ModelError, UsageError : the component is wrong, or has what a file cannot hold: functions that are called.
    UnknownNameError : there is nothing of a name that is to be public.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from tidegate.library.electrical import Resistor
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Stored = load_component(precompile(Resistor(R=5.0), pathlib.Path(folder) / "resistor.tgm"))
    >>> Stored.__name__, sorted(Stored().parts())
    ('Resistor', ['n', 'p'])
    """
    kind = type(component).__name__
    if isinstance(component, type) or not isinstance(component, Component):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UsageError(f"{component!r} is no instance of a component", hint="tg.precompile(Motor(), 'motor.tgm')")
    if grade not in ("graph", "sealed") or (public is not None and grade == "graph"):
        what = f"there is no grade {grade!r}" if grade not in ("graph", "sealed") else "in the grade 'graph' everything is public"
        raise UsageError(what, hint="tg.precompile(Motor(), 'motor.tgm', grade='sealed', public=['w'])", origin=written_at())
    if isinstance(public, str):
        raise UsageError(f"public is {public!r}; names are expected", hint=f"public=[{public!r}]", origin=written_at())
    model = lower(component, kind, is_open=True)
    if model.opaque_parts or model.step_events:
        raise UsageError(f"{kind} has functions that are called, which a file cannot hold", hint="write equations")
    placed = {name: component.part(name) for name in component._parts()}  # noqa: SLF001 - one package
    ends = {name: _end(kind, name, item) for name, item in placed.items() if _is_end(item)}
    required = [name for name, item in component.declarations().items() if isinstance(item, InputSignal)]
    required += [path for name, end in ends.items() for path, role in _paths(name, end).items() if role == "InputSignal"]
    content = {
        "format": _FORMAT,
        "version": _VERSION,
        "name": kind,
        "text": type(component).__doc__ or "",
        "connectors": ends,
        "required": required,
        "parts": {path: type(part).__name__ for path, part in _tree(component) if not isinstance(part, Connector)},
    }
    if grade == "sealed":
        of_connectors = [path for name, end in ends.items() for path in _paths(name, end)]
        model = sealed(model, of_connectors, public)
        content |= {"text": "A sealed part.", "parts": {}, "model": without_names_of_tables(as_data(model))}
    else:
        content["model"] = as_data(model)
    body = json.dumps(content, allow_nan=False).encode()
    return _write_whole(Path(path), body)


def _is_end(item: object) -> bool:
    """A connector, or an array of connectors."""
    return isinstance(item, Connector) or (isinstance(item, PartArray) and all(isinstance(one, Connector) for one in item.named("").values()))


def _end(kind: str, name: str, end: Connector | PartArray) -> dict[str, Any]:
    """A connector as data: its variables, connectors in it; of an array its shape, and what is in each."""
    if isinstance(end, PartArray):
        each = [_end(kind, own, one) for own, one in end.named(name).items()]
        if any(one != each[0] for one in each):
            raise UsageError(f"{kind}.{name} has connectors of several kinds, which a file cannot hold")
        return {"shape": list(end.shape), "each": each[0] if each else {"class": "", "variables": {}, "inside": {}}}
    variables: dict[str, str] = {}
    for own, item in end._own_declarations().items():  # noqa: SLF001 - one package
        found = next((word for word, known in _KINDS.items() if type(item) is known), None)
        if found is None:
            what = f"{kind}.{name}.{own} is a tg.{type(item).__name__}"
            raise UsageError(f"{what}, which a file cannot hold in a connector", hint="declare it in the component beside the connector")
        variables[own] = found
    inside = {own: _end(kind, f"{name}.{own}", end.part(own)) for own in end._parts()}  # noqa: SLF001
    return {"class": type(end).__name__, "variables": variables, "inside": inside}


def _paths(name: str, end: Mapping[str, Any]) -> dict[str, str]:
    """Every variable of a stored connector by its path, and what it is."""
    if "shape" in end:
        places = element_names(name, tuple(end["shape"]))
        return {path: role for place in places for path, role in _paths(place, end["each"]).items()}
    own = {f"{name}.{variable}": str(role) for variable, role in end["variables"].items()}
    return own | {path: role for inner, one in end["inside"].items() for path, role in _paths(f"{name}.{inner}", one).items()}


def _tree(component: Any, path: str = "") -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for name, part in component.parts().items():
        own = f"{path}.{name}" if path else name
        found += [(own, part), *_tree(part, own)]
    return found


def _write_whole(path: Path, body: bytes) -> Path:
    if not path.parent.is_dir():
        raise UsageError(f"there is no folder {path.parent}", hint="make it first")
    if path.is_dir():
        raise UsageError(f"{path} is a folder", hint="give the name of a file, as motor.tgm")
    hidden = path.with_name(f".{path.name}.{os.getpid()}")
    with hidden.open("wb") as file:
        try:
            with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr("component.json", body)
                archive.writestr("sha256", hashlib.sha256(body).hexdigest())
        except BaseException:
            hidden.unlink()
            raise
    hidden.replace(path)
    return path


class StoredPart(ModelPart, Component):
    """A part whose equations come from a file."""

    _content: ClassVar[Mapping[str, Any]]

    def _modify(self, name: str, value: Any) -> None:
        declared, head, _, attribute = self.declarations(), *name.rpartition(".")
        if (own := next((declared[item] for item in (name, head) if item in declared), None)) is not None and own.is_hidden:
            raise UnknownNameError(f"{type(self).__name__} has no variable {name!r} that could be given", origin=self._written_at)
        if name not in declared and isinstance(value, Mapping) and any(own.startswith(f"{name}.") for own in declared):
            for inner, item in cast("Mapping[str, Any]", value).items():
                self._modify(f"{name}.{inner}", item)
        elif name not in declared and head in declared and attribute in ATTRIBUTES:
            self._overrides[head] = Modification.of(self._overrides.get(head, UNSET)).and_attribute(attribute, value)
        else:
            super()._modify(name, value)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and any(own.startswith(f"{name}.") for own in self.declarations()):
            return _Inside(self, name)
        return super().__getattr__(name)

    def __dir__(self) -> list[str]:
        hidden = {name for name, item in self.declarations().items() if item.is_hidden}
        own = dict.fromkeys(name.partition(".")[0] for name in [*self.declarations(), *self._parts()] if name not in hidden)
        return [*own, *(name for name in super().__dir__() if "." not in name and name not in hidden)]

    def model_with(self, given: Any) -> Model:  # noqa: ARG002, all of its inputs are needed
        """Its model."""
        return self._opened.model

    def __reduce__(self) -> tuple[Any, ...]:
        return _made_again, (self._content, self.__getstate__())


class _Inside:
    """A part of a stored part: its variables can be read by their names."""

    def __init__(self, part: StoredPart, path: str) -> None:
        self._part, self._path = part, path

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._part, f"{self._path}.{name}")

    def __dir__(self) -> list[str]:
        first = f"{self._path}."
        return list(dict.fromkeys(own.removeprefix(first).partition(".")[0] for own in self._part.declarations() if own.startswith(first)))

    def __repr__(self) -> str:
        return f"{self._part!r}.{self._path}"


def _made_again(content: Mapping[str, Any], inside: Mapping[str, Any]) -> StoredPart:
    part = _class_of(content)()
    vars(part).update(inside)
    return part


@explained
def load_component(path: str | os.PathLike[str]) -> type[StoredPart]:
    """The class of the component that a file holds; it is used like any other, and opening the file runs nothing of it.

    Parameters
    ----------
    path : of a file that `precompile` has written.

    Raises
    ------
    UsageError : there is no such file, or it is damaged, or is something else.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from tidegate.library.electrical import Capacitor
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Stored = load_component(precompile(Capacitor(C=0.1), pathlib.Path(folder) / "capacitor.tgm"))
    >>> Stored(C=0.2).C
    C
    """
    file = Path(path)
    if not file.is_file():
        raise UsageError(f"there is no file {file}", origin=written_at())
    try:
        body, seal = _unpacked(file)
    except Exception:  # noqa: BLE001 - whatever is wrong with it
        raise UsageError(f"{file} holds no component, or is damaged", hint="write it with tg.precompile(...)", origin=written_at()) from None
    if hashlib.sha256(body).hexdigest() != seal:
        raise UsageError(f"{file} is damaged: its contents are not what was written", hint="write it again", origin=written_at())
    try:
        content = json.loads(body)
        version = content["version"] if content["format"] == _FORMAT else 0
        if version == _VERSION:
            return _class_of(content)
    except TidegateError:
        raise
    except Exception:  # noqa: BLE001
        raise UsageError(f"{file} holds no component", hint="write it with tg.precompile(...)", origin=written_at()) from None
    if not version:
        raise UsageError(f"{file} holds no component", hint="write it with tg.precompile(...)", origin=written_at())
    raise UsageError(f"{file} is of version {version}, and this tidegate reads version {_VERSION}", hint="write it again with this tidegate")


def _unpacked(file: Path) -> tuple[bytes, str]:
    with zipfile.ZipFile(file) as archive:
        sizes = {item.filename: item.file_size for item in archive.infolist()}
        if set(sizes) != {"component.json", "sha256"} or sum(sizes.values()) > _MOST_BYTES:
            raise ValueError(file)
        return archive.read("component.json"), archive.read("sha256").decode()


def _class_of(content: Mapping[str, Any]) -> type[StoredPart]:
    model = from_data(content["model"])
    if not isinstance(model, Model):
        raise TypeError(model)
    of_ends = {path for name, end in content["connectors"].items() for path in _paths(name, end)}
    inputs = tuple(variable.name for variable in model.variables if variable.role is VariableRole.INPUT)
    outputs = tuple(variable.name for variable in model.variables if variable.role is VariableRole.OUTPUT)
    opened = OpenModel(model, frozenset(content["required"]), inputs, outputs)
    by_name = {variable.name: variable for variable in model.variables}
    ends = {name: _connector(name, end, by_name, opened) for name, end in content["connectors"].items()}
    declared = {variable.name: declaration_of(variable, opened) for variable in model.variables if variable.name not in of_ends}
    own = {"_opened": opened, "_content": content, "__doc__": content["text"], "time_unit": model.time_unit, "check_units": model.check_units}
    return type(str(content["name"]), (StoredPart,), {**declared, **ends, **own})


def _connector(name: str, end: Mapping[str, Any], by_name: Mapping[str, Variable], opened: OpenModel) -> Any:
    if "shape" in end:
        shape = tuple(int(length) for length in end["shape"])
        places = element_names(name, shape)
        return Array(_connector(places[0], end["each"], by_name, opened), shape) if places else Array(Connector, shape)
    variables = {own: declaration_of(by_name[f"{name}.{own}"], opened, _KINDS[role]) for own, role in end["variables"].items()}
    inside = {own: _connector(f"{name}.{own}", one, by_name, opened) for own, one in end["inside"].items()}
    return type(str(end["class"]), (Connector,), {**variables, **inside})()
