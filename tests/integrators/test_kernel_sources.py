"""The kernel is compiled anew when anything that it is made of changes, and only then; its place on disk is safe and bounded."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import types
from pathlib import Path

import pytest

from tidegate.compiled.cache_folder import prune
from tidegate.integrators.kernel_cache import kernel, kernel_directory
from tidegate.integrators.kernel_sources import kernel_sources, native_modules

PACKAGE = Path(__file__).parents[2] / "src" / "tidegate"
KERNEL = ("tidegate.events", "tidegate.integrators", "tidegate.linear", "tidegate.sensitivity")
KEY = "from tidegate.integrators.kernel_cache import kernel_directory; print(kernel_directory().name)"


def python_function(item: object) -> types.FunctionType | None:
    """What the user of Numba wrote."""
    for name in ("py_func", "_pyfunc", "_defn", "__wrapped__"):
        item = getattr(item, name, item)
    item = getattr(getattr(item, "keep_alive", item), "_pyfunc", item)
    return item if isinstance(item, types.FunctionType) else None


@pytest.mark.slow
def test_everything_that_a_compiled_function_uses_is_in_the_key() -> None:
    """The second way: from function to function through what Python itself finds under each name."""
    found = kernel_sources(native_modules(KERNEL))
    taken = {tuple(key.split(":")) for key in found}
    whole = {key[0] for key in taken if len(key) == 1}
    names = {(key[0], key[2]) for key in taken if len(key) == 3}
    for name in native_modules(KERNEL):
        kernel(name)
    waiting = [f for name in native_modules(KERNEL) for item in vars(sys.modules[name]).values() if (f := python_function(item))]
    seen: set[object] = set()
    while waiting:
        function = waiting.pop()
        if function in seen or not function.__module__.startswith("tidegate"):
            continue
        seen.add(function)
        place = (function.__module__, function.__qualname__)
        assert function.__module__ in whole or place in names or "<locals>" in function.__qualname__, place
        for name in function.__code__.co_names:
            item = function.__globals__.get(name)
            inner = python_function(item)
            if inner is not None:
                waiting.append(inner)
            elif isinstance(item, int | float) and not isinstance(item, bool):
                assert function.__module__ in whole or (function.__module__, name) in names, (function.__module__, name)
    assert len(seen) > 100
    assert "tidegate.integrators.hybrid_loop.pre_event_rate" in whole


def test_a_module_is_made_of_what_is_linked_into_it_and_the_names_of_what_it_calls() -> None:
    found = kernel_sources(["tidegate.integrators.radau.hooks"], entries_by_name=True)
    called = next(text for name, text in found.items() if name.endswith(":stage_sensitivities"))
    assert "def stage_sensitivities(" in called
    assert "return" not in called
    assert any(name.startswith("tidegate.compiled.run_type") for name in found)
    assert len(found) < len(kernel_sources(["tidegate.integrators.radau.hooks"]))


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("package")
    shutil.copytree(PACKAGE, root / "tidegate", ignore=shutil.ignore_patterns("__pycache__"))
    return root


def key_of(root: Path, cache: Path) -> str:
    environment = os.environ | {"PYTHONPATH": str(root), "TIDEGATE_CACHE_DIR": str(cache)}
    return subprocess.run([sys.executable, "-c", KEY], env=environment, capture_output=True, text=True, check=True).stdout


@pytest.mark.slow
def test_a_change_of_what_the_kernel_is_made_of_changes_its_key_and_no_other_does(copied: Path, tmp_path: Path) -> None:
    before = key_of(copied, tmp_path)
    for file, old, new, matters in (
        ("integrators/hybrid_loop/pre_event_rate.py", "def ", "\ndef ", True),
        ("expressions/interval.py", "_LARGE_ANGLE: Final = ", "_LARGE_ANGLE: Final = 1 + ", True),
        ("compiled/layout.py", "Length of m.", "Length of the vector m.", False),
    ):
        path = copied / "tidegate" / file
        text = path.read_text(encoding="utf-8")
        assert old in text, file
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        assert (key_of(copied, tmp_path) != before) is matters, file
        path.write_text(text, encoding="utf-8")
    assert key_of(copied, tmp_path) == before


@pytest.mark.slow
def test_a_folder_that_others_can_write_to_is_refused_and_it_is_said(tmp_path: Path) -> None:
    for shared in (tmp_path / "shared", tmp_path / "open" / "inner"):
        shared.mkdir(parents=True)
        (shared if shared.name == "shared" else shared.parent).chmod(0o777)
        code = "from tidegate.integrators.kernel_cache import kernel_directory; d = kernel_directory(); print(d, oct(d.stat().st_mode & 0o777))"
        environment = os.environ | {"TIDEGATE_CACHE_DIR": str(shared)}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        place, mode = done.stdout.split()
        assert not Path(place).is_relative_to(shared)
        assert mode == "0o700"
        assert "other users can write to" in done.stderr
        assert "chmod go-w" in done.stderr
        assert not Path(place).exists()  # it ended with the process
        assert not any(shared.iterdir())


@pytest.mark.slow
def test_machine_code_of_models_is_not_read_from_such_a_folder_either(tmp_path: Path) -> None:
    code = "import tidegate as tg; from tidegate.simulate import compiled_of; compiled_of(tg.ode(lambda t, y: [-y[0]], y0=[1.0]))"
    tmp_path.chmod(0o777)
    environment = os.environ | {"TIDEGATE_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert "other users can write to" in done.stderr
    assert not any(tmp_path.iterdir())


def aged(path: Path, days: float, size: int) -> Path:
    path.write_bytes(bytes(size))
    past = time.time() - 86400 * days
    os.utime(path, (past, past))
    return path


def test_what_is_old_and_what_is_too_much_goes_and_what_is_in_use_stays(tmp_path: Path) -> None:
    now, recent, earlier, old = (aged(tmp_path / name, days, 1000) for name, days in (("now", 0), ("recent", 1), ("earlier", 2), ("old", 100)))
    prune(tmp_path.iterdir(), 2500, lambda path: path.stat().st_mtime)
    assert (now.exists(), recent.exists(), earlier.exists(), old.exists()) == (True, True, False, False)
    prune(tmp_path.iterdir(), 0, lambda path: path.stat().st_mtime)
    assert (now.exists(), recent.exists()) == (True, False)


def test_the_directory_of_this_process_is_there() -> None:
    assert kernel_directory().is_dir()
