"""Arithmetic on what is one number of a run, as LLVM text (stage: compiled): of one run, or of several side by side."""

from __future__ import annotations

from typing import Final

from tidegate.compiled.emit_taylor.vector_text import VectorText, bits, kind, spread_literal, spread_whole, whole_kind

__all__ = ["BIAS", "NumberText"]

_BITS: Final = 52
BIAS: Final = 1023


class NumberText(VectorText):
    """Arithmetic on what is one number of a run: ``wide`` of them side by side, each of another run."""

    def __init__(self, wide: int) -> None:
        super().__init__()
        self.wide, self.one, self.whole = wide, kind(wide), whole_kind(wide)

    def number(self, value: float) -> str:
        """The same number in all."""
        return spread_literal(value, self.wide)

    def counted(self, name: str, a: str, b: int) -> str:
        """An operation of whole numbers."""
        return self.new(f"{name} {self.whole} {a}, {spread_whole(b, self.wide)}")

    def plus(self, a: str, b: str) -> str:
        """a + b."""
        return self.op("fadd", self.wide, a, b)

    def minus(self, a: str, b: str) -> str:
        """a - b."""
        return self.op("fsub", self.wide, a, b)

    def times(self, a: str, b: str) -> str:
        """a b."""
        return self.op("fmul", self.wide, a, b)

    def holds(self, relation: str, a: str, b: str) -> str:
        """A comparison."""
        return self.new(f"fcmp {relation} {self.one} {a}, {b}")

    def either(self, condition: str, a: str, b: str) -> str:
        """a where a condition holds, else b."""
        return self.choice(condition, a, b, self.wide)

    def one_or_zero(self, condition: str) -> str:
        """1 where a condition holds, else 0."""
        return self.new(f"uitofp {bits(self.wide)} {condition} to {self.one}")

    def power(self, x: str, order: int) -> str:
        """Of two, about: that of x**(-1/order)."""
        pattern = self.new(f"bitcast {self.one} {x} to {self.whole}")
        exponent = self.counted("sub", self.counted("lshr", pattern, _BITS), BIAS)
        mantissa = self.counted("or", self.counted("and", pattern, (1 << _BITS) - 1), BIAS << _BITS)
        f = self.op("fsub", self.wide, self.new(f"bitcast {self.whole} {mantissa} to {self.one}"), self.number(1.0))
        bent = self.times(f, self.plus(self.number(1.3465), self.times(f, self.number(-0.3465))))
        return self.times(self.plus(self.new(f"sitofp {self.whole} {exponent} to {self.one}"), bent), self.number(-1.0 / order))

    def raised(self, power: str) -> str:
        """Two to this power, about."""
        whole = self.call("floor", self.wide, power)
        r = self.op("fsub", self.wide, power, whole)
        bent = self.plus(self.number(1.0), self.times(r, self.plus(self.number(0.6565), self.times(r, self.number(0.3435)))))
        raised = self.new(f"fptosi {self.one} {whole} to {self.whole}")
        raised = self.counted("shl", self.counted("add", raised, BIAS), _BITS)
        return self.times(self.new(f"bitcast {self.whole} {raised} to {self.one}"), bent)
