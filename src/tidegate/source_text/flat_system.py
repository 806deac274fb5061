"""A reduced model as expressions on flat vectors, for whoever writes it down in another language (stage: source text).

In: a model of index one. Out: its form M x' = f, guards, conditions, bodies and start values, locked as for ``compiled.compile``, and where every
symbol stands. What no program text can carry is refused here, naming the user's object.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from tidegate.compiled.locking import GuardKind, Locking, activities
from tidegate.compiled.mass_form import MassForm, mass_form
from tidegate.compiled.shown_quantities import computed_unknowns
from tidegate.compiled.transitions import Transitions, flatten_transitions, states_before
from tidegate.compiled.vector_symbols import action_symbol, count_symbol, drop_symbol
from tidegate.errors import Origin, UsageError
from tidegate.expressions import Expr, Role, as_expr, evaluate, jacobian, substitute, symbol, walk
from tidegate.expressions.sparsity import dependencies
from tidegate.model import Form, Model, Variable, VariableRole
from tidegate.model.rewriting import expressions_of
from tidegate.quick_dataclass import dataclass
from tidegate.source_text.following_starts import following_starts
from tidegate.structure import Reduced
from tidegate.structure.held_starts import held_starts
from tidegate.structure.start_unknowns import StartUnknowns, start_unknowns

__all__ = ["TIME", "FlatSystem", "Memory", "flat_system", "initial_values", "parameter_values"]

_LOOKS_BACK = ("past", "same")  # operations of tg.delay
TIME = symbol(Role.TIME, "time")


@dataclass(frozen=True)
class Memory:
    """Where the parts of the memory begin."""

    modes: int
    discrete: int
    previous: int
    actions: int
    counts: int
    drops: int
    when: int
    sizes: int
    ticked: int
    rest: int
    last_event: int
    tied: int
    tied_row: int
    tied_weight: int
    ending: int
    total: int


@dataclass(frozen=True, eq=False)
class FlatSystem:
    """Everything that is written down.

    Parameters
    ----------
    reduced : the model.
    locking, form, transitions : of it; ``transitions`` as ``form`` has them.
    guards : in terms of unknowns.
    activity : of each guard when it matters; None for never.
    shown : definitions of the model and unknowns that are computed, by name.
    parameters : variables that can be set; ``following`` : what symbols of others are, in terms of these.
    dropping : states whose values before a round conditions ask for.
    parts : F1 ... F5 of an HDAE; nothing else has any.
    """

    reduced: Reduced
    locking: Locking
    form: MassForm
    transitions: Transitions
    guards: tuple[Expr, ...]
    activity: tuple[Expr | None, ...]
    shown: dict[str, Expr]
    parameters: tuple[Variable, ...]
    following: dict[Expr, Expr]
    dropping: tuple[Expr, ...]
    parts: tuple[tuple[Expr, ...], ...] = ()

    @property
    def model(self) -> Model:
        """What is solved."""
        return self.reduced.model

    @cached_property
    def discretes(self) -> tuple[Expr, ...]:
        """Symbols of the discrete variables."""
        return tuple(s for v in self.model.discretes for s in v.symbols())

    @cached_property
    def inputs(self) -> tuple[Expr, ...]:
        """Symbols of the inputs."""
        return tuple(s for v in self.model.by_role(VariableRole.INPUT) for s in v.symbols())

    @cached_property
    def n_branches(self) -> int:
        """How many of the things that can happen are branches of clauses."""
        return sum(len(when.branches) for when in self.model.whens)

    @cached_property
    def memory(self) -> Memory:
        """Offsets in m."""
        sizes = [len(self.locking.modes), len(self.discretes), len(self.discretes), len(self.transitions.event_actions), len(self.transitions.times)]
        sizes += [len(self.dropping), self.transitions.n_rising, len(self.form.unknowns), len(self.transitions.times)]
        sizes += [len(self.guards), 1]
        n = len(self.form.unknowns) if self.may_tie else 0
        sizes += [int(self.may_tie), n, n * n]  # how many equations that tie states have given way, which, and what is in their place
        sizes += [2 if self.model.final_actions else 0]  # the final time, and whether the run has ended
        places = [sum(sizes[:k]) for k in range(len(sizes) + 1)]
        return Memory(*places)

    @cached_property
    def start_unknowns(self) -> StartUnknowns:
        """What equations determine at the start."""
        return start_unknowns(self.model, held_starts(self.reduced))

    @cached_property
    def following_starts(self) -> dict[Expr, Expr] | None:
        """Start values of states that gave way to others, as formulas; None if they are solved for."""
        if self.model.initial_equations:
            return None
        return following_starts(self.model, self.start_unknowns, self.declared_starts)

    @property
    def solves_start(self) -> bool:
        """Whether BLOCKS solves for start values."""
        return self.following_starts is None

    @cached_property
    def declared_starts(self) -> dict[Expr, Expr]:
        """Of every unknown and discrete variable its start value as it was given."""
        roles = (VariableRole.STATE, VariableRole.ALGEBRAIC, VariableRole.DISCRETE)
        return {s: start for v in self.model.by_role(*roles) for s, start in zip(v.symbols(), v.starts(), strict=True)}

    @cached_property
    def algebraic(self) -> list[int]:
        """Unknowns whose derivatives are in no row."""
        columns = {j for _, j in self.form.mass}
        return [j for j in range(len(self.form.unknowns)) if j not in columns]

    @property
    def may_tie(self) -> bool:
        """Whether there may be modes whose equations do not determine the algebraic unknowns, and tie states instead."""
        return bool(self.switching)

    @cached_property
    def switching(self) -> list[int]:
        """Guards of which it depends how algebraic unknowns enter the equations."""
        if self.parts or not self.algebraic:
            return []
        unknowns = [self.form.unknowns[k] for k in self.algebraic]
        read = dependencies(*jacobian(self.form.rhs, unknowns).values())
        return [k for k, guard in enumerate(self.locking.guards) if guard.kind is GuardKind.RELATION and guard.mode in read]

    def places(self) -> dict[Expr, tuple[str, int]]:
        """The vector and index of every symbol, but of parameters."""
        memory = self.memory
        found: dict[Expr, tuple[str, int]] = {TIME: ("t", 0)}
        found |= {s: ("x", k) for k, s in enumerate(self.form.unknowns)}
        found |= {symbol(Role.DERIVATIVE, s.data.name): ("xd", k) for k, s in enumerate(self.form.unknowns)}
        found |= {s: ("u", k) for k, s in enumerate(self.inputs)}
        previous = [symbol(Role.PREVIOUS, s.data.name) for s in self.discretes]
        actions = [action_symbol(k) for k in range(len(self.transitions.event_actions))]
        counts = [count_symbol(k) for k in range(len(self.transitions.times))]
        for first, several in (
            (memory.modes, self.locking.modes),
            (memory.discrete, self.discretes),
            (memory.previous, previous),
            (memory.actions, actions),
            (memory.counts, counts),
            (memory.drops, [drop_symbol(s) for s in self.dropping]),
        ):
            found |= {s: ("m", first + k) for k, s in enumerate(several)}
        return found


def flat_system(reduced: Reduced) -> FlatSystem:
    """Lock a model and bring it to mass form.

    Raises
    ------
    UsageError : it holds what cannot be written in another language.
    """
    model = reduced.model
    _require_writable(reduced)
    locking = Locking()
    residuals = locking.lock([equation.residual for equation in model.equations])
    kept = locking.lock([equation.residual for equation in model.constraints])
    computed = computed_unknowns(reduced.given, reduced.replaced)
    named = {d.name: d.value for d in model.definitions} | computed
    shown = locking.lock(named.values())
    transitions = flatten_transitions(model, locking)
    readers = [*shown, *transitions.conditions, *transitions.new_values.values(), *(g.function for g in locking.guards), *_start_values(reduced)]
    wanted = {s for s in dependencies(*readers) if s.data.role is Role.DERIVATIVE}
    unknowns = [s for variable in model.unknowns for s in variable.symbols()]
    form = mass_form(unknowns, residuals, sorted(wanted, key=lambda s: s.data.name))
    put_in = form.derivative_values
    rising = transitions.conditions[: transitions.n_rising]
    active = activities(locking, [*form.rhs, *form.mass.values(), *shown, *substitute(rising, put_in), *transitions.enabled, *residuals, *kept])
    parameters, following = _parameters(model)
    new_values = dict(zip(transitions.new_values, substitute(transitions.new_values.values(), put_in), strict=True))
    (conflict,) = substitute([transitions.conflict], put_in)
    flat = Transitions(
        transitions.event_actions, tuple(substitute(transitions.conditions, put_in)), transitions.n_rising, transitions.times,
        transitions.enabled, new_values, conflict,
    )  # fmt: skip
    return FlatSystem(
        reduced=reduced,
        locking=locking,
        form=form,
        transitions=flat,
        guards=tuple(substitute([g.function for g in locking.guards], put_in)),
        activity=tuple(active.get(g.mode, active.get(g.function)) for g in locking.guards),
        shown=dict(zip(named, substitute(shown, put_in), strict=True)),
        parameters=parameters,
        following=following,
        dropping=states_before(model),
        parts=_parts(model, form, kept) if model.form is Form.HDAE else (),
    )


def _parts(model: Model, form: MassForm, kept: Sequence[Expr]) -> tuple[tuple[Expr, ...], ...]:
    """F1 ... F5 of an HDAE that is solved in the form of index one, where x1' has no factor."""
    n_states = sum(len(variable.names) for variable in model.by_role(VariableRole.STATE))
    others = (tuple(value for equation, value in zip(model.constraints, kept, strict=True) if equation.part == k) for k in range(2, 6))
    return (form.rhs[:n_states], *others)


