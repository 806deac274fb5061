"""Random hybrid plans as a user writes them: a function with events, a component with parts that are switched off, and a diagram of blocks."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import tidegate as tg
from hybrid_plans import DELAYED, Element, Plan
from written_source import space_of

__all__ = ["as_component", "as_diagram", "as_function", "methods_of", "own_name"]

Named = Callable[[str], str]
_REMEMBERED = ("relay", "drelay", "clock", "hold")
_NO_BLOCK = {"reset", "noise", "dkink", "drelay", "dproduct"}


def own_name(front: str, name: str) -> str:
    """What a front end calls a state of the plan."""
    return f"part{name[1:]}.z" if front == "component" and name.startswith("z") else name


def _made(lines: list[str], name: str) -> Any:
    text = "\n".join([*lines, ""])
    return space_of(text, f"<plan {name}>", tg=tg, np=np, __name__="written_plans")["model"]


def _acts(one: Element, X: Named, P: Named, m: str, t: str) -> str:
    """What an element adds to the rate of its state."""
    b, j, seen = f"{P(f'b_{one.k}')}", X(f"x{one.j}"), X(f"x{one.l}")

    def of(name: str) -> str:
        return P(f"{name}_{one.k}")

    return {
        "relay": lambda: f"{b}*{m}",
        "clock": lambda: f"{b}*{m}",
        "reset": lambda: "0.0",
        "step": lambda: f"({b} if {t} >= {of('t1')} else 0.0)",
        "noise": lambda: f"{b}*tg.noise({t}, seed={one.seed}, every={of('T')}, deviation={of('dev')})",
        "kink": lambda: f"({b}*{seen} if {j} > {of('th')} else {of('v')})",
        "hold": lambda: f"{b}*({seen} if {j} > {of('th')} else {m})",
        "enabled": lambda: f"{b}*{X(f'z{one.k}')}",
        "delay": lambda: f"{b}*tg.delay({j}, {of('tau')})",
        "dkink": lambda: f"({b}*{seen} if tg.delay({j}, {of('tau')}) > {of('th')} else {of('v')})",
        "drelay": lambda: f"{b}*tg.delay({m}, {of('tau')}, history=0.0)",
        "dproduct": lambda: f"{b}*tg.delay({j}*{seen}, {of('tau')})",
    }[one.kind]()


def _rates(plan: Plan, X: Named, P: Named, M: Named, t: str) -> list[str]:
    rates = [f"-{P(f'a{i}')}*{X(f'x{i}')} + {P(f'g{i}')}*np.sin({P(f'w{i}')}*{t})" for i in range(plan.n)]
    if plan.n > 1:
        rates = [f"{rate} + {P(f'c{i}')}*{X(f'x{(i + 1) % plan.n}')}" for i, rate in enumerate(rates)]
    for one in plan.elements:
        rates[one.i] += " + " + _acts(one, X, P, M(f"m{one.k}"), t)
    return rates


def _bodies(one: Element, X: Named, P: Named, M: Named) -> list[tuple[str, str, str]]:
    """Conditions that act when they become true, what is given a value, and the value; no condition for a clock."""
    k, j = one.k, X(f"x{one.j}")
    if one.kind in ("relay", "drelay"):
        return [(f"{j} > {P(f'hi_{k}')}", f"m{k}", "1.0"), (f"{j} < {P(f'lo_{k}')}", f"m{k}", "0.0")]
    if one.kind == "reset":
        return [(f"{j} > {P(f'th_{k}')}", f"x{one.j}", f"{P(f'r_{k}')}*{j} + {P(f's_{k}')}")]
    if one.kind == "hold":
        return [(f"not {j} > {P(f'th_{k}')}", f"m{k}", X(f"x{one.l}"))]
    return [("", f"m{k}", f"{P(f'k_{k}')}*{j} + {P(f'l_{k}')}*{M(f'm{k}')}")] if one.kind == "clock" else []


def as_function(plan: Plan) -> Any:
    """``tg.ode`` with events."""

    def X(name: str) -> str:
        return f"y['{name}']"

    def P(name: str) -> str:
        return f"p['{name}']"

    def M(name: str) -> str:
        return f"d['{name}']"

    rates = _rates(plan, X, P, M, "t")
    for one in plan.enabled:
        rates.append(f"({X(f'x{one.l}')} - {X(f'z{one.k}')} if {X(f'x{one.j}')} > {P(f'th_{one.k}')} else 0.0)")
    lines = ["def f(t, y, p, d):", f"    return [{', '.join(rates)}]", "events = []"]
    for one in plan.elements:
        for condition, target, value in _bodies(one, X, P, M):
            when = f"lambda t, y, p: {condition}" if condition else f"every='T_{one.k}', start='o_{one.k}'"
            lines.append(f"events.append(tg.event({when}, reset=lambda t, y, p, d: {{'{target}': {value}}}))")
    start = [*(f"'x{i}': {value}" for i, value in enumerate(plan.y0)), *(f"'z{one.k}': p['z0_{one.k}']" for one in plan.enabled)]
    held = {f"m{one.k}": 0.0 for one in plan.elements if one.kind in _REMEMBERED} or {"unused": 0.0}
    lines.append(f"model = tg.ode(f, y0=lambda p: {{{', '.join(start)}}}, p={plan.p!r}, discrete={held!r}, events=events)")
    return _made(lines, f"{plan.seed} as a function")


def as_component(plan: Plan) -> Any:
    """A component with clauses; what can be off is a part."""

    def own(name: str) -> str:
        return f"self.{own_name('component', name)}"

    lines = ["class Part(tg.Component):", "    z0 = tg.Parameter(0.0)", "    z = tg.State(lambda self: self.z0)", "    u = tg.InputSignal()"]
    lines += ["    def equations(self):", "        yield tg.der(self.z) == self.u - self.z", "class Model(tg.Component):"]
    lines += [f"    {name} = tg.Parameter({value})" for name, value in plan.p.items()]
    lines += [f"    x{i} = tg.State({value})" for i, value in enumerate(plan.y0)]
    lines += [f"    part{one.k} = Part(z0=z0_{one.k})" for one in plan.enabled]
    lines += [f"    m{one.k} = tg.Discrete(0.0)" for one in plan.elements if one.kind in _REMEMBERED]
    lines += ["    def equations(self):"]
    lines += [f"        yield tg.der(self.x{i}) == {rate}" for i, rate in enumerate(_rates(plan, own, own, own, "tg.time"))]
    for one in plan.enabled:
        lines += [
            f"        yield self.part{one.k}.u == self.x{one.l}",
            f"        yield tg.enable(self.part{one.k}, when=self.x{one.j} > self.th_{one.k})",
        ]
    for one in plan.elements:
        for at, (condition, target, value) in enumerate(_bodies(one, own, own, own)):
            when = f"when(lambda self: {condition})" if condition else f"every(lambda self: self.T_{one.k}, start=lambda self: self.o_{one.k})"
            lines += [f"    @tg.{when}", f"    def clause{one.k}_{at}(self):", f"        return {{self.{target}: {value}}}"]
    return _made([*lines, "model = Model()"], f"{plan.seed} as a component")


def as_diagram(plan: Plan) -> tuple[Any, dict[str, str]] | None:
    """Blocks, and what they call the plan's numbers that are parameters of theirs; None where there are no such blocks."""
    if plan.kinds & _NO_BLOCK:
        return None
    b, d, names = tg.blocks, tg.Diagram("plan"), dict[str, str]()

    def put(name: str, block: Any, **numbers: str) -> Any:
        setattr(d, name, block)
        names.update({own: f"{name}.{theirs}" for own, theirs in numbers.items()})
        return block

    def gain(name: str, of: Any) -> Any:
        return put(f"G{name}", b.Gain(plan.p[name]), **{name: "gain"})(of)

    x = [put(f"x{i}", b.Integrator(start=value)) for i, value in enumerate(plan.y0)]
    sums = [
        put(f"S{i}", b.Sine(plan.p[f"w{i}"] / (2 * math.pi), plan.p[f"g{i}"]), **{f"g{i}": "amplitude"}) - gain(f"a{i}", x[i]) for i in range(plan.n)
    ]
    if plan.n > 1:
        sums = [one + gain(f"c{i}", x[(i + 1) % plan.n]) for i, one in enumerate(sums)]
    for one in plan.elements:
        of = {name.rpartition("_")[0]: value for name, value in plan.p.items() if name.endswith(f"_{one.k}")}
        k, j, seen = one.k, x[one.j], x[one.l]
        if one.kind == "kink":
            above = put(f"C{k}", b.Compare(">"))(j, put(f"T{k}", b.Constant(of["th"]), **{f"th_{k}": "value"}))
            sums[one.i] = sums[one.i] + put(f"W{k}", b.Switch())(gain(f"b_{k}", seen), above, put(f"V{k}", b.Constant(of["v"])))
            continue
        if one.kind == "relay":
            said = put(f"E{k}", b.Hysteresis(of["lo"], of["hi"]), **{f"lo_{k}": "low", f"hi_{k}": "high"})(j)
        elif one.kind == "clock":
            block = b.DiscreteTransferFunction([of["k"], 0.0], [1.0, -of["l"]], period=of["T"], offset=of["o"])
            said = put(f"E{k}", block, **{f"T_{k}": "period", f"o_{k}": "offset"})(j)
        elif one.kind == "step":
            said = put(f"E{k}", b.Step(at=of["t1"]), **{f"t1_{k}": "at"})
        elif one.kind == "delay":
            said = put(f"E{k}", b.TransportDelay(of["tau"], start=plan.y0[one.j]), **{f"tau_{k}": "delay"})(j)
        elif one.kind == "hold":
            said = put(f"E{k}", b.ZeroOrderHold())(seen, j - of["th"])
        else:
            said = put(f"z{k}", b.Integrator(start=of["z0"]), **{f"z0_{k}": "start"})
            said(seen - said, put(f"C{k}", b.Compare("<="))(j, put(f"T{k}", b.Constant(of["th"]))))
        sums[one.i] = sums[one.i] + gain(f"b_{k}", said)
    for i, one in enumerate(x):
        one(sums[i])
    return d, names


def methods_of(plan: Plan) -> list[str]:
    """Those that take it."""
    return ["radau"] if plan.kinds & DELAYED else ["radau", "rodas5p", "taylor", "ida", "bdf", "adams"]
