"""The kernel is compiled anew when anything that it is made of changes, and only then; its place on disk is safe and bounded."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import time
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tidegate.cache_folder import prune, safe_directory
from tidegate.compiled import kernel_keys
from tidegate.compiled import kernel_sources as sources_of_kernel
from tidegate.compiled.kernel_keys import entry_directory, kernel_directory
from tidegate.compiled.kernel_sources import kernel_sources, native_modules
from tidegate.integrators.kernel_cache import kernel

SOME = ("tidegate.events", "tidegate.integrators.hybrid_loop")  # of the kernel; the files below are changed in what they are made of
PACKAGE = Path(__file__).parents[2] / "src" / "tidegate"
KERNEL = ("tidegate.events", "tidegate.integrators", "tidegate.linear", "tidegate.sensitivity")


def python_function(item: object) -> types.FunctionType | None:
    """What the user of Numba wrote."""
    for name in ("function", "written", "__wrapped__"):
        item = getattr(item, name, item)
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
    for beneath in ("run_type", "numba_types", "linked_late", "numba_passes", "view_type", "view_code", "call_code"):
        assert any(name.startswith(f"tidegate.compiled.{beneath}") for name in found), beneath
    assert len(found) < len(kernel_sources(["tidegate.integrators.radau.hooks"]))


def _by_the_tree(module: Any, statement: ast.stmt) -> Iterator[tuple[str, str]]:
    """Modules and names that a statement refers to, found in its tree."""
    owners: set[int] = set()
    for node in ast.walk(statement):  # what owns a name comes before it
        if isinstance(node, ast.Attribute):
            owners.add(id(node.value))
            if isinstance(node.value, ast.Name) and module.imports.get(node.value.id, ("", ""))[1] == "*":
                yield module.imports[node.value.id][0], node.attr
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            owner, name = module.imports.get(node.id, ("", ""))
            if owner and (name != "*" or id(node) not in owners):
                yield owner, name
            elif not owner and any(other is not statement for other in module.defining.get(node.id, ())):
                yield module.name, node.id


@pytest.mark.slow
def test_words_lead_to_all_that_names_in_the_tree_lead_to() -> None:
    n_found = 0
    for file in sources_of_kernel.all_sources():
        name = ".".join(Path(file).relative_to(PACKAGE.parent).with_suffix("").parts)
        if not name.endswith("__init__"):
            module = sources_of_kernel._module(name)
            for statement in module.tree.body:
                found = set(_by_the_tree(module, statement))
                assert found <= set(module.reached(statement)), (name, statement.lineno)
                n_found += len(found)
    assert n_found > 5000


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the package, which keys are made of until the test ends."""
    root = tmp_path / "package"
    shutil.copytree(PACKAGE, root / "tidegate", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(sources_of_kernel, "_ROOT", root)
    yield root
    sources_of_kernel._module.cache_clear()
    kernel_keys._keys.cache_clear()


def keys_of(cache: Path) -> dict[str, str]:
    sources_of_kernel._module.cache_clear()
    kernel_keys._keys.cache_clear()
    return kernel_keys._keys(SOME, cache)


@pytest.mark.slow
def test_a_change_of_what_the_kernel_is_made_of_changes_its_key_and_no_other_does(copied: Path, tmp_path: Path) -> None:
    before = keys_of(tmp_path)
    assert before == keys_of(tmp_path)  # read from its note
    for file, old, new, matters in (
        ("integrators/hybrid_loop/pre_event_rate.py", "def ", "\ndef ", True),
        ("expressions/interval.py", "_LARGE_ANGLE: Final = ", "_LARGE_ANGLE: Final = 1 + ", True),
        ("compiled/layout.py", "Length of m.", "Length of the vector m.", False),
    ):
        path = copied / "tidegate" / file
        text = path.read_text(encoding="utf-8")
        assert old in text, file
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        assert (keys_of(tmp_path) != before) is matters, file
        path.write_text(text, encoding="utf-8")


@pytest.mark.slow
def test_a_folder_that_others_can_write_to_is_refused_and_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for shared in (tmp_path / "shared", tmp_path / "open" / "inner"):
        shared.mkdir(parents=True)
        (shared if shared.name == "shared" else shared.parent).chmod(0o777)
        monkeypatch.setenv("TIDEGATE_CACHE_DIR", str(shared))
        place = safe_directory()
        assert not place.is_relative_to(shared)
        assert place.stat().st_mode & 0o777 == 0o700
        said = capsys.readouterr().err
        assert "other users can write to" in said
        assert "chmod go-w" in said
        assert not any(shared.iterdir())


@pytest.mark.slow
def test_machine_code_is_not_read_from_such_a_folder_and_what_stands_in_for_it_ends_with_the_process(tmp_path: Path) -> None:
    code = (
        "import tidegate as tg; from tidegate.simulate import compiled_of; from tidegate.compiled.kernel_keys import kernel_directory; "
        "print(kernel_directory()); compiled_of(tg.ode(lambda t, y: [-y[0]], y0=[1.0]))"
    )
    tmp_path.chmod(0o777)
    environment = os.environ | {"TIDEGATE_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert "other users can write to" in done.stderr
    assert not any(tmp_path.iterdir())
    place = Path(done.stdout.strip())
    assert not place.is_relative_to(tmp_path)
    assert not place.exists()


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


@pytest.mark.slow
def test_every_module_with_native_functions_has_a_place_of_its_own_and_no_other_has() -> None:
    places = [entry_directory(name) for name in native_modules(KERNEL)]
    assert None not in places
    assert len(set(places)) == len(places)
    assert all(place is not None and place.parent == kernel_directory() for place in places)
    assert entry_directory("tidegate.simulate") is None