def _start_values(reduced: Reduced) -> list[Expr]:
    """What is compared at the start."""
    return [value for item in reduced.held for value in (item.value, item.start)]


def _parameters(model: Model) -> tuple[tuple[Variable, ...], dict[Expr, Expr]]:
    """Parameters with values of their own, and the others, which follow from them, as expressions."""
    own: list[Variable] = []
    following: dict[Expr, Expr] = {}
    for variable in model.parameters:
        starts = substitute(variable.starts(), following)
        if all(start.is_constant for start in variable.starts()):
            own.append(variable)
        else:
            following |= dict(zip(variable.symbols(), starts, strict=True))
    return tuple(own), following


def _require_writable(reduced: Reduced) -> None:
    """Refuse what the text of a program cannot carry."""
    model = reduced.model
    for item in walk(expressions_of(model)):
        if item.op in _LOOKS_BACK:
            raise UsageError(
                f"{model.name} cannot be exported: it looks back in time (tg.delay)", hint="a block has no past; leave the delay outside of it"
            )
        if item.op == "call":
            raise UsageError(
                f"{model.name} cannot be exported: it calls {item.data.name}, which is Python",
                hint="write what it computes with functions that can be followed, or as a tg.table",
            )
    beyond: list[tuple[Sequence[object], str, str]] = [
        (model.opaque_parts, "is made of callbacks", "write it as tg.ode, tg.dae, a component or a diagram"),
        (model.step_events, "has events at the ends of steps", "use events of conditions or times"),
    ]
    for found, what, hint in beyond:
        if found:
            origin = getattr(found[0], "origin", None)
            raise UsageError(f"{model.name} cannot be exported: it {what}", hint=hint, origin=origin if isinstance(origin, Origin) else None)


def parameter_values(model: Model) -> dict[Expr, float]:
    """Of every parameter the value that the model gives it, by itself or by others."""
    known: dict[Expr, float] = {}
    for variable in model.parameters:
        known |= {s: evaluate([start], known)[0] for s, start in zip(variable.symbols(), variable.starts(), strict=True)}
    return known


def initial_values(system: FlatSystem) -> dict[Expr, Expr]:
    """Of every unknown and discrete variable its start value in terms of parameters and time, before initial actions."""
    starts = system.declared_starts | (system.following_starts or {})
    slopes: Mapping[str, Expr] = system.model.derivative_starts
    return starts | {extra: slopes.get(derivative.data.name, as_expr(0.0)) for extra, derivative in system.form.derivatives.items()}
