"""The tutorial's notebooks are carried out as a user would, and their cells show what they should: tables, pictures, a page, a bar, own lines."""

from __future__ import annotations

import base64
import io
import re
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib.image
import numpy as np
import pytest
from nbclient import NotebookClient
from nbformat import read

NOTEBOOKS = sorted((Path(__file__).parents[1] / "docs" / "tutorial").glob("*.ipynb"))
pytestmark = pytest.mark.slow


@cache
def carried_out(path: Path) -> Any:
    """The notebook after all of its cells, in a kernel of its own; one that raises ends it, unless it is marked as meant so."""
    notebook = read(path, as_version=4)
    NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}}).execute()
    return notebook


def shown(notebook: Any, beginning: str) -> list[Any]:
    """What the cell shows whose last line is this, or else begins so."""
    cells = [(cell.source.splitlines()[-1], cell.outputs) for cell in notebook.cells if cell.cell_type == "code"]
    exact = [outputs for last, outputs in cells if last == beginning]
    (found,) = exact or [outputs for last, outputs in cells if last.startswith(beginning)]
    return found


def html(notebook: Any, beginning: str) -> str:
    (data,) = [item.data["text/html"] for item in shown(notebook, beginning) if "text/html" in item.get("data", {})]
    return data


def picture(output: Any) -> Any:
    """Its pixels, (rows, columns, red green blue)."""
    return matplotlib.image.imread(io.BytesIO(base64.b64decode(output.data["image/png"])), format="png")[..., :3]


def inked(pixels: Any) -> Any:
    """Where a curve is drawn: neither grey nor white."""
    return (pixels.max(axis=2) - pixels.min(axis=2)) > 0.3


def test_there_are_notebooks() -> None:
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_runs_and_each_of_its_pictures_shows_curves(path: Path) -> None:
    outputs = [item for cell in carried_out(path).cells if cell.cell_type == "code" for item in cell.outputs]
    pictures = [picture(item) for item in outputs if "image/png" in item.get("data", {})]
    assert len(pictures) >= 4
    for pixels in pictures:
        rows, columns = np.nonzero(inked(pixels))
        assert pixels.shape[0] > 300
        assert pixels.shape[1] > 600
        assert np.ptp(rows) > 0.3 * pixels.shape[0]  # the curve goes up and along, and is no line at the edge
        assert np.ptp(columns) > 0.5 * pixels.shape[1]
    assert not any("Warning" in str(item.get("data", {})) for item in outputs)


def test_the_first_notebook_shows_tables_a_page_a_bar_and_ones_own_lines() -> None:
    notebook = carried_out(NOTEBOOKS[0])
    assert "1 state: level" in html(notebook, "model")
    assert "<th style='text-align:left'>level</th><td>1.066" in html(notebook, "result")
    assert "level &gt; 1" in html(notebook, "result.events")
    assert "srcdoc" in html(notebook, "result.explore")
    assert "<progress value='1.0000'" in html(notebook, "done.final")
    assert "t = 1, 100 %" in html(notebook, "done.final")
    (error,) = shown(notebook, "tg.simulate(tg.ode(lambda t, y: [-y[")
    lines = "\n".join(error.traceback).splitlines()
    assert re.fullmatch(r"Cell In\[\d+\], line 1, in <module>", lines[0])  # as the notebook counts, and no file in a folder for scraps
    assert any(re.search(r"at Cell In\[\d+\], line 1", line) for line in lines)
    assert lines[1].strip() == 'tg.simulate(tg.ode(lambda t, y: [-y["lvel"]], y0={"level": 1.0}), (0, 1))'
    assert lines[-1] == "  try: did you mean 'level'?"
    assert len(lines) < 8  # his frames and the sentence, none of ours


def test_the_corner_of_the_tank_is_drawn_where_its_event_is() -> None:
    pixels = picture(shown(carried_out(NOTEBOOKS[0]), 'result.plot("level")')[0])
    curve = inked(pixels)
    rows, columns = np.nonzero(curve)
    left, right = columns.min(), columns.max()
    height = np.array([rows[columns == column].mean() for column in range(left, right + 1)])
    corner = round(0.25 * (right - left))  # t = 5 of 20: rising before, level from a little later on
    assert height[corner // 2] - height[corner] > 0.3 * np.ptp(rows)
    assert abs(height[3 * corner] - height[-1]) < 2
