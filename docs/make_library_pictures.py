"""Draws icons of the library and pictures of models on pages: ``python docs/make_library_pictures.py`` writes docs/images/ and the library page."""

from __future__ import annotations

import contextlib
import importlib
import io
import re
import tempfile
from pathlib import Path
from typing import Any

import tidegate as tg
from tidegate import library
from tidegate.frontends.blocks.drawing.boxes import box_of
from tidegate.frontends.blocks.drawing.compose import add_box
from tidegate.frontends.blocks.drawing.description import DrawnNode
from tidegate.frontends.blocks.drawing.scene import Scene
from tidegate.frontends.blocks.drawing.svg import svg
from tidegate.pictures import icon_of

__all__ = ["main"]

DOCS = Path(__file__).parent
IMAGES = DOCS / "images" / "library"
PAGE = DOCS / "reference" / "library.md"
TUTORIAL = "tutorial/circuit_clutch_tank.md"
MODELS = {  # pictures of what the code of pages makes: page, model, what, part
    "circuit": (TUTORIAL, "Circuit", "connections", ""),
    "circuit_equations": (TUTORIAL, "Circuit", "equations", ""),
    "library_circuit": (TUTORIAL, "Same", "connections", ""),
    "two_filters": (TUTORIAL, "Two", "connections", ""),
    "filter": (TUTORIAL, "Two", "connections", "fast"),
    "clutch": (TUTORIAL, "Drive", "connections", ""),
    "drive": ("reference/components.md", "Drive", "connections", ""),
    "pendulum_equations": ("explanation/index_reduction.md", "Pendulum", "equations", ""),
}


def icon(kind: type) -> str:
    """The icon of a class, in its box."""
    scene = Scene(52, 40, kind.__name__)
    add_box(scene, box_of(DrawnNode(kind.__name__, kind.__name__, " ", 0, 0, look=icon_of(kind))), 26, 20)
    return svg(scene)


def classes(domain: str) -> dict[str, type]:
    """Those of a module that have an icon."""
    module = importlib.import_module(f"tidegate.library.{domain}")
    return {name: kind for name in module.__all__ if not issubclass(kind := getattr(module, name), tg.Connector)}


def made_by(page: str, model: str) -> Any:
    """The model that the code of a page makes."""
    names: dict[str, Any] = {"__name__": "page"}
    for code in re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL):
        # equations are read in the file where they stand
        file = Path(tempfile.mkdtemp()) / "page.py"
        file.write_text(code, encoding="utf-8")
        with contextlib.suppress(tg.TidegateError), contextlib.redirect_stdout(io.StringIO()):
            exec(compile(code, str(file), "exec"), names)  # noqa: S102 - code of our own pages
        if model in names:
            break
    return names[model]()


def main() -> None:
    """Write all of them."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    text = PAGE.read_text(encoding="utf-8")
    for domain in library.__all__:
        head = f"\n## {domain.capitalize()}\n"
        before, section = text.split(head)
        section, mark, after = section.partition("\n## ")
        for name, kind in classes(domain).items():
            (IMAGES / f"{domain}.{name}.svg").write_text(icon(kind) + "\n", encoding="utf-8")
            shown = f"![{name}](../images/library/{domain}.{name}.svg)"
            section = re.sub(rf"^\| `{name}` \| (?!!\[)", f"| `{name}` | {shown} | ", section, flags=re.MULTILINE)
        section = section.replace("| class | connectors", "| class | icon | connectors")
        section = re.sub(r"^\|---\|---\|---\|---\|$", "|---|---|---|---|---|", section, flags=re.MULTILINE)
        section = re.sub(r"^(\| `\w+` \|) connector \|", r"\1 | connector |", section, flags=re.MULTILINE)
        text = f"{before}{head}{section}{mark}{after}"
    PAGE.write_text(text, encoding="utf-8")
    for file, (page, model, what, part) in MODELS.items():
        tg.show(made_by(page, model)).picture(what, part).save(DOCS / "images" / f"model_{file}.svg")


if __name__ == "__main__":
    main()
