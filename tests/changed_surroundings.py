"""Ways in which a function looks at something of its surroundings, and something changes there: what it then returns is what Python says."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any, Final, NamedTuple

__all__ = ["WAYS", "Way", "looked_at"]

_HEAD: Final = """\
import bisect, collections, contextvars, copy, dataclasses, enum, functools, heapq, itertools, math, operator, statistics, types, weakref
from array import array
import numpy as np
import pandas as pd
import xarray as xr

class Box:
    k = 1.0

class Slots:
    __slots__ = ("k", "n")

class Rich(Box):
    def method(self): return self.k
    @property
    def double(self): return self.k * 2
    def __call__(self, v): return v * self.k
    def __len__(self): return int(self.k)
    def __getitem__(self, i): return self.k * i
    def __contains__(self, i): return i < self.k
    def __iter__(self): return iter([self.k] * 2)
    def __bool__(self): return self.k > 1
    def __float__(self): return float(self.k)
    def __index__(self): return int(self.k)
    def __eq__(self, other): return self.k == other
    def __hash__(self): return 1
    def __lt__(self, other): return self.k < getattr(other, "k", other)
    def __add__(self, other): return self.k + other
    def __radd__(self, other): return self.k + other
    def __neg__(self): return -self.k
    def __str__(self): return str(self.k)

class Got:
    def __get__(self, owner, kind=None): return STORE["k"]
    def __set__(self, owner, value): STORE["k"] = value

class WithGot:
    k = Got()

class ByName:
    def __getattr__(self, name): return STORE[name]

class Counted(type):
    @property
    def k(cls): return STORE["k"]

class OfCounted(metaclass=Counted): pass

@dataclasses.dataclass
class Part:
    k: float = 1.0
    items: list = dataclasses.field(default_factory=lambda: [1.0])

class Phase(enum.Enum):
    FILL = 1
    DRAIN = 2

class Cached:
    @functools.cached_property
    def k(self): return 1.0

