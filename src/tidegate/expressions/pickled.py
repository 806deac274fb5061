"""What holds expressions, as bytes and back (stage: expressions): every node once, however deep the graph and however often it is shared.

Pickling a graph node by node recurs as deep as the graph is, and a sum of some thousand terms is that deep. Here the nodes make a flat table,
arguments before what uses them, and the rest refers to their numbers.
"""

from __future__ import annotations

import io
import pickle
from typing import Any

from tidegate.expressions.nodes import Expr, raw_node, walk

__all__ = ["Stored", "stored", "unstored"]

Stored = tuple[list[tuple[str, tuple[int, ...], Any]], list[int], bytes]


class _GraphWriter(pickle.Pickler):
    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self.found: dict[Expr, int] = {}

    def persistent_id(self, obj: Any) -> int | None:
        return self.found.setdefault(obj, len(self.found)) if isinstance(obj, Expr) else None


class _GraphReader(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, found: list[Expr]) -> None:
        super().__init__(file)
        self.found = found

    def persistent_load(self, pid: int) -> Expr:
        return self.found[pid]


def stored(content: object) -> Stored:
    """Anything that can be pickled, as a table of nodes, the places in it that are referred to, and the rest.

    Examples
    --------
    >>> from tidegate.expressions import Role, symbol
    >>> x = symbol(Role.UNKNOWN, "x")
    >>> unstored(*stored({"twice": 2 * x, "itself": x}))["itself"] is x
    True
    """
    file = io.BytesIO()
    writer = _GraphWriter(file)
    writer.dump(content)
    places: dict[Expr, int] = {}
    table: list[tuple[str, tuple[int, ...], Any]] = []
    for item in walk(writer.found):
        places[item] = len(table)
        table.append((item.op, tuple(places[arg] for arg in item.args), item.data))
    return table, [places[item] for item in writer.found], file.getvalue()


def unstored(table: list[tuple[str, tuple[int, ...], Any]], wanted: list[int], rest: bytes) -> Any:
    """The inverse of ``stored``."""
    nodes: list[Expr] = []
    for op, args, data in table:
        nodes.append(raw_node(op, tuple(nodes[k] for k in args), data))
    return _GraphReader(io.BytesIO(rest), [nodes[k] for k in wanted]).load()
