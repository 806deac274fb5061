"""A model as a block of DSblock 3.3 (stage: source text). In: a flat system. Out: what stands in the block, in no language yet.

Source: Otter, DSblock 3.3 (DLR 1994). Unknowns are X, guards are Z, discrete variables and unknowns that follow from others are W; what is constant
between events is kept in DUSER. The rules of events are those of ``event_rules.txt``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Final

from tidegate.compiled.locking import GuardKind
from tidegate.expressions import (
    FALSE,
    ONE,
    ZERO,
    Expr,
    Role,
    as_real,
    differentiate,
    evaluate,
    jacobian,
    select,
    substitute,
    symbol,
    tangent,
)
from tidegate.expressions.rounding import spreads
from tidegate.expressions.sparsity import dependencies
from tidegate.model import Bound, Message, Terminate, Variable, VariableRole
from tidegate.quick_dataclass import dataclass
from tidegate.source_text.block_formulas import ARGUMENTS, Formula, formula, shortened
from tidegate.source_text.block_names import BlockNames
from tidegate.source_text.flat_system import TIME, FlatSystem, initial_values, parameter_values
from tidegate.source_text.start_and_end import StartAndEnd

__all__ = ["BlockText", "ParameterText", "SignalText", "block_text"]

RELATION, LOWER, UPPER, FLOOR_LOWER, FLOOR_UPPER = range(5)
_PASSES: Final = {"SINGULAR": 1, "NOT_CONSISTENT": 2, "UNSETTLED": 3, "CONFLICT": 4, "NOT_STARTED": 5}
_MOST_SEARCHED: Final = 12  # relations of which all combinations are looked at
_CJ: Final = symbol(Role.SEED, "cj")


@dataclass(frozen=True)
class SignalText:
    """A signal: its letter X, U, Y, Z or W, its name, and a text."""

    letter: str
    name: str
    text: str


@dataclass(frozen=True)
class ParameterText:
    """A scalar parameter: of which type, "d", "i" or "l", with its value and bounds."""

    kind: str
    name: str
    text: str
    value: float
    minimum: Bound | None
    maximum: Bound | None


@dataclass(frozen=True, eq=False)
class BlockText:
    """A block.

    Parameters
    ----------
    name, text : of the model.
    form : 0 ODE, 1 DAE, 2 HDAE, whose parts have the sizes ``parts``.
    signals, parameters : in order of declaration.
    x0 : start values; nominal : typical sizes of X, if there are any.
    formulas : routines made of expressions.
    numbers, tables : of ``event_rules.txt``.
    said : lines that are printed, by what can happen; complaints : errors by number.
    places : the vector and index of every symbol; parameters are in "dp", "ip" and "lp".
    has_events : whether there is anything for BLOCKV.
    names : the block's names by those of the model.
    """

    name: str
    text: str
    form: int
    parts: tuple[int, ...]
    signals: tuple[SignalText, ...]
    parameters: tuple[ParameterText, ...]
    x0: tuple[float, ...]
    nominal: tuple[float, ...]
    formulas: tuple[Formula, ...]
    numbers: dict[str, int]
    tables: dict[str, list[int]]
    said: dict[int, list[str]]
    complaints: dict[int, str]
    places: dict[Expr, tuple[str, int]]
    has_events: bool
    names: dict[str, str]

    def count(self, letter: str) -> int:
        """How many signals of a kind there are."""
        return sum(signal.letter == letter for signal in self.signals)

    @property
    def n_memory(self) -> int:
        """Length of DUSER."""
        return self.numbers["N_MEMORY"]

    def kind(self, kind: str) -> list[ParameterText]:
        """The parameters of a type."""
        return [parameter for parameter in self.parameters if parameter.kind == kind]


def block_text(system: FlatSystem) -> BlockText:
    """The block of a system.

    Raises
    ------
    UsageError : it holds what the format cannot carry.
    """
    return _Maker(system).made()


@dataclass(eq=False)
class _Maker:
    system: FlatSystem
    names: BlockNames = field(default_factory=BlockNames)

    def made(self) -> BlockText:
        system = self.system
        self.variables = {name: v for v in system.reduced.given.variables for name in v.names} | {
            name: v for v in system.model.variables for name in v.names
        }
        self.places, parameters = self._parameters()
        self.complaints = {
            1: "a system of linear equations is singular; where ideal parts share what nothing divides, give one a resistance Ron or a leak Goff",
            2: "the algebraic equations have no solution here",
            3: "an event does not come to rest", 4: "two clauses want different values of one variable",
            5: "what must hold at the start could not be solved for from these start values",
        }  # fmt: skip
        self.ends = StartAndEnd(system, self.places, self.complaints)
        outputs = [v.name for v in system.model.by_role(VariableRole.OUTPUT)]
        self.outputs = {n: value for n, value in system.shown.items() if self._is_output(n, outputs)}
        self.recorded = {s.data.name: s for s in system.discretes} | {n: value for n, value in system.shown.items() if n not in self.outputs}
        signals = self._signals()
        formulas = [self._in_own_parameters(formula) for formula in self._formulas()]
        n = len(system.form.unknowns)
        numbers = self._numbers(n)
        start = self._evaluated(initial_values(system))
        x0 = tuple(start[s] for s in system.form.unknowns)
        sizes = [v.nominal for v in system.model.unknowns for _ in v.names]
        nominal = tuple(v for v in sizes if v) if len(sizes) == n and all(sizes) else ()
        has_events = bool(numbers["N_Z"] or numbers["N_ACTIONS"] or numbers["HAS_FINAL"])
        return BlockText(
            name=system.model.name, text="exported by tidegate", form=numbers["FORM"],
            parts=tuple(map(len, system.parts)), signals=signals, parameters=parameters, x0=x0,
            nominal=nominal, formulas=tuple(formulas), numbers=numbers, tables=self._tables(), said=self._said(), complaints=self.complaints,
            places=self.places, has_events=has_events, names=self.names.given,
        )  # fmt: skip

    @staticmethod
    def _is_output(name: str, outputs: Sequence[str]) -> bool:
        return name in outputs or name.split("[", maxsplit=1)[0] in outputs

    def _evaluated(self, values: Mapping[Expr, Expr]) -> dict[Expr, float]:
        """Start values with the parameters that the block is exported with, at time zero."""
        known = {TIME: 0.0, **parameter_values(self.system.model)}
        return dict(zip(values, evaluate(values.values(), known), strict=True))

    # -- declarations

    def _parameters(self) -> tuple[dict[Expr, tuple[str, int]], tuple[ParameterText, ...]]:
        places, found = self.system.places(), list[ParameterText]()
        counts = {"d": 0, "i": 0, "l": 0}
        for variable in self.system.parameters:
            kind = {"real": "d", "integer": "i", "boolean": "l"}[variable.kind]
            for own, item, start in zip(variable.names, variable.symbols(), variable.starts(), strict=True):
                places[item] = (f"{kind}p", counts[kind])
                counts[kind] += 1
                found.append(ParameterText(kind, self.names.name(own), _described(own, variable), start.value, variable.minimum, variable.maximum))
        return places, tuple(found)

    def _signals(self) -> tuple[SignalText, ...]:
        system = self.system
        found: list[SignalText] = []

        def add(letter: str, names: Sequence[str]) -> None:
            found.extend(SignalText(letter, self.names.name(own), _described(own, self.variables.get(own))) for own in names)

        add("X", [s.data.name for s in system.form.unknowns])
        add("U", [s.data.name for s in system.inputs])
        add("Y", list(self.outputs))
        guards = [f"indicator {k + 1}" for k in range(len(system.guards))]
        found.extend(
            SignalText("Z", self.names.name(own), shortened(repr(guard.source))) for own, guard in zip(guards, system.locking.guards, strict=True)
        )
        for k in self._moving_clocks():
            label = system.transitions.event_actions[self._first_clock() + k].label
            found.append(SignalText("Z", self.names.name(f"clock {k + 1}"), shortened(f"time of {label or 'a time event'}")))
        add("W", list(self.recorded))
        return tuple(found)

    # -- sizes and tables

    def _first_clock(self) -> int:
        return len(self.system.transitions.event_actions) - len(self.system.transitions.times)

    def _moving_clocks(self) -> list[int]:
        """Time events whose times, or whether they happen, events can change: a time event of the block is set by time events only."""
        found: list[int] = []
        for k, event in enumerate(self.system.model.time_events):
            parts = [item for item in (event.first, event.period, event.condition) if item is not None]
            read = dependencies(*parts, self.system.transitions.enabled[k])
            if any(s.data.role is not Role.PARAMETER for s in read):
                found.append(k)
        return found

    def _numbers(self, n: int) -> dict[str, int]:
        system, memory = self.system, self.system.memory
        transitions = system.transitions
        n_branches = system.n_branches
        is_ode = system.form.is_identity
        n_switching = len(system.switching) if len(system.switching) <= _MOST_SEARCHED else 0
        return {
            "N_X": n, "N_Z": len(system.guards), "N_A": len(system.algebraic), "N_DISCRETE": len(system.discretes),
            "N_ACTIONS": len(transitions.event_actions), "N_BRANCHES": n_branches, "N_WHEN": transitions.n_rising,
            "N_REMARKS": self._first_clock() - n_branches, "N_CONDITIONS": len(transitions.conditions), "N_CLOCKS": len(transitions.times),
            "N_DROPS": len(system.dropping), "N_NEW": n + len(system.discretes) + 1, "CONFLICT_PLACE": n + len(system.discretes),
            "N_MEMORY": memory.total, "N_MODES": memory.discrete,
            "DISCRETE": memory.discrete, "PREVIOUS": memory.previous, "ACTION": memory.actions, "COUNT": memory.counts,
            "DROP": memory.drops, "WHEN": memory.when, "SIZE": memory.sizes, "TICKED": memory.ticked,
            "REST": memory.rest, "LAST_EVENT": memory.last_event, "MAY_TIE": int(system.may_tie), "N_U": len(system.inputs),
            "N_SWITCHING": n_switching, "N_TRIES": 1 << n_switching,
            "TIED": memory.tied, "TIED_ROW": memory.tied_row, "TIED_WEIGHT": memory.tied_weight,
            "FORM": 2 if system.parts else int(not is_ode), "IS_IMPLICIT": int(not is_ode), "MOST_PASSES": 200, "MOST_ROUNDS": 120,
            "HAS_WORDS": int(bool(self._said())), **self.ends.numbers(), **_PASSES,
            "RELATION": RELATION, "LOWER": LOWER, "UPPER": UPPER, "FLOOR_LOWER": FLOOR_LOWER, "FLOOR_UPPER": FLOOR_UPPER,
        }  # fmt: skip

    def _tables(self) -> dict[str, list[int]]:
        system = self.system
        transitions, guards = system.transitions, system.locking.guards
        position = {s: k for k, s in enumerate(system.locking.modes)}
        kinds = {GuardKind.RELATION: RELATION, GuardKind.LOWER: LOWER, GuardKind.UPPER: UPPER}
        branches = transitions.event_actions[: system.n_branches]
        firsts = [branch.conditions[0] if branch.conditions else 0 for branch in branches]
        columns = system.algebraic
        moving = self._moving_clocks()
        events = system.model.time_events
        places = {s: k for k, s in enumerate(system.form.unknowns)}
        return {
            "guard_kind": [kinds[g.kind] + (2 if g.source.op == "floor" else 0) for g in guards],
            "guard_mode": [position[g.mode] for g in guards],
            "guard_strict": [int(g.strict) for g in guards],
            "guard_switches": [int(k in system.switching) for k in range(len(guards))],
            "branch_first": [*firsts, transitions.n_rising],
            "branch_chain": [branch.chain for branch in branches],
            "action_priority": [min(max(action.priority, 1), 100) for action in transitions.event_actions],
            "action_ends": [int(any(isinstance(a, Terminate) for a in action.actions)) for action in transitions.event_actions],
            "is_algebraic": [int(k in columns) for k in range(len(system.form.unknowns))],
            "clock_is_fixed": [int(k not in moving) for k in range(len(events))],
            "clock_repeats": [int(event.period is not None) for event in events],
            "drop_place": [places[s] for s in system.dropping],
            **self.ends.tables(),
        }

    def _said(self) -> dict[int, list[str]]:
        """What is printed when something happens."""
        found: dict[int, list[str]] = {}
        for k, event in enumerate(self.system.transitions.event_actions):
            texts = [a.text if isinstance(a, Message) else a.message for a in event.actions if isinstance(a, (Message, Terminate))]
            if any(texts):
                found[k] = [shortened(text) for text in texts if text]
        n, model = len(self.system.transitions.event_actions), self.system.model
        words = [text for actions in (model.initial_actions, model.final_actions) for text, _ in self.ends.said(actions)]
        return found | {n + k: [text] for k, text in enumerate(words)}

    # -- formulas

    def _in_own_parameters(self, formula: Formula) -> Formula:
        """A formula with parameters that follow from others put in."""
        values = substitute([value for _, value in formula.outputs], self.system.following)
        return replace(formula, outputs=tuple((k, value) for (k, _), value in zip(formula.outputs, values, strict=True)))

    def _formulas(self) -> tuple[Formula, ...]:
        system = self.system
        form, n = system.form, len(system.form.unknowns)
        rhs, unknowns = list(form.rhs), list(form.unknowns)
        slopes = jacobian(rhs, unknowns)
        rates = [symbol(Role.DERIVATIVE, s.data.name) for s in unknowns]
        residuals = [-f for f in rhs]
        equations = {key: value if form.is_identity else -value for key, value in slopes.items()}
        for (i, j), entry in form.mass.items():
            residuals[i] = residuals[i] + entry * rates[j]
            if not form.is_identity:
                equations[i, j] = equations.get((i, j), ZERO) + _CJ * entry
        full = [
            formula("right_sides", "right sides f of M x' = f", enumerate(rhs)),
            formula("slopes_of_right_sides", "df/dx by rows", ((i * n + j, v) for (i, j), v in slopes.items()), size=n * n),
            formula("slopes_by_time", "df/dt", enumerate(differentiate(f, TIME) for f in rhs)),
            formula("mass_matrix", "M by rows", ((i * n + j, v) for (i, j), v in form.mass.items()), size=n * n),
            formula("residuals", "M x' - f", enumerate(residuals), ("t", "x", "xd", *ARGUMENTS[2:])),
            formula(
                "slopes_of_equations",
                "what BLOCKJ gives",
                ((j * n + i, v) for (i, j), v in equations.items()),
                ("t", "x", "xd", *ARGUMENTS[2:], "cj"),
                size=n * n,
            ),
            formula("outputs", "Y", enumerate(map(as_real, self.outputs.values()))),
            formula("auxiliaries", "W", enumerate(map(as_real, self.recorded.values()))),
        ]
        sizes = [len(part) for part in system.parts]
        full += [formula(f"part_{k + 1}", f"F{k + 1}", enumerate(part, sum(sizes[:k]))) for k, part in enumerate(system.parts)]
        self.places[_CJ] = ("cj", 0)
        return (*full, *self._guard_formulas(), *self._event_formulas(), *self.ends.formulas())

    def _guard_formulas(self) -> list[Formula]:
        system = self.system
        guards, unknowns = list(system.guards), list(system.form.unknowns)
        rates = {s: symbol(Role.DERIVATIVE, s.data.name) for s in unknowns}
        along = tangent(guards, {TIME: ONE, **rates})
        weights = [symbol(Role.SEED, "wt"), *(symbol(Role.SEED, f"w{k}") for k in range(len(unknowns)))]
        self.places |= {weights[0]: ("wt", 0)} | {s: ("w", k) for k, s in enumerate(weights[1:])}
        scales = spreads(guards, dict(zip([TIME, *unknowns], weights, strict=True)))
        masked = [ONE if a is None else select(a, g, ONE) for g, a in zip(guards, system.activity, strict=True)]
        enabled, times = system.transitions.enabled, system.transitions.times
        masked += [select(enabled[k], TIME - times[k], -ONE) for k in self._moving_clocks()]
        return [
            formula("guards", "discontinuity functions", enumerate(guards)),
            formula("guard_rates", "their derivatives by time", enumerate(along), ("t", "x", "xd", *ARGUMENTS[2:])),
            formula("guard_scales", "how much they move with time and unknowns", enumerate(scales), (*ARGUMENTS, "wt", "w")),
            formula("indicators", "Z", enumerate(masked)),
        ]

    def _event_formulas(self) -> list[Formula]:
        system, transitions = self.system, self.system.transitions
        n = len(system.form.unknowns)
        index = {s: k for k, s in enumerate(system.form.unknowns)} | {s: n + k for k, s in enumerate(system.discretes)}
        bodies = [(index[target], value) for target, value in transitions.new_values.items()]
        if transitions.conflict is not FALSE:
            bodies.append((n + len(system.discretes), as_real(transitions.conflict)))
        never = as_real(float("inf"))
        times = [select(on, at, never) for on, at in zip(transitions.enabled, transitions.times, strict=True)]
        return [
            formula("conditions", "conditions of clauses", enumerate(map(as_real, transitions.conditions))),
            formula("bodies", "what clauses give, for those that happen", bodies),
            formula("clock_times", "times of time events", enumerate(times)),
        ]


def _described(own: str, variable: Variable | None) -> str:
    """A text of the interface: the description, or the user's name, and the unit."""
    said = (variable.description if variable is not None else "") or own
    return shortened(f"{said} [{variable.unit}]" if variable is not None and variable.unit else said)
