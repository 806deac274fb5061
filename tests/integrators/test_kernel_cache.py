"""What a second process compiles ahead is what runs ask for, and it is begun only where nothing has been compiled."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tidegate.compiled import kernel_keys
from tidegate.integrators import kernel_cache


def test_what_is_compiled_ahead_is_there_by_name() -> None:
    for kind, parts in kernel_cache._AHEAD.items():
        for module, name in parts:
            assert callable(getattr(kernel_cache.kernel(module), name).there), (kind, name)


def test_other_processes_are_begun_only_where_nothing_has_been_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[Any] = []

    def begin(program: list[str], **_options: Any) -> None:
        begun.append(program[-1].partition("compile_ahead(")[2].removesuffix(")"))

    def place(module: str) -> Path:
        return tmp_path / module

    def root() -> Path:
        return tmp_path

    monkeypatch.setattr(subprocess, "Popen", begin)
    monkeypatch.setattr(kernel_cache, "entry_directory", place)
    monkeypatch.setenv("TIDEGATE_SHIPPED_DIR", "")
    monkeypatch.setattr(kernel_cache, "kernel_directory", root)
    monkeypatch.setattr(kernel_cache, "cache_directory", root)
    share = partial(kernel_cache._share.__wrapped__, is_simple=False, has_derivatives=False, is_sparse=False)
    for processors, others in ((1, 0), (2, 1), (3, 2), (64, 3)):
        monkeypatch.setattr(kernel_cache.os, "cpu_count", lambda processors=processors: processors)
        share("taylor", has_relations=False)
        assert begun == ["[('taylor', 'alone')]"] * others
        begun.clear()
    monkeypatch.setattr(kernel_cache.os, "cpu_count", lambda: 2)
    share("radau", has_relations=False)
    share("radau", has_relations=True)
    share("radau", has_relations=True, is_simple=True)
    share("taylor", has_relations=True)
    for kind in (("radau", "alone"), ("radau", "any events"), ("radau", "relations"), ("taylor", "relations")):
        module, name = kernel_cache._AHEAD[kind][0]
        place(module).mkdir()
        (place(module) / f"{name}-1.o").touch()
        share("radau", has_relations=False)
        share("radau", has_relations=True)
    share("taylor", has_relations=True)
    share("taylor", has_relations=True, has_derivatives=True)
    alone, relations, every, simple = (f"('radau', '{what}')" for what in ("alone", "relations", "any events", "simple events"))
    first = [f"[{alone}]", f"[{every}, {relations}, {alone}]", f"[{simple}, {relations}, {alone}]", "[('taylor', 'relations')]"]
    left = [f"[{every}, {relations}]", f"[{relations}]"]
    assert begun == [*first, *left, "[('taylor', 'derivatives'), ('taylor', 'derivatives at events')]"]


@pytest.mark.slow
def test_a_model_without_relations_delays_and_sparse_matrices_needs_no_machine_code_of_theirs() -> None:
    program = """
import sys
import tidegate as tg
tg.simulate(tg.ode(lambda t, y: [-y["x"]], {"x": 1.0}), (0.0, 1.0))
modules = [vars(module) for name, module in [*sys.modules.items()] if name.startswith("tidegate.")]
entries = {id(value): value for names in modules for value in names.values() if hasattr(value, "there") and hasattr(value, "function")}
print(*sorted(entry.function.__name__ for entry in entries.values() if entry.there.__self__.is_there))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    needed = done.stdout.split()
    assert {"advance", "begin", "take_step"} <= set(needed)
    others = "earliest_of_guards settle event_with_rows arrive keep_step factor_real_sparse solve_real_sparse evaluate_mass consistent_point".split()
    assert not {*needed} & {*others}


@pytest.mark.slow
def test_machine_code_of_another_processor_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDEGATE_CACHE_DIR", str(tmp_path))
    module = "tidegate.integrators.radau.newton"
    folders = {kernel_keys.entry_directory(module)}
    monkeypatch.setattr(kernel_keys, "this_processor", lambda: "another processor")
    kernel_keys._keys.cache_clear()
    folders.add(kernel_keys.entry_directory(module))
    kernel_keys._keys.cache_clear()
    assert len(folders) == 2
    assert None not in folders
