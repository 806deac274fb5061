"""LLVM text of arithmetic on several numbers at a time (stage: compiled): a builder of lines, and how vectors are called there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from tidegate.compiled.number_table import literal

__all__ = [
    "MOST_LANES",
    "VectorText",
    "assembled",
    "bits",
    "chunks",
    "kind",
    "ones",
    "spread",
    "spread_literal",
    "spread_whole",
    "suffix",
    "whole_kind",
]

MOST_LANES: Final = 8


class VectorText:
    """Lines, and registers with new names."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.count = 0

    def new(self, instruction: str) -> str:
        """The register that holds what an instruction gives."""
        self.count += 1
        self.lines.append(f"  %w{self.count} = {instruction}")
        return f"%w{self.count}"

    def label(self, name: str) -> None:
        """Begin a block that the one before goes on to."""
        self.lines += [f"  br label %{name}", f"{name}:"]

    def op(self, name: str, lanes: int, a: str, b: str) -> str:
        """An operation of two numbers, or two vectors; products may be fused with sums."""
        return self.new(f"{name} contract {kind(lanes)} {a}, {b}")

    def call(self, name: str, lanes: int, *arguments: str) -> str:
        """A function of LLVM."""
        given = ", ".join(f"{kind(lanes)} {one}" for one in arguments)
        return self.new(f"call {kind(lanes)} @llvm.{name}.{suffix(lanes)}({given})")

    def load(self, array: str, place: int | str, lanes: int = 1) -> str:
        """Numbers from an array."""
        at = self.new(f"getelementptr double, ptr {array}, i64 {place}")
        return self.new(f"load {kind(lanes)}, ptr {at}, align 8")

    def store(self, value: str, array: str, place: int | str, lanes: int = 1) -> None:
        """Numbers into an array."""
        at = self.new(f"getelementptr double, ptr {array}, i64 {place}")
        self.lines.append(f"  store {kind(lanes)} {value}, ptr {at}, align 8")

    def spread(self, value: str, lanes: int) -> str:
        """The same number in every lane."""
        return spread(self.new, value, lanes)

    def assembled(self, values: Sequence[str], lanes: int = 0) -> str:
        """One vector of several numbers, with zeros in lanes that are left over."""
        return assembled(self.new, values, lanes)

    def narrowed(self, value: str, lanes: int, wanted: int) -> str:
        """The first lanes of a vector."""
        if lanes == wanted:
            return value
        if wanted == 1:
            return self.new(f"extractelement {kind(lanes)} {value}, i32 0")
        places = ", ".join(f"i32 {lane}" for lane in range(wanted))
        return self.new(f"shufflevector {kind(lanes)} {value}, {kind(lanes)} poison, <{wanted} x i32> <{places}>")

    def maximum(self, a: str, b: str, lanes: int = 1) -> str:
        """The larger of both, b where a is not a number."""
        return self.choice(self.new(f"fcmp ogt {kind(lanes)} {a}, {b}"), a, b, lanes)

    def minimum(self, a: str, b: str, lanes: int = 1) -> str:
        """The smaller of both, b where a is not a number."""
        return self.choice(self.new(f"fcmp olt {kind(lanes)} {a}, {b}"), a, b, lanes)

    def choice(self, condition: str, a: str, b: str, lanes: int = 1) -> str:
        """a where a condition holds, else b."""
        return self.new(f"select {bits(lanes)} {condition}, {kind(lanes)} {a}, {kind(lanes)} {b}")

    def largest(self, value: str, lanes: int) -> str:
        """Of all lanes."""
        while lanes > 1:
            halves = [
                self.new(
                    f"shufflevector {kind(lanes)} {value}, {kind(lanes)} poison, "
                    f"<{lanes // 2} x i32> <{', '.join(f'i32 {lane}' for lane in range(first, first + lanes // 2))}>"
                )
                for first in (0, lanes // 2)
            ]
            lanes //= 2
            if lanes == 1:
                halves = [self.new(f"extractelement <1 x double> {half}, i32 0") for half in halves]
            value = self.maximum(halves[0], halves[1], lanes)
        return value

    def every(self, value: str, lanes: int) -> str:
        """Whether it holds in all lanes."""
        if lanes == 1:
            return value
        return self.new(f"icmp eq i{lanes} {self.new(f'bitcast <{lanes} x i1> {value} to i{lanes}')}, -1")

    def both(self, a: str, b: str, lanes: int) -> str:
        """Conditions, lane by lane."""
        return self.new(f"and {bits(lanes)} {a}, {b}")


def spread(new: Callable[[str], str], value: str, lanes: int) -> str:
    """The same number in every lane; ``new`` gives the register that holds what an instruction gives."""
    if lanes == 1:
        return value
    first = new(f"insertelement {kind(lanes)} poison, double {value}, i32 0")
    return new(f"shufflevector {kind(lanes)} {first}, {kind(lanes)} poison, <{lanes} x i32> zeroinitializer")


def assembled(new: Callable[[str], str], values: Sequence[str], lanes: int = 0) -> str:
    """One vector of several numbers, with zeros in lanes that are left over; ``new`` as in ``spread``."""
    lanes = lanes or len(values)
    if lanes == 1:
        return values[0]
    vector = "poison" if lanes == len(values) else "zeroinitializer"
    for lane, value in enumerate(values):
        vector = new(f"insertelement {kind(lanes)} {vector}, double {value}, i32 {lane}")
    return vector


def bits(lanes: int) -> str:
    """Conditions."""
    return "i1" if lanes == 1 else f"<{lanes} x i1>"


def ones(lanes: int) -> str:
    """Conditions that hold."""
    return "true" if lanes == 1 else "<" + ", ".join("i1 true" for _ in range(lanes)) + ">"


def kind(lanes: int) -> str:
    """The type of so many numbers."""
    return "double" if lanes == 1 else f"<{lanes} x double>"


def whole_kind(lanes: int) -> str:
    """The type of so many whole numbers."""
    return "i64" if lanes == 1 else f"<{lanes} x i64>"


def spread_whole(value: int, lanes: int = 1) -> str:
    """The same whole number in every lane, written out."""
    return str(value) if lanes == 1 else "<" + ", ".join(f"i64 {value}" for _ in range(lanes)) + ">"


def suffix(lanes: int) -> str:
    """How LLVM names functions of so many numbers."""
    return "f64" if lanes == 1 else f"v{lanes}f64"


def spread_literal(value: float, lanes: int = 1) -> str:
    """The same number in every lane, written out."""
    text = literal(value)
    return text if lanes == 1 else "<" + ", ".join(f"double {text}" for _ in range(lanes)) + ">"


def chunks(n: int) -> Iterator[tuple[int, int]]:
    """First unknown and number of lanes of each piece."""
    first = 0
    while first < n:
        lanes = MOST_LANES
        while lanes > n - first:
            lanes //= 2
        yield first, lanes
        first += lanes
