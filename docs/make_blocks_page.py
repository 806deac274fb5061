"""Writes the reference page of blocks and their pictures: ``python docs/make_blocks_page.py`` (docs/reference/blocks.md, docs/images/blocks/)."""

from __future__ import annotations

from pathlib import Path

import tidegate as tg
from tidegate.frontends.blocks.drawing import Drawing, DrawnNode, draw

b = tg.blocks
DOCS = Path(__file__).parent
IMAGES = DOCS / "images" / "blocks"
PAGE = DOCS / "reference" / "blocks.md"

GROUPS = {
    "Arithmetic": "Constant Gain Offset Inverter Summer WeightedSummer Multiplier Divider Magnitude HalfPower Function",
    "Corners and jumps": "BangBang Relay Limiter DeadSpace NegativeClipper PositiveClipper Hysteresis Quit",
    "Dynamics": "Integrator FirstOrderLag TransferFunction StateSpace PID RateLimiter TransportDelay VariableDelay",
    "Clocks": "UnitDelay ZeroOrderHold TimePulse DiscreteTransferFunction",
    "Sources": "Time Step Ramp Sine Pulse TableSource Jitter Noise",
    "Logic": "Compare And Or Not Switch",
    "Implicit equations": "Vacuous Wye",
    "Your own, and to look at": "UserBlock UserOutput Scope",
}

SAMPLES = {
    "Function": lambda: b.Function([0.0, 1.0], [0.0, 1.0]),
    "TransferFunction": lambda: b.TransferFunction([1.0], [1.0, 1.0]),
    "StateSpace": lambda: b.StateSpace([[0.0]], [[1.0]], [[1.0]]),
    "TransportDelay": lambda: b.TransportDelay(1.0),
    "UnitDelay": lambda: b.UnitDelay(1.0),
    "DiscreteTransferFunction": lambda: b.DiscreteTransferFunction([1.0], [1.0], 1.0),
    "TableSource": lambda: b.TableSource([0.0, 1.0], [0.0, 1.0]),
    "UserBlock": lambda: b.UserBlock(lambda x1: x1),
}

HEAD = """## Blocks

Every block takes `name`, `number`, `label`, `unit` (of what comes out) and `units` (of its parameters, by name) beside its parameters. Parameters are
those of the model, called `block.parameter`: they can be replaced for a run, and sensitivities be asked for. Where a formula has a corner or a jump,
it is located as an event. Inputs in brackets may be left open and then count as 0.

| block | type of Table 1 | inputs | outputs |
|---|---|---|---|
"""


def sample(name: str) -> tg.blocks.Gain:
    """One of this kind."""
    return SAMPLES.get(name, getattr(b, name))()


def ports(name: str) -> tuple[str, str]:
    """Inputs with their other names, and outputs."""
    block = sample(name)
    also = {full: alias for alias, full in block.aliases.items()}
    shown = [f"{port} ({also[port]})" if port in also else port for port in block.inputs]
    inputs = [f"[{text}]" if block.is_open(port) else text for port, text in zip(block.inputs, shown, strict=True)]
    return ", ".join(inputs) or "none", ", ".join(block.outputs) or "none"


def page() -> str:
    """The text of the page."""
    lines = ["# Block diagrams", "", "::: tidegate.frontends.blocks.Diagram", "", HEAD.rstrip("\n")]
    for names in GROUPS.values():
        for name in names.split():
            code = getattr(b, name).code.replace("U1", "U1 ... U15")
            lines.append(f"| [{name}](#{name.lower()}) | {f'`{code}`' if code else ''} | {' | '.join(ports(name))} |")
    for title, names in GROUPS.items():
        lines += ["", f"## {title}"]
        for name in names.split():
            lines += [
                "", f"### {name} {{ #{name.lower()} }}", "", f"![picture of {name}](../images/blocks/{name}.svg)", "",
                f"::: tidegate.frontends.blocks.library.{name}", "    options:", "      members: false", "      show_root_heading: false",
            ]  # fmt: skip
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write the page and draw the pictures."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
    for names in GROUPS.values():
        for name in names.split():
            block = sample(name)
            node = DrawnNode(
                name, name, " ", len([port for port in block.inputs if not block.is_open(port)]) or len(block.inputs), len(block.outputs)
            )
            (IMAGES / f"{name}.svg").write_text(draw(Drawing([node], [])) + "\n", encoding="utf-8")


__all__ = ["main", "page"]

if __name__ == "__main__":
    main()
