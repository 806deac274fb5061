"""Following the user's own Python on symbols, for every front end that takes functions."""

from tidegate.expressions.tracing.frames import Yielded
from tidegate.expressions.tracing.opaque import Opaque, opaque, probe_values
from tidegate.expressions.tracing.source import function_origin
from tidegate.expressions.tracing.trace import Trace, path_condition, trace
from tidegate.expressions.tracing.vector import Layout, Vector, is_symbolic

__all__ = [
    "Layout",
    "Opaque",
    "Trace",
    "Vector",
    "Yielded",
    "function_origin",
    "is_symbolic",
    "opaque",
    "path_condition",
    "probe_values",
    "trace",
]
