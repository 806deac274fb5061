"""What every block is (front end of blocks): ports, parameters, a name, and how its signal is made of its inputs; and what holds blocks.

A kind of block is a class. ``signals`` says what comes out, in terms of inputs, parameters and the block's own states; ``dynamics`` says how these
change. Both write with a ``Pen``, so that a block knows nothing of the diagram round it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any, ClassVar, Final, Literal, Self, TypedDict, cast

import numpy as np

from tidegate.dates import refuse_dates
from tidegate.errors import Origin, UnknownNameError, UsageError
from tidegate.expressions import Expr
from tidegate.expressions.tracing import written_at
from tidegate.frontends.blocks.pen import Pen, Value
from tidegate.frontends.blocks.signals import Signals, build, is_number
from tidegate.frontends.blocks.standing_alone import written_alone
from tidegate.model.ports import OpenModel
from tidegate.names import suggestion
from tidegate.wrong_calls import explained

__all__ = ["About", "Block", "Composite", "Driver", "InPort", "OutPort", "Port", "closest"]


class About(TypedDict, total=False):
    """What every block can be told beside its parameters.

    name : how results and messages call it; a name is made from its kind otherwise.
    number : as in a block diagram on paper; must be the only one of its diagram.
    label : a text for pictures.
    unit : of what comes out.
    units : of its parameters, by name.
    """

    name: str
    number: int | None
    label: str
    unit: str
    units: Mapping[str, str]


class Port:
    """A place of a block where signals go in or come out.

    Parameters
    ----------
    block : whose port it is.
    name : as the block calls it.
    """

    __slots__ = ("block", "name")

    def __init__(self, block: Block, name: str) -> None:
        self.block = block
        self.name = name

    @property
    def path(self) -> str:
        """The block's path and the port's name."""
        return f"{self.block.path}.{self.name}"

    def __repr__(self) -> str:
        return self.path

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Port) and other.block is self.block and other.name == self.name and type(other) is type(self)

    def __hash__(self) -> int:
        return hash((id(self.block), self.name))


class InPort(Port):
    """Where a signal goes into a block."""


class OutPort(Port, Signals):
    """Where a signal comes out of a block; sums, products and comparisons of such build blocks."""

    def _signal(self) -> OutPort:
        return self


Driver = tuple[OutPort, Origin]

_OWN: Final = frozenset({"name", "number", "label", "unit", "units", "origin"})


def closest(name: str, known: Sequence[str], what: str) -> str:
    """A hint: which of the known names may be meant, or all of them."""
    return suggestion(name, known, f"its {what} are {', '.join(known)}" if known else f"it has no {what}", 0.5)  # ports have short names


@explained
class Block(Signals):
    """A block of a diagram; subclasses say what it computes.

    Calling a block connects its inputs in order, and gives its (first) output: ``gain(x)``, ``summer(x, y)``. Ports and parameters are attributes.

    Class attributes of a kind
    --------------------------
    code : its type in Table 1 of CSMP-10(ARL), "" where there is none.
    inputs, outputs : names of its ports.
    optional : inputs that may be left open; they count as 0.
    aliases : further names of ports.
    table_parameters : which of its parameters are P1, P2, P3 of Table 1.
    is_recorded : whether results show its signal.
    """

    code: ClassVar[str] = ""
    inputs: tuple[str, ...] = ("x1",)
    outputs: tuple[str, ...] = ("out",)
    optional: frozenset[str] = frozenset()
    aliases: Mapping[str, str] = {}
    table_parameters: ClassVar[tuple[str, ...]] = ()
    is_recorded: ClassVar[bool] = True

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if "__init__" in vars(cls):
            cls.__init__ = explained(cls.__init__)

    def __init__(self, about: About, **parameters: Any) -> None:
        put = object.__setattr__
        unknown = [name for name in about if name not in About.__annotations__]
        put(self, "origin", written_at())
        if unknown:
            known = [*parameters, *About.__annotations__]
            raise UsageError(f"{type(self).__name__} takes no {unknown[0]!r}", origin=self.origin, hint=closest(unknown[0], known, "arguments"))
        put(self, "name", about.get("name", ""))
        put(self, "number", about.get("number"))
        put(self, "label", about.get("label", ""))
        put(self, "unit", about.get("unit", ""))
        put(self, "units", dict(about.get("units", {})))
        self._parameters: dict[str, Value] = {}
        self._drivers: dict[str, list[Driver]] = {}
        self._open: set[str] = set()
        self._diagram: Composite | None = None
        self._made_of: Any = None
        self._put_into = ""
        for name, value in parameters.items():
            if value is not None:
                self._parameters[name] = self.as_numbers(name, value)
        self.check_parameters()
        for name in self.units:
            if name not in self._parameters:
                raise UsageError(
                    f"units of {self.path} name {name!r}, which is no parameter",
                    hint=closest(name, [*self._parameters], "parameters"),
                    origin=self.origin,
                )

    name: str
    number: int | None
    label: str
    unit: str
    units: dict[str, str]
    origin: Origin

    # -- what a kind of block says

    def feedthrough(self) -> Sequence[str]:
        """The inputs on which what comes out depends at the same instant."""
        return self.inputs

    @property
    def is_sampled(self) -> bool:
        """Whether its signal follows its inputs at ticks of a clock only."""
        return False

    def signals(self, pen: Pen) -> Expr | Sequence[Expr]:
        """What comes out, one expression a port; a condition where it is a truth value."""
        raise NotImplementedError

    def dynamics(self, pen: Pen) -> None:
        """How the block's own states change; nothing for a block without any."""

    def check_parameters(self) -> None:
        """Refuse values of parameters that cannot be.

        It looks at ``parameters`` alone, and is asked when the block is made and when its diagram is run: between the two, limits may be moved one
        after the other.

        Raises
        ------
        UsageError : saying which, and what to try.
        """

    # -- names

    @property
    def kind(self) -> str:
        """The name of its class."""
        return type(self).__name__

    @property
    def inscription(self) -> str:
        """What stands in its picture instead of the sign of its kind; "" for that sign."""
        return ""

    @property
    def path(self) -> str:
        """Names of the diagrams it is in, without the outermost, and its own."""
        own = self.name or f"a {self.kind}"
        outer = self._diagram
        return own if outer is None or outer.diagram is None else f"{outer.path}.{own}"

    @property
    def diagram(self) -> Composite | None:
        """The diagram it is in."""
        return self._diagram

    @property
    def made_of(self) -> Any:
        """What an operator made it of, with which another may put it together; None for a block that somebody made or named."""
        return None if self.label or self.number is not None else self._made_of

    def was_made_of(self, what: Any) -> None:
        """Remember that an operator made it; None where it has got a name since."""
        self._made_of = what

    def was_put_into(self, other: Block) -> None:
        """Remember that an operator took what this block computes into another, where changes of this one would not arrive."""
        self._put_into = other.path

    @property
    def is_put_elsewhere(self) -> bool:
        """Whether an operator did so; its parameters are then numbers, and not parameters of the model."""
        return bool(self._put_into)

    def _require_its_own(self, what: str) -> None:
        if self._put_into:
            raise UsageError(
                f"{what} of {self.path} has no effect on {self._put_into}, into which an operator has put what this {self.kind} computes",
                origin=written_at(),
                hint="change it before the signal is used in sums and products, or give the block a name first: diagram.add(signal.block, name='a')",
            )

    @property
    def parameters(self) -> dict[str, Value]:
        """Values of its parameters, by name."""
        return dict(self._parameters)

    def port(self, name: str) -> InPort | OutPort:
        """The port of this name.

        Raises
        ------
        UnknownNameError : there is none.
        """
        full = self.aliases.get(name, name)
        if full in self.inputs:
            return InPort(self, full)
        if full in self.outputs:
            return OutPort(self, full)
        raise UnknownNameError(
            f"{self.path} ({self.kind}) has no port {name!r}", hint=closest(name, [*self.inputs, *self.outputs, *self.aliases], "ports")
        )

    def driver(self, port: str) -> OutPort | None:
        """What is connected to an input; None where nothing is."""
        found = self._drivers.get(self.aliases.get(port, port), [])
        return found[0][0] if found else None

    def drivers(self, port: str) -> list[Driver]:
        """Everything that is connected to an input, each with where that was written; more than one is an error of the diagram."""
        return list(self._drivers.get(port, []))

    def is_open(self, port: str) -> bool:
        """Whether an input may be left without a signal."""
        return port in self.optional or port in self._open

    def leave_open(self, *ports: str) -> None:
        """Let these inputs count as 0 on purpose."""
        for port in ports:
            self._open.add(self.port(port).name)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in self._parameters:
            return self._parameters[name]
        if name in self.inputs or name in self.outputs or name in self.aliases:
            return self.port(name)
        known = [*self.inputs, *self.outputs, *self.aliases, *self._parameters]
        raise UnknownNameError(f"{self.path} ({self.kind}) has no port or parameter {name!r}", hint=closest(name, known, "ports and parameters"))

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_"):
            object.__setattr__(self, name, value)
        elif name in self._parameters:
            self._require_its_own(name)
            new = self.as_numbers(name, value)
            if np.shape(new) != np.shape(self._parameters[name]):
                raise UsageError(f"{self.path}.{name} has the shape {np.shape(self._parameters[name])}, but {value!r} has {np.shape(new)}")
            self._parameters[name] = new
            self._made_of = None
        elif name in _OWN:
            if name in ("name", "number") and self._diagram is not None:
                self._diagram.rename(self, **{name: value})
            else:
                object.__setattr__(self, name, value)
        else:
            known = [*self._parameters, *sorted(_OWN)]
            raise UnknownNameError(f"{self.path} ({self.kind}) has no parameter {name!r}", hint=closest(name, known, "parameters"))

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.inputs, *self.outputs, *self.aliases, *self._parameters})

    def __repr__(self) -> str:
        values = [f"{name}={_short(value)}" for name, value in self._parameters.items()]
        about = [f"name={self.name!r}"] * bool(self.name) + [f"number={self.number}"] * (self.number is not None)
        return f"{self.kind}({', '.join(values + about)})"

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__

    # -- connections

    def _signal(self) -> OutPort:
        if not self.outputs:
            raise UsageError(f"{self.path} ({self.kind}) has no output", hint="use what goes into it instead")
        return OutPort(self, self.outputs[0])

    def __call__(self, *signals: Any, **by_name: Any) -> Any:
        """Connect inputs, in order and by name, and give the first output."""
        if len(signals) > len(self.inputs):
            raise UsageError(
                f"{self.path} ({self.kind}) takes {len(self.inputs)} input{'s' * (len(self.inputs) != 1)}, but {len(signals)} are given",
                hint=f"its inputs are {', '.join(self.inputs)}",
            )
        for port, signal in [*zip(self.inputs, signals, strict=False), *by_name.items()]:
            self.take(port, signal)
        return self._signal() if self.outputs else self

    def take(self, port: str, signal: Any, origin: Origin | None = None) -> None:
        """Connect a signal to one of this block's inputs.

        Parameters
        ----------
        port : name of the input.
        signal : an output port, a block (its first output is meant), or a number (a ``Constant`` is made).
        origin : where that was written; found out if not given.

        Raises
        ------
        UsageError : this is no signal, or belongs to another diagram.
        UnknownNameError : there is no such port.
        """
        place = origin or written_at()
        target = self.port(port)
        if not isinstance(target, InPort):
            raise UsageError(f"{target.path} is an output and takes no signal", origin=place, hint=f"its inputs are {', '.join(self.inputs)}")
        source = self._source(signal, target, place)
        own, other = self._diagram, source.block.diagram
        if own is not None and other is None:
            own.adopt(source.block)
        elif other is not None and own is None:
            other.adopt(self)
        elif own is not other:
            raise UsageError(
                f"{source.path} is in diagram {_called(other)}, but {target.path} in {_called(own)}",
                origin=place,
                hint="a diagram that is a block of another has inputs and outputs of its own: diagram.input(name), diagram.output(name, signal)",
            )
        self._drivers.setdefault(target.name, []).append((source, place))

    def _source(self, signal: Any, target: InPort, place: Origin) -> OutPort:
        if isinstance(signal, Signals):
            source = signal._signal()  # noqa: SLF001 - ports and blocks are one front end
            if self._diagram is not None and source.block is self._diagram:  # a diagram's own output, used inside of it: what is connected to it
                return self._diagram.behind(source.name)
            return source
        if is_number(signal):
            return build("constant", signal)
        if isinstance(signal, InPort) and isinstance(signal.block, Composite):
            return signal.block.inlets[signal.name].out  # a diagram's own input, used inside of it
        wrong = f"{signal}, an input," if isinstance(signal, InPort) else f"{signal!r}"
        raise UsageError(f"{wrong} cannot be connected to {target.path}", origin=place, hint="give an output port, a block or a number")

    def copy(self, name: str = "") -> Self:
        """The same once more, in no diagram and with nothing connected to it; of a nested diagram, for use as a block a second time.

        Parameters
        ----------
        name : of the copy; the same name if not given.
        """
        drivers, self._drivers = self._drivers, {}
        try:
            twin = deepcopy(self, {id(self._diagram): None})
        finally:
            self._drivers = drivers
        if name:
            object.__setattr__(twin, "name", name)
        return twin

    def disconnect(self, port: str) -> None:
        """Take away what is connected to an input."""
        self._require_its_own(port)
        self._drivers.pop(self.port(port).name, None)

    def open_model(self, connected: Collection[str] | None = None) -> OpenModel:
        """Its model with its ports open, for use as a part of a component.

        Parameters
        ----------
        connected : ports that get a signal there; all of them if not given.

        Raises
        ------
        UsageError : it is connected with other blocks, or in a diagram.
        """
        others = next((source.path for port in self.inputs for source, _ in self.drivers(port)), "" if self._diagram is None else self._diagram.path)
        if others:
            hint = "make a tg.Diagram of all of them with inputs and outputs, and make that the part; or connect parts in equations with tg.connect"
            raise UsageError(f"{self.path} belongs together with {others}, so that it is no part by itself", origin=self.origin, hint=hint)
        self.check_parameters()
        given = [port for port in self.inputs if connected is None or port in connected]
        model = written_alone(self, given)
        required = frozenset(port for port in self.inputs if not self.is_open(port))
        return OpenModel(model, required, self.inputs, self.outputs, dict(self.aliases))

    # -- parameters

    def as_numbers(self, name: str, value: Any) -> Value:
        """The value of a parameter as a number, or an array of some.

        Raises
        ------
        UsageError : it is neither, or not finite.
        """
        try:
            refuse_dates(f"{self.path}: numbers of {name}", value)
            array = np.asarray(value, dtype=float)
        except (TypeError, ValueError):
            hint = "give a number, or a list of numbers"
            raise UsageError(f"{self.path}: {name} is {value!r}; numbers are expected", origin=self.origin, hint=hint) from None
        if not np.all(np.isfinite(array)):
            raise UsageError(f"{self.path}: {name} is {value!r}; it must be finite", origin=self.origin, hint=f"{name}=1.0, or a list of numbers")
        return float(array) if array.shape == () else array

    def require_positive(self, *names: str) -> None:
        """Refuse parameters that are not positive; those that the block does not have are left aside."""
        for name in names:
            if name in self._parameters:
                value = self.one_number(name)
                self.require(value > 0, f"{name} is {value:g}", "give a positive one")

    def one_number(self, name: str) -> float:
        """The value of a parameter that may not be an array.

        Raises
        ------
        UsageError : it is one, or it is not given.
        """
        value = self._parameters.get(name)
        self.require(value is not None, f"{name} is not given", "give a number")
        self.require(isinstance(value, float), f"{name} is {value}", "give one number")
        return cast("float", value)

    def require(self, holds: bool, sentence: str, hint: str = "") -> None:
        """Refuse parameters that cannot be."""
        if not holds:
            raise UsageError(f"{self.path} ({self.kind}): {sentence}", origin=self.origin, hint=hint)


