"""Random models with long smooth stretches: right sides of all operations that have power series, sizes far apart, runs that fail or are stiff.

Without conditions, with clocks, or with conditions of which most come true now and then: limits, dead zones, choices, events with resets.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from tidegate.quick_dataclass import dataclass

__all__ = ["SmoothModel", "smooth_model"]

# each keeps what it is given inside the domain of the next
_UNARY = (
    "math.sin({0})", "math.cos({0})", "math.tan(0.5 * math.sin({0}))", "math.asin(0.6 * math.sin({0}))", "math.acos(0.7 * math.cos({0}))",
    "math.atan({0})", "math.sinh(math.sin({0}))", "math.cosh(math.sin({0}))", "math.tanh({0})", "math.asinh({0})", "math.acosh(2.0 + math.sin({0}))",
    "math.atanh(0.5 * math.cos({0}))", "math.exp(math.sin({0}))", "math.exp(-({0}) ** 2)", "math.log(3.0 + math.sin({0}))",
    "math.sqrt(2.0 + math.cos({0}))", "(1.5 + math.sin({0})) ** p['a']", "(1.2 + 0.5 * math.sin({0})) ** 3", "(2.0 + math.sin({0})) ** -1.7",
    "-({0})", "1.0 / (2.5 + math.sin({0}))", "0.7 * {0}", "p['b'] * ({0})", "({0}) ** 2 / (1.0 + ({0}) ** 2)",
)  # fmt: skip
_BINARY = (
    "({0} + {1})", "({0} - {1})", "math.sin({0}) * math.cos({1})", "{0} / (2.0 + math.sin({1}))", "math.atan2(1.5 + math.sin({0}), math.cos({1}))",
    "(1.5 + math.sin({0})) ** math.sin({1})", "({0}) * math.tanh({1})",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class SmoothModel:
    """What comes of one seed.

    Parameters
    ----------
    model : to be simulated.
    names : of its unknowns.
    text : of the model, for messages.
    rows : values of parameters.
    t_span, options : of all runs.
    """

    model: Any
    names: list[str]
    text: str
    rows: list[dict[str, float]]
    t_span: tuple[float, float]
    options: dict[str, Any]


def _expression(draw: random.Random, leaves: list[str], depth: int) -> str:
    if depth == 0:
        return draw.choice(leaves)
    if draw.random() < 0.5:
        return draw.choice(_UNARY).format(_expression(draw, leaves, depth - 1))
    return draw.choice(_BINARY).format(_expression(draw, leaves, depth - 1), _expression(draw, leaves, depth - 1))


def _right_side(draw: random.Random, name: str, leaves: list[str], size: float) -> str:
    kind = draw.random()
    if kind < 0.1:
        return f"p['b'] * y['{name}'] - 0.1 * {size!r} * t"
    if kind < 0.2:
        return f"0.1 * p['a'] * y['{name}'] ** 2 / {size!r} + {size!r}"  # blows up in some of the runs
    if kind < 0.3:
        return f"-p['fast'] * (y['{name}'] - {size!r} * math.sin(t))"  # is stiff in some
    return f"{size!r} * math.cos({_expression(draw, leaves, draw.choice((1, 2, 2, 3)))}) - 0.3 * y['{name}']"


_CURVED = (
    "({0}) ** 2 + ({1}) ** 2", "({0}) * ({1})", "({0}) ** 3", "({0}) ** 4 - ({1})", "({0}) / (1.5 + ({1}) ** 2)", "math.sin({0}) * ({1})",
    "math.cos(3.0 * t) - ({0})", "math.exp(0.3 * ({0})) - ({1})", "math.sqrt(1.2 + ({0}) ** 2)", "math.log(2.0 + ({0}) ** 2) - 0.2 * ({1})",
    "math.tanh({0}) + 0.1 * ({1})", "math.atan({0}) * p['a']", "math.asinh({0}) - 0.3 * ({1})", "abs({0}) * ({1})", "max({0}, {1}) ** 2",
    "math.cosh(0.3 * ({0}))", "({0}) / (0.7 + math.sin(t))", "(2.0 - ({0})) ** -2",
)  # fmt: skip


def _compared(draw: random.Random, leaves: list[str]) -> str:
    """Of one quantity, or of several and of time; sometimes what is not affine."""
    one, other = draw.choice(leaves), draw.choice(leaves)
    if draw.random() < 0.3:
        return draw.choice(_CURVED).format(one, other)
    return draw.choice((one, one, f"{one} - {other}", f"{one} + 0.3 * {other} - 0.1 * t", f"2.0 * {one} + p['b']"))


def _threshold(draw: random.Random) -> str:
    return draw.choice(("0.3", "-0.4", "0.9", "1.5", "4.0", "-30.0", "p['b']"))


def _with_a_condition(draw: random.Random, line: str, size: float, leaves: list[str]) -> str:
    name, _, rate = line.strip().rstrip(",").partition(": ")
    of, level = _compared(draw, leaves), _threshold(draw)
    made = draw.choice((
        f"{rate} + (0.2 * {size!r} if {of} > {level} else 0.0)", f"({rate}) if {of} <= {level} else -0.5 * y[{name}]",
        f"{rate} - 0.1 * {size!r} * abs({of})",
        f"{rate} + 0.2 * {size!r} * max({of}, {level})", f"{rate} - 0.3 * {size!r} * min(max({of}, -0.5), {level})",
        f"({rate}) * (1.0 if {of} > {level} and {_compared(draw, leaves)} < 2.0 else 0.6)", f"{rate} + 0.1 * {size!r} * (1.0 if t > 1.3 else -1.0)",
        f"{rate} - 0.1 * {size!r} * np.sign({of} - {level})",
    ))  # fmt: skip
    return f"        {name}: {made},"


def _event(draw: random.Random, number: int, name: str, sizes: dict[str, float], leaves: list[str]) -> tuple[list[str], str]:
    """Functions of an event, and how it is given."""
    change = draw.choice((f"-0.5 * y['{name}']", f"0.3 * y['{name}'] + 0.05 * {sizes[name]!r}", f"y['{name}'] - 0.2 * {sizes[name]!r}"))
    relation = draw.choice((">", "<"))
    lines = [
        f"def when{number}(t, y, p):", f"    return {_compared(draw, leaves)} {relation} {_threshold(draw)}", "", "",
        f"def reset{number}(t, y, p):", f"    return {{'{name}': {change}}}",
    ]  # fmt: skip
    return ["", "", *lines], f"tg.event(when{number}, reset=reset{number})"


def smooth_model(seed: int, folder: Path, count: int, *, with_conditions: bool = False) -> SmoothModel:
    """The model of a seed, with so many runs; its source goes into a folder."""
    draw = random.Random(seed)
    names = [f"x{k}" for k in range(draw.choice((1, 2, 2, 3, 4, 6)))]
    sizes = {name: 10.0 ** draw.choice((0, 0, 0, -6, 2)) for name in names}
    starts = {name: size * draw.choice((0.0, 0.0, 1.0, -0.4, 1e-7)) for name, size in sizes.items()}
    leaves = ["t", *(f"(y['{name}'] / {size!r})" for name, size in sizes.items()), "p['a']", "p['b']", "0.7"]
    lines = [f"        '{name}': {_right_side(draw, name, leaves, size)}," for name, size in sizes.items()]
    has_clock = draw.random() < 0.25
    if has_clock:
        lines.append("        'follower': d['held'] - y['follower'],")
        starts["follower"] = 0.0
    begin = draw.choice((0.0, 0.0, 0.0, -3.0, 1e4))
    given = "t, y, p, d" if has_clock else "t, y, p"
    others, events, functions = "", [], list[str]()
    if with_conditions:
        own, quantities = random.Random(f"conditions {seed}"), leaves[1 : 1 + len(names)]
        for k in own.sample(range(len(names)), own.randint(1, min(3, len(names)))):
            lines[k] = _with_a_condition(own, lines[k], sizes[names[k]], quantities)
        changed = own.sample(names, 0 if has_clock else own.randint(0, min(2, len(names))))
        made = [_event(own, number, name, sizes, quantities) for number, name in enumerate(changed)]
        functions, events = [line for text, _ in made for line in text], [given for _, given in made]
    source = [f"def rates({given}):", "    return {", *lines, "    }", *functions]
    if has_clock:
        every = draw.choice((0.11, 0.5, 0.9))
        source += ["", "", "def tick(t, y, p, d):", f"    return {{'held': y['{names[0]}'] + p['b']}}"]
        others = f", discrete={{'held': 0.0}}, events=[tg.event(every={every}, reset=tick)]"
    elif events:
        others = f", events=[{', '.join(events)}]"
    source += ["", "", f"model = tg.ode(rates, y0={starts!r}, p={{'a': 1.3, 'b': 0.4, 'fast': 2.0}}{others})"]
    text = "\n".join(["import math", "", "import numpy as np", "", "import tidegate as tg", "", "", *source, ""])
    file = folder / f"smooth_{seed}.py"
    file.write_text(text)
    space: dict[str, Any] = {"__name__": f"smooth_{seed}"}
    exec(compile(text, str(file), "exec"), space)
    length = draw.choice((0.5, 4.0, 15.0))
    fastest = draw.choice((3.0, 3.0, 3e4))
    ranges = {"a": (0.3, 3.0), "b": (-1.0, 1.0), "fast": (0.1, fastest)}
    varied = draw.sample(sorted(ranges), draw.randint(1, 3))
    rows = [{name: draw.uniform(*ranges[name]) for name in varied} for _ in range(count)]
    options: dict[str, Any] = {"rtol": draw.choice((1e-3, 1e-6, 1e-6, 1e-8, 1e-11))}
    options |= draw.choice(({}, {}, {"outputs": length / 7}, {"outputs": length / 400}, {"max_steps": 40}, {"max_step": length / 30}))
    return SmoothModel(space["model"], list(starts), text, rows, (begin, begin + length), options)
