"""What a second process compiles ahead is what runs ask for, and it is begun only where nothing has been compiled."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tidegate.integrators import kernel_cache


def test_what_is_compiled_ahead_is_there_by_name() -> None:
    for first, parts in kernel_cache._AHEAD.items():
        assert first in parts
        for module, names in parts.items():
            loaded = kernel_cache.kernel(module)
            assert all(callable(getattr(loaded, name).there) for name in names), module


def test_a_second_process_is_begun_only_where_nothing_has_been_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[Any] = []

    def begin(program: list[str], **_options: Any) -> None:
        begun.append(program)

    def place(module: str) -> Path:
        return tmp_path / module

    def root() -> Path:
        return tmp_path

    def two() -> int:
        return 2

    monkeypatch.setattr(subprocess, "Popen", begin)
    monkeypatch.setattr(kernel_cache, "entry_directory", place)
    monkeypatch.setattr(kernel_cache, "kernel_directory", root)
    monkeypatch.setattr(kernel_cache, "cache_directory", root)
    monkeypatch.setattr(kernel_cache.os, "cpu_count", two)
    loop, search = kernel_cache._AHEAD
    share = kernel_cache.share_the_work.__wrapped__
    share(False)
    share(True)
    for module in (loop, search):
        place(module).mkdir()
        (place(module) / "advance-1.o").touch()
        share(False)
        share(True)
    asked = [program[-1].partition("compile_ahead(")[2].rstrip(")") for program in begun]
    assert asked == [f"['{loop}']", f"['{loop}', '{search}']", f"['{search}']"]


def test_a_model_without_relations_delays_and_sparse_matrices_needs_no_machine_code_of_theirs() -> None:
    program = """
import sys
import tidegate as tg
tg.simulate(tg.ode(lambda t, y: [-y["x"]], {"x": 1.0}), (0.0, 1.0))
modules = [vars(module) for name, module in [*sys.modules.items()] if name.startswith("tidegate.")]
entries = {id(value): value for names in modules for value in names.values() if hasattr(value, "there") and hasattr(value, "function")}
print(*sorted(entry.function.__name__ for entry in entries.values() if entry.there.__self__._is_there))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    needed = done.stdout.split()
    assert {"advance", "begin", "take_step"} <= set(needed)
    others = "earliest_of_guards settle event_with_rows arrive keep_step factor_real_sparse solve_real_sparse evaluate_mass consistent_point".split()
    assert not {*needed} & {*others}
