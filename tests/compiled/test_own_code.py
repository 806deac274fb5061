"""Machine code of one model alone: what it takes for constants stays as it is in a run, and nothing is computed in another way."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import tidegate
from tidegate.compiled.kernel_keys import KERNEL
from tidegate.compiled.kernel_sources import native_modules
from tidegate.compiled.own_code import Wish, _with_constants
from tidegate.compiled.schema import FIELDS, FUNCTIONS, LASTING, LASTING_ARRAYS
from tidegate.compiled.workspace import INDEX_OF


def _attribute_of_run(target: ast.expr) -> str:
    """``NAME`` of ``run.NAME``, whatever the run is called; "" of anything else."""
    is_one = isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name)
    return target.attr if is_one else ""


def _written(tree: ast.Module) -> Iterator[str]:
    """What functions write behind a name with a point: ``run.x = ``, ``run.x[k] = ``, and ``x[k] = `` where ``x = run.x``."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        own: dict[str, str] = {}
        for item in ast.walk(function):
            if isinstance(item, ast.Assign) and isinstance(item.targets[0], ast.Name) and _attribute_of_run(item.value):
                own[item.targets[0].id] = _attribute_of_run(item.value)
        for item in ast.walk(function):
            targets = item.targets if isinstance(item, ast.Assign) else [item.target] if isinstance(item, ast.AugAssign) else []
            for target in (one for each in targets for one in (each.elts if isinstance(each, ast.Tuple) else [each])):
                if isinstance(target, ast.Subscript):
                    yield own.get(target.value.id, "") if isinstance(target.value, ast.Name) else _attribute_of_run(target.value)
                else:
                    yield _attribute_of_run(target)


@pytest.mark.slow
def test_no_kernel_entry_writes_what_stays_in_a_run() -> None:
    modules = native_modules(KERNEL)
    single = {field.name for field in FIELDS if field.shape is None}
    assert len(modules) > 80
    for module in modules:
        place = Path(tidegate.__file__).parents[1] / Path(*module.split("."))
        written = set(_written(ast.parse(place.with_suffix(".py").read_text(encoding="utf-8"))))
        assert not written & ((LASTING & single) | set(LASTING_ARRAYS)), module


def test_what_is_written_is_found() -> None:
    text = "def f(run):\n    y = run.y\n    run.n = 1\n    y[0] = 2.0\n    run.used[3], k = 1, 2\n    run.degree += 1\n"
    assert {"n", "y", "used", "degree"} <= set(_written(ast.parse(text)))


def test_functions_and_arrays_stay() -> None:
    assert set(FUNCTIONS) <= LASTING
    assert set(LASTING_ARRAYS) <= LASTING
    assert {"n", "n_guards", "f_rhs", "hook_step", "guard_mode", "y"} <= LASTING
    assert not {"degree", "step", "budget", "address_h", "phase", "rank", "n_rows"} & LASTING


@pytest.mark.parametrize("entry", ["events.isolate:earliest_of_guards", "events.guard_models:guard_model", "integrators.taylor.hooks:taylor_locate"])
def test_llvm_is_not_free_to_round_otherwise(entry: str) -> None:
    import llvmlite.binding as llvm

    module, name = f"tidegate.{entry}".split(":")
    text = str(llvm.parse_bitcode(getattr(import_module(module), name).bitcode(), context=llvm.create_context()))
    assert not re.search(r"= (?:f\w+|call)\b[^\n]* (?:contract|reassoc|fast|afn|arcp|nsz) ", text)
    assert "llvm.fma" in text


def _wish(**others: object) -> Wish:
    place = INDEX_OF["n"]
    begins = INDEX_OF["used"]
    integers = [0] * (begins + 4)
    integers[place], integers[begins] = 2, begins + 2
    given = {
        "root": "tidegate_root", "entries": {}, "integers": integers, "lasting": {8 * place, 8 * begins}, "arrays": {8 * begins},
        "functions": {}, "texts": [],
    }  # fmt: skip
    return Wish(**(given | others))  # pyright: ignore[reportArgumentType]


def test_a_wish_is_read_as_it_was_written() -> None:
    wish = _wish(functions={46: (0, "rhs"), 77: "tidegate_take_step"}, texts=["define void @rhs() { ret void }"])
    assert Wish.read(wish.written()) == wish


def test_other_numbers_of_the_model_make_another_key() -> None:
    wish = _wish()
    others = [
        _wish(root="tidegate_other"),
        _wish(integers=[1, *wish.integers[1:]]),
        _wish(texts=["a"]),
        _wish(functions={46: "b"}),
        _wish(arrays=set()),
    ]
    assert len({one.key for one in (wish, *others)}) == 1 + len(others)
    assert _wish(entries={"tidegate_a": ("a", "a")}).key == wish.key  # which are taken in makes no difference to what is computed


def test_what_stays_is_read_from_constants_and_all_else_from_memory() -> None:
    n, used, degree = (8 * INDEX_OF[name] for name in ("n", "used", "degree"))
    text = f"""
define i64 @entry({{ ptr, ptr }} %.1, double %.2) local_unnamed_addr {{
entry:
  %extracted.h = extractvalue {{ ptr, ptr }} %.1, 0
  %a = getelementptr i8, ptr %extracted.h, i64 {n}
  %n = load i64, ptr %a, align 8, !invariant.load !0
  %b = getelementptr i8, ptr %extracted.h, i64 {degree}
  %degree = load i64, ptr %b, align 8
  %c = getelementptr i8, ptr %extracted.h, i64 {used}
  %at = load i64, ptr %c, align 8, !invariant.load !0
  %used = getelementptr i64, ptr %extracted.h, i64 %at
  %first = load i64, ptr %used, align 8
  %other = getelementptr i64, ptr %extracted.h, i64 %degree
  ret i64 %n
}}
"""
    made = _with_constants(text, "tidegate_root", _wish())
    assert "define i64 @tidegate_root(ptr %run.0, ptr %run.1, double %.2)" in made
    assert f"%n = load i64, ptr getelementptr (i8, ptr @tidegate.integers, i64 {n}), align 8, !invariant.load !0" in made
    assert "%degree = load i64, ptr %b, align 8" in made
    assert "%used = getelementptr i64, ptr @tidegate.integers, i64 %at" in made
    assert "%other = getelementptr i64, ptr %extracted.h, i64 %degree" in made
