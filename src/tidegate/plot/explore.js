"use strict";
// Curves of one run on canvases. In goes the JSON of #data, which plot/explore.py writes; nothing is loaded from anywhere.
(function () {
  const given = JSON.parse(document.getElementById("data").textContent);
  const grids = given.grids.map(numbers);
  const curves = given.curves.map((curve) => ({ ...curve, t: grids[curve.grid], y: numbers(curve.values) }));
  const events = given.events;
  const colours = ["#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22", "#17becf"];
  const LEFT = 74, RIGHT = 16, TOP = 10, BOTTOM = 34, GAP = 14; // pixels around and between panels
  const host = document.getElementById("panels"), readout = document.getElementById("readout");
  const marks = document.getElementById("marks"), clocks = document.getElementById("clocks");
  let view = given.span.slice(), drag = null, hover = null;

  function numbers(text) { // base64 of doubles, little end first
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    return new Float64Array(bytes.buffer);
  }

  function short(value) {
    if (!isFinite(value)) return "none";
    const text = Math.abs(value) >= 1e-4 && Math.abs(value) < 1e6 || value === 0 ? String(+value.toPrecision(7)) : value.toExponential(5);
    return text.replace(/\.?0+e/, "e");
  }

  function told(curve, value) { // numbers that stand for texts, by their texts
    const text = curve.texts.find((pair) => pair[1] === value);
    return text ? text[0] : short(value) + (curve.unit ? " " + curve.unit : "");
  }

  function after(t, time) { // first index whose time is greater
    let low = 0, high = t.length;
    while (low < high) { const middle = low + high >> 1; if (t[middle] <= time) low = middle + 1; else high = middle; }
    return low;
  }

  function valueAt(curve, time) {
    const k = after(curve.t, time);
    if (k === 0) return NaN;
    if (k === curve.t.length) return curve.t[k - 1] === time ? curve.y[k - 1] : NaN;
    if (curve.stairs) return curve.y[k - 1];
    const part = (time - curve.t[k - 1]) / (curve.t[k] - curve.t[k - 1]);
    return curve.y[k - 1] + part * (curve.y[k] - curve.y[k - 1]);
  }

  function shownPanels() {
    const panels = new Map();
    for (const curve of curves) if (curve.shown) {
      if (!panels.has(curve.panel)) panels.set(curve.panel, []);
      panels.get(curve.panel).push(curve);
    }
    for (const chosen of panels.values()) chosen.forEach((curve, k) => { curve.colour = colours[k % colours.length]; curve.dash = k < 10 ? [] : [6, 3]; });
    return [...panels.values()];
  }

  function ticks(low, high, most) { // at multiples of 1, 2 or 5
    const raw = (high - low) / most, power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((k) => k * power).find((k) => k >= raw);
    const found = [];
    for (let k = Math.ceil(low / step); k * step <= high * (1 + 1e-12) + step * 1e-9; k++) found.push(k * step);
    return found;
  }

  function extent(chosen) { // of what is in view
    let low = Infinity, high = -Infinity;
    for (const curve of chosen) {
      const first = Math.max(after(curve.t, view[0]) - 1, 0), last = Math.min(after(curve.t, view[1]) + 1, curve.t.length);
      for (let k = first; k < last; k++) if (isFinite(curve.y[k])) { low = Math.min(low, curve.y[k]); high = Math.max(high, curve.y[k]); }
    }
    if (low > high) return [0, 1];
    const margin = high > low ? 0.05 * (high - low) : Math.max(Math.abs(high) * 0.05, 0.5);
    return [low - margin, high + margin];
  }

  const marked = () => !marks.checked ? [] : events.filter((event) => (!event.clock || clocks.checked) && event.t >= view[0] && event.t <= view[1]);
  const width = () => host.clientWidth;
  const toX = (time) => LEFT + (time - view[0]) / (view[1] - view[0]) * (width() - LEFT - RIGHT);
  const toTime = (x) => view[0] + (x - LEFT) / (width() - LEFT - RIGHT) * (view[1] - view[0]);

  function draw() {
    const panels = shownPanels();
    const height = Math.max(130, Math.min(320, (innerHeight - 130) / Math.max(panels.length, 1) - GAP));
    while (host.querySelectorAll("canvas").length > panels.length) host.querySelector("canvas").remove();
    while (host.querySelectorAll("canvas").length < panels.length) host.append(document.createElement("canvas"));
    host.querySelectorAll("canvas").forEach((canvas, k) => drawPanel(canvas, panels[k], height, k === panels.length - 1));
    for (const curve of curves) {
      curve.swatch.style.background = curve.shown ? curve.colour : "transparent";
    }
  }

  function drawPanel(canvas, chosen, height, isLast) {
    const all = height + (isLast ? BOTTOM : GAP), ratio = devicePixelRatio || 1, pen = canvas.getContext("2d");
    canvas.width = Math.round(width() * ratio); canvas.height = Math.round(all * ratio);
    canvas.style.width = width() + "px"; canvas.style.height = all + "px";
    pen.scale(ratio, ratio);
    const [low, high] = extent(chosen), bottom = height, right = width() - RIGHT;
    const toY = (value) => bottom - (value - low) / (high - low) * (bottom - TOP);
    pen.font = "11px system-ui, sans-serif"; pen.lineWidth = 1;
    pen.textAlign = "center"; pen.textBaseline = "top";
    for (const time of ticks(view[0], view[1], Math.max((right - LEFT) / 90, 2))) {
      line(pen, "#eee", toX(time), TOP, toX(time), bottom);
      if (isLast) { pen.fillStyle = "#333"; pen.fillText(short(time), toX(time), bottom + 5); }
    }
    if (isLast) { pen.fillStyle = "#333"; pen.fillText(given.timeLabel, (LEFT + right) / 2, bottom + 19); }
    pen.textAlign = "right"; pen.textBaseline = "middle";
    const texts = chosen[0].texts;
    for (const value of texts.length ? texts.map((pair) => pair[1]) : ticks(low, high, Math.max(height / 40, 2))) {
      line(pen, "#eee", LEFT, toY(value), right, toY(value));
      pen.fillStyle = "#333"; pen.fillText(texts.length ? told(chosen[0], value) : short(value), LEFT - 6, toY(value));
    }
    for (const event of marked()) line(pen, "#999", toX(event.t), TOP, toX(event.t), bottom, [2, 3]);
    pen.save(); pen.beginPath(); pen.rect(LEFT, TOP, right - LEFT, bottom - TOP); pen.clip();
    for (const curve of chosen) drawCurve(pen, curve, toY);
    if (drag && !drag.moves) { pen.fillStyle = "#4080ff22"; pen.fillRect(drag.from, TOP, drag.to - drag.from, bottom - TOP); }
    if (hover !== null) line(pen, "#555", hover, TOP, hover, bottom);
    pen.restore();
    pen.strokeStyle = "#333"; pen.strokeRect(LEFT, TOP, right - LEFT, bottom - TOP);
    pen.save(); pen.translate(13, (TOP + bottom) / 2); pen.rotate(-Math.PI / 2); pen.textAlign = "center"; pen.fillStyle = "#333";
    pen.fillText(chosen.length === 1 ? chosen[0].name + (chosen[0].unit ? ` (${chosen[0].unit})` : "") : chosen[0].unit, 0, 0);
    pen.restore();
  }

  function line(pen, colour, x0, y0, x1, y1, dash) {
    pen.strokeStyle = colour; pen.setLineDash(dash || []); pen.beginPath(); pen.moveTo(x0, y0); pen.lineTo(x1, y1); pen.stroke(); pen.setLineDash([]);
  }

  function drawCurve(pen, curve, toY) {
    const { t, y } = curve, first = Math.max(after(t, view[0]) - 2, 0), last = Math.min(after(t, view[1]) + 2, t.length);
    pen.strokeStyle = curve.colour; pen.lineWidth = 1.4; pen.setLineDash(curve.dash); pen.beginPath();
    let isDown = false;
    for (let k = first; k < last; k++) {
      if (!isFinite(y[k])) { isDown = false; continue; }
      const jumps = k > first && t[k] === t[k - 1] && y[k] !== y[k - 1];
      if (curve.stairs && isDown) pen.lineTo(toX(t[k]), toY(y[k - 1]));
      if (isDown && (curve.stairs || !jumps)) pen.lineTo(toX(t[k]), toY(y[k])); else pen.moveTo(toX(t[k]), toY(y[k]));
      isDown = true;
    }
    pen.stroke(); pen.setLineDash([]); pen.lineWidth = 1;
  }

  function tell(x, y) {
    const time = toTime(x), shown = curves.filter((curve) => curve.shown);
    const near = marked().filter((event) => Math.abs(toX(event.t) - x) < 5).slice(0, 4);
    readout.textContent = `${given.timeLabel.split(" ")[0]} ${short(near.length ? near[0].t : time)}`;
    for (const curve of shown) readout.append(`\n${curve.name}  ${told(curve, valueAt(curve, near.length ? near[0].t : time))}`);
    for (const event of near) {
      const name = document.createElement("b");
      name.textContent = `\n${event.kind} event: ${event.cause}`;
      readout.append(name, event.change ? `\n${event.change}` : "", event.place ? `\nat ${event.place}` : "");
    }
    readout.style.display = "block";
    readout.style.left = Math.max(0, x > width() / 2 ? x - readout.offsetWidth - 14 : x + 14) + "px";
    readout.style.top = y + 14 + "px";
  }

  function look(low, high) {
    const whole = given.span, least = Math.max((whole[1] - whole[0]) * 1e-9, Math.max(Math.abs(low), Math.abs(high)) * 1e-13);
    let size = Math.min(Math.max(high - low, least), whole[1] - whole[0]);
    const begin = Math.min(Math.max(low, whole[0]), whole[1] - size);
    view = [begin, begin + size];
    draw();
  }

  const place = (event) => { const box = host.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
  host.addEventListener("wheel", (event) => {
    event.preventDefault();
    const middle = toTime(place(event)[0]), factor = Math.exp(Math.sign(event.deltaY) * 0.25);
    look(middle + (view[0] - middle) * factor, middle + (view[1] - middle) * factor);
  }, { passive: false });
  host.addEventListener("pointerdown", (event) => {
    const x = place(event)[0];
    drag = { from: x, to: x, moves: event.shiftKey, view: view.slice() };
  });
  addEventListener("pointermove", (event) => {
    const [x, y] = place(event);
    if (drag) {
      drag.to = x;
      if (drag.moves) { const by = (drag.from - x) / (width() - LEFT - RIGHT) * (drag.view[1] - drag.view[0]); look(drag.view[0] + by, drag.view[1] + by); }
    }
    const isInside = x >= LEFT && x <= width() - RIGHT && y >= 0 && y <= host.clientHeight;
    hover = isInside ? x : null;
    if (isInside) tell(x, y); else readout.style.display = "none";
    draw();
  });
  addEventListener("pointerup", () => {
    const done = drag;
    drag = null;
    if (done && !done.moves && Math.abs(done.to - done.from) > 4) look(toTime(Math.min(done.from, done.to)), toTime(Math.max(done.from, done.to)));
    else if (done) draw();
  });
  host.addEventListener("dblclick", () => look(...given.span));
  document.getElementById("whole").addEventListener("click", () => look(...given.span));
  addEventListener("keydown", (event) => {
    if (event.target.tagName === "INPUT" && event.target.type === "search") return;
    const size = view[1] - view[0];
    if (event.key === "ArrowLeft") look(view[0] - size / 10, view[1] - size / 10);
    else if (event.key === "ArrowRight") look(view[0] + size / 10, view[1] + size / 10);
    else if (event.key === "+") look(view[0] + size / 8, view[1] - size / 8);
    else if (event.key === "-") look(view[0] - size / 6, view[1] + size / 6);
    else if (event.key === "0") look(...given.span);
  });
  marks.addEventListener("change", draw);
  clocks.addEventListener("change", draw);
  clocks.parentElement.hidden = !events.some((event) => event.clock);
  marks.parentElement.hidden = !events.length;

  for (const curve of curves) {
    const label = document.createElement("label"), box = document.createElement("input");
    curve.swatch = document.createElement("i");
    box.type = "checkbox"; box.checked = curve.shown;
    label.title = curve.description || curve.name;
    label.append(box, curve.swatch, curve.name);
    box.addEventListener("change", () => { curve.shown = box.checked; draw(); });
    document.getElementById("curves").append(label);
    curve.row = label;
  }
  document.getElementById("find").addEventListener("input", (event) => {
    for (const curve of curves) curve.row.style.display = curve.name.toLowerCase().includes(event.target.value.toLowerCase()) ? "" : "none";
  });
  addEventListener("resize", draw);
  draw();
})();
