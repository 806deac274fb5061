"""The language's method native and in plain Python, side by side in one process: a diagram of 200 blocks, and what a user routine costs."""

from __future__ import annotations

import time
from typing import Any

from benchmarks.csmp_plain import Plain
from tidegate import csmp
from tidegate.csmp.language.block_kinds import BlockStatement
from tidegate.csmp.language.program import CsmpProgram

__all__ = ["csmp_callback_microseconds", "csmp_ratio", "diagram"]

_STEP = 0.01
_HALF_STEPS = 100_000
_PLAIN_HALF_STEPS = 2_000  # a fiftieth; the time is multiplied, since plain Python takes a second for every few thousand


def diagram(n_groups: int = 20) -> CsmpProgram:
    """A chain of driven, limited oscillators, ten blocks each, of the kinds that ordinary diagrams are made of."""
    made = CsmpProgram("BENCHMARK")
    for group in range(n_groups):
        b = 10 * group + 2
        before = b - 10 + 1 if group else b + 9
        kinds = [
            ("I", (b + 1, 0, 0)), ("I", (b + 2, 0, 0)), ("W", (b + 3, b + 4, b + 8)), ("L", (b, 0, 0)), ("X", (b + 5, b + 1, 0)),
            ("+", (b + 7, b + 6, 0)), ("M", (b, 0, 0)), ("K", (0, 0, 0)), ("G", (before, 0, 0)), ("B", (b, 0, 0)),
        ]  # fmt: skip
        for i, (kind, inputs) in enumerate(kinds):
            signs = (1, -1, 1) if kind == "+" else (1, 1, 1)
            made.blocks[b + i] = BlockStatement(b + i, kind, inputs, signs)
        made.parameters |= {
            b: (0.5 + 0.01 * group, 0.0, 0.0),
            b + 2: (-1.0, 0.3, 0.1),
            b + 3: (2.0, -2.0, 0.0),
            b + 7: (1.0, 0.0, 0.0),
            b + 8: (0.2, 0.0, 0.0),
        }
    return made


def csmp_ratio(rounds: int) -> float:
    """How often the native machine does 100000 half steps while plain Python does them once; both keep a row a hundred steps."""
    made = diagram()
    csmp.run(made, to=1.0, h=_STEP, out=[2])
    native = min(_seconds(lambda: csmp.run(made, to=_HALF_STEPS * _STEP / 2, h=_STEP, every=1.0, out="A")) for _ in range(rounds))
    plain = min(_seconds(lambda: _plain(made)) for _ in range(max(rounds // 3, 1)))
    return plain * (_HALF_STEPS / _PLAIN_HALF_STEPS) / native


def csmp_callback_microseconds(rounds: int) -> float:
    """One call of a user routine that cannot be compiled, with its context."""
    made = CsmpProgram("", {2: BlockStatement(2, "U1", (1, 0, 0))}, {2: (3.0, 0.0, 0.0)})
    seen: list[Any] = []

    def routine(ctx: csmp.Context, block: int) -> float:
        seen.clear()
        return ctx.p1 * ctx.x1

    n = 20_000
    return 1e6 * min(_seconds(lambda: csmp.run(made, to=n / 2, h=1.0, every=n, user={"user1": routine})) for _ in range(rounds)) / n


def _plain(made: CsmpProgram) -> None:
    machine = Plain(made, 0.0, _STEP)
    rows = [list(machine.x.values())]
    for k in range(_PLAIN_HALF_STEPS):
        machine.half_step()
        if k % 200 == 199:
            rows.append(list(machine.x.values()))


def _seconds(work: Any) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


if __name__ == "__main__":
    print(f"native over plain Python, 200 blocks: {csmp_ratio(5):.0f} times; a call of a user routine: {csmp_callback_microseconds(5):.2f} us")
