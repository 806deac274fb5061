"""What has variables and a place in a tree (front end of components: class attributes and modifiers go in, placed copies come out).

Parts are class attributes, and every instance has copies of its own of them: ``self.R1`` is the ``Resistor`` of the class body with a path, so that
its variables are ``R1.v`` and so on. A value given to a part is read where it was written: a function in ``R1 = Resistor(R=lambda self: self.R0)`` is
one of the component around it, a number is a number. Otter (DSblock 4.0a, section 8) calls this inserting a component under a name.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, ClassVar, Final, Self, cast, overload

import numpy as np

from tidegate.errors import Origin, UnknownNameError, UsageError
from tidegate.expressions.tracing import written_at
from tidegate.expressions.tracing.sent_functions import WrittenIn
from tidegate.expressions.tracing.source import followed_place
from tidegate.expressions.tracing.value_kinds import is_function
from tidegate.frontends.components.class_body import require_value
from tidegate.frontends.components.declarations import ATTRIBUTES, UNSET, Constant, Declaration, Modification, Output
from tidegate.frontends.components.elements import is_array
from tidegate.frontends.components.part_rules import by_name, refuse_arithmetic, require_mods, require_no_collection
from tidegate.model import VariableRole
from tidegate.names import suggestion

__all__ = ["Part", "Parts", "joined", "outer_scope", "unchanged_classes"]

_DEEPEST: Final = 100  # parts in parts; more is a part of itself
_MANY_CALLS: Final = 250  # one within the other; with fewer, no component is made in itself for ever
_SETTINGS: Final = frozenset({"time_unit", "check_units"})  # kept names that users give values
_VALUES: Final = (bool, int, float, list, tuple, np.ndarray, np.generic)


def joined(path: str, name: str) -> str:
    """A name with a path in front.

    Examples
    --------
    >>> joined("", "R1"), joined("R1.p", "v")
    ('R1', 'R1.p.v')
    """
    return f"{path}.{name}" if path else name


def outer_scope(part: Any, name: str) -> Any:
    """The component in which the value given for a variable of a part was written; None for the part itself."""
    return cast("dict[str, Any]", vars(part).get("_scopes", {})).get(name)


@refuse_arithmetic
class Part:
    """A component or a connector: variables, parts in it, and where it stands.

    Parameters
    ----------
    mods : values and attributes by path, ``{"R1.R": 5.0, "p.v.nominal": 100.0}``.
    values : values that differ from the class's, by name; ``tg.start(5.0, fixed=True)`` gives attributes besides; for a part another part in
        its place, or a dictionary of values for it.
    """

    _kept_names: ClassVar[frozenset[str]] = frozenset()
    _overrides: dict[str, Any]
    _mods: dict[str, Any]

    def __init__(self, *unnamed: Any, mods: Mapping[str, Any] | None = None, **values: Any) -> None:
        self._written_at = written_at()
        _refuse_itself_without_end(self)
        if unnamed:
            names = [name for name, item in self.declarations().items() if item.role is VariableRole.PARAMETER] or list(self.declarations())
            example = f"{type(self).__name__}({names[0] if names else 'R'}={unnamed[0]!r})"
            raise UsageError(f"{type(self).__name__} takes values by their names", origin=self._written_at, hint=f"write e.g. {example}")
        if followed_place.get() is not None:
            raise UsageError(
                f"a part, {type(self).__name__}, is made while equations are read",
                origin=self._written_at,
                hint=f"make it an attribute of the class, `{type(self).__name__.lower()} = {type(self).__name__}(...)`, or in __init__",
            )
        require_mods(mods, self._written_at)
        self._overrides = {}
        self._mods = {}
        for name, value in {**values, **(mods or {})}.items():
            self._modify(name, value)

    def _modify(self, name: str, value: Any) -> None:
        """Take one value that was given, after looking whether there is something of this name."""
        head, _, rest = name.partition(".")
        require_value(value, name)
        value = by_name(value)
        kind, declared, parts = type(self).__name__, self.declarations(), self._parts()
        if head not in declared and head.partition("[")[0] not in parts:
            known = [*_shown(declared), *parts]
            raise UsageError(
                f"{kind} has no variable or part {head!r}" if parts else f"{kind} has no variable {head!r}",
                hint=suggestion(head, known, f"its variables are {', '.join(known) or 'none'}"),
                origin=self._written_at,
            )
        if head not in declared:
            self._modify_part(head, rest, value)
        elif rest and rest not in ATTRIBUTES:
            hint = suggestion(rest, ATTRIBUTES, f"there are {', '.join(ATTRIBUTES)}")
            raise UsageError(f"{kind}.{head} has no attribute {rest!r}", origin=self._written_at, hint=hint)
        elif isinstance(declared[head], Output) and (not rest or rest == "start"):
            raise UsageError(f"{kind}.{head} is an output; its value follows from the equations", origin=declared[head].origin)
        elif rest:
            self._overrides[head] = Modification.of(self._overrides.get(head, UNSET)).and_attribute(rest, value)
        else:
            self._overrides[head] = value

    def _modify_part(self, name: str, rest: str, value: Any) -> None:
        value = self._part_of(value)
        if isinstance(value, Part) and "[" in f"{name}{rest}":
            raise UsageError(
                f"{type(self).__name__}.{name} cannot be replaced by itself",
                origin=self._written_at,
                hint="replace all parts of the array, or give values",
            )
        if rest:
            self._mods[f"{name}.{rest}"] = value
        elif isinstance(value, Mapping):
            self._mods |= {f"{name}.{inner}": item for inner, item in cast("Mapping[str, Any]", value).items()}
        elif isinstance(value, Part):
            self._overrides[name] = value
        else:
            raise UsageError(
                f"{type(self).__name__}.{name} is a part, and was given {value!r}",
                origin=self._written_at,
                hint=f"give another part, {name}=Resistor(R=5.0), or values for it, {name}={{'R': 5.0}}",
            )

    @classmethod
    def _part_of(cls, item: Any) -> Any:
        """What becomes a part where it stands among parts, as that part; everything else as it is."""
        return item

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        for name, item in list(vars(cls).items()):
            part = cls._part_of(item)
            if part is not item:
                setattr(cls, name, part)
                part.__set_name__(cls, name)
        inherited: dict[str, Declaration] = {}
        for base in reversed(cls.__mro__[1:]):
            inherited |= {name: item for name, item in vars(base).items() if isinstance(item, Declaration)}
        for name, item in list(vars(cls).items()):
            if isinstance(item, Declaration | Part | Parts) and name in cls._kept_names:
                place = item.origin if isinstance(item, Declaration) else written_at()
                raise UsageError(f"{cls.__name__}.{name}: this name is kept for the component itself", origin=place, hint="choose another name")
            if name in cls._kept_names - _SETTINGS and isinstance(item, dict | list | tuple | set | str | int | float):
                place = written_at()
                raise UsageError(f"{cls.__name__}.{name}: this name is kept for the component itself", origin=place, hint="choose another name")
            if not name.startswith("_") and not (isinstance(item, type) and item.__qualname__ == f"{cls.__qualname__}.{name}"):
                require_no_collection(cls.__name__, name, item, Part, written_at())
            part = next((vars(base)[name] for base in cls.__mro__[1:] if name in vars(base)), None)
            if isinstance(part, Part | Parts) and not isinstance(item, Part | Parts):
                what = type(item).__name__ if isinstance(item, Declaration) else repr(item)
                raise UsageError(
                    f"{cls.__name__}.{name} is {what}, but a base class has a part of this name",
                    origin=written_at(),
                    hint=f"give another part, or change values of it: {cls.__name__}({name}={{'R': 5.0}})",
                )
            declared = inherited.get(name)
            if declared is None or isinstance(item, Declaration):
                continue
            if not isinstance(item, _VALUES):
                raise UsageError(
                    f"{cls.__name__}.{name} is {item!r}, but {declared.owner} declares a variable of this name",
                    origin=declared.origin,
                    hint=f"give a new value, `{name} = 1.0`, a new declaration, or choose another name",
                )
            setattr(cls, name, declared.with_value(item))
        cls._written_in = WrittenIn([item for item in vars(cls).values() if not isinstance(item, Part | Parts)], everywhere=False)

    # -- as an attribute of another

    def __set_name__(self, owner: type, name: str) -> None:
        known, before = vars(self).get("_named", name), vars(self).get("_owner", owner.__name__)
        if known != name and issubclass(owner, Part):
            raise UsageError(
                f"{owner.__name__}.{name} is the same part as {before}.{known}",
                origin=self._written_at,
                hint=f"make each by itself: {known}, {name} = {type(self).__name__}(), {type(self).__name__}()",
            )
        vars(self).update(_named=name, _owner=owner.__name__)

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type | None = None) -> Self: ...
    def __get__(self, instance: object | None, owner: type | None = None) -> Any:
        if not isinstance(instance, Part):
            return self
        return instance.part(vars(self).get("_named", ""))

    def __setattr__(self, name: str, value: Any) -> None:
        value = self._part_of(value)
        if not name.startswith("_"):
            require_no_collection(type(self).__name__, name, value, Part, written_at())
            if name in self._parts() and not isinstance(value, Part | Parts):
                raise UsageError(
                    f"{type(self).__name__}.{name} is a part, and was given {value!r}",
                    origin=written_at(),
                    hint=f"give another part, or values when the instance is made: {type(self).__name__}({name}={{'R': 5.0}})",
                )
        if isinstance(value, Part | Parts) and not name.startswith("_"):
            self._added[name] = value
            if isinstance(value, Part):
                vars(value)["_named"] = name
            self._placed.pop(name, None)
        else:
            super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and name in vars(self).get("_own_parts", {}):
            return self.part(name)
        if name.startswith("_"):
            raise AttributeError(name)  # what Python and numpy look for
        known = [*_shown(self.declarations()), *self._parts()]
        raise UnknownNameError(f"{type(self).__name__} has no {name!r}", hint=suggestion(name, known, f"it has {', '.join(known) or 'no variables'}"))

    def __getstate__(self) -> dict[str, Any]:
        return {name: item for name, item in vars(self).items() if name != "_structure_key"}  # which is known by identities

    def __setstate__(self, state: dict[str, Any]) -> None:
        for kind in type(self).__mro__:
            written_in: Any = vars(kind).get("_written_in")
            if written_in is not None:
                written_in.restore(list(vars(kind).values()))
        vars(self).update(state)

    def __repr__(self) -> str:
        return f"{self._path} ({type(self).__name__})" if self._path else f"{type(self).__name__}()"

    # -- the tree

    @property
    def _added(self) -> dict[str, Any]:
        return vars(self).setdefault("_own_parts", {})

    @property
    def _placed(self) -> dict[str, Any]:
        return vars(self).setdefault("_placed_parts", {})

    @property
    def _path(self) -> str:
        return vars(self).get("_place", "")

    @classmethod
    def declarations(cls) -> dict[str, Declaration]:
        """Every declared variable by name; those of base classes first."""
        return {name: item for name, item in _attributes(cls).items() if isinstance(item, Declaration)}

    @classmethod
    def _signals(cls) -> list[str]:
        """Names of what it gives and needs by signals, as they are written."""
        return [name for name, item in cls.declarations().items() if isinstance(item, Output) or item.role is VariableRole.INPUT]

    def _parts(self) -> dict[str, Part | Parts]:
        """The parts of this instance by name, as they were written."""
        written = {**_attributes(type(self)), **vars(self).get("_own_parts", {})}
        return {name: item for name, item in written.items() if isinstance(item, Part | Parts)}

    def part(self, name: str) -> Any:
        """The part of a name, with its path; several where it is an array."""
        placed = self._placed
        if name not in placed:
            written = self._parts()[name]
            placed[name] = written.placed(self, name) if isinstance(written, Parts) else self._with_path(written, name)
        return placed[name]

    def parts(self) -> dict[str, Part]:
        """Every part by name, those of arrays by element: ``cell[3]``."""
        if not self._parts():
            return {}
        found: dict[str, Part] = {}
        for name in self._parts():
            item = self.part(name)
            found |= item.named(name) if not isinstance(item, Part) else {name: item}
        return found

    def _with_path(self, written: Part, name: str, values: Mapping[str, Any] | None = None) -> Part:
        """A copy of a part that stands in this one.

        Parameters
        ----------
        written : as it stands in the body of the class.
        name : with its place, in an array.
        values : that this element of an array has by itself.
        """
        scope = self
        own = name.partition("[")[0]
        if own in vars(self).get("_overrides", {}):
            written = self._overrides[own]
            scope = outer_scope(self, own) or self
        if self._path.count(".") >= _DEEPEST:
            raise UsageError(
                f"parts are in parts without end: {self._path[:60]}...", origin=written_at(), hint="no component can be a part of itself"
            )
        part = object.__new__(type(written))
        vars(part).update(vars(written))
        within = {inner: item for inner, item in vars(self).items() if inner == "_plain"}
        vars(part).update(_place=joined(self._path, name), _outer=self, _placed_parts={}, **within)
        declared = part.declarations() if values else {}
        variables = {key: value for key, value in (values or {}).items() if key in declared}
        vars(part)["_overrides"] = {**vars(written).get("_overrides", {}), **variables}
        vars(part)["_mods"] = dict(vars(written).get("_mods", {}))
        for key, value in (values or {}).items():
            if key not in declared:
                part._modify(key, value)
        vars(part)["_scopes"] = dict.fromkeys([*vars(part)["_overrides"], *vars(part)["_mods"]], scope)
        for path, value in vars(self).get("_mods", {}).items():
            head, _, rest = path.partition(".")
            if head in (own, name):
                _modify_placed(part, rest, _share(part, rest, value, name) if head != name else value, outer_scope(self, path) or self)
        _settle_constants(part)
        return part

    def _own_declarations(self) -> dict[str, Declaration]:
        """Its declarations with the values that were given to this instance."""
        overrides = vars(self).get("_overrides", {})
        return {name: item.modified(overrides[name]) if name in overrides else item for name, item in self.declarations().items()}


def _shown(declared: Mapping[str, Declaration]) -> list[str]:
    return [name for name, item in declared.items() if not item.is_hidden]


def _refuse_itself_without_end(part: Part) -> None:
    """A component that makes another of its own class in its ``__init__``, which makes another."""
    try:
        frame: Any = sys._getframe(_MANY_CALLS)  # noqa: SLF001 - there is no other way to ask how deep calls are
    except ValueError:
        return
    frame, count = sys._getframe(), 0  # noqa: SLF001
    while frame is not None:
        code = frame.f_code
        count += code.co_name == "__init__" and code.co_argcount > 0 and type(frame.f_locals.get(code.co_varnames[0])) is type(part)
        frame = frame.f_back
    if count > _DEEPEST:
        raise UsageError(
            f"{type(part).__name__} makes a {type(part).__name__} when it is made, and so without end",
            origin=vars(part)["_written_at"],
            hint="no component can be a part of itself; let the outermost make as many as there are: tg.Array(Part, n)",
        )


def _modify_placed(part: Part, name: str, value: Any, scope: Part) -> None:
    """A value that was written further out."""
    before = {**vars(part)["_overrides"], **vars(part)["_mods"]}
    part._modify(name, value)  # noqa: SLF001 - one class
    for key, item in {**vars(part)["_overrides"], **vars(part)["_mods"]}.items():
        if before.get(key, UNSET) is not item:
            vars(part)["_scopes"][key] = scope


def _share(part: Part, name: str, value: Any, place: str) -> Any:
    """What one element of an array of parts has of a value that was given for all."""
    declared = part.declarations().get(name)
    index = place.partition("[")[2].rstrip("]")
    if declared is None or not index or not is_array(value):
        return value
    given: Any = np.asarray(value)
    at = tuple(map(int, index.split(",")))
    if given.ndim < len(at) + len(declared.shape_of(declared.value)):
        return value
    if any(k >= length for k, length in zip(at, given.shape, strict=False)):
        raise UsageError(f"{place}.{name}: the values that were given have the shape {given.shape}, and no element for it")
    return given[at].tolist()


def _settle_constants(part: Part) -> None:
    """Numbers that decide the structure are known at once."""
    for name, item in part.declarations().items():
        given = vars(part)["_overrides"].get(name)
        if isinstance(item, Constant) and is_function(given):
            vars(part)["_overrides"][name] = given(outer_scope(part, name) or part)


_classes: Final[ContextVar[dict[type, dict[str, Any]] | None]] = ContextVar("classes", default=None)


@contextmanager
def unchanged_classes() -> Generator[None]:
    """While this lasts, classes are what they are, and need be looked through once only."""
    token = _classes.set({} if (known := _classes.get()) is None else known)
    try:
        yield
    finally:
        _classes.reset(token)


def _attributes(kind: type) -> dict[str, Any]:
    """Variables and parts that a class has by name; of base classes first, and what a class redefines with its own value."""
    known = _classes.get()
    if known is not None and kind in known:
        return known[kind]
    found: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        found |= vars(base)
    found = {name: item for name, item in found.items() if isinstance(item, Declaration | Part | Parts)}
    if known is not None:
        known[kind] = found
    return found


class Parts:
    """Several parts of one class under one name; see ``Array``."""

    def placed(self, outer: Part, name: str) -> Any:
        """All of them with their paths."""
        raise NotImplementedError

    def __iter__(self) -> Iterator[Any]:
        raise TypeError("an array of parts has no elements before an instance is made")

    @property
    def origin(self) -> Origin:
        """Where it was written."""
        return Origin()
