"""C functions that know their context, in the place of a model's functions in Python (stage: compiled).

In: what a description says is native, the addresses that call Python. Out: addresses of functions without a context, as integrators call them. Each
is a few instructions that put the context in front, and go to Python where the C function says that it has no value.
"""

from __future__ import annotations

from collections.abc import Mapping

from tidegate.compiled.layout import Layout
from tidegate.compiled.native import NativeModule, load
from tidegate.model.callables import NativeFunction

__all__ = ["native_addresses"]

_VALUE = (("double", "t"), ("ptr", "y"), ("ptr", "p"), ("ptr", "m"), ("ptr", "out"))
_TANGENT = (*_VALUE[:2], ("ptr", "v"), *_VALUE[2:4], ("double", "dt"), ("ptr", "dy"), ("ptr", "dp"), ("ptr", "dm"), _VALUE[-1])


def native_addresses(functions: Mapping[str, NativeFunction], python: Mapping[str, int], layout: Layout) -> tuple[dict[str, int], NativeModule]:
    """Addresses by name, and the module that they live in.

    Parameters
    ----------
    python : addresses of what calls Python, by the same names; of functions that never fail there need be none.
    layout : where the discrete variables begin in m, and in dm, and which equations of an HDAE hold.
    """
    text = "\n".join(_definition(name, function, python.get(name, 0), layout) for name, function in functions.items())
    module = load(text)
    return {name: module.address(f"native_{name}") for name in functions}, module


def _context(function: NativeFunction, layout: Layout) -> list[str]:
    if not function.context_of_consistency:
        return [f"  %context = inttoptr i64 {function.context} to ptr"]
    return [
        f"  %form_at = getelementptr double, ptr %m, i64 {layout.first_form}",
        "  %form = load double, ptr %form_at",
        "  %is_integrated = fcmp une double %form, 0.0",
        f"  %number = select i1 %is_integrated, i64 {function.context}, i64 {function.context_of_consistency}",
        "  %context = inttoptr i64 %number to ptr",
    ]


def _definition(name: str, function: NativeFunction, python: int, layout: Layout) -> str:
    arguments = _TANGENT if name.endswith(("_tangent", "_scale")) else _VALUE
    given = ", ".join(f"{kind} %{argument}" for kind, argument in arguments)
    passed = ", ".join(f"{kind} %{argument}{'d' if argument in ('m', 'dm') else ''}" for kind, argument in arguments)
    first = layout.first_discrete
    moved = [f"  %{argument}d = getelementptr double, ptr %{argument}, i64 {first}" for _, argument in arguments if argument in ("m", "dm")]
    return "\n".join([
        f"define void @native_{name}({given}) nounwind {{",
        *moved,
        *_context(function, layout),
        f"  %native = inttoptr i64 {function.address} to ptr",
        f"  %status = call i32 %native(ptr %context, {passed})",
        "  %has_value = icmp eq i32 %status, 0",
        "  br i1 %has_value, label %done, label %ask",
        "ask:",
        f"  %python = inttoptr i64 {python} to ptr",
        f"  call void %python({given})",
        "  br label %done",
        "done:",
        "  ret void",
        "}",
    ])  # fmt: skip
