"""What is drawn (picture of a diagram): nodes with ports and edges between them, free of any class of block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from tidegate.errors import UsageError
from tidegate.frontends.blocks.drawing.looks import Look
from tidegate.quick_dataclass import dataclass

__all__ = ["Drawing", "DrawnNode", "Edge"]


@dataclass(frozen=True, slots=True)
class DrawnNode:
    """One block.

    Parameters
    ----------
    id : unique in its drawing.
    kind : decides the shape: the name of a class of blocks (``"Integrator"``), or a type of CSMP-10(ARL) (``"I"``, ``"+"``, ``"U3"``). A kind that is
        not known is a box with its name in it.
    label : written below; the id if empty.
    n_in, n_out : numbers of ports.
    text : written inside, in place of the kind's own sign: the value of a gain, a transfer function.
    in_names, out_names : written at the ports inside a box; of ports that need no names, empty.
    look : how it looks, where its kind does not say it.
    """

    id: str
    kind: str
    label: str = ""
    n_in: int = 1
    n_out: int = 1
    text: str = ""
    in_names: tuple[str, ...] = ()
    out_names: tuple[str, ...] = ()
    look: Look | None = None


@dataclass(frozen=True, slots=True)
class Edge:
    """One signal from an output to an input; ports count from 0, from the top.

    Parameters
    ----------
    from_id, out_port : where it comes from.
    to_id, in_port : where it goes to.
    name : of the signal; written once for each output.
    sign : -1 for an input that a summer subtracts.
    has_arrow : whether it goes one way; what connects parts of physical systems does not.
    """

    from_id: str
    out_port: int
    to_id: str
    in_port: int
    name: str = ""
    sign: int = 1
    has_arrow: bool = True


@dataclass(frozen=True)
class Drawing:
    """A diagram to be drawn.

    Parameters
    ----------
    nodes : in an order that reads well; drawings keep it where the signals leave a choice.
    edges : in any order.
    title : above the picture; none if empty.

    Raises
    ------
    UsageError
        If an id is there twice, or an edge ends at a node or port that is not there; all of them at once.

    Examples
    --------
    >>> Drawing([DrawnNode("a", "Step", n_in=0), DrawnNode("b", "Scope", n_out=0)], [Edge("a", 0, "b", 1)])
    Traceback (most recent call last):
        ...
    tidegate.errors.UsageError: the picture cannot be drawn: the edge from a to b ends at input 1, but b has 1 (0 is the first)
    """

    nodes: Sequence[DrawnNode]
    edges: Sequence[Edge]
    title: str = ""

    def __post_init__(self) -> None:
        problems = list(self._problems())
        if problems:
            raise UsageError("the picture cannot be drawn: " + "; ".join(problems))

    @cached_property
    def by_id(self) -> dict[str, DrawnNode]:
        """The nodes by their ids."""
        return {node.id: node for node in self.nodes}

    def _problems(self) -> Iterator[str]:
        if len(self.by_id) < len(self.nodes):
            ids = [node.id for node in self.nodes]
            yield "there is more than one node " + ", ".join(sorted({name for name in ids if ids.count(name) > 1}))
        for edge in self.edges:
            name = f"the edge from {edge.from_id} to {edge.to_id}"
            for end in dict.fromkeys((edge.from_id, edge.to_id)):
                if end not in self.by_id:
                    yield f"{name}: there is no node {end}"
            start, target = self.by_id.get(edge.from_id), self.by_id.get(edge.to_id)
            if start and not 0 <= edge.out_port < start.n_out:
                yield f"{name} begins at output {edge.out_port}, but {start.id} has {start.n_out} (0 is the first)"
            if target and not 0 <= edge.in_port < target.n_in:
                yield f"{name} ends at input {edge.in_port}, but {target.id} has {target.n_in} (0 is the first)"
