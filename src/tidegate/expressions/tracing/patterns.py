"""`match` on symbols: a pattern becomes the condition under which it matches (stage: tracing the user's Python).

In: a subject and a pattern of the syntax tree. Out: whether, or under which condition, it matches, and what it binds. Patterns on values without
symbols are left to Python itself.
"""

from __future__ import annotations

import ast
from typing import Any

from tidegate.expressions.chosen_texts import is_unknown_text
from tidegate.expressions.nodes import FALSE, TRUE, Expr, as_boolean
from tidegate.expressions.tracing.call_frames import CallFrame
from tidegate.expressions.tracing.looked_into import look_into_all, note_kind
from tidegate.expressions.tracing.tracer import Tracer
from tidegate.expressions.tracing.unknown_texts import equal_texts, has_unknown_text
from tidegate.expressions.tracing.value_kinds import is_dict, is_sequence
from tidegate.expressions.tracing.vector import is_symbolic

__all__ = ["matched"]

Match = tuple[Expr, dict[str, Any]]


def matched(tracer: Tracer, subject: Any, pattern: ast.pattern, frame: CallFrame) -> Match:
    """When a pattern matches, as a condition that may be a literal, and the names it binds."""
    if isinstance(pattern, ast.MatchAs):
        return _named(tracer, subject, pattern, frame)
    if not isinstance(subject, Expr) and not is_symbolic(subject) and not has_unknown_text(subject):
        look_into_all(tracer, (subject,))
        note_kind(subject)
        return _by_python(subject, pattern, frame)
    if isinstance(pattern, ast.MatchOr):
        return _either(tracer, subject, pattern, frame)
    if isinstance(pattern, ast.MatchValue):
        if not isinstance(subject, Expr) and not is_unknown_text(subject):
            return FALSE, {}
        value = tracer.evaluate(tracer, pattern.value, frame)
        equal = equal_texts(tracer, subject, value) if is_unknown_text(subject) else subject == value
        return (as_boolean(equal) if isinstance(equal, Expr | bool) else FALSE), {}
    if isinstance(pattern, ast.MatchSingleton) and (pattern.value is None or not isinstance(subject, Expr)):
        return FALSE, {}
    if isinstance(pattern, ast.MatchSequence):
        return _sequence(tracer, subject, pattern, frame)
    if isinstance(pattern, ast.MatchMapping) and is_dict(subject):
        return _mapping(tracer, subject, pattern, frame)
    raise tracer.error(
        f"`match` of `{subject!r}`, which depends on symbols, with `case {ast.unparse(pattern)}`",
        "use `if` and `elif` with comparisons, or with the condition itself",
    )


def _named(tracer: Tracer, subject: Any, pattern: ast.MatchAs, frame: CallFrame) -> Match:
    condition, names = (TRUE, {}) if pattern.pattern is None else matched(tracer, subject, pattern.pattern, frame)
    return condition, names if pattern.name is None else {**names, pattern.name: subject}


def _either(tracer: Tracer, subject: Any, pattern: ast.MatchOr, frame: CallFrame) -> Match:
    together, depth = FALSE, len(tracer.assumptions)
    try:
        for part in pattern.patterns:
            condition, names = matched(tracer, subject, part, frame)
            if names and condition is not TRUE and condition is not FALSE:
                raise tracer.error(f"`case {ast.unparse(pattern)}` binds names under the condition `{condition!r}`", "write a `case` for each")
            if condition is TRUE:
                return (together | condition, names) if not names else _unless(tracer, together, names, pattern)
            together = together | condition
            tracer.assume(condition, False)  # the next is looked at where this one does not match
    finally:
        del tracer.assumptions[depth:]
    return together, {}


def _unless(tracer: Tracer, before: Expr, names: dict[str, Any], pattern: ast.MatchOr) -> Match:
    if before is not FALSE:
        raise tracer.error(f"`case {ast.unparse(pattern)}` binds names under the condition `{before!r}`", "write a `case` for each")
    return TRUE, names


def _sequence(tracer: Tracer, subject: Any, pattern: ast.MatchSequence, frame: CallFrame) -> Match:
    if not is_sequence(subject):
        return FALSE, {}
    starred = [at for at, item in enumerate(pattern.patterns) if isinstance(item, ast.MatchStar)]
    if len(subject) < len(pattern.patterns) - len(starred) or (not starred and len(subject) != len(pattern.patterns)):
        return FALSE, {}
    items: list[Any] = list(subject)
    together, names = TRUE, dict[str, Any]()
    if starred:
        before, after = starred[0], len(pattern.patterns) - starred[0] - 1
        star: Any = pattern.patterns[before]
        if star.name is not None:
            names[star.name] = tracer.made(items[before : len(items) - after])
        items = [*items[:before], *items[len(items) - after :]]
    patterns = [item for item in pattern.patterns if not isinstance(item, ast.MatchStar)]
    return _all(tracer, list(zip(items, patterns, strict=True)), frame, (together, names))


def _mapping(tracer: Tracer, subject: dict[Any, Any], pattern: ast.MatchMapping, frame: CallFrame) -> Match:
    keys = [tracer.evaluate(tracer, key, frame) for key in pattern.keys]
    if any(isinstance(key, Expr) for key in (*keys, *subject)):
        raise tracer.error(f"`case {ast.unparse(pattern)}` looks for keys that depend on symbols", "use `if` and `elif` with comparisons")
    if any(key not in subject for key in keys):
        return FALSE, {}
    names: dict[str, Any] = {}
    if pattern.rest is not None:
        names[pattern.rest] = tracer.made({key: value for key, value in subject.items() if key not in keys})
    return _all(tracer, [(subject[key], item) for key, item in zip(keys, pattern.patterns, strict=True)], frame, (TRUE, names))


def _all(tracer: Tracer, parts: list[tuple[Any, ast.pattern]], frame: CallFrame, start: Match) -> Match:
    together, names = start
    for item, part in parts:
        condition, found = matched(tracer, item, part, frame)
        if condition is FALSE:
            return FALSE, {}
        together, names = together & condition, {**names, **found}
    return together, names


def _by_python(subject: Any, pattern: ast.pattern, frame: CallFrame) -> Match:
    """A pattern on a value without symbols, matched by Python itself."""
    names: dict[str, Any] = {item.id: frame.lookup(item.id) for item in ast.walk(pattern) if isinstance(item, ast.Name)}
    case = ast.match_case(pattern=pattern, guard=None, body=[ast.Assign([ast.Name(" matched", ast.Store())], ast.Constant(True))])
    statement = ast.Match(subject=ast.Name(" subject", ast.Load()), cases=[case])
    module = ast.fix_missing_locations(ast.Module([ast.copy_location(statement, pattern)], []))
    space: dict[str, Any] = {**names, " subject": subject}
    exec(compile(module, frame.file.name, "exec"), {"__builtins__": __builtins__}, space)  # noqa: S102 - a pattern of the user's own code
    if " matched" not in space:
        return FALSE, {}
    return TRUE, {key: value for key, value in space.items() if not key.startswith(" ") and (key not in names or value is not names[key])}
