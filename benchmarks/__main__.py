"""``python -m benchmarks [P1 P3 P6+3 ...] [--rounds N]``: measure and print."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Sequence

from rich.console import Console

from benchmarks.c_runs import compare
from benchmarks.competitors import COMPETITORS
from benchmarks.compiled_blocks import block_over_traced, connection_over_traced
from benchmarks.components import PAIRS, plate_mebibytes, seconds
from benchmarks.csmp_machine import csmp_callback_microseconds, csmp_ratio
from benchmarks.large import ERROR, plate_ratios, rod_milliseconds, row_of_ten_thousand
from benchmarks.leaks import RUNS, anew_kibibytes, prepared_kibibytes
from benchmarks.measure import Work, measure
from benchmarks.problems import PROBLEMS, ROBERTSON
from benchmarks.processes import farm_facts, queue_ratio
from benchmarks.report import Fact, bounds_table, c_table, comparison_table, facts_table, precision_table, taylor_table
from benchmarks.silence import silence
from benchmarks.smooth_problems import SMOOTH_PROBLEMS
from benchmarks.smooth_sweeps import RUNS as SWEPT_RUNS
from benchmarks.smooth_sweeps import SWEPT_MODELS, microseconds_of_both, microseconds_with_limit
from benchmarks.taylor_series import pairs
from benchmarks.whole_runs import (
    buck_microseconds,
    cold_start_seconds,
    free_cores_ratio,
    overhead_microseconds,
    scipy_buck_microseconds,
    sweep_facts,
    sweep_gains,
    thread_ratio,
)

__all__ = ["main"]

CASES = [*((problem.key, problem, False) for problem in (*PROBLEMS, *SMOOTH_PROBLEMS)), ("P6+3", ROBERTSON, True)]

ALLOCATOR = 2048.0  # KiB that memory may move by without a leak; a tenth of a KiB left behind by a run would be 1000 after ten thousand
PARTS = ("blocks", "c", "components", "csmp", "large", "leaks", "processes", "runs", "taylor")  # what is no comparison of solvers on a problem


def _fact(title: str, take: Callable[[], float], bound: float | None, unit: str) -> Fact:
    try:
        return Fact(title, take(), bound, unit)
    except Exception as reason:
        return Fact(title, None, bound, unit, f"{type(reason).__name__}: {reason}".splitlines()[0][:100])


def _whole_runs(rounds: int) -> list[Fact]:
    return [
        _fact("P8, an event", lambda: buck_microseconds(rounds), 3.0, "us"),
        _fact("P8, an event, SciPy RK45 in calls of solve_ivp", scipy_buck_microseconds, None, "us"),
        _fact("a prepared run of one state, above its native part", lambda: overhead_microseconds(rounds, event=False), 30.0, "us"),
        _fact("the same with an event", lambda: overhead_microseconds(rounds, event=True), 30.0, "us"),
        _fact("tidegate run on P1, fresh process, warm cache", lambda: cold_start_seconds(rounds), 1.5, "s"),
        _fact("two threads over one, P8", lambda: thread_ratio(rounds), 1.2, "times"),
        _fact("a sweep of 10 000 runs of P2, one thread", lambda: sweep_facts(rounds)[0], 0.6, "s of processor time"),
        _fact("the same, a run above its native part", lambda: sweep_facts(rounds)[1], 10.0, "us"),
        _fact("the same, one thread over two", lambda: sweep_gains(rounds)[0], None, "times (at least 1.7)"),
        _fact("the same, over two processes of half each: what the machine gives", lambda: sweep_gains(rounds)[1], None, "times"),
        _fact("two threads over one, hashing in C: what the machine gives", lambda: free_cores_ratio(rounds), None, "times"),
    ]


def _leaks() -> list[Fact]:
    return [
        _fact(f"growth over {RUNS} runs of a prepared model", prepared_kibibytes, ALLOCATOR, "KiB"),
        _fact(f"growth over {RUNS} calls of tg.simulate", anew_kibibytes, ALLOCATOR, "KiB"),
    ]


def _csmp(rounds: int) -> list[Fact]:
    return [
        _fact("native over plain Python, 200 blocks, 100000 half steps", lambda: csmp_ratio(rounds), None, "times (at least 50)"),
        _fact("a call of a user routine that is not compiled", lambda: csmp_callback_microseconds(rounds), None, "us"),
    ]


def _large(rounds: int) -> list[Fact]:
    plate = plate_ratios(rounds)
    own = min(ms for name, ms in plate.items() if name.startswith("tidegate"))
    others = {name: ms for name, ms in plate.items() if not name.startswith("tidegate")}
    facts = [Fact("a rod of 500 cells, default method", rod_milliseconds(rounds), 10.0, "ms")]
    facts += [Fact(f"a plate of 50 x 50 at an error of {ERROR:g}, {name}", ms, None, "ms") for name, ms in plate.items()]
    facts += [Fact(f"tidegate's best over {name}", own / ms, 0.5, "times") for name, ms in others.items()]
    seconds, mebibytes = row_of_ten_thousand()
    facts.append(Fact("a row of 10 000 unknowns, compiled", seconds, 10.0, "s of processor time"))
    facts.append(Fact("the same with a run, above a small model's", mebibytes, 200.0, "MiB"))
    return facts


def _components(rounds: int) -> list[Fact]:
    facts: list[Fact] = []
    for pair in PAIRS:
        taken = seconds(pair, rounds)
        facts.append(Fact(f"{pair.title}, of parts, translated", taken.parts, None, "s of processor time"))
        facts.append(Fact("the same by hand", taken.hand, None, "s of processor time"))
        facts.append(Fact("a run of parts over a run by hand", taken.parts_run / taken.hand_run, 1.1, "times"))
    facts.append(Fact("the largest array of a run of the plate", plate_mebibytes(), 40.0, "MiB"))
    return facts


def _blocks(rounds: int) -> list[Fact]:
    return [
        _fact("van der Pol in C with BLOCKJ, over the same followed from Python", lambda: block_over_traced(rounds, jacobian=True), 1.3, "times"),
        _fact("the same with differences for a Jacobian", lambda: block_over_traced(rounds, jacobian=False), None, "times"),
        _fact("the same of two blocks that are connected", lambda: connection_over_traced(rounds), None, "times"),
    ]


def _processes(rounds: int) -> list[Fact]:
    farm = farm_facts()
    facts = [Fact("M/M/1, 100 000 customers, over SimPy alone", queue_ratio(rounds), 1.15, "times")]
    facts += [Fact(f"a farm of 200 tanks, {name}", ms, None, "ms") for name, ms in farm.items()]
    own, once, plain, vectorized = farm.values()
    for title, other in (("plain Python", plain), ("numpy", vectorized)):
        facts.append(Fact(f"SciPy with {title} over tidegate, an event", other / own, None, "times (at least 20)"))
        facts.append(Fact(f"SciPy with {title} over tidegate, ten thousand events", other / once, None, "times (at least 20)"))
    return facts


def _smooth_sweeps(rounds: int) -> list[Fact]:
    facts: list[Fact] = []
    for model in SWEPT_MODELS:
        own, other = microseconds_of_both(model, rounds)
        facts.append(Fact(f"{model.title}, {SWEPT_RUNS} runs, one of them", own, None, "us"))
        facts.append(Fact("over heyoka, eight runs at a time", own / other, None, "times"))
    facts.append(Fact("van der Pol with a limit that no run reaches", microseconds_with_limit(10.0, rounds), None, "us"))
    facts.append(Fact("with one that each crosses every three seconds", microseconds_with_limit(1.0, rounds), None, "us"))
    return facts


def _print_taylor(console: Console, rounds: int) -> None:
    try:
        console.print(taylor_table(pairs(rounds)))
        console.print(facts_table(_smooth_sweeps(rounds), "sweeps, one thread"))
    except ImportError as reason:
        console.print(f"power series: {reason}")


def _print_facts(console: Console, wanted: Sequence[str], rounds: int) -> None:
    if "taylor" in wanted:
        _print_taylor(console, rounds)
    for part, take, title in (("blocks", _blocks, "compiled blocks"), ("processes", _processes, "processes")):
        if part in wanted:
            console.print(facts_table(take(rounds), title))


def main() -> None:
    """Parse the command line, measure, print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    choices = [key for key, _, _ in CASES]
    parser.add_argument("problems", nargs="*", metavar="problem", help=f"some of {', '.join([*choices, *PARTS])}; default: all")
    parser.add_argument("--rounds", type=int, default=7, help="rounds, of which the fastest counts")
    arguments = parser.parse_args()
    wanted = arguments.problems or [*choices, *PARTS]
    unknown = sorted(set(wanted) - {*choices, *PARTS})
    if unknown:
        parser.error(f"no such problem: {', '.join(unknown)}; there are {', '.join([*choices, *PARTS])}")
    console = Console()
    if not console.is_terminal:
        console = Console(width=180)
    warnings.simplefilter("ignore")  # competitors warn of tolerances; their errors are in the table
    works: list[Work] = []
    for key, problem, sensitivities in CASES:
        if key in wanted:
            console.print(f"measuring {key} ...", highlight=False)
            with silence():
                works.append(measure(problem, sensitivities, COMPETITORS, arguments.rounds))
    if works:
        console.print(comparison_table(works))
        console.print(precision_table(works))
        console.print(bounds_table(works))
        for work in works:
            for name, note in work.notes.items():
                console.print(f"{work.key} {name}: {note}", highlight=False)
    if "c" in wanted:
        console.print(c_table(compare(arguments.rounds)))
    if "components" in wanted:
        with silence():
            parts = _components(arguments.rounds)
        console.print(facts_table(parts, "models of parts"))
    if "csmp" in wanted:
        console.print(facts_table(_csmp(arguments.rounds), "CSMP-10(ARL)"))
    if "large" in wanted:
        with silence():
            large = _large(arguments.rounds)
        console.print(facts_table(large, "large models"))
    if "leaks" in wanted:
        console.print(facts_table(_leaks(), "memory"))
    _print_facts(console, wanted, arguments.rounds)
    if "runs" in wanted:
        console.print(facts_table(_whole_runs(arguments.rounds)))


if __name__ == "__main__":
    main()
