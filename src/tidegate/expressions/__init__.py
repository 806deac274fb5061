"""Scalar symbolic expressions and their interpretations."""

from tidegate.expressions.differentiate import differentiate, jacobian, tangent
from tidegate.expressions.elementary import SUBSTITUTES
from tidegate.expressions.equality import fleeting_equality
from tidegate.expressions.evaluate import Evaluation, call_opaque, evaluate
from tidegate.expressions.lookup_tables import Table, table
from tidegate.expressions.no_event import heard, is_quiet, makes_events, no_event
from tidegate.expressions.node_data import OpaqueFunction, Role, Spline, Symbol
from tidegate.expressions.nodes import (
    FALSE,
    ONE,
    TRUE,
    ZERO,
    Expr,
    as_boolean,
    as_expr,
    as_real,
    constant,
    lookup,
    node,
    opaque_call,
    raw_node,
    segment,
    select,
    spline,
    symbol,
    walk,
)
from tidegate.expressions.printing import number_text, text
from tidegate.expressions.sparsity import degrees, dependencies, dependency_sets, depends_on, is_affine
from tidegate.expressions.substitute import substitute

__all__ = [
    "FALSE",
    "ONE",
    "SUBSTITUTES",
    "TRUE",
    "ZERO",
    "Evaluation",
    "Expr",
    "OpaqueFunction",
    "Role",
    "Spline",
    "Symbol",
    "Table",
    "as_boolean",
    "as_expr",
    "as_real",
    "call_opaque",
    "constant",
    "degrees",
    "dependencies",
    "dependency_sets",
    "depends_on",
    "differentiate",
    "evaluate",
    "fleeting_equality",
    "heard",
    "is_affine",
    "is_quiet",
    "jacobian",
    "lookup",
    "makes_events",
    "no_event",
    "node",
    "number_text",
    "opaque_call",
    "raw_node",
    "segment",
    "select",
    "spline",
    "substitute",
    "symbol",
    "table",
    "tangent",
    "text",
    "walk",
]
