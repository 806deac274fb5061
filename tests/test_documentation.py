"""What the documentation shows is true: examples in docstrings, what the README and the pages run and print, and the programs in examples/.

On a page, a block of Python runs after those before it; a block of text behind it is what it prints. Where that begins as an exception or a warning
does, the block is a file model.py of its own, and the text is what Python says of it. A block with a title is a file that the reader writes. In a
console block every ``tidegate`` command is run, in a folder that holds such files and examples/. In what is printed a line ``...`` stands for any
lines, and numbers agree to four digits; in a text with the title "for example" numbers may differ, and with them the order of the lines.
"""

from __future__ import annotations

import doctest
import importlib
import linecache
import os
import re
import runpy
import shlex
import shutil
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from io import StringIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tidegate import errors

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"
WITH_EXAMPLES = sorted(path for path in SOURCE.rglob("*.py") if ">>>" in path.read_text(encoding="utf-8"))
BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```", flags=re.DOTALL | re.MULTILINE)
INSERTED = '--8<-- "'  # a file that mkdocs puts in here, which is run elsewhere
PAGES = sorted(path for path in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")) if BLOCK.search(path.read_text(encoding="utf-8")))
PROGRAMS = sorted((ROOT / "examples").glob("*.py"))
EXAMPLE = 'title="for example"'
SAID = re.compile(r"^(?:tidegate\.errors\.|model\.py:\d+: )(\w+): ")  # how Python begins to tell of an exception or a warning
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


def lines_of(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip("\n").splitlines()]


def shape_of(lines: list[str]) -> list[str]:
    """The lines with their numbers left out, and with them what the width of numbers decides."""
    return [re.sub(r"\s+", " ", NUMBER.sub("#", line)).strip() for line in lines]


def numbers_in(lines: list[str]) -> list[float]:
    return [float(number) for number in NUMBER.findall("\n".join(lines))]


def assert_printed(printed: str, kept: str, place: str) -> None:
    rest, piece = lines_of(printed), list[str]()
    pieces = [piece]
    for line in lines_of(kept):
        if line == "...":
            piece = []
            pieces.append(piece)
        else:
            piece.append(line)
    if len(pieces) == 1:
        assert shape_of(rest) == shape_of(pieces[0]), place
    for piece in pieces:
        start = next((k for k in range(len(rest) - len(piece) + 1) if shape_of(rest[k : k + len(piece)]) == shape_of(piece)), None)
        assert start is not None, f"{place} promises\n{'\n'.join(piece)}\nand there was printed\n{printed}"
        assert numbers_in(rest[start : start + len(piece)]) == pytest.approx(numbers_in(piece), rel=1e-4, abs=1e-6), place
        rest = rest[start + len(piece) :]


@dataclass
class Reader:
    """Does what a page says, block after block."""

    folder: Path
    namespace: dict[str, Any] = field(default_factory=lambda: {"__name__": "page"})

    def python(self, body: str, line: int) -> str:
        # a real file with the same line numbers, because models are read as source
        program = self.folder / "page.py"
        text = program.read_text(encoding="utf-8") if program.exists() else ""
        program.write_text(text + "\n" * max(line - text.count("\n") - 1, 0) + body, encoding="utf-8")
        linecache.checkcache(str(program))
        printed = StringIO()
        with redirect_stdout(printed):
            exec(compile("\n" * (line - 1) + body, str(program), "exec"), self.namespace)
        return printed.getvalue()

    def said(self, body: str, line: int) -> str:
        """What Python says of the warnings and the exception of a program."""
        folder = self.folder / f"block{line}"
        folder.mkdir()
        program = folder / "model.py"
        program.write_text(body, encoding="utf-8")
        words = ""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                exec(compile(body, str(program), "exec"), self.namespace)
            except (errors.TidegateError, errors.InterruptedRunError) as error:
                words = "".join(traceback.format_exception_only(error))
        told = "".join(warnings.formatwarning(item.message, item.category, item.filename, item.lineno) for item in caught)
        # places in models are told from the working directory
        return (told + words).replace(f"{folder}{os.sep}", "").replace(f"{folder.name}{os.sep}", "")

    def console(self, body: str, place: str) -> None:
        from tidegate.cli.app import app

        for entry in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
            command, _, kept = entry.partition("\n")
            if command.startswith("tidegate "):
                printed = CliRunner().invoke(app, shlex.split(command, comments=True)[1:], prog_name="tidegate").output
                if kept.strip():
                    assert_printed(printed, kept, f"{place}: {command}")


@pytest.fixture
def reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Reader]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(sys, "path", list(sys.path))
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    yield Reader(tmp_path)
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None) or "").startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_examples_in_docstrings_run(path: Path) -> None:
    name = ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
    failed, _ = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert not failed


def _page(path: Path) -> Any:
    """The other pages are done where all tests are: they run every example of the manual."""
    is_quick = path.name in ("README.md", "errors.md")
    return pytest.param(path, marks=() if is_quick else pytest.mark.slow, id=str(path.relative_to(ROOT)))


@pytest.mark.slow
@pytest.mark.parametrize("path", [_page(path) for path in PAGES])
def test_a_page_does_and_prints_what_it_says(path: Path, reader: Reader) -> None:
    text = path.read_text(encoding="utf-8")
    blocks = [(match[1], match[2], match[3], text.count("\n", 0, match.start()) + 2) for match in BLOCK.finditer(text)]
    for (language, options, body, line), following in pairwise([*blocks, ("", "", "", 0)]):
        place = f"{path.name}:{line}"
        title = re.search(r'title="([^"]+)"', options)
        if body.startswith(INSERTED) or EXAMPLE in options:
            continue
        if title:
            (reader.folder / title[1]).write_text(body, encoding="utf-8")
        elif language == "python" and following[0] == "text" and SAID.match(following[2]):
            assert_printed(reader.said(body, line), following[2], place)
        elif language == "python":
            printed = reader.python(body, line)
            if following[0] == "text" and EXAMPLE in following[1]:
                assert sorted(shape_of(lines_of(printed))) == sorted(shape_of(lines_of(following[2]))), place
            elif following[0] == "text":
                assert_printed(printed, following[2], place)
        elif language == "console":
            reader.console(body, place)


def test_every_exception_and_warning_has_an_example_on_the_page_of_errors() -> None:
    blocks = [(match[1], match[3]) for match in BLOCK.finditer((ROOT / "docs" / "reference" / "errors.md").read_text(encoding="utf-8"))]
    shown = {said[1] for (language, _), (_, body) in pairwise(blocks) if language == "python" and (said := SAID.match(body))}
    named = set(re.findall(r"\btg\.(\w+)", "".join(body for language, body in blocks if language == "python")))
    kinds = [kind for name in errors.__all__ if issubclass(kind := getattr(errors, name), BaseException)]
    # a class that only gathers others is never raised; it is enough that a program uses its name
    gathering = {kind.__name__ for kind in kinds if kind.__subclasses__()}
    assert {kind.__name__ for kind in kinds} - shown - (gathering & named) == set()


@pytest.mark.slow
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_programs_print_what_is_kept_beside_them(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(path), run_name="__main__")
    kept = path.with_suffix(".out").read_text(encoding="utf-8")
    assert_printed(capsys.readouterr().out, kept, f"{path.stem}.out (if the change is meant: python examples/{path.name} > examples/{path.stem}.out)")


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_every_example_is_on_the_page_of_examples(path: Path) -> None:
    page = (ROOT / "docs" / "examples.md").read_text(encoding="utf-8")
    assert f'{INSERTED}examples/{path.name}"' in page
    assert f'{INSERTED}examples/{path.stem}.out"' in page
