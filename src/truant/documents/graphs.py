"""A drawn graph for each assumption: which arrows it allows, and which it forbids."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from html import escape

from truant import registry
from truant.analysis import Analysis, Labels
from truant.assumptions.follow_up import FOLLOW_UP
from truant.documents.words import listed
from truant.errors import named, visible
from truant.spec import Spec

Point = tuple[float, float]
Arrow = tuple[str, str]
PAIRS = ("AM", "MY", "AY", "AO", "MO", "YO", "AQ", "MQ", "YQ", "QO")
ARROWS: tuple[Arrow, ...] = tuple((pair[0], pair[1]) for pair in PAIRS)
HALF_HEIGHT, TOP, BOTTOM = 15.0, 62.0, 158.0
HEAD = 8.0  # length of an arrow's head
CROSS, LONG_CROSS = 0.42, 0.77  # of the way along an arrow: where it is crossed out, and where a long one is
MOST_LETTERS, MOST_BEFORE_OBSERVED = 12, 9  # of a name that stands alone, and of one before "observed"


@dataclass(frozen=True)
class Node:
    """A variable, as a pill with its name."""

    x: float
    y: float
    half_width: float
    text: str
    title: str


@dataclass(frozen=True)
class DrawnArrow:
    """A line, the triangle at its end, and the place of the cross where it is forbidden."""

    path: str
    head: str
    cross: Point | None


@dataclass(frozen=True)
class Graph:
    """What an assumption forbids, to be drawn."""

    assumption: str
    nodes: list[Node]
    arrows: list[DrawnArrow]
    caption: str
    alternative: str

    @property
    def svg(self) -> str:
        """The drawing as an element of HTML; page.css has its colours."""
        return "\n".join(
            [
                f'<svg viewBox="0 0 340 182" role="img" aria-label="{escape(visible(self.alternative))}">',
                *map(_arrow_element, self.arrows),
                *map(_node_element, self.nodes),
                "</svg>",
            ]
        )


def _arrow_element(arrow: DrawnArrow) -> str:
    drawn = f'<path d="{arrow.path}"/><polygon points="{arrow.head}"/>'
    if arrow.cross is None:
        return f"<g>{drawn}</g>"
    x, y = (f"{place:.1f}" for place in arrow.cross)
    cross = f'<path class="cross" transform="translate({x} {y})" d="M-6,-6 L6,6 M-6,6 L6,-6"/>'
    return f'<g class="forbidden">{drawn}{cross}</g>'


def _node_element(node: Node) -> str:
    pill = f'x="{node.x - node.half_width}" y="{node.y - HALF_HEIGHT}" width="{2 * node.half_width}"'
    return (
        f'<g class="node"><title>{escape(visible(node.title))}</title>'
        f'<rect {pill} height="{2 * HALF_HEIGHT:.0f}" rx="{HALF_HEIGHT:.0f}"/>'
        f'<text x="{node.x}" y="{node.y + 4}">{escape(visible(node.text))}</text></g>'
    )


def assumption_graphs(analysis: Analysis) -> list[Graph]:
    """One for each assumption that states what it forbids, and one without a cross for `follow-up`."""
    found = []
    for name in analysis.assumptions:
        spec = Spec.parse(name)
        forbidden = registry.find("assumption", spec.name).build(**spec.parameters).forbids
        if forbidden or spec.name == FOLLOW_UP:
            found.append(graph(name, forbidden, analysis.labels, analysis.setting.mediators > 1))
    return found


def graph(name: str, forbidden: Iterable[Arrow], labels: Labels, has_mediator: bool = True) -> Graph:
    """The graph of one assumption; without the mediator where there is none."""
    barred = set(forbidden)
    shown = {"A", "Y", "O"} | ({"M"} if has_mediator else set())
    if has_mediator and any("Q" in arrow for arrow in barred):
        shown.add("Q")
    arrows = [arrow for arrow in ARROWS if set(arrow) <= shown]
    nodes = _nodes(labels, shown)
    caption = forbids_sentence(labels, arrows, barred)
    drawn = ", ".join(f"{nodes[a].title} to {nodes[b].title}" for a, b in arrows if (a, b) not in barred)
    crossed = ", ".join(f"{nodes[a].title} to {nodes[b].title}" for a, b in arrows if (a, b) in barred)
    return Graph(
        name,
        list(nodes.values()),
        [_arrow(nodes, arrow, arrow in barred) for arrow in arrows],
        caption,
        f"Graph of {name}. Arrows: {drawn}. Forbidden: {crossed or 'none'}.",
    )


def _nodes(labels: Labels, shown: set[str]) -> dict[str, Node]:
    mediator = labels.mediator_column or "mediator"
    names = {"A": "arm", "M": mediator, "Y": labels.outcome}
    names |= {"O": f"{labels.outcome} observed", "Q": f"{mediator} observed"}
    places = {"A": (52.0, TOP), "M": (170.0, TOP), "Y": (288.0, TOP)}
    places |= {"Q": (74.0, BOTTOM), "O": (264.0 if "Q" in shown else 170.0, BOTTOM)}
    nodes = {}
    for node in "AMYQO":
        if node in shown:
            observed = node in "OQ"
            name = labels.outcome if node == "O" else mediator
            text = f"{_clipped(name, MOST_BEFORE_OBSERVED)} observed" if observed else _clipped(names[node])
            nodes[node] = Node(*places[node], 70.0 if observed else 46.0, text, visible(names[node]))
    return nodes


def _arrow(nodes: dict[str, Node], arrow: Arrow, forbidden: bool) -> DrawnArrow:
    start, stop = nodes[arrow[0]], nodes[arrow[1]]
    if arrow == ("A", "Y"):  # over the mediator
        foot, tip = (start.x + 8, TOP - HALF_HEIGHT), (stop.x - 8, TOP - HALF_HEIGHT - 1)
        bend = (foot[0] + 45, 8.0), (tip[0] - 45, 8.0)
        towards = bend[1]
        middle = ((foot[0] + tip[0]) / 2, 18.0)
        end = _short_of(towards, tip, HEAD - 1)
        path = f"M{_at(foot)} C{_at(bend[0])} {_at(bend[1])} {_at(end)}"
    else:
        foot, tip = _edge(start, stop), _edge(stop, start)
        towards = foot
        end = _short_of(towards, tip, HEAD - 1)
        along = LONG_CROSS if arrow == ("Y", "Q") else CROSS  # clear of the other arrows
        middle = (foot[0] + along * (tip[0] - foot[0]), foot[1] + along * (tip[1] - foot[1]))
        path = f"M{_at(foot)} L{_at(end)}"
    return DrawnArrow(path, _head(towards, tip), middle if forbidden else None)


def _edge(node: Node, other: Node) -> Point:
    """Where the line to the other node leaves the pill, with a little air."""
    dx, dy = other.x - node.x, other.y - node.y
    width, height = node.half_width + 2, HALF_HEIGHT + 2
    scale = min(width / abs(dx) if dx else math.inf, height / abs(dy) if dy else math.inf)
    return node.x + scale * dx, node.y + scale * dy


def _short_of(start: Point, tip: Point, by: float) -> Point:
    length = math.dist(start, tip)
    return tip[0] - by * (tip[0] - start[0]) / length, tip[1] - by * (tip[1] - start[1]) / length


def _head(start: Point, tip: Point) -> str:
    """A triangle at the tip of an arrow from there."""
    back = _short_of(start, tip, HEAD)
    across = ((tip[1] - back[1]) / 2.2, (back[0] - tip[0]) / 2.2)
    corners = (tip, (back[0] + across[0], back[1] + across[1]), (back[0] - across[0], back[1] - across[1]))
    return " ".join(map(_at, corners))


def _at(point: Point) -> str:
    return f"{point[0]:.1f},{point[1]:.1f}"


def _clipped(name: str, most: int = MOST_LETTERS) -> str:
    shown = visible(name)
    return shown if len(shown) <= most else f"{shown[: most - 1]}…"


def forbids_sentence(labels: Labels, arrows: Sequence[Arrow], forbidden: Collection[Arrow]) -> str:
    """One sentence for each variable whose being observed has a cause: the outcome, and the mediator."""
    sentences = []
    for target in ("O", "Q"):
        causes = [cause for cause, effect in arrows if effect == target]
        if not causes:
            continue
        own = "Y" if target == "O" else "M"
        free = [_cause(labels, cause, own) for cause in causes if (cause, target) not in forbidden]
        barred = [_cause(labels, cause, own) for cause in causes if (cause, target) in forbidden]
        text = f"Whether {_name(labels, own)} is observed may depend on {listed(free)}" if free else ""
        text = text or f"Whether {_name(labels, own)} is observed depends on nothing else"
        sentences.append(f"{text}, but not on {' nor on '.join(barred)}." if barred else f"{text}.")
    return " ".join(sentences)


def _cause(labels: Labels, node: str, own: str) -> str:
    if node in "OQ":
        return f"whether {_name(labels, 'Y' if node == 'O' else 'M')} is observed"
    return "the arm" if node == "A" else f"{_name(labels, node)}{' itself' if node == own else ''}"


def _name(labels: Labels, node: str) -> str:
    if node == "Y":
        return named(labels.outcome)
    return named(labels.mediator_column) if labels.mediator_column else "the mediator"
