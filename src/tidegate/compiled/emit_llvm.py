"""LLVM text of expressions (stage: compiled): graphs in, the source of one module of straight-line C functions out.

Each node becomes one instruction, once a function, since equal expressions are one node. The instructions are those of
``expressions.ieee_arithmetic`` in the same order, without contraction or reordering, so that results agree with plain evaluation to the last bit
(library functions: to the library's). Text is written directly: it is several times faster than building objects for a printer to print. LLVM's time
for one function grows faster than its length, so a long one is cut into pieces, functions of their own, which hand each other values in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Final

from tidegate.compiled.number_table import NumberTable, literal
from tidegate.errors import UsageError
from tidegate.expressions import Expr, OpaqueFunction, Role, Spline, symbol, walk
from tidegate.expressions.ieee_arithmetic import MAX_MULTIPLIED_POWER, cube_root_of_epsilon
from tidegate.expressions.node_data import MOVED
from tidegate.quick_dataclass import dataclass

__all__ = ["PAST", "FunctionSpec", "emit_module"]


@dataclass(frozen=True, eq=False)
class FunctionSpec:
    """One C function ``void name(double t, double* y, ..., double* out)`` that computes expressions.

    Parameters
    ----------
    name : symbol of the function.
    arguments : names of its arguments in order; the output argument comes last where it is not named.
    by_value : which of them are passed as ``double``; all others are ``double*``.
    inputs : where each symbol's value comes from: argument and element (ignored for one passed by value).
    outputs : ``out[index] = expression``; conditions give 1.0 or 0.0. Other elements of ``out`` are left alone.
    output_argument : name of the array written to; it must not overlap any other array.
    """

    name: str
    arguments: tuple[str, ...]
    by_value: frozenset[str]
    inputs: Mapping[Expr, tuple[str, int]]
    outputs: Sequence[tuple[int, Expr]]
    output_argument: str = "out"


def emit_module(
    specs: Sequence[FunctionSpec], opaque_addresses: Mapping[OpaqueFunction, int] | None = None, numbers: NumberTable | None = None
) -> str:
    """LLVM text of a module with these functions.

    Parameters
    ----------
    specs : the functions.
    opaque_addresses : address of a C function ``void f(const double* in, double* out)`` for every opaque function that is called.
    numbers : the table of a larger module, which the caller defines; None: one of its own.

    Raises
    ------
    UsageError
        For a symbol without an input, or an opaque function without an address.

    Examples
    --------
    >>> from tidegate.expressions import Role, symbol
    >>> x = symbol(Role.UNKNOWN, "x")
    >>> spec = FunctionSpec("square", ("x", "out"), frozenset(["x"]), {x: ("x", 0)}, [(0, x * x)])
    >>> "fmul double %x, %x" in emit_module([spec])
    True
    """
    own = NumberTable()
    shared = _LlvmModule(opaque_addresses or {}, own if numbers is None else numbers)
    bodies = [_Function(spec, shared).text() for spec in specs]
    return own.definition() + "\n".join([*shared.text(), *bodies, ""])


_PIECE: Final = 1500  # nodes of one piece
_RUN: Final = 16  # numbers that are copied together
_LEAVES: Final = frozenset(["const", "symbol", "true", "false"])  # written anew wherever they are needed

# How each operation reads; {0}, {1}, {2} are its operands.
_INSTRUCTIONS: Final = {
    "add": "fadd double {0}, {1}",
    "sub": "fsub double {0}, {1}",
    "mul": "fmul double {0}, {1}",
    "div": "fdiv double {0}, {1}",
    "neg": "fneg double {0}",
    "select": "select i1 {0}, double {1}, double {2}",
    "ge": "fcmp oge double {0}, 0.0",
    "gt": "fcmp ogt double {0}, 0.0",
    "nonzero": "fcmp une double {0}, 0.0",
    "and": "and i1 {0}, {1}",
    "or": "or i1 {0}, {1}",
    "not": "xor i1 {0}, true",
}
PAST: Final = symbol(Role.MODE, "where the past stands")  # its address, as a number; the first number there is the address of what reads it

# The value that the past has, asked of the integrator's own function; before there is one, what was before the start.
_PAST_FUNCTION: Final = """define internal double @tidegate.past(
  double %past, double %s, double %before, double %delay, double %q, double %order, double %parameter) nounwind {
entry:
  %in = alloca [7 x double]
  %out = alloca double
  %known = fcmp ogt double %past, 0.0
  br i1 %known, label %look, label %without
look:
  %whole = fptoui double %past to i64
  %place = inttoptr i64 %whole to ptr
  %number = load double, ptr %place
  %address = fptoui double %number to i64
  %function = inttoptr i64 %address to ptr
  store double %past, ptr %in
  %in1 = getelementptr double, ptr %in, i64 1
  store double %s, ptr %in1
  %in2 = getelementptr double, ptr %in, i64 2
  store double %before, ptr %in2
  %in3 = getelementptr double, ptr %in, i64 3
  store double %delay, ptr %in3
  %in4 = getelementptr double, ptr %in, i64 4
  store double %q, ptr %in4
  %in5 = getelementptr double, ptr %in, i64 5
  store double %order, ptr %in5
  %in6 = getelementptr double, ptr %in, i64 6
  store double %parameter, ptr %in6
  %code = call i64 %function(ptr %in, ptr %out)
  %value = load double, ptr %out
  ret double %value
without:
  ret double %before
}"""
_INTRINSICS: Final = {"sqrt": "llvm.sqrt.f64", "floor": "llvm.floor.f64", "fabs": "llvm.fabs.f64"}
_LIBRARY: Final = frozenset("sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp expm1 log log1p cbrt erf atan2 pow".split())

# Index of the piece of a grid that holds x, by bisection; the same answer as expressions.arithmetic.segment_index.
_SEGMENT_FUNCTION: Final = """define internal i64 @tidegate.segment(double %x, ptr readonly %grid, i64 %size) nounwind {
entry:
  %last = sub i64 %size, 1
  br label %test
test:
  %low = phi i64 [ 0, %entry ], [ %newlow, %halve ]
  %high = phi i64 [ %last, %entry ], [ %newhigh, %halve ]
  %gap = sub i64 %high, %low
  %more = icmp sgt i64 %gap, 1
  br i1 %more, label %halve, label %done
halve:
  %sum = add i64 %low, %high
  %middle = lshr i64 %sum, 1
  %place = getelementptr double, ptr %grid, i64 %middle
  %value = load double, ptr %place
  %right = fcmp oge double %x, %value
  %newlow = select i1 %right, i64 %middle, i64 %low
  %newhigh = select i1 %right, i64 %high, i64 %middle
  br label %test
done:
  ret i64 %low
}"""


@dataclass(eq=False)
class _LlvmModule:
    """What the functions of one module share: numbers, declarations, addresses."""

    addresses: Mapping[OpaqueFunction, int]
    numbers: NumberTable
    declared: dict[str, int] = field(default_factory=dict[str, int])
    has_segments: bool = False
    has_copies: bool = False
    has_past: bool = False

    def address(self, function: OpaqueFunction) -> int:
        if function not in self.addresses:
            raise UsageError(f"the opaque function `{function.name}` has no machine address", hint="pass it in opaque_addresses")
        return self.addresses[function]

    def text(self) -> list[str]:
        lines = [
            f"declare double @{name}({', '.join(['double'] * arity)}) nounwind willreturn memory(none)"
            for name, arity in sorted(self.declared.items())
        ]
        lines += [_PAST_FUNCTION] * self.has_past
        return [*lines, *[_SEGMENT_FUNCTION] * self.has_segments, *["declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"] * self.has_copies]


class _Operands(dict[Expr, str]):
    """The operand that holds each node; what another piece has computed is asked for when it is needed."""

    def __init__(self, elsewhere: Callable[[Expr], str]) -> None:
        super().__init__()
        self.elsewhere = elsewhere

    def __missing__(self, key: Expr) -> str:
        self[key] = self.elsewhere(key)
        return self[key]


class _Function:
    """Writes one function; ``values`` maps a node to the operand that holds it."""

    def __init__(self, spec: FunctionSpec, module: _LlvmModule) -> None:
        self.spec = spec
        self.module = module
        self.handed: dict[Expr, int] = {}  # index of a value that several pieces need
        self._begin()

    def _begin(self) -> None:
        self.lines: list[str] = []
        self.buffers: list[str] = []
        self.values = _Operands(self._from_elsewhere)
        self.indexes: dict[Expr, str] = {}
        self.count = 0

    def text(self) -> str:
        spec = self.spec
        arguments = spec.arguments if spec.output_argument in spec.arguments else (*spec.arguments, spec.output_argument)
        declarations = ", ".join(self._declaration(name) for name in arguments)
        runs = _runs(spec.outputs)
        copied = {first + k for first, values in runs for k in range(len(values))}
        outputs = [(index, expr) for index, expr in spec.outputs if index not in copied]
        order = list(walk([expr for _, expr in outputs]))
        # a call whose outputs nobody uses, because only its slopes are wanted, is not made
        called = {item.args[0] for item in order if item.op == "output"}
        order = [item for item in order if item.op != "call" or item in called]
        stored: dict[Expr, list[int]] = {}
        for index, expr in outputs:
            stored.setdefault(expr, []).append(index)
        pieces = _pieces(order)
        if len(pieces) == 1:
            self._copy(runs)
            self._write(order, stored)
            return self._definition(spec.name, declarations)
        self.handed = _handed(pieces)
        texts: list[str] = []
        for number, piece in enumerate(pieces):
            self._begin()
            self._write(piece, stored)
            texts.append(self._definition(f"{spec.name}.{number}", f"{declarations}, ptr %handed", "internal "))
        self._begin()
        self.buffers = [f"  %handed = alloca [{max(len(self.handed), 1)} x double], align 16"]
        passed = ", ".join(f"{'double' if name in spec.by_value else 'ptr'} %{name}" for name in arguments)
        self._copy(runs)
        self.lines += [f"  call void @{spec.name}.{number}({passed}, ptr %handed) nounwind" for number in range(len(pieces))]
        return "\n".join([*texts, self._definition(spec.name, declarations)])

    def _definition(self, name: str, declarations: str, linkage: str = "") -> str:
        body = "\n".join([*self.buffers, *self.lines])
        return f"define {linkage}void @{name}({declarations}) nounwind {{\nentry:\n{body}\n  ret void\n}}"

    def _write(self, order: Sequence[Expr], stored: Mapping[Expr, Sequence[int]]) -> None:
        """The nodes in their order; what is an output, or needed by a later piece, goes to memory."""
        out = f"%{self.spec.output_argument}"
        for item in order:
            self._emit(item)
            if item in stored or item in self.handed:
                value = self.values[item]
                if item.is_boolean:
                    value = self._new(f"uitofp i1 {value} to double")
                for index in stored.get(item, ()):
                    self.lines.append(f"  store double {value}, ptr {self._element(out, index)}")
                if item in self.handed:
                    self.lines.append(f"  store double {value}, ptr {self._element('%handed', self.handed[item])}")

    def _copy(self, runs: Sequence[tuple[int, tuple[float, ...]]]) -> None:
        self.module.has_copies |= bool(runs)
        for first, values in runs:
            place = self._element(f"%{self.spec.output_argument}", first)
            self.lines.append(
                f"  call void @llvm.memcpy.p0.p0.i64(ptr {place}, ptr {self.module.numbers.array(values)}, i64 {8 * len(values)}, i1 false)"
            )

    def _from_elsewhere(self, item: Expr) -> str:
        if item.op in _LEAVES:
            self._emit(item)
            return self.values[item]
        value = self._load("%handed", self.handed[item])
        return self._new(f"fcmp une double {value}, 0.0") if item.is_boolean else value

    def _declaration(self, name: str) -> str:
        if name in self.spec.by_value:
            return f"double %{name}"
        return f"ptr noalias %{name}" if name == self.spec.output_argument else f"ptr readonly %{name}"

    def _new(self, instruction: str) -> str:
        self.count += 1
        name = f"%.{self.count}"
        self.lines.append(f"  {name} = {instruction}")
        return name

    def _element(self, base: str, index: int | str) -> str:
        return base if index == 0 else self._new(f"getelementptr double, ptr {base}, i64 {index}")

    def _load(self, base: str, index: int | str) -> str:
        return self._new(f"load double, ptr {self._element(base, index)}")

    def _call(self, function: str, *operands: str) -> str:
        name = _INTRINSICS.get(function, function)
        self.module.declared[name] = len(operands)
        return self._new(f"call double @{name}({', '.join(f'double {x}' for x in operands)})")

    def _emit(self, item: Expr) -> None:
        op = item.op
        pattern = _INSTRUCTIONS.get(op)
        if pattern is not None:
            self.values[item] = self._new(pattern.format(*[self.values[arg] for arg in item.args]))
        elif op == "const":
            self.values[item] = self.module.numbers.operand(self._new, item.data)
        elif op == "symbol":
            self.values[item] = self._input(item)
        elif op in ("true", "false"):
            self.values[item] = op
        elif op == "pow":
            self.values[item] = self._power(item)
        elif op in _LIBRARY or op in _INTRINSICS:
            self.values[item] = self._call(op, *[self.values[arg] for arg in item.args])
        elif op in ("segment", "lookup", "spline"):
            self.values[item] = self._table(item)
        elif op == "past":
            self.values[item] = self._past(item)
        elif op == "same":
            self.values[item] = self.values[item.args[0]]
        else:
            self._emit_opaque(item)

    def _input(self, item: Expr) -> str:
        place = self.spec.inputs.get(item)
        if place is None:
            raise UsageError(f"the function `{self.spec.name}` has no input for `{item!r}`", hint="name its place in FunctionSpec.inputs")
        argument, index = place
        return f"%{argument}" if argument in self.spec.by_value else self._load(f"%{argument}", index)

    def _power(self, item: Expr) -> str:
        base, exponent = item.args
        x = self.values[base]
        if exponent.op == "const":
            y = exponent.data
            if y == 0.5:
                return self._call("sqrt", x)
            if abs(y) <= MAX_MULTIPLIED_POWER and y == int(y):
                return self._multiplied_power(x, int(y))
        return self._call("pow", x, self.values[exponent])

    def _multiplied_power(self, x: str, n: int) -> str:
        """The products of expressions.arithmetic.multiplied_power, in its order."""
        product = ""
        left = abs(n)
        while left:
            if left & 1:
                product = self._new(f"fmul double {product}, {x}") if product else x
            left >>= 1
            if left:
                x = self._new(f"fmul double {x}, {x}")
        product = product or literal(1.0)
        return product if n >= 0 else self._new(f"fdiv double {literal(1.0)}, {product}")

    # ---- tables

    def _piece(self, x: str, grid: tuple[float, ...]) -> str:
        self.module.has_segments = True
        return self._new(f"call i64 @tidegate.segment(double {x}, ptr {self.module.numbers.array(grid)}, i64 {len(grid)})")

    def _table(self, item: Expr) -> str:
        argument = item.args[0]
        x = self.values[argument]
        if item.op == "segment":
            index = self.indexes[item] = self._piece(x, item.data)
            return self._new(f"sitofp i64 {index} to double")
        if item.op == "lookup":
            return self._load(self.module.numbers.array(item.data), self._index(argument, x, len(item.data)))
        table: Spline = item.data
        grid = tuple(table.grid.tolist())
        piece = self._piece(x, grid)
        u = self._new(f"fsub double {x}, {self._load(self.module.numbers.array(grid), piece)}")
        coefficients = self.module.numbers.array(tuple(table.coefficients.T.ravel().tolist()))
        start = self._new(f"mul i64 {piece}, 4")
        first = self._element(coefficients, start)
        value = self._load(first, 0)
        for k in (1, 2, 3):
            product = self._new(f"fmul double {value}, {u}")
            value = self._new(f"fadd double {product}, {self._load(first, k)}")
        return value

    def _index(self, argument: Expr, x: str, size: int) -> str:
        """An integer as an index that is certainly inside; NaN counts as zero."""
        if argument.op == "segment" and len(argument.data) - 1 <= size:
            return self.indexes[argument] if argument in self.indexes else self._new(f"fptosi double {x} to i64")
        positive = self._new(f"fcmp ogt double {x}, 0.0")
        raised = self._new(f"select i1 {positive}, double {x}, double 0.0")
        last = literal(float(size - 1))
        inside = self._new(f"fcmp olt double {raised}, {last}")
        limited = self._new(f"select i1 {inside}, double {raised}, double {last}")
        return self._new(f"fptosi double {limited} to i64")

    # ---- the past

    def _past(self, item: Expr) -> str:
        name, order, delay = item.data
        parameter = literal(0.0)
        if order <= MOVED:
            if "dm" not in self.spec.arguments:
                return parameter  # no derivative by a parameter is taken here
            parameter = self._load("%dm", self.spec.inputs[PAST][1])
        self.module.has_past = True
        place = self.spec.inputs[symbol(Role.UNKNOWN, name)][1]
        numbers = [self._input(PAST), *(self.values[arg] for arg in item.args[:2]), *map(literal, map(float, (delay, place, order))), parameter]
        return self._new(f"call double @tidegate.past({', '.join(f'double {x}' for x in numbers)})")

    # ---- opaque functions

    def _emit_opaque(self, item: Expr) -> None:
        if item.op == "call":
            arguments = [self.values[arg] for arg in item.args]
            self.values[item] = self._opaque_call(item.data, arguments)
        elif item.op == "slope":
            self.values[item] = self._slopes(item)
        elif item.op == "output":
            source, place = item.args[0], self.values[item.args[0]]
            if source.op == "call":
                self.values[item] = self._load(place, item.data)
            else:
                upper, lower, width = place.split()
                difference = self._new(f"fsub double {self._load(upper, item.data)}, {self._load(lower, item.data)}")
                self.values[item] = self._new(f"fdiv double {difference}, {width}")
        else:
            raise UsageError(f"`{item.op}` has no machine code", hint="compile only expressions made of the operations of expressions.nodes")

    def _buffer(self, size: int) -> str:
        name = f"%buffer{len(self.buffers)}"
        self.buffers.append(f"  {name} = alloca [{max(size, 1)} x double], align 16")
        return name

    def _opaque_call(self, function: OpaqueFunction, arguments: list[str]) -> str:
        """Calls the C function on a stack buffer and gives the buffer of its results."""
        given, returned = self._buffer(len(arguments)), self._buffer(function.n_outputs)
        for k, value in enumerate(arguments):
            self.lines.append(f"  store double {value}, ptr {self._element(given, k)}")
        self.lines.append(f"  call void inttoptr (i64 {self.module.address(function)} to ptr)(ptr {given}, ptr {returned}) nounwind")
        return returned

    def _slopes(self, item: Expr) -> str:
        """Buffers of the results above and below, and the distance between: the central difference of expressions.evaluate."""
        call, k = item.args[0], item.data
        arguments = [self.values[arg] for arg in call.args]
        x = arguments[k]
        size = self._call("fabs", x)
        small = self._new(f"fcmp ogt double 1.0, {size}")
        scale = self._new(f"select i1 {small}, double 1.0, double {size}")
        step = self._new(f"fmul double {literal(cube_root_of_epsilon)}, {scale}")
        above, below = self._new(f"fadd double {x}, {step}"), self._new(f"fsub double {x}, {step}")
        upper = self._opaque_call(call.data, [*arguments[:k], above, *arguments[k + 1 :]])
        lower = self._opaque_call(call.data, [*arguments[:k], below, *arguments[k + 1 :]])
        return f"{upper} {lower} {self._new(f'fsub double {above}, {below}')}"


def _runs(outputs: Sequence[tuple[int, Expr]]) -> list[tuple[int, tuple[float, ...]]]:
    """Many numbers side by side, as those of a constant matrix, which are copied from a table: where they begin, and what they are."""
    runs: list[tuple[int, list[float]]] = []
    for index, value in sorted((index, expr.data) for index, expr in outputs if expr.op == "const"):
        if not runs or index != runs[-1][0] + len(runs[-1][1]):
            runs.append((index, []))
        runs[-1][1].append(value)
    return [(first, tuple(values)) for first, values in runs if len(values) >= _RUN]


def _uses(item: Expr) -> tuple[Expr, ...]:
    """Nodes whose values an instruction reads: a slope makes the call it is of anew."""
    return item.args[0].args if item.op == "slope" else item.args


def _pieces(order: list[Expr]) -> list[list[Expr]]:
    """Consecutive parts of a function; what a call returns is taken out of its buffer in the same part."""
    if len(order) <= _PIECE:
        return [order]
    taken: dict[Expr, list[Expr]] = {}
    for item in order:
        if item.op == "output":
            taken.setdefault(item.args[0], []).append(item)
    pieces: list[list[Expr]] = [[]]
    for item in order:
        if item.op == "output":
            continue
        if len(pieces[-1]) >= _PIECE:
            pieces.append([])
        pieces[-1] += [item, *taken.get(item, ())]
    return pieces


def _handed(pieces: Sequence[Sequence[Expr]]) -> dict[Expr, int]:
    """A place in memory for every node that a later piece reads."""
    piece_of = {item: number for number, piece in enumerate(pieces) for item in piece}
    places: dict[Expr, int] = {}
    for number, piece in enumerate(pieces):
        for item in piece:
            for used in _uses(item):
                if used.op not in _LEAVES and piece_of[used] != number:
                    places.setdefault(used, len(places))
    return places
