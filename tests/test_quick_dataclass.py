"""Dataclasses of our own are what the standard library makes of the same class: every comparison, hash, text, signature and refusal."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import itertools
import pickle
from dataclasses import field
from functools import cached_property
from typing import Any, ClassVar

import pytest

from tidegate.quick_dataclass import quick_dataclass

OPTIONS = [
    dict(zip(("frozen", "eq", "slots", "kw_only", "repr"), chosen, strict=True)) for chosen in itertools.product((False, True), repeat=5)
]  # fmt: skip


class Fields:
    kind: ClassVar[str] = "a class's own"
    a: int
    b: list[int] = field(default_factory=list)
    c: float = field(default=1.5, repr=False)
    d: str = field(default="d", compare=False)
    e: int = field(default=7, init=False)
    f: list[int] = field(default_factory=lambda: [1], init=False, hash=False)
    _: dataclasses.KW_ONLY
    g: float = 2.5


class Nothing:
    """No field."""


class After:
    """What is computed from the fields."""

    a: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "a", self.a + 1.0)


class OfItsOwn:
    """What it has is left."""

    a: float = 1.0

    def __init__(self) -> None:
        object.__setattr__(self, "a", 5.0)

    def __repr__(self) -> str:
        return "mine"

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return 5


class EqualOnly:
    """Comparison without a hash."""

    a: float = 1.0

    def __eq__(self, other: object) -> bool:
        return other == self.a


CLASSES = (Fields, Nothing, After, OfItsOwn, EqualOnly)


def both(plain: type, **options: bool) -> tuple[Any, Any]:
    """The same class, made by both."""
    return tuple(
        maker(**options)(type(plain.__name__, (), {**{k: v for k, v in vars(plain).items() if k not in ("__dict__", "__weakref__")}}))
        for maker in (dataclasses.dataclass, quick_dataclass)
    )  # type: ignore[return-value]


def outcome(do: Any, *args: Any, **kwargs: Any) -> Any:
    """What comes of it, or how it fails."""
    try:
        return do(*args, **kwargs)
    except (TypeError, AttributeError) as error:
        return type(error), str(error)


def changed(thing: Any, name: str) -> Any:
    """What an attribute is that was set."""
    setattr(thing, name, 3)
    return getattr(thing, name)


CALLS = (((1,), {}), ((), {"a": 1}), ((2, [3], 4.0, "x"), {"g": 5.0}), ((1,), {"zz": 1}), ((), {}), ((1, 2, 3, 4, 5, 6), {}), ((1,), {"a": 2}))


@pytest.mark.parametrize("plain", CLASSES, ids=lambda plain: plain.__name__)
@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: "-".join(name for name, is_on in options.items() if is_on) or "none")
def test_what_both_make_of_a_class_cannot_be_told_apart(plain: type, options: dict[str, bool]) -> None:
    theirs, ours = both(plain, **options)
    assert [each.name for each in dataclasses.fields(ours)] == [each.name for each in dataclasses.fields(theirs)]
    assert ours.__match_args__ == theirs.__match_args__
    assert getattr(ours, "__slots__", None) == getattr(theirs, "__slots__", None)
    assert str(inspect.signature(ours)) == str(inspect.signature(theirs))
    assert (ours.__hash__ is None) == (theirs.__hash__ is None)
    for args, kwargs in CALLS:
        a, b, c, d = (outcome(cls, *args, **kwargs) for cls in (theirs, ours, theirs, ours))
        if isinstance(a, tuple):
            assert a == b
            continue
        assert repr(a) == repr(b) or not options["repr"]
        for each in dataclasses.fields(ours):
            assert getattr(a, each.name) == getattr(b, each.name)
        assert (d == b) == (c == a)
        assert (a != b and b != a) or plain is EqualOnly
        assert outcome(hash, a) == outcome(hash, b) or not options["eq"]
        # of a frozen class with slots the library's own refusal of a new name is an error about super()
        names = {each.name for each in dataclasses.fields(ours)} if options["frozen"] and options["slots"] else {"a", "new"}
        for name in names:
            theirs_said, ours_said = outcome(changed, a, name), outcome(changed, b, name)
            assert theirs_said == ours_said
            assert outcome(delattr, a, name) == outcome(delattr, b, name)


@quick_dataclass(frozen=True, slots=True)
class Slotted:
    """With slots, at a place where it is found again."""

    x: float
    y: tuple[float, ...] = ()


@quick_dataclass(frozen=True)
class Base:
    """With a value that is kept."""

    x: float

    @cached_property
    def double(self) -> float:
        """Twice x."""
        return 2 * self.x


@quick_dataclass(frozen=True, eq=False)
class Derived(Base):
    """One more field."""

    y: float = 1.0


@pytest.mark.parametrize("value", [Slotted(1.0, (2.0,)), Base(1.0), Derived(1.0, y=3.0)])
def test_copies_and_pickles_have_the_same_fields(value: Any) -> None:
    for twin in (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value)), dataclasses.replace(value)):
        assert type(twin) is type(value)
        assert dataclasses.asdict(twin) == dataclasses.asdict(value)
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'x'"):
        value.x = 2.0


def test_a_class_that_inherits_has_all_fields_and_its_own_way_to_be_made() -> None:
    derived = Derived(2.0)
    assert (derived.x, derived.y, derived.double) == (2.0, 1.0, 4.0)
    assert Base(2.0) == Base(2.0)
    assert Base(2.0) != derived
    assert repr(derived) == "Derived(x=2.0, y=1.0)"

    class Plain(Base):
        def __init__(self) -> None:
            super().__init__(5.0)

    assert Plain().x == 5.0


def test_an_instance_that_holds_itself_is_shown() -> None:
    @quick_dataclass
    class Ring:
        """A ring."""

        inner: Any = None

    ring = Ring()
    ring.inner = ring
    assert repr(ring).endswith("Ring(inner=...)")
