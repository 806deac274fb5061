"""`tg.Diagram`: blocks, how they are connected, and diagrams as blocks of other diagrams (front end of blocks)."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, Final, Literal

from tidegate.errors import UnknownNameError, UsageError
from tidegate.expressions.tracing import written_at
from tidegate.frontends.blocks.block import Block, Composite, InPort, OutPort, Port, closest
from tidegate.frontends.blocks.drawing import draw, save_drawing
from tidegate.frontends.blocks.library.arithmetic import Constant
from tidegate.frontends.blocks.library.sources import Time
from tidegate.frontends.blocks.lower_diagram import lower
from tidegate.frontends.blocks.outer_ports import Inlet, Outlet
from tidegate.frontends.blocks.picture import picture
from tidegate.frontends.blocks.signals import is_number
from tidegate.later_stages import later
from tidegate.model import Model
from tidegate.model.ports import OpenModel
from tidegate.wrong_calls import explained

__all__ = ["Connection", "Diagram"]

_KEPT: Final = frozenset({"time"})  # names that mean something else in every result


class Connection:
    """A line of a diagram.

    Parameters
    ----------
    source, target : the ports at its ends.
    """

    __slots__ = ("source", "target")

    def __init__(self, source: OutPort, target: InPort) -> None:
        self.source = source
        self.target = target

    def __repr__(self) -> str:
        return f"{self.source} -> {self.target}"


@explained
class Diagram(Composite):
    """A block diagram, and a block itself once it has inputs and outputs.

    Parameters
    ----------
    name : how results and messages call it.
    algebraic_loops : ``"refuse"`` them, or ``"solve"`` them as part of a DAE.
    time_unit : unit of time; derivatives are taken to be per second where none is given.
    check_units : False for a diagram whose units need not fit.
    number, label : as a block of another diagram.

    Examples
    --------
    >>> from tidegate.frontends.blocks import library as blocks
    >>> spring = Diagram("spring")
    >>> spring.velocity = blocks.Integrator()
    >>> spring.position = blocks.Integrator(start=1.0)(spring.velocity)
    >>> spring.velocity(-4.0 * spring.position)
    velocity.out
    >>> spring
    <Diagram 'spring': 3 blocks>
    >>> spring.gain1
    Gain(gain=-4, name='gain1')
    """

    inputs = ()
    outputs = ()

    def __init__(
        self,
        name: str = "",
        *,
        algebraic_loops: Literal["refuse", "solve"] = "refuse",
        time_unit: str = "",
        check_units: bool = True,
        number: int | None = None,
        label: str = "",
    ) -> None:
        put = object.__setattr__
        put(self, "_blocks", {})
        super().__init__({"name": name, "number": number, "label": label})
        self.require(algebraic_loops in ("refuse", "solve"), f"algebraic_loops is {algebraic_loops!r}", "write 'refuse' or 'solve'")
        put(self, "algebraic_loops", algebraic_loops)
        put(self, "time_unit", time_unit)
        put(self, "check_units", check_units)
        put(self, "inlets", {})
        put(self, "outlets", {})

    # -- blocks

    def add[B: Block](self, block: B, name: str = "", number: int | None = None) -> B:
        """Put a block into the diagram, with everything it reads that is in none yet.

        Parameters
        ----------
        block : made by one of the classes of ``tg.blocks``, or a diagram.
        name, number : its name and number here; a name is made from its kind if it has none.

        Returns
        -------
        Block
            the same, so that adding and connecting go into one line.

        Raises
        ------
        UsageError : the name or number is taken, or the block is in another diagram.
        """
        if block.diagram is not None and block.diagram is not self:
            raise UsageError(
                f"{block.path} is already in diagram {block.diagram.path}", origin=written_at(), hint="add a copy of it: block.copy(), diagram.copy()"
            )
        if block is self or self._is_inside(block):
            raise UsageError(f"diagram {block.name or 'itself'} cannot be a block of itself", origin=written_at())
        if block.diagram is self:
            self.rename(block, name=name or block.name, number=block.number if number is None else number)
            return block
        if name:
            block.was_made_of(None)
        self._set_name(block, name or block.name or self._free_name(block), block.number if number is None else number)
        block._diagram = self  # noqa: SLF001 - a diagram is the only one that places blocks
        self._blocks[block.name] = block
        for port in block.inputs:
            for source, _ in block.drivers(port):
                if source.block.diagram is None and source.block is not self:
                    self.add(source.block)
        return block

    def adopt(self, block: Block) -> None:
        """Add a block that was connected to one of this diagram."""
        self.add(block)

    def _is_inside(self, block: Block) -> bool:
        outer = self.diagram
        while outer is not None and outer is not block:
            outer = outer.diagram
        return outer is not None

    def _free_name(self, block: Block) -> str:
        stem = block.kind[0].lower() + block.kind[1:]
        count = 1
        while f"{stem}{count}" in self._blocks:
            count += 1
        return f"{stem}{count}"

    def _set_name(self, block: Block, name: str, number: int | None) -> None:
        earlier = self._blocks.get(name)
        place = written_at()
        if earlier is not None and earlier is not block:
            raise UsageError(
                f"diagram {self.path} already has a block {name!r}: {earlier!r}",
                origin=place,
                hint=f"diagram.replace({name!r}, ...), or another name",
            )
        if name in _KEPT or not name:
            raise UsageError(f"a block cannot be called {name!r}", origin=place, hint="choose another name")
        if number is not None:
            other = next((item for item in self if item.number == number and item is not block), None)
            if other is not None:
                raise UsageError(f"diagram {self.path} already has a block {number}: {other!r}", origin=place)
        object.__setattr__(block, "name", name)
        object.__setattr__(block, "number", number)

    def rename(self, block: Block, name: str | None = None, number: int | None = None) -> None:
        """Give a block of this diagram another name or number."""
        old = block.name
        block.was_made_of(None)
        self._set_name(block, old if name is None else name, block.number if number is None else number)
        self._blocks = {(block.name if key == old else key): item for key, item in self._blocks.items()}

    def remove(self, which: str | int | Block) -> Block:
        """Take a block away, and what is connected to it; inputs that it drove are then open.

        Parameters
        ----------
        which : name, number, or the block.
        """
        block = self[which] if not isinstance(which, Block) else self[which.name]
        for other in self._readers():
            for port in list(other.inputs):
                kept = [item for item in other.drivers(port) if item[0].block is not block]
                if kept:
                    other._drivers[port] = kept  # noqa: SLF001 - as in add
                else:
                    other._drivers.pop(port, None)  # noqa: SLF001 - as in add
        del self._blocks[block.name]
        block._diagram = None  # noqa: SLF001 - as in add
        block._drivers.clear()  # noqa: SLF001 - as in add
        return block

    def let_go(self, block: Block) -> bool:
        """Take a block out that nobody reads; it keeps what it reads, and comes back when somebody uses it. False if somebody reads it."""
        if any(source.block is block for other in self._readers() for port in other.inputs for source, _ in other.drivers(port)):
            return False
        del self._blocks[block.name]
        block._diagram = None  # noqa: SLF001 - as in add
        object.__setattr__(block, "name", "")
        return True

    def replace[B: Block](self, which: str | int | Block, new: B) -> B:
        """Put another block where one was: it takes over name, number, label and connections.

        Raises
        ------
        UsageError : a port that is connected is missing in the new block; nothing is changed then.
        """
        old = self[which] if not isinstance(which, Block) else self[which.name]
        used = {port for port in old.inputs if old.drivers(port)}
        readers = [
            (other, port, k) for other in self._readers() for port in other.inputs for k, (s, _) in enumerate(other.drivers(port)) if s.block is old
        ]
        used_outputs = {other.drivers(port)[k][0].name for other, port, k in readers}
        missing = sorted(used - set(new.inputs)) + sorted(used_outputs - set(new.outputs))
        if missing:
            raise UsageError(
                f"{old.path}.{missing[0]} is connected, but {new.kind} has no port {missing[0]!r}",
                origin=written_at(),
                hint=closest(missing[0], [*new.inputs, *new.outputs], "ports"),
            )
        drivers = {port: old.drivers(port) for port in used}
        for other, port, k in readers:
            source, place = other.drivers(port)[k]
            other._drivers[port][k] = OutPort(new, source.name), place  # noqa: SLF001 - as in add
        name, number = old.name, old.number
        place_of = list(self._blocks).index(name)
        self.remove(old)
        self.add(new, name, number)
        if not new.label:
            object.__setattr__(new, "label", old.label)
        for port, found in drivers.items():
            new._drivers[port] = [(OutPort(new, s.name) if s.block is old else s, at) for s, at in found]  # noqa: SLF001 - as in add
        names = [key for key in self._blocks if key != name]
        names.insert(place_of, name)
        self._blocks = {key: self._blocks[key] for key in names}
        return new

    def _readers(self) -> Iterator[Block]:
        yield from self
        yield from self.outlets.values()

    # -- connections

    def connect(self, source: Any, target: Any) -> None:
        """Draw a line.

        Parameters
        ----------
        source : output port, block (its first output), or number.
        target : input port, or block (its first input).

        Raises
        ------
        UsageError : one of them is no such thing, or not in this diagram.
        """
        place = written_at()
        if isinstance(target, Block):
            if not target.inputs:
                raise UsageError(f"{target.path} ({target.kind}) has no inputs", origin=place)
            target = InPort(target, target.inputs[0])
        if not isinstance(target, InPort):
            if isinstance(target, OutPort) and isinstance(source, InPort):
                hint = f"the other way round: diagram.connect({target}, {source})"
                raise UsageError(f"{source} is an input and gives no signal", origin=place, hint=hint)
            what = f"{target} is an output and takes no signal" if isinstance(target, OutPort) else f"{target!r} is no port"
            raise UsageError(what, origin=place, hint="diagram.connect(a.out, b.x1)")
        if target.block.diagram is None:
            self.add(target.block)
        if target.block.diagram is not self:
            raise UsageError(f"{target} is not in diagram {self.path}", origin=place)
        target.block.take(target.name, source, place)

    @property
    def connections(self) -> list[Connection]:
        """Every line of the diagram, those to its outputs too."""
        return [Connection(source, InPort(block, port)) for block in self._readers() for port in block.inputs for source, _ in block.drivers(port)]

    # -- as a block

    def input(self, name: str, value: float = 0.0, *, unit: str = "", label: str = "") -> OutPort:
        """Give the diagram an input.

        Parameters
        ----------
        name : of the port outside; of the model's input if this is the outermost diagram.
        value : held by the outermost diagram's input.
        unit, label : texts for results.

        Returns
        -------
        OutPort
            the signal, for use inside.
        """
        self._check_port(name)
        inlet = Inlet(name, value, unit, label)
        inlet._diagram = self  # noqa: SLF001 - a diagram is the only one that places blocks
        self.inlets[name] = inlet
        object.__setattr__(self, "inputs", (*self.inputs, name))
        return inlet.out

    def output(self, name: Any, signal: Any = None) -> Any:
        """Give the diagram an output.

        Parameters
        ----------
        name : of the port outside, and of the signal in results.
        signal : what it shows: an output port, a block or a number.
        """
        self._check_port(name)
        if signal is None:
            raise UsageError(f"output {name!r} of diagram {self.path} shows nothing", origin=written_at(), hint=f"diagram.output({name!r}, signal)")
        outlet = Outlet(name)
        outlet._diagram = self  # noqa: SLF001 - as in input
        outlet.take("x1", signal)
        self.outlets[name] = outlet
        object.__setattr__(self, "outputs", (*self.outputs, name))
        return OutPort(self, name)

    def _check_port(self, name: str) -> None:
        if not isinstance(name, str) or not name:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UsageError(f"the port of a diagram cannot be called {name!r}", origin=written_at(), hint="give a text")
        if name in self.inputs or name in self.outputs or name in _KEPT:
            raise UsageError(f"diagram {self.path} already has a port {name!r}", origin=written_at(), hint="choose another name")

    @property
    def time(self) -> OutPort:
        """Simulated time as a signal."""
        clock = next((item for item in self if isinstance(item, Time)), None)
        return (self.add(Time()) if clock is None else clock).out

    # -- looking at it

    def __getitem__(self, key: str | int) -> Block:
        """The block of a name or number; ``"plant.motor"`` is one inside of a nested diagram."""
        found = self._blocks.get(key) if isinstance(key, str) else next((item for item in self if item.number == key), None)
        if found is None and isinstance(key, str) and "." in key:
            first, _, rest = key.partition(".")
            inner = self._blocks.get(first)
            if isinstance(inner, Diagram):
                return inner[rest]
        if found is None:
            numbers = [str(item.number) for item in self if item.number is not None]
            known = [*self._blocks] if isinstance(key, str) else numbers
            raise UnknownNameError(f"diagram {self.path} has no block {key!r}", hint=closest(str(key), known, "blocks"))
        return found

    def __delitem__(self, key: str | int) -> None:
        self.remove(key)

    def __contains__(self, key: object) -> bool:
        return key in self._blocks or any(item is key or (item.number is not None and item.number == key) for item in self._blocks.values())

    def __len__(self) -> int:
        return len(self._blocks)

    def __bool__(self) -> bool:
        return True

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in self.inputs or name in self.outputs:
            return self.port(name)
        if name in self._blocks:
            return self._blocks[name]
        known = [*self._blocks, *self.inputs, *self.outputs]
        raise UnknownNameError(f"diagram {self.path} has no block or port {name!r}", hint=closest(name, known, "blocks"))

    def __setattr__(self, name: str, value: Any) -> None:
        """``diagram.motor = block`` adds a block, or names the one a signal comes from."""
        if name.startswith("_") or name in ("name", "number", "label", "algebraic_loops", "time_unit", "check_units"):
            super().__setattr__(name, value) if name not in ("algebraic_loops", "time_unit", "check_units") else object.__setattr__(self, name, value)
            return
        if hasattr(type(self), name):
            raise UsageError(
                f"{name!r} is a word of diagrams themselves", origin=written_at(), hint=f"choose another name, or diagram.add(block, {name!r})"
            )
        if isinstance(value, Port):
            value = value.block
        if is_number(value):
            value = Constant(float(value))
        if not isinstance(value, Block):
            raise UsageError(f"{self.path}.{name} is given {value!r}, which is no block", origin=written_at(), hint="give a block or a signal")
        self.add(value, name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._blocks})

    def _ipython_key_completions_(self) -> list[str]:
        return list(self._blocks)

    def __repr__(self) -> str:
        ports = [f"inputs {', '.join(self.inputs)}"] * bool(self.inputs) + [f"outputs {', '.join(self.outputs)}"] * bool(self.outputs)
        return f"<Diagram {self.name!r}: {', '.join([f'{len(self)} blocks', *ports])}>"

    def describe(self) -> str:
        """A line for each block: name, kind and parameters, and what goes in.

        Examples
        --------
        >>> from tidegate.frontends.blocks import library as blocks
        >>> one = Diagram("one")
        >>> one.level = blocks.Integrator()(2.0)
        >>> print(one.describe())
        level      Integrator(start=0, gain_error=0, drift=0)  x1 = constant1.out
        constant1  Constant(value=2)
        """
        width = max((len(name) for name in self._blocks), default=0)
        lines: list[str] = []
        for block in self:
            shown = repr(block).replace(f", name={block.name!r}", "").replace(f"name={block.name!r}", "")
            going_in = ", ".join(f"{port} = {source.path}" for port in block.inputs for source, _ in block.drivers(port))
            lines.append(f"{block.name:<{width}}  {shown}  {going_in}".rstrip())
        return "\n".join(lines)

    def draw(self, path: str | Path | None = None) -> str:
        """A picture: blocks from left to right in the shapes of their kinds, nested diagrams as boxes.

        Parameters
        ----------
        path : file to put it in, .svg, .png or .pdf; none if not given.

        Returns
        -------
        str
            the picture as SVG.
        """
        drawing = picture(self)
        if path is not None:
            save_drawing(drawing, path)
        return draw(drawing)

    def _repr_svg_(self) -> str:
        return self.draw()

    # -- running it

    def feedthrough(self) -> tuple[str, ...]:
        """A diagram is taken apart before anybody asks."""
        return ()

    def lower(self) -> Model:
        """The neutral model, for ``tg.simulate`` and everything else that runs models.

        Raises
        ------
        ModelError : for everything that is wrong with the diagram.
        """
        return lower(self)

    def open_model(self, connected: Collection[str] | None = None) -> OpenModel:  # noqa: ARG002 - all of its inputs must be
        """Its model, for use as a part of a component: its inputs are to be connected there.

        Raises
        ------
        ModelError : for everything that is wrong with the diagram.
        UsageError : it is a block of another diagram.
        """
        if self._diagram is not None:
            raise UsageError(
                f"{self.path} is a block of {self._diagram.path}, so that it is no part by itself", origin=self.origin, hint="write diagram.copy()"
            )
        required = frozenset(port for port in self.inputs if not self.is_open(port))
        return OpenModel(lower(self, is_part=True), required, self.inputs, self.outputs)

    def to_program(self) -> Any:
        """The program of CSMP-10(ARL) that describes the same, for ``csmp.run``: the language's own method, with its half steps.

        Clocks are not carried over: give the run twice the period of the diagram's delays as its interval.

        Returns
        -------
        CsmpProgram

        Raises
        ------
        InvalidModelError : naming every block that the language does not have.
        """
        return later("from_diagram")(self)
