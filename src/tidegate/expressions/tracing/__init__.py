"""Following the user's own Python on symbols, for every front end that takes functions."""

from tidegate.expressions.tracing.agreement import require_agreement
from tidegate.expressions.tracing.call_frames import Yielded
from tidegate.expressions.tracing.compare import MOST_POINTS, at_start, compare, numbers_of, numeric, points_after
from tidegate.expressions.tracing.follow_calls import in_turn
from tidegate.expressions.tracing.opaque_functions import Opaque, opaque, probe_values
from tidegate.expressions.tracing.plain_numbers import PlainNumber, Truth
from tidegate.expressions.tracing.reads import Reads, collect_reads, hand_on
from tidegate.expressions.tracing.source import function_origin, users_frame, written_at
from tidegate.expressions.tracing.trace import Trace, path_condition, trace
from tidegate.expressions.tracing.vector import Vector, VectorNames, is_symbolic

__all__ = [
    "MOST_POINTS",
    "Opaque",
    "PlainNumber",
    "Reads",
    "Trace",
    "Truth",
    "Vector",
    "VectorNames",
    "Yielded",
    "at_start",
    "collect_reads",
    "compare",
    "function_origin",
    "hand_on",
    "in_turn",
    "is_symbolic",
    "numbers_of",
    "numeric",
    "opaque",
    "path_condition",
    "points_after",
    "probe_values",
    "require_agreement",
    "trace",
    "users_frame",
    "written_at",
]
