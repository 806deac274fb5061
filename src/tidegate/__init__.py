"""tidegate: systems that are at once continuous and discrete, with right events and right sensitivities.

Every public name is here; what is behind a name loads when it is first used, so that importing the package costs little.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from tidegate.errors import (
    AssertionFailedError,
    CallbackError,
    ChatteringError,
    ClockError,
    ConflictError,
    CsmpError,
    DSblockOrderError,
    DSblockWarning,
    IdentifiabilityWarning,
    InitializationError,
    InterruptedRunError,
    InvalidModelError,
    ModelError,
    NotFiniteError,
    NotFiniteWarning,
    ProcessError,
    RunError,
    SensitivityWarning,
    SingularSystemError,
    SlowRunWarning,
    StartValueWarning,
    SteadyStateError,
    StepSizeError,
    StructureError,
    TidegateError,
    TidegateWarning,
    ToleranceWarning,
    TooManyStepsError,
    UndecidedError,
    UnitError,
    UnknownEventError,
    UnknownNameError,
    UnsettledEventError,
    UntraceableError,
    UsageError,
    WrongCallError,
    ZenoError,
)
from tidegate.names import suggestion

if TYPE_CHECKING:
    from tidegate import csmp, library
    from tidegate.cross_check import CrossCheck, cross_check
    from tidegate.executive import Prepared
    from tidegate.expressions.delays import delay
    from tidegate.expressions.elementary import clip, maximum, minimum, sign, where
    from tidegate.expressions.lookup_tables import table
    from tidegate.expressions.no_event import no_event
    from tidegate.expressions.noise import noise
    from tidegate.fit import Fit, fit
    from tidegate.frontends import dsblock
    from tidegate.frontends.blocks import Diagram, blocks
    from tidegate.frontends.components import (
        Algebraic,
        Array,
        Bound,
        Component,
        Connector,
        Constant,
        Discrete,
        Flow,
        Input,
        InputSignal,
        Output,
        OutputSignal,
        Parameter,
        Potential,
        State,
        as_part,
        assertion,
        at,
        change,
        conditional,
        connect,
        der,
        edge,
        enable,
        every,
        finally_,
        initial_equations,
        initially,
        load_component,
        message,
        pre,
        precompile,
        replaces,
        sample,
        start,
        terminate,
        time,
        when,
    )
    from tidegate.frontends.dsblock import DSblock
    from tidegate.frontends.equations import dae, event, hdae, ode, opaque
    from tidegate.frontends.processes import Environment, Group, SimulaProcess
    from tidegate.operating_point import LinearModel, SteadyState, linearize, steady_state
    from tidegate.results import Result
    from tidegate.show import show
    from tidegate.simulate import prepare, simulate
    from tidegate.simulation import Simulation
    from tidegate.solve_ivp import solve_ivp
    from tidegate.sweep import sweep
    from tidegate.verify import Verification, verify
    from tidegate.wishes import RetryStep, StopRun

__version__ = "0.1.0"

__all__ = [
    "Algebraic",
    "Array",
    "AssertionFailedError",
    "Bound",
    "CallbackError",
    "ChatteringError",
    "ClockError",
    "Component",
    "ConflictError",
    "Connector",
    "Constant",
    "CrossCheck",
    "CsmpError",
    "DSblock",
    "DSblockOrderError",
    "DSblockWarning",
    "Diagram",
    "Discrete",
    "Environment",
    "Fit",
    "Flow",
    "Group",
    "IdentifiabilityWarning",
    "InitializationError",
    "Input",
    "InputSignal",
    "InterruptedRunError",
    "InvalidModelError",
    "LinearModel",
    "ModelError",
    "NotFiniteError",
    "NotFiniteWarning",
    "Output",
    "OutputSignal",
    "Parameter",
    "Potential",
    "Prepared",
    "ProcessError",
    "Result",
    "RetryStep",
    "RunError",
    "SensitivityWarning",
    "SimulaProcess",
    "Simulation",
    "SingularSystemError",
    "SlowRunWarning",
    "StartValueWarning",
    "State",
    "SteadyState",
    "SteadyStateError",
    "StepSizeError",
    "StopRun",
    "StructureError",
    "TidegateError",
    "TidegateWarning",
    "ToleranceWarning",
    "TooManyStepsError",
    "UndecidedError",
    "UnitError",
    "UnknownEventError",
    "UnknownNameError",
    "UnsettledEventError",
    "UntraceableError",
    "UsageError",
    "Verification",
    "WrongCallError",
    "ZenoError",
    "as_part",
    "assertion",
    "at",
    "blocks",
    "change",
    "clip",
    "conditional",
    "connect",
    "cross_check",
    "csmp",
    "dae",
    "delay",
    "der",
    "dsblock",
    "edge",
    "enable",
    "event",
    "every",
    "finally_",
    "fit",
    "hdae",
    "initial_equations",
    "initially",
    "library",
    "linearize",
    "load_component",
    "maximum",
    "message",
    "minimum",
    "no_event",
    "noise",
    "ode",
    "opaque",
    "pre",
    "precompile",
    "prepare",
    "replaces",
    "sample",
    "show",
    "sign",
    "simulate",
    "solve_ivp",
    "start",
    "steady_state",
    "sweep",
    "table",
    "terminate",
    "time",
    "verify",
    "when",
    "where",
]

_BLOCKS: Final = "tidegate.frontends.blocks"
_COMPONENTS: Final = "tidegate.frontends.components"
_EQUATIONS: Final = "tidegate.frontends.equations"
_OPERATING_POINT: Final = "tidegate.operating_point"
_HOMES: Final = {
    "CrossCheck": "tidegate.cross_check",
    "DSblock": "tidegate.frontends.dsblock",
    "Diagram": _BLOCKS,
    "Fit": "tidegate.fit",
    "LinearModel": _OPERATING_POINT,
    "Prepared": "tidegate.executive",
    "Result": "tidegate.results",
    "RetryStep": "tidegate.wishes",
    "Simulation": "tidegate.simulation",
    "SteadyState": _OPERATING_POINT,
    "StopRun": "tidegate.wishes",
    "Verification": "tidegate.verify",
    "blocks": _BLOCKS,
    "cross_check": "tidegate.cross_check",
    "fit": "tidegate.fit",
    "delay": "tidegate.expressions.delays",
    "linearize": _OPERATING_POINT,
    "no_event": "tidegate.expressions.no_event",
    "noise": "tidegate.expressions.noise",
    "prepare": "tidegate.simulate",
    "show": "tidegate.show",
    "simulate": "tidegate.simulate",
    "solve_ivp": "tidegate.solve_ivp",
    "steady_state": _OPERATING_POINT,
    "sweep": "tidegate.sweep",
    "table": "tidegate.expressions.lookup_tables",
    "verify": "tidegate.verify",
    **dict.fromkeys(("clip", "maximum", "minimum", "sign", "where"), "tidegate.expressions.elementary"),
    **dict.fromkeys(("dae", "event", "hdae", "ode", "opaque"), _EQUATIONS),
    **dict.fromkeys(("Environment", "Group", "SimulaProcess"), "tidegate.frontends.processes"),
    **dict.fromkeys(("Algebraic", "Array", "Bound", "Component", "Connector", "Constant", "Discrete", "Flow", "Input", "InputSignal"), _COMPONENTS),
    **dict.fromkeys(("Output", "OutputSignal", "Parameter", "Potential", "State", "as_part", "assertion", "at", "change"), _COMPONENTS),
    **dict.fromkeys(("conditional", "connect", "der", "edge", "enable", "every", "finally_", "initial_equations", "initially"), _COMPONENTS),
    **dict.fromkeys(("message", "pre", "replaces", "sample", "start", "terminate", "time", "when", "load_component", "precompile"), _COMPONENTS),
}

# used as tg.csmp.run(...), tg.library.electrical.Resistor(...), tg.dsblock.Start(...)
# what people bring from Modelica, and how it is said here
_CALLED_OTHERWISE: Final = {
    "reinit": "return new values of states from the clause: return {self.v: -self.e * self.v}",
    "noEvent": "it is tg.no_event(...)",
    "smooth": "it is tg.no_event(...), where corners need not be located",
    "initial": "write @tg.initially above a method, @tg.when(condition, at_start=True), or yield tg.initial_equations(...)",
    "terminal": "write @tg.finally_ above a method",
    "initial_equation": "it is tg.initial_equations(...)",
    "assert_": "it is tg.assertion(condition, text)",
    "elsewhen": "write @first.elsewhen(...), where first is the method of the clause before",
    "Model": "components are classes: class Tank(tg.Component)",
    "Block": "components are classes: class Tank(tg.Component); blocks of diagrams are in tg.blocks",
    "Real": "it is tg.State, tg.Algebraic, tg.Discrete or tg.Parameter",
    "Integer": "it is tg.Discrete(0), or tg.Constant(3) where it decides the structure",
    "Boolean": "it is tg.Discrete(False)",
    "Variable": "it is tg.State, where its derivative is given, or tg.Algebraic",
    "Var": "it is tg.State, where its derivative is given, or tg.Algebraic",
    "Unknown": "it is tg.Algebraic",
    "Port": "connectors are classes: class Pin(tg.Connector), with tg.Potential() and tg.Flow()",
    "derivative": "it is tg.der(x)",
    "diff": "it is tg.der(x)",
    "equation": "equations are yielded by the method `equations`: yield tg.der(self.x) == -self.x",
    "run": "it is tg.simulate(model, t_span)",
    "solve": "it is tg.simulate(model, t_span)",
    "integrate": "it is tg.simulate(model, t_span)",
    "odeint": "tg.simulate(tg.ode(f, y0={...}), t_span), with f(t, y)",
    "plot": "results plot themselves: result.plot()",
    "replaceable": "every part is: load = Resistor() in the class, Circuit(load=Inductor()) for another",
    "redeclare": "give the other part to the instance: Circuit(load=Inductor())",
    "inner": "hand the value, or a connector, on to the parts",
    "outer": "hand the value, or a connector, on to the parts",
    "extends": "a class inherits: class Resistor(TwoPin)",
    "previous": "it is tg.pre(x)",
    "hold": "a discrete variable holds its value until a clause changes it",
    "clock": "write @tg.every(0.1) above a method; in functions tg.event(every=0.1, reset=...)",
    "Clock": "write @tg.every(0.1) above a method; in functions tg.event(every=0.1, reset=...)",
    "ddt": "it is tg.der(x)",
    "interp": "it is tg.table(x, y)",
    "interpolate": "it is tg.table(x, y)",
    "lookup": "it is tg.table(x, y)",
    "random": "it is tg.noise(t, seed=1)",
    "rand": "it is tg.noise(t, seed=1)",
    "bode": "it is tg.linearize(model, inputs=[...]).bode()",
    "step": "of a linear model: tg.linearize(model, inputs=[...]).step(); a signal is tg.blocks.Step",
    "optimize": "tg.fit fits parameters to data; scipy.optimize takes tg.prepare(...).with_parameters(...).run() and its sensitivities",
    "optimise": "tg.fit fits parameters to data; scipy.optimize takes tg.prepare(...).with_parameters(...).run() and its sensitivities",
    "monte_carlo": "it is tg.sweep(model, t_span, parameters=table), a run for each row",
    "load": "it is tg.Result.load(path), tg.Simulation.load(path, model)",
    "read": "it is tg.Result.load(path)",
    "save": "results save themselves: result.save(path)",
} | dict.fromkeys(
    (
        "sin",
        "cos",
        "tan",
        "asin",
        "acos",
        "atan",
        "atan2",
        "sinh",
        "cosh",
        "tanh",
        "exp",
        "log",
        "log10",
        "sqrt",
        "pi",
        "floor",
        "ceil",
        "fabs",
        "sign",
    ),
    "functions of numbers are those of math and numpy, as in math.sin(x) and np.sin(x); models take both",
)
_PACKAGES: Final = {"csmp": "tidegate.csmp", "dsblock": "tidegate.frontends.dsblock", "library": "tidegate.library"}


class _CalledPackage(ModuleType):
    """A package whose name somebody calls, as ``tg.plot(result)``: it is answered as before anything imported it."""

    def __call__(self, *_: Any, **__: Any) -> Any:
        name = self.__name__.rpartition(".")[2]
        raise UnknownNameError(f"there is no tg.{name} to call", hint=_CALLED_OTHERWISE[name])


class _Package(ModuleType):
    """Keeps ``tidegate.simulate`` the function: Python would put the module of that name there as soon as anything imports it."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _CALLED_OTHERWISE and isinstance(value, ModuleType):
            value.__class__ = _CalledPackage
        super().__setattr__(name, getattr(value, name) if isinstance(value, ModuleType) and name in _HOMES else value)

    def __reduce__(self) -> tuple[Any, ...]:
        return import_module, (self.__name__,)  # functions of a notebook take `tg` along to other processes, by cloudpickle


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return import_module(_PACKAGES[name])
    home = _HOMES.get(name)
    if home is None and name in _CALLED_OTHERWISE:
        raise UnknownNameError(f"there is no tg.{name}", hint=_CALLED_OTHERWISE[name])
    if home is None:
        if name.startswith("__"):
            raise AttributeError(f"module 'tidegate' has no attribute {name!r}")
        raise UnknownNameError(f"there is no tg.{name}", hint=suggestion(name, __all__, "dir(tg) lists what there is, help(tg.simulate) says more"))
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
