"""Pictures of diagrams are readable: blocks stand apart, lines end at ports and go round blocks, signals that close a loop go round everything."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from itertools import combinations, pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tidegate as tg
from tidegate.frontends.blocks.drawing import Drawing, DrawnNode, Edge, draw, save_drawing
from tidegate.frontends.blocks.drawing.boxes import LABEL, text_width
from tidegate.frontends.blocks.drawing.compose import DrawingPlan, plan_of
from tidegate.frontends.blocks.drawing.layers import columns_of
from tidegate.frontends.blocks.drawing.looks import look_of
from tidegate.frontends.blocks.drawing.positions import kept_apart

Rectangle = tuple[float, float, float, float]

TYPES = "B D F G H I J K L M N O P Q R T T1 U UO U1 V W X Y Z + / -".split()
CLASSES = """
Integrator Gain Summer Limiter TransferFunction StateSpace PID RateLimiter Hysteresis TransportDelay DiscreteTransferFunction Step Ramp Sine Pulse
TableSource Noise And Or Not Compare Switch Scope Time Input Output Diagram
""".split()


@st.composite
def drawings(draw_: st.DrawFn) -> Drawing:
    """Any blocks with any connections: loops, blocks that feed themselves, parts without connection, open ports."""
    count = draw_(st.integers(1, 14))
    texts = st.text(st.characters(codec="utf-8"), max_size=12)
    nodes = [
        DrawnNode(f"b{i}", draw_(st.sampled_from([*TYPES, *CLASSES])), draw_(texts), draw_(st.integers(0, 4)), draw_(st.integers(0, 3)), draw_(texts))
        for i in range(count)
    ]
    outputs = [(node.id, i) for node in nodes for i in range(node.n_out)]
    fed = [(node.id, i) for node in nodes for i in range(node.n_in) if outputs and draw_(st.integers(0, 4))]
    edges = [Edge(*draw_(st.sampled_from(outputs)), *port, draw_(texts), draw_(st.sampled_from([1, -1]))) for port in fed]
    return Drawing(nodes, edges, draw_(texts))


def _outline(plan: DrawingPlan, name: str) -> Rectangle:
    (x, y), box = plan.places[name], plan.boxes[name]
    return x - box.width / 2, y - box.height / 2, x + box.width / 2, y + box.height / 2


def _cell(plan: DrawingPlan, name: str) -> Rectangle:
    (x, y), box = plan.places[name], plan.boxes[name]
    half = max(box.width, text_width(box.label)) / 2
    return x - half, y - box.height / 2, x + half, y + box.height / 2 + LABEL


def _meet(a: Rectangle, b: Rectangle) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


@pytest.mark.slow
@settings(deadline=None)  # the first drawing loads the library
@given(drawings())
def test_no_two_blocks_or_labels_overlap_and_all_are_on_the_paper(drawing: Drawing) -> None:
    plan = plan_of(drawing)
    cells = [_cell(plan, node.id) for node in drawing.nodes]
    assert not any(_meet(a, b) for a, b in combinations(cells, 2))
    assert all(left >= 0 and top >= 0 and right <= plan.width and bottom <= plan.height for left, top, right, bottom in cells)


@pytest.mark.slow
@settings(deadline=None)
@given(drawings())
def test_lines_go_from_port_to_port_in_right_angles(drawing: Drawing) -> None:
    plan = plan_of(drawing)
    assert [wire.edge for wire in plan.wires] == list(drawing.edges)
    for wire in plan.wires:
        for name, port, end in (
            (wire.edge.from_id, plan.boxes[wire.edge.from_id].out_port(wire.edge.out_port), wire.points[0]),
            (wire.edge.to_id, plan.boxes[wire.edge.to_id].in_port(wire.edge.in_port), wire.points[-1]),
        ):
            place = plan.places[name]
            assert end == pytest.approx((place[0] + port[0], place[1] + port[1]), abs=1e-9)  # sums in another order
        assert all((a[0] == b[0]) != (a[1] == b[1]) for a, b in pairwise(wire.points))
        # it leaves to the right and arrives from the left, with room for the head of an arrow
        assert wire.points[1][0] > wire.points[0][0]
        assert wire.points[-1][0] - wire.points[-2][0] > 7
        assert all(0 <= x <= plan.width and 0 <= y <= plan.height for x, y in wire.points)


@pytest.mark.hunt
@settings(deadline=None)
@given(drawings())
def test_no_line_runs_through_a_block(drawing: Drawing) -> None:
    plan = plan_of(drawing)
    for wire in plan.wires:
        for a, b in pairwise(wire.points):
            piece = (min(a[0], b[0]), min(a[1], b[1]), max(a[0], b[0]), max(a[1], b[1]))
            for node in drawing.nodes:
                left, top, right, bottom = _outline(plan, node.id)
                # a line begins and ends on the outline itself, and inside the square round a circle
                inset = (
                    plan.boxes[node.id].width / 2
                    if plan.boxes[node.id].look.outline == "circle" and node.id in (wire.edge.from_id, wire.edge.to_id)
                    else 0.01
                )
                assert not _meet(piece, (left + inset, top + 0.01, right - inset, bottom - 0.01))


@settings(deadline=None)
@given(drawings())
@pytest.mark.hunt
def test_different_signals_do_not_lie_on_each_other(drawing: Drawing) -> None:
    pieces = [(wire.edge, a, b) for wire in plan_of(drawing).wires for a, b in pairwise(wire.points)]
    for (first, a, b), (second, c, d) in combinations(pieces, 2):
        if (first.from_id, first.out_port) != (second.from_id, second.out_port):
            for along, across in ((0, 1), (1, 0)):
                if a[across] == b[across] == c[across] == d[across]:
                    assert min(max(a[along], b[along]), max(c[along], d[along])) <= max(min(a[along], b[along]), min(c[along], d[along]))


@pytest.mark.slow
@settings(deadline=None)
@given(drawings())
def test_signals_go_to_the_right_but_for_those_that_close_a_loop(drawing: Drawing) -> None:
    columns = columns_of(drawing)
    follows: dict[str, set[str]] = {node.id: set() for node in drawing.nodes}
    for edge in drawing.edges:
        if edge not in columns.feedback:
            assert columns.column[edge.from_id] < columns.column[edge.to_id]
            follows[edge.from_id].add(edge.to_id)
    for edge in columns.feedback:
        # from where it ends there is a way along the other signals to where it begins
        reached, ahead = {edge.to_id}, [edge.to_id]
        while ahead:
            ahead.extend(new := follows[ahead.pop()] - reached)
            reached |= new
        assert edge.from_id in reached


@pytest.mark.hunt
@settings(deadline=None)
@given(drawings())
def test_the_picture_is_well_formed_and_says_every_label(drawing: Drawing) -> None:
    text = draw(drawing)
    assert text == draw(drawing), "the same drawing gives the same picture"
    said = {element.text for element in ET.fromstring(text).iter("{http://www.w3.org/2000/svg}text")}
    assert {node.id for node in drawing.nodes if not node.label} <= said


@pytest.mark.slow
@given(st.lists(st.integers(-50, 50), min_size=1, max_size=7), st.data())
def test_places_keep_their_distances_and_no_small_move_of_them_is_better(wanted: list[int], data: st.DataObject) -> None:
    distances = data.draw(st.lists(st.integers(1, 20), min_size=len(wanted) - 1, max_size=len(wanted) - 1))
    places = kept_apart(wanted, distances)
    slack = 1e-9  # rounding errors of sums of a few numbers below 200
    assert all(b - a >= gap - slack for a, b, gap in zip(places, places[1:], distances, strict=False))
    cost = sum((a - b) ** 2 for a, b in zip(places, wanted, strict=True))
    for first, last in combinations(range(len(places) + 1), 2):
        for move in (-0.01, 0.01):
            moved = [place + move * (first <= i < last) for i, place in enumerate(places)]
            if all(b - a >= gap for a, b, gap in zip(moved, moved[1:], distances, strict=False)):
                assert sum((a - b) ** 2 for a, b in zip(moved, wanted, strict=True)) >= cost - slack


def test_a_chain_is_one_straight_line() -> None:
    kinds = ("Step", "Gain", "I", "L", "T1", "Scope")
    nodes = [DrawnNode(kind, kind, n_in=int(k > 0), n_out=int(k < 5)) for k, kind in enumerate(kinds)]
    plan = plan_of(Drawing(nodes, [Edge(a, 0, b, 0) for a, b in pairwise(kinds)]))
    assert all(len(wire.points) == 2 for wire in plan.wires)
    assert [plan.places[kind][0] for kind in kinds] == sorted(plan.places[kind][0] for kind in kinds)


def test_a_loop_goes_back_below_its_blocks() -> None:
    nodes = [DrawnNode("r", "Step", n_in=0), DrawnNode("e", "Summer", n_in=2), DrawnNode("c", "PID"), DrawnNode("p", "I")]
    edges = [Edge("r", 0, "e", 0), Edge("e", 0, "c", 0), Edge("c", 0, "p", 0), Edge("p", 0, "e", 1, sign=-1)]
    plan = plan_of(Drawing(nodes, edges))
    lowest = max(_cell(plan, node.id)[3] for node in nodes)
    assert [max(y for _, y in wire.points) > lowest for wire in plan.wires] == [False, False, False, True]
    assert len(plan.dots) == 0
    assert "−" in draw(Drawing(nodes, edges))


def test_a_branch_is_marked_with_a_dot_and_named_once() -> None:
    nodes = [DrawnNode("u", "Step", n_in=0), *(DrawnNode(f"y{i}", "Scope", n_out=0) for i in range(3))]
    drawing = Drawing(nodes, [Edge("u", 0, f"y{i}", 0, "speed") for i in range(3)])
    assert len(plan_of(drawing).dots) >= 1
    assert draw(drawing).count(">speed<") == 1


def test_sources_stand_beside_what_reads_them() -> None:
    nodes = [DrawnNode("a", "I"), DrawnNode("b", "I"), DrawnNode("k", "K", n_in=0), DrawnNode("sum", "+", n_in=2)]
    columns = columns_of(Drawing(nodes, [Edge("a", 0, "b", 0), Edge("b", 0, "sum", 0), Edge("k", 0, "sum", 1)]))
    assert columns.column == {"a": 0, "b": 1, "k": 1, "sum": 2}


def test_lines_of_different_signals_cross_seldom() -> None:
    nodes = [*(DrawnNode(f"u{i}", "Step", n_in=0) for i in range(6)), *(DrawnNode(f"y{i}", "Scope", n_out=0) for i in range(6))]
    columns = columns_of(Drawing(nodes, [Edge(f"u{i}", 0, f"y{5 - i}", 0) for i in range(6)]))
    order = {name: k for column in columns.items for k, name in enumerate(column)}
    assert all(order[f"u{i}"] == order[f"y{5 - i}"] for i in range(6))


def test_lines_do_not_cross_in_front_of_the_ports_of_a_block() -> None:
    nodes = [DrawnNode("u", "Step", n_in=0), DrawnNode("i", "I"), DrawnNode("f", "F"), DrawnNode("sum", "W", n_in=2)]
    plan = plan_of(Drawing(nodes, [Edge("u", 0, "i", 0), Edge("i", 0, "f", 0), Edge("f", 0, "sum", 1), Edge("u", 0, "sum", 0)]))
    assert max(y for _, y in plan.wires[3].points) <= min(y for _, y in plan.wires[2].points)


@pytest.mark.parametrize("kind", [*TYPES, *CLASSES])
def test_every_kind_of_block_has_a_look_of_its_own(kind: str) -> None:
    look = look_of(kind)
    assert look.sign != kind or kind.startswith("U") or kind in ("PID", "V", "Y")
    assert look.sign or look.curves or look.has_signs or kind == "Diagram"
    assert all(-1 <= x <= 1 and -1 <= y <= 1 for curve in look.curves for x, y in curve)


@pytest.mark.hunt
def test_large_diagrams_are_drawn() -> None:
    chain = [DrawnNode(f"b{i}", "G") for i in range(1500)]
    assert plan_of(Drawing(chain, [Edge(a.id, 0, b.id, 0) for a, b in pairwise(chain)])).width > 1500 * 48


def test_an_empty_diagram_is_an_empty_picture() -> None:
    assert ET.fromstring(draw(Drawing([], []))).tag.endswith("svg")


@pytest.mark.slow
@pytest.mark.parametrize(("suffix", "start"), [("svg", b"<svg"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_pictures_are_saved(tmp_path: Path, suffix: str, start: bytes) -> None:
    nodes = [
        DrawnNode("a$", "K", n_in=0),
        DrawnNode("b", "Summer"),
        DrawnNode("<c>", "Diagram", "R&D", text="$x$", in_names=("u",), out_names=("y",)),
    ]
    path = save_drawing(Drawing(nodes, [Edge("a$", 0, "b", 0, "$s"), Edge("b", 0, "<c>", 0)], "title"), tmp_path / f"loop.{suffix}")
    assert path.read_bytes().startswith(start)


def test_files_that_are_no_pictures_and_folders_that_are_not_there_are_refused(tmp_path: Path) -> None:
    with pytest.raises(tg.UsageError, match="cannot save a picture"):
        save_drawing(Drawing([], []), tmp_path / "loop.doc")
    with pytest.raises(tg.UsageError, match="cannot write"):
        save_drawing(Drawing([], []), tmp_path / "nowhere" / "loop.svg")


def test_everything_wrong_with_a_drawing_is_said_at_once() -> None:
    with pytest.raises(tg.UsageError) as caught:
        Drawing([DrawnNode("a", "I"), DrawnNode("a", "I"), DrawnNode("b", "I")], [Edge("a", 1, "c", 0), Edge("b", 0, "b", 2)])
    for part in ("more than one node a", "begins at output 1", "there is no node c", "ends at input 2, but b has 1"):
        assert part in str(caught.value)
