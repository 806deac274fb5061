"""The page of the library names every class of it, with its equation."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from tidegate import library

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "library.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("domain", library.__all__)
def test_every_class_is_on_the_page_of_the_library_with_its_equation(domain: str) -> None:
    module = importlib.import_module(f"tidegate.library.{domain}")
    section = PAGE.split(f"\n## {domain.capitalize()}\n")[1].split("\n## ")[0]
    rows = {line.split("`")[1]: line.rsplit(" | ", maxsplit=1)[1].removesuffix(" |") for line in section.splitlines() if line.startswith("| `")}
    first = {name: getattr(module, name).__doc__.strip().splitlines()[0].strip() for name in module.__all__}
    assert rows == {name: text.replace("``", "`").replace("|f|", "size of f").replace("|tau|", "size of tau") for name, text in first.items()}


@pytest.mark.parametrize("domain", library.__all__)
def test_completion_offers_the_parts_and_nothing_else(domain: str) -> None:
    module = importlib.import_module(f"tidegate.library.{domain}")
    assert dir(module) == sorted(module.__all__)
