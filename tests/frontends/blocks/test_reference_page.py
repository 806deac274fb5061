"""The reference page of blocks says what the classes say."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import tidegate as tg

DOCS = Path(__file__).parents[3] / "docs"


def writer():
    spec = importlib.util.spec_from_file_location("make_blocks_page", DOCS / "make_blocks_page.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_page_is_what_the_classes_make_of_it() -> None:
    kept = (DOCS / "reference" / "blocks.md").read_text(encoding="utf-8")
    assert kept == writer().page(), "run python docs/make_blocks_page.py"


def test_every_block_is_on_the_page_with_its_picture() -> None:
    names = {name for group in writer().GROUPS.values() for name in group.split()}
    assert names == set(tg.blocks.__all__)
    assert names == {path.stem for path in (DOCS / "images" / "blocks").glob("*.svg")}
