"""What the documentation shows is true: examples in docstrings, blocks of the README and of the pages, and the programs in examples/."""

from __future__ import annotations

import doctest
import importlib
import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"
WITH_EXAMPLES = sorted(path for path in SOURCE.rglob("*.py") if ">>>" in path.read_text(encoding="utf-8"))
PAGES = sorted(path for path in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")) if "```python" in path.read_text(encoding="utf-8"))
PROGRAMS = sorted((ROOT / "examples").glob("*.py"))
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_examples_in_docstrings_run(path: Path) -> None:
    name = ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
    failed, _ = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert not failed


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_python_blocks_of_a_page_run_one_after_the_other(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = path.read_text(encoding="utf-8")
    # a real file, because models are read as source
    program = tmp_path / "page.py"
    program.write_text("\n".join(re.findall(r"^```python\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)), encoding="utf-8")
    runpy.run_path(str(program), run_name="__main__")


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_programs_print_what_is_kept_beside_them(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(path), run_name="__main__")
    printed, kept = capsys.readouterr().out, path.with_suffix(".out").read_text(encoding="utf-8")
    assert NUMBER.sub("#", printed) == NUMBER.sub("#", kept)
    assert [float(n) for n in NUMBER.findall(printed)] == pytest.approx([float(n) for n in NUMBER.findall(kept)], rel=1e-4, abs=1e-6)
