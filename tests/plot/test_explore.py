"""The page to explore a result holds its numbers to the last bit, loads nothing, and does in a browser what a hand does with it."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tidegate.errors import UsageError
from tidegate.plot import explore
from tidegate.results import Column, Event, Result

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)

# what a hand does: choose a curve, drag over the first second, hold the mouse over the first event, turn the wheel; answers go into the document
HAND = """
<script>
  const panels = document.getElementById("panels"), box = panels.getBoundingClientRect(), said = [];
  const at = (kind, x, target) =>
    target.dispatchEvent(new PointerEvent(kind, { clientX: box.left + x, clientY: box.top + 40, bubbles: true }));
  const x = (time, low, high) => 74 + (time - low) / (high - low) * (panels.clientWidth - 90);
  const told = () => document.getElementById("readout").textContent;
  const count = () => panels.querySelectorAll("canvas").length;
  said.push(count());
  document.querySelectorAll("#curves input")[1].click();
  said.push(count());
  at("pointermove", x(EVENT, 0, END), window); said.push(told());
  at("pointermove", x(EVENT / 2, 0, END), window); said.push(told());
  at("pointerdown", x(0, 0, END), panels); at("pointermove", x(EVENT, 0, END), window); at("pointerup", x(EVENT, 0, END), window);
  at("pointermove", x(EVENT / 2, 0, EVENT), window); said.push(told());
  panels.dispatchEvent(new WheelEvent("wheel", { clientX: box.left + x(EVENT / 2, 0, EVENT), clientY: box.top + 40, deltaY: -1, cancelable: true }));
  at("pointermove", x(EVENT / 2, 0, EVENT), window); said.push(told());
  panels.dispatchEvent(new MouseEvent("dblclick"));
  at("pointermove", x(EVENT / 2, 0, END), window); said.push(told());
  const pixels = panels.querySelector("canvas").getContext("2d").getImageData(0, 0, 600, 100).data;
  said.push(pixels.some((value, k) => k % 4 === 0 && value === 31 && pixels[k + 1] === 119 && pixels[k + 2] === 180)); // the first curve's colour
  const out = document.createElement("pre");
  out.id = "said"; out.textContent = JSON.stringify(said); document.body.append(out);
</script>
</body>"""


def data_of(html: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', html, flags=re.DOTALL)
    assert found
    return json.loads(found[1])


def unpacked(text: str) -> np.ndarray[Any, Any]:
    return np.frombuffer(base64.b64decode(text), dtype="<f8")


@pytest.mark.slow
def test_the_page_holds_rows_and_dense_output_to_the_last_bit(ball: Result) -> None:
    data = data_of(explore(ball).html)
    curves = {curve["name"]: (unpacked(data["grids"][curve["grid"]]), unpacked(curve["values"])) for curve in data["curves"]}
    t, h = curves["h"]
    rows = np.isin(t, ball.t)
    np.testing.assert_array_equal(h[rows], ball["h"])
    first = t < ball.events[0].time
    assert first.sum() > 2000
    np.testing.assert_allclose(h[first], 1.0 - 9.81 / 2 * t[first] ** 2, rtol=1e-9)
    np.testing.assert_array_equal(curves["energy"][0], ball.t)  # known at rows only
    assert (np.diff(t) == 0.0).sum() == len(ball.events)
    assert [event["place"] for event in data["events"]] == ["ball.py:12"] * 4


def test_the_page_loads_nothing_and_no_name_can_end_its_script() -> None:
    name = "</script><img src=x>$data<!--"
    result = Result(name, [Column(name)], [0.0, 1.0], [[np.nan], [3.0]], events=[Event(0, 0.5, "state", (name,))])
    html = explore(result).html
    assert html.count("<script") == html.count("</script>") == 2
    assert data_of(html)["curves"][0]["name"] == name
    assert "default-src 'none'" in html
    assert not re.search(r"https?:|//cdn|<link|src=\"|@import|fetch\(|<img", html)


@pytest.mark.slow
def test_a_notebook_shows_the_page_and_a_file_keeps_it(ball: Result, tmp_path: Path) -> None:
    page = ball.explore("h", path=tmp_path / "ball.html")
    assert (tmp_path / "ball.html").read_text(encoding="utf-8") == page.html
    assert [curve["name"] for curve in data_of(page.html)["curves"] if curve["shown"]] == ["h"]
    assert page._repr_html_().startswith("<iframe srcdoc=")
    with pytest.raises(UsageError, match=r"\.html"):
        page.save(tmp_path / "ball.txt")
    with pytest.raises(UsageError, match="try: h"):
        ball.explore("hh")
    with pytest.raises(UsageError, match="no rows"):
        Result("empty", [Column("x")], [], np.zeros((0, 1))).explore()


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="no Chromium here to open the page with (apt-get install chromium)")
def test_in_a_browser_curves_are_chosen_zoomed_and_told_of(ball: Result, tmp_path: Path) -> None:
    assert BROWSER is not None
    event, end = ball.events[0], float(ball.t[-1])
    hand = HAND.replace("EVENT", repr(event.time)).replace("END", repr(end))
    page = tmp_path / "ball.html"
    page.write_text(ball.explore("h").html.replace("</body>", hand), encoding="utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}", "--window-size=1000,700", "--dump-dom"]
    done = subprocess.run([BROWSER, *options, page.as_uri()], capture_output=True, text=True, timeout=120, check=True)
    found = re.search(r'<pre id="said">(.*?)</pre>', done.stdout, flags=re.DOTALL)
    assert found, done.stderr[-2000:]
    before, after, at_event, between, zoomed, wheeled, whole, is_drawn = json.loads(
        found[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    )
    assert (before, after) == (1, 2)
    assert "state event: h < 0" in at_event
    assert "at ball.py:12" in at_event
    assert "v: -4.429 -> 3.544" in at_event
    half = event.time / 2
    for said in (between, zoomed, wheeled, whole):  # the same time under the mouse, however far it is zoomed
        told = dict(line.split("  ") for line in said.splitlines()[1:])
        assert float(said.splitlines()[0].split(" ")[1]) == pytest.approx(half, abs=2e-3)
        assert float(told["h"].split()[0]) == pytest.approx(1.0 - 9.81 / 2 * half**2, abs=1e-2)
        assert "event" not in said
    assert is_drawn