STORE = {"k": 1.0}
K = 1.0
"""


class Way(NamedTuple):
    """One of them.

    Attributes
    ----------
    start : statements that make what is looked at.
    look : an expression that looks at it.
    change : a statement.
    """

    start: str
    look: str
    change: str


def _ways(text: str) -> list[Way]:
    return [Way(*(part.strip() for part in line.split("|"))) for line in text.strip().splitlines()]


WAYS: Final = _ways("""\
o = types.SimpleNamespace() | 2.0 if hasattr(o, "k") else 1.0 | o.k = None
o = types.SimpleNamespace() | getattr(o, "k", 1.0) | o.k = 3.0
o = types.SimpleNamespace(k=1.0) | 2.0 if hasattr(o, "k") else 1.0 | del o.k
o = Box() | 1.0 if o.k is None else 2.0 | o.k = None
o = Box() | o.k | Box.k = 2.0
o = Rich() | o.k | Rich.k = 2.0
o = Rich() | o.method() | o.method = lambda: 5.0
o = Rich() | o.method() | o.k = 3.0
o = Rich(); m = o.method | m() | o.k = 3.0
o = Rich() | o.double | o.k = 3.0
o = Rich() | o.double | Rich.double = property(lambda self: 7.0)
o = Cached() | o.k | o.k = 2.0
o = Rich() | o(2.0) | o.k = 3.0
o = Rich() | 1.0 * len(o) | o.k = 3.0
o = Rich() | o[2] | o.k = 3.0
o = Rich() | 1.0 if 2 in o else 2.0 | o.k = 3.0
o = Rich() | sum(o) | o.k = 3.0
o = Rich() | [*o][0] + [a for a in o][1] | o.k = 3.0
o = Rich() | (lambda a, b: a)(*o) | o.k = 3.0
o = Rich() | 1.0 if o else 2.0 | o.k = 3.0
o = Rich() | 1.0 if not o and not bool(o) else 2.0 | o.k = 3.0
o = Rich() | float(o) + math.sqrt(o) | o.k = 3.0
o = Rich(); l = [1.0, 2.0, 3.0] | l[o] | o.k = 2
o = Rich() | 1.0 if o == 1.0 else 2.0 | o.k = 3.0
o = Rich() | 1.0 if o < 2.0 else 2.0 | o.k = 3.0
o = Rich() | o + 1.0 | o.k = 3.0
o = Rich() | 1.0 + o | o.k = 3.0
o = Rich() | -o | o.k = 3.0
o = Rich() | float(str(o)) | o.k = 3.0
o = Rich() | float(f"{o}") | o.k = 3.0
o = Rich(); p = Rich(); p.k = 2.0 | max(o, p).k | o.k = 3.0
o = [Rich()] | 1.0 if 1.0 in o else 2.0 | o[0].k = 3.0
o = [Rich()] | sum(o) | o[0].k = 3.0
o = Rich() | operator.attrgetter("k")(o) + operator.methodcaller("method")(o) | o.k = 3.0
o = Rich(); o.k = 1.0 | vars(o)["k"] | o.k = 3.0
o = Rich(); o.k = 1.0 | o.__dict__["k"] | o.k = 3.0
o = WithGot() | o.k | o.k = 3.0
o = ByName() | o.k | STORE.update(k=3.0)
o = OfCounted | o.k | STORE.update(k=3.0)
o = Slots(); o.k = 1.0 | o.k | o.k = 2.0
o = Slots() | 1.0 if hasattr(o, "n") else 2.0 | o.n = None
o = Box() | 1.0 if isinstance(o, Rich) else 2.0 | o.__class__ = Rich
a, b = Part(), Part() | 1.0 if a == b else 2.0 | a.k = 3.0
o = Part() | dataclasses.asdict(o)["k"] | o.k = 3.0
o = Part() | dataclasses.replace(o, items=[]).k | o.k = 3.0
o = Part() | copy.copy(o).k + copy.deepcopy(o).items[0] | o.items[0] = 3.0
o = [Part(), Part()] | sum(p.k for p in o) + max(o, key=lambda p: p.k).k | o[1].k = 3.0
o = {"a": Part()} | sum(p.k for p in o.values()) | o["a"].k = 3.0
o = Part() | sum(o.items) | o.items.append(3.0)
o = Box(); o.e = Phase.FILL | 1.0 if o.e is Phase.FILL else 2.0 | o.e = Phase.DRAIN
o = functools.partial(lambda a: a[0], [1.0]) | o() | o.args[0][0] = 3.0
o = {} | 1.0 if "a" in o else 2.0 | o.update(a=None)
o = {} | o.get("a", 1.0) | o.update(a=2.0)
o = collections.defaultdict(float) | o["q"] | o.update(q=2.0)
a = {"k": 1.0}; o = collections.ChainMap({}, a) | o["k"] | a.update(k=2.0)
a = {"k": 1.0}; o = types.MappingProxyType(a) | o["k"] | a.update(k=2.0)
o = collections.UserDict(a=1.0) | o["a"] | o.update(a=2.0)
o = collections.UserList([1.0]) | o[0] | o.insert(0, 2.0)
o = collections.deque([1.0]) | o[0] + len(o) | o.appendleft(2.0)
o = {1, 2} | 1.0 if 3 in o else 2.0 | o.add(3)
o = bytearray(b"a") | 1.0 * o[0] | o.__setitem__(0, 5)
o = array("d", [1.0]) | o[0] | o.__setitem__(0, 5.0)
a = array("d", [1.0]); o = memoryview(a) | o[0] | a.__setitem__(0, 5.0)
o = np.array([1.0, 2.0], dtype=object) | o[1] | o.__setitem__(1, 5.0)
o = np.arange(200_001.0) | o[7] | o.__setitem__(7, 5.5)
a = np.array([1.0, 2.0]); o = a[1:] | o[0] | a.__setitem__(1, 5.0)
o = np.zeros(2, dtype=[("a", float), ("b", float)]) | o["a"][1] | o["a"].__setitem__(1, 5.0)
o = np.poly1d([1.0, 2.0]) | o(1.0) | o.coeffs.__setitem__(0, 5.0)
o = np.polynomial.Polynomial([1.0, 2.0]) | o(1.0) | o.coef.__setitem__(0, 5.0)
o = pd.Series([1.0, 2.0], index=["a", "b"]) | o["b"] | o.__setitem__("b", 5.0)
o = pd.DataFrame({"a": [1.0, 2.0]}) | o["a"].iloc[1] | o.loc.__setitem__((1, "a"), 5.0)
o = xr.DataArray([1.0, 2.0]) | float(o[1]) | o.values.__setitem__(1, 5.0)
o = Part(); w = weakref.ref(o) | w().k | o.k = 3.0
o = contextvars.ContextVar("o"); o.set(1.0) | o.get() | o.set(2.0)
o = types.ModuleType("o"); o.k = 1.0 | o.k | o.k = 2.0
o = [2.0, 1.0] | sorted(o)[0] + heapq.nsmallest(1, o)[0] + statistics.mean(o) + bisect.bisect([1.0, 3.0], o[0]) | o.append(0.5)
""")


def looked_at(way: Way, *, has_source: bool) -> tuple[Callable[[Any], Any], Callable[[], None]]:
    """A function of a number that looks at something, and another that changes it."""
    lines = [
        "def made():",
        f"    {way.start}",
        f"    def look(x): return ({way.look}) + 0.0 * x",
        f"    def change(): {way.change}",
        "    return look, change",
    ]
    text = _HEAD + "\n".join(lines) + "\n"
    name = f"<{way.start}, {way.look}>" if has_source else "<nowhere>"
    if has_source:
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    module: Any = ModuleType("surroundings")
    sys.modules["surroundings"] = module  # a dataclass asks for the module that it stands in
    exec(compile(text, name, "exec"), vars(module))
    return module.made()
