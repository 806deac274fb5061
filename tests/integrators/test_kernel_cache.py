"""What a second process compiles ahead is what runs ask for, and it is begun only where nothing has been compiled."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from tidegate.integrators import kernel_cache


def test_what_is_compiled_ahead_is_there_by_name() -> None:
    for module, names in kernel_cache._AHEAD.items():
        loaded = kernel_cache.kernel(module)
        assert all(callable(getattr(loaded, name).there) for name in names), module


def test_a_second_process_is_begun_only_where_nothing_has_been_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[Any] = []

    def begin(program: list[str], **_options: Any) -> None:
        begun.append(program)

    def place(_module: str) -> Path:
        return tmp_path / "place"

    def root() -> Path:
        return tmp_path

    def two() -> int:
        return 2

    monkeypatch.setattr(subprocess, "Popen", begin)
    monkeypatch.setattr(kernel_cache, "entry_directory", place)
    monkeypatch.setattr(kernel_cache, "kernel_directory", root)
    monkeypatch.setattr(kernel_cache, "cache_directory", root)
    monkeypatch.setattr(kernel_cache.os, "cpu_count", two)
    kernel_cache._share_the_work()
    assert len(begun) == 1
    assert "compile_ahead" in begun[0][-1]
    place("").mkdir()
    (place("") / "advance-1.o").touch()
    kernel_cache._share_the_work()
    assert len(begun) == 1
