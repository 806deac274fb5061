"""The first compilation says what it does; later ones find its outcome, and a place that cannot be written is no obstacle."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

# colorsys stands for a kernel: a module that nothing else has imported
LOAD = "from tidegate.integrators.kernel_cache import kernel, kernel_directory; kernel('colorsys'); print(kernel_directory())"


def run(code: str, cache: Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"TIDEGATE_CACHE_DIR": str(cache)}
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)


@pytest.mark.slow
def test_compiling_is_announced_once(tmp_path: Path) -> None:
    first, second = run(LOAD, tmp_path), run(LOAD, tmp_path)
    assert "compiling colorsys" in first.stderr
    assert str(tmp_path) in first.stderr
    assert second.stderr == ""
    assert first.stdout == second.stdout


@pytest.mark.slow
def test_a_place_that_cannot_be_written_is_replaced_for_this_process(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.touch()
    used = Path(run(LOAD, blocked).stdout.strip())
    assert not used.is_relative_to(blocked)
    assert not used.exists()


@pytest.mark.slow
def test_the_user_s_own_numba_and_garbage_collector_keep_their_settings(tmp_path: Path) -> None:
    settings = "(numba.core.config.CACHE_DIR, gc.get_threshold())"
    code = f"import gc, numba; before = {settings}; {LOAD}; assert before == {settings}"
    run(code, tmp_path)
