"""``tidegate compile``: what is missing is compiled, what is of another version goes, and everybody may read the rest."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tidegate as tg
from tidegate.cache_folder import SHIPPED, cache_directory, shipped_directory
from tidegate.integrators.compile_kernel import compile_kernel, place_for_all
from tidegate.integrators.kernel_cache import USUAL

MADE = Path(__file__).parents[2] / "src" / "tidegate" / SHIPPED  # by `make kernel`; without it this takes a minute


def compiled(shipped: Path, *options: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"TIDEGATE_SHIPPED_DIR": str(shipped), "COLUMNS": "300"}
    command = [sys.executable, "-c", "from tidegate.cli import main; main()", "compile", *options]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_what_is_missing_is_compiled_and_what_is_of_another_version_goes(tmp_path: Path) -> None:
    place = tmp_path / "machine_code"
    if MADE.is_dir():
        shutil.copytree(MADE, place)
    gone = list(place.glob("entries/*/taylor_accept-*.o"))
    for path in gone:
        path.rename(path.with_suffix(".busy"))  # as a process leaves it that was killed
        path.with_suffix(".busy").write_text("999999999")
    old = place / "entries" / "tidegate.integrators.taylor.hooks-0123456789abcdef"
    old.mkdir(parents=True)
    done = compiled(place, "--usual")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{len(USUAL)} parts of the kernel are machine code in {place} (")
    for module, name in USUAL:
        assert [*place.glob(f"entries/{module}-*/{name}-*.o")], name
    assert not old.exists()
    assert {path.stat().st_mode & 0o777 for path in place.rglob("*.o")} == {0o644}
    again = {path: path.stat().st_ino for path in place.rglob("*.o")}
    assert compiled(place, "--usual", "--quiet").stdout == ""
    assert {path: path.stat().st_ino for path in place.rglob("*.o")} == again


def test_a_folder_that_others_can_write_to_is_no_place_for_it(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    with pytest.raises(tg.UsageError, match="other users can write to"):
        compile_kernel(tmp_path, lambda done, total: None)
    assert not [*tmp_path.iterdir()]


@pytest.mark.slow
def test_what_does_not_come_to_be_is_told_with_what_was_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    with pytest.raises(tg.UsageError, match=rf"{len(USUAL)} of {len(USUAL)} parts of the kernel did not come to be"):
        compile_kernel(tmp_path / "new", lambda done, total: None, usual=True)


def test_it_goes_beside_the_modules_or_where_a_user_keeps_what_is_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TIDEGATE_SHIPPED_DIR", raising=False)
    assert shipped_directory() == MADE
    monkeypatch.setenv("TIDEGATE_SHIPPED_DIR", str(tmp_path / "here"))
    assert place_for_all() == tmp_path / "here"
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TIDEGATE_SHIPPED_DIR", str(tmp_path / "file" / "below"))
    assert place_for_all() == cache_directory()
    monkeypatch.setenv("TIDEGATE_SHIPPED_DIR", "")
    assert shipped_directory() is None
    assert place_for_all() == cache_directory()
