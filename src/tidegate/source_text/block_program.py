"""The routines of an exported block (stage: source text): formulas and translated rules, those that are called, in one language."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from tidegate.expressions import Expr
from tidegate.expressions.straight_line import Language, StraightLine, Tables, straight_line
from tidegate.quick_dataclass import dataclass
from tidegate.source_text.block_formulas import Formula
from tidegate.source_text.dsblock import BlockText
from tidegate.source_text.translate import Dialect, Routine, rules, translated

__all__ = ["CALLBACK_LETTERS", "Program", "is_read", "places_of", "program_of"]

CALLBACK_LETTERS: Final = "FGHJKPSTV"


@dataclass(frozen=True, eq=False)
class Program:
    """What a block consists of.

    Parameters
    ----------
    formulas : with their insides.
    routines : of the rules, in an order in which each calls those before it.
    callbacks : by letter.
    tables : arrays of numbers of formulas.
    says, complains : whether lines are printed, and errors; asks_end : whether the final time is asked for.
    """

    formulas: tuple[tuple[Formula, StraightLine], ...]
    routines: tuple[Routine, ...]
    callbacks: dict[str, Routine]
    tables: Tables
    says: bool
    complains: bool
    asks_end: bool


def program_of(block: BlockText, dialect: Dialect, places: Mapping[Expr, str], tables: Tables) -> Program:
    """The routines that a block needs."""
    empty = {formula.name for formula in block.formulas if not formula.outputs and not formula.size}
    empty |= {"guard_rates", "guard_scales"} if not block.numbers["N_Z"] else set()
    empty |= set() if block.said else {"say"}
    found = {tree.name: translated(tree, dialect, block.numbers, block.tables, empty) for tree in rules()}
    every = {letter: found.pop(f"block_{letter.lower()}") for letter in CALLBACK_LETTERS}
    sizes = {letter: block.count(letter) for letter in "XUYZW"}
    numbers = block.numbers
    starts = block.has_events or block.form or not {"check_parameters", "actions_at_start"} <= empty
    starts = starts or numbers["N_DISCRETE"] or numbers["N_START"] or numbers["N_FIRST_WORDS"]
    wanted = {"F": sizes["X"], "J": sizes["X"] and block.form != 2, "G": sizes["Y"], "H": sizes["Z"], "K": sizes["W"], "S": starts}
    wanted |= {"V": block.has_events, "T": numbers["HAS_FINAL"]}
    wanted["P"] = len(block.parameters) and "states_at_start" not in empty
    callbacks = {letter: every[letter] for letter in CALLBACK_LETTERS if wanted[letter]}
    called = {name for routine in callbacks.values() for name in routine.routines}
    routines: list[Routine] = []
    for name, routine in reversed(found.items()):
        if name in called:
            routines.insert(0, routine)
            called |= routine.routines
    formulas = [(formula, _inside(formula, dialect.language, places, tables)) for formula in block.formulas if formula.name in called]
    return Program(tuple(formulas), tuple(routines), callbacks, tables, "say" in called, "complain" in called, "final_time" in called)


def _inside(formula: Formula, language: Language, places: Mapping[Expr, str], tables: Tables) -> StraightLine:
    return straight_line([(language.element("out", str(k)), value) for k, value in formula.outputs], places, language, tables)


def is_read(name: str, text: str) -> bool:
    """Whether a text has this name in it."""
    return re.search(rf"\b{name}\b", text) is not None


def places_of(block: BlockText, language: Language) -> dict[Expr, str]:
    """How the language writes every symbol."""
    found: dict[Expr, str] = {}
    for item, (vector, k) in block.places.items():
        element = language.element(vector, str(k))
        if vector == "ip":
            element = language.called("tg_real", [element])
        elif vector == "lp":
            element = language.choice(element, language.number(1.0), language.number(0.0))
        found[item] = element
    return found
