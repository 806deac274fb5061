"""Nested diagrams made flat (front end of blocks): a diagram goes in, its innermost blocks and what drives each of their inputs come out."""

from __future__ import annotations

from dataclasses import field

from tidegate.errors import Origin, UsageError
from tidegate.frontends.blocks.block import Block, Composite, OutPort
from tidegate.frontends.blocks.outer_ports import Inlet
from tidegate.quick_dataclass import dataclass

__all__ = ["Flat", "Leaf", "flatten"]

Problem = tuple[str, Origin | None]


@dataclass(eq=False)
class Leaf:
    """A block that is no diagram.

    Parameters
    ----------
    path : its name, with those of the diagrams round it.
    drivers : for every connected input, the output port of the leaf whose signal it gets.
    """

    block: Block
    path: str
    drivers: dict[str, OutPort] = field(default_factory=dict[str, OutPort])


@dataclass(eq=False)
class Flat:
    """A diagram without nesting.

    Parameters
    ----------
    leaves : innermost blocks by identity, in the order in which they were added.
    exits : outputs of the diagrams, by path: the port of the leaf they show.
    problems : what is wrong with the connections, and with the parameters.
    """

    leaves: dict[Block, Leaf] = field(default_factory=dict[Block, Leaf])
    exits: dict[str, OutPort] = field(default_factory=dict[str, OutPort])
    problems: list[Problem] = field(default_factory=list[Problem])


def flatten(diagram: Composite) -> Flat:
    """The innermost blocks of a diagram with everything that is wrong with their connections and parameters."""
    flat = Flat()
    diagrams = _collect(diagram, flat)
    for leaf in flat.leaves.values():
        _check(leaf, flat)
        for port in leaf.block.inputs:
            found = _driver(leaf.block, port, flat, f"{leaf.path}.{port}")
            if found is not None:
                leaf.drivers[port] = found
    for inner in diagrams:
        for name, outlet in inner.outlets.items():
            found = _driver(outlet, "x1", flat, f"{inner.path}.{name}")
            if found is not None:
                flat.exits[name if inner is diagram else f"{inner.path}.{name}"] = found
    for inner in diagrams[1:]:
        for port in inner.inputs:
            _driver(inner, port, flat, f"{inner.path}.{port}")
    flat.problems = list(dict.fromkeys(flat.problems))
    return flat


def _collect(diagram: Composite, flat: Flat) -> list[Composite]:
    found = [diagram]
    for inlet in diagram.inlets.values():
        if diagram.diagram is None:
            flat.leaves[inlet] = Leaf(inlet, inlet.name)
    for block in diagram:
        if isinstance(block, Composite):
            found += _collect(block, flat)
        else:
            flat.leaves[block] = Leaf(block, block.path)
    return found


def _check(leaf: Leaf, flat: Flat) -> None:
    """Parameters may have been changed since the block was made."""
    try:
        leaf.block.check_parameters()
    except UsageError as error:
        flat.problems.append((f"{error.message}; {error.hint}", leaf.block.origin))


def _driver(block: Block, port: str, flat: Flat, path: str) -> OutPort | None:
    """The leaf's port behind what is connected to this input; complaints go to ``flat``."""
    given = block.drivers(port)
    if len(given) > 1:
        names = " and ".join(source.path for source, _ in given)
        flat.problems.append(
            (f"{path} has {len(given)} drivers, {names}; an input takes one: add them up with a Summer, or disconnect one", given[-1][1])
        )
    if not given:
        if not block.is_open(port):
            hint = f"connect a signal, or say {block.path}.leave_open({port!r}) for 0"
            flat.problems.append((f"{path} is not connected: {hint}", block.origin))
        return None
    source = given[0][0]
    if isinstance(source.block, Composite):
        return _driver(source.block.outlets[source.name], "x1", flat, source.path)
    if isinstance(source.block, Inlet) and source.block not in flat.leaves:
        outer = source.block.diagram
        return None if outer is None else _driver(outer, source.block.name, flat, outer.port(source.block.name).path)
    if source.block not in flat.leaves:
        flat.problems.append((f"{path} is driven by {source.path}, which is no longer in the diagram", given[0][1]))
        return None
    return source