@explained
class Composite(Block):
    """A block that holds blocks: what these, and the way to the model, know of a diagram.

    Attributes
    ----------
    inlets, outlets : the ends of its own ports, inside of it.
    """

    _blocks: dict[str, Block]
    inlets: dict[str, Block]
    outlets: dict[str, Block]
    algebraic_loops: Literal["refuse", "solve"]
    time_unit: str
    check_units: bool

    def __iter__(self) -> Iterator[Block]:
        return iter(list(self._blocks.values()))

    def adopt(self, block: Block) -> None:
        """Add a block that was connected to one of this diagram."""
        raise NotImplementedError

    def let_go(self, block: Block) -> bool:
        """Take a block out that nobody reads; False if somebody does."""
        raise NotImplementedError

    def rename(self, block: Block, name: str | None = None, number: int | None = None) -> None:
        """Give a block of this diagram another name or number."""
        raise NotImplementedError

    def behind(self, output: str) -> OutPort:
        """What is connected to one of the diagram's own outputs."""
        found = self.outlets[output].driver("x1")
        assert found is not None
        return found


def _called(diagram: Composite | None) -> str:
    return "none" if diagram is None else diagram.path


def _short(value: Value) -> str:
    if not isinstance(value, np.ndarray):
        return f"{value:g}"
    return str(cast("list[float]", value.tolist())) if value.size <= 6 else f"<{' by '.join(map(str, value.shape))} numbers>"
