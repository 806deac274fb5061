"""Which rows of a guard's tape there must be models of in the mode at hand, and the numbers that they read (stage: events).

What a guard reads of parameters, modes and discrete variables says which of its branches are chosen, and so which rows are asked for; all else are
numbers, or nobody asks. That stays as it is until an event changes something the tape reads. A plan is kept with what it holds for: modes come
again, models with several guards ask for one after the other, and the next run in the same memory finds it there.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.jit import native
from tidegate.compiled.schema import MOST_PLANS
from tidegate.compiled.workspace import CHOSEN, COMPUTED, WRITTEN
from tidegate.events.function_models import function_value, is_function
from tidegate.events.guards import first_number, first_row
from tidegate.expressions.tape import ADD, AND, DIV, GE, GT, MUL, NEG, NONZERO, NOT, OF_ONE, OF_PLACES, OR, POW, SELECT, SQUARE, SUB

__all__ = ["STILL", "chosen", "use_plan"]

STILL: Final = 1  # of a register: a number
_ASKED: Final = 2  # it moves, and somebody reads it
_LAST, _MADE = 0, 1  # of two counts: one more than the place of the plan in use; how many have been made
_NO_MODEL: Final = -1  # instead of how many rows a plan has


@native
def _has_one_operand(operation):
    return operation in OF_ONE or is_function(operation)


@native
def _is_known(operation):
    """True of operations on registers alone."""
    return operation not in OF_PLACES


@native
def _of_numbers(operation, x, y):
    """A row of the tape whose operands do not move; NaN where it has no model."""
    if operation == ADD:
        return x + y
    if operation == SUB:
        return x - y
    if operation == MUL:
        return x * y
    if operation == SQUARE:
        return x * x
    if operation == NEG:
        return -x
    if operation == DIV:
        return x / y if y != 0.0 else np.nan
    if operation == POW:
        return x**y
    if operation in (NONZERO, NOT):
        return 1.0 if (x != 0.0) == (operation == NONZERO) else 0.0
    if operation in (GE, GT):
        return 1.0 if x > 0.0 or (x == 0.0 and operation == GE) else 0.0
    if operation == AND:
        return 1.0 if x != 0.0 and y != 0.0 else 0.0
    if operation == OR:
        return 1.0 if x != 0.0 or y != 0.0 else 0.0
    return function_value(operation, x)


@native
def chosen(run, row):
    """The register that a choice takes its value from; -1 where what it goes by moves, or is none."""
    code = run.tape_code
    condition = code[row, 1]
    number = run.guard_models[condition, 0]
    if run.model_is_still[condition] != STILL or np.isnan(number):
        return -1
    return code[row, 2] if number != 0.0 else code[row, 3]


@native
def _put_numbers(run, start, end, target):
    """The rows between these places that do not move; the register of the first is ``target``."""
    models = run.guard_models
    still = run.model_is_still
    code = run.tape_code
    kinds = run.tape_kinds
    for row in range(start, end):
        kind = kinds[row]
        if kind == COMPUTED:
            models[target, 0] = _of_numbers(code[row, 0], models[code[row, 1], 0], models[code[row, 2], 0])
            still[target] = STILL
        elif kind == WRITTEN:
            models[target, 0] = run.constants[code[row, 1]]
            still[target] = STILL
        else:
            still[target] = 0
            if kind == CHOSEN:
                _put_chosen(run, row, target)
        target += 1


@native
def _put_chosen(run, row, target):
    """The number of a row that may move, if in this mode it does not."""
    models = run.guard_models
    still = run.model_is_still
    code = run.tape_code
    operation = code[row, 0]
    first = code[row, 1]
    second = code[row, 2]
    if operation == SELECT:
        source = chosen(run, row)
        if source >= 0 and still[source] == STILL:
            models[target, 0] = models[source, 0]
            still[target] = STILL
    elif _is_known(operation) and still[first] == STILL and (_has_one_operand(operation) or still[second] == STILL):
        models[target, 0] = _of_numbers(operation, models[first, 0], models[second, 0])
        still[target] = STILL


@native
def _ask(run, slot, register):
    """Mark a register that moves; note one that does not."""
    if run.model_is_still[register] != STILL:
        run.model_is_still[register] = _ASKED
        return
    k = run.n_numbers[slot]
    run.planned_registers[slot, k] = register
    run.planned_numbers[slot, k] = run.guard_models[register, 0]
    run.n_numbers[slot] = k + 1


@native
def _ask_for_rows(run, slot, start, end, target):
    """Note the marked rows, from the last to the first, and mark what they read; how many, ``_NO_MODEL`` if one is an open choice, or a table."""
    code = run.tape_code
    still = run.model_is_still
    planned = 0
    for row in range(end - 1, start - 1, -1):
        target -= 1
        if still[target] != _ASKED:
            continue
        run.planned_rows[slot, planned] = row
        planned += 1
        if code[row, 0] == SELECT:
            source = chosen(run, row)
            if source < 0:
                return _NO_MODEL
            _ask(run, slot, code[row, 1])
            _ask(run, slot, source)
        elif not _is_known(code[row, 0]):
            return _NO_MODEL
        else:
            _ask(run, slot, code[row, 1])
            if not _has_one_operand(code[row, 0]):
                _ask(run, slot, code[row, 2])
            if code[row, 0] == POW and code[row, 3] > 0:
                _ask(run, slot, code[row, 3])
    return planned


@native
def _read_number(run, k):
    """What stands in the parameter, mode or discrete variable that the k-th of the registers that tapes read is."""
    place = run.read_registers[k] - first_number(run)
    return run.p[place] if place < run.n_p else run.m[place - run.n_p]


@native
def _is_for(run, slot, guard):
    """True of a plan that holds for this guard and what it reads now."""
    if run.planned_guard[slot] != guard:
        return False
    for k in range(run.n_read):
        if run.planned_for[slot, k] != _read_number(run, k):
            return False
    return True


@native
def _make(run, guard):
    """Make a plan; its place."""
    slot = run.plan_counts[_MADE] % MOST_PLANS
    run.plan_counts[_MADE] += 1
    models = run.guard_models
    still = run.model_is_still
    run.planned_guard[slot] = guard
    run.n_numbers[slot] = 0
    for k in range(run.n_read):
        number = _read_number(run, k)
        run.planned_for[slot, k] = number
        models[run.read_registers[k], 0] = number
        still[run.read_registers[k]] = STILL
    start = run.tape_first[guard]
    end = start + run.tape_rows[guard]
    first = first_row(run)
    _put_numbers(run, start, end, first)
    value = _chosen_value(run, run.tape_value[guard], first - start, first)
    run.planned_value[slot] = value
    run.n_planned[slot] = _NO_MODEL
    if value >= 0:
        _ask(run, slot, value)
        run.n_planned[slot] = _ask_for_rows(run, slot, start, end, first + end - start)
    return slot


@native
def _chosen_value(run, value, ahead, first):
    """The register that a guard's value comes from through choices; -1 where one is open."""
    while value >= first and run.model_is_still[value] != STILL and run.tape_code[value - ahead, 0] == SELECT:
        value = chosen(run, value - ahead)
    return value


@native
def _put_back(run, slot):
    """The numbers that a plan's rows read, since another plan has been used."""
    still = run.model_is_still
    for k in range(run.n_numbers[slot]):
        register = run.planned_registers[slot, k]
        run.guard_models[register, 0] = run.planned_numbers[slot, k]
        still[register] = STILL
    ahead = first_row(run) - run.tape_first[run.planned_guard[slot]]
    for k in range(run.n_planned[slot]):
        still[run.planned_rows[slot, k] + ahead] = _ASKED


@native
def use_plan(run, guard):
    """The place of the plan of a guard for what it reads now, its numbers in their registers; -1 where there is no model."""
    slot = run.plan_counts[_LAST] - 1
    if slot < 0 or not _is_for(run, slot, guard):
        slot = 0
        known = min(run.plan_counts[_MADE], MOST_PLANS)
        while slot < known and not _is_for(run, slot, guard):
            slot += 1
        if slot == known:
            slot = _make(run, guard)
        else:
            _put_back(run, slot)
        run.plan_counts[_LAST] = slot + 1
    return slot if run.n_planned[slot] != _NO_MODEL else -1
