"""Draws the graph of each assumption as an SVG file, for docs/assumptions.md: python -m research.assumption_graphs."""

from __future__ import annotations

from html import escape
from pathlib import Path

from research import ROOT
from truant import registry
from truant.analysis import Labels
from truant.cli.questions import assumptions_reached
from truant.documents.graphs import DrawnArrow, Graph, Node, graph

WIDTH, HEIGHT, MARGIN = 364, 226, 12
CROSS = "M-6,-6 L6,6 M-6,6 L6,-6"
# an image on a web page does not inherit its colours, so it brings its own background, light and dark
STYLE = """
.ground { fill: #ffffff; stroke: #dfe3e8; }
path { fill: none; stroke: #5a626d; stroke-width: 1.4; }
polygon { fill: #5a626d; }
.forbidden path { stroke: #8a4b00; stroke-dasharray: 5 4; }
.forbidden polygon { fill: #8a4b00; }
.forbidden .cross { stroke-width: 2.4; stroke-dasharray: none; }
.node rect { fill: #e9edf2; stroke: #b9c1cb; }
text { fill: #1d2127; font: 12.5px system-ui, -apple-system, "Segoe UI", Arial, "Liberation Sans", sans-serif; }
.node text { text-anchor: middle; }
.legend text { font-size: 11.5px; }
@media (prefers-color-scheme: dark) {
  .ground { fill: #1a1f26; stroke: #343a43; }
  path { stroke: #a9afb8; }
  polygon { fill: #a9afb8; }
  .forbidden path { stroke: #f4bc6a; }
  .forbidden polygon { fill: #f4bc6a; }
  .node rect { fill: #2c3440; stroke: #4a5461; }
  text { fill: #e9eaec; }
}
"""


def file_name(assumption: str) -> str:
    """The file in docs/images that shows the graph of an assumption."""
    return f"assumption-{assumption}.svg"


def drawn(assumption: str) -> Graph:
    """The graph of an assumption between variables that have no names of their own."""
    forbidden = registry.find("assumption", assumption).build().forbids
    return graph(assumption, forbidden, Labels.of([], [], "outcome", "mediator"))


def svg(found: Graph) -> str:
    """The graph as a file of its own, with a legend."""
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{-MARGIN} 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'height="{HEIGHT}" role="img">',
        f"<title>{escape(found.alternative)}</title>",
        f"<style>{STYLE}</style>",
        f'<rect class="ground" x="{0.5 - MARGIN}" y="0.5" width="{WIDTH - 1}" height="{HEIGHT - 1}" rx="8"/>',
        *map(_arrow, found.arrows),
        *map(_node, found.nodes),
        _legend(any(arrow.cross for arrow in found.arrows)),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _arrow(arrow: DrawnArrow) -> str:
    line = f'<path d="{arrow.path}"/><polygon points="{arrow.head}"/>'
    if arrow.cross is None:
        return f"<g>{line}</g>"
    x, y = arrow.cross
    return f'<g class="forbidden">{line}<path class="cross" transform="translate({x:.1f} {y:.1f})" d="{CROSS}"/></g>'


def _node(node: Node) -> str:
    left, width = node.x - node.half_width, 2 * node.half_width
    return (
        f'<g class="node"><rect x="{left}" y="{node.y - 15}" width="{width}" height="30" rx="15"/>'
        f'<text x="{node.x}" y="{node.y + 4}">{escape(node.text)}</text></g>'
    )


def _legend(forbids: bool) -> str:
    may = (
        '<path d="M16,203 L38,203"/><polygon points="45,203 37,199.4 37,206.6"/>'
        '<text x="52" y="207">may influence</text>'
    )
    if not forbids:
        return f'<g class="legend">{may}<text x="156" y="207">no arrow is ruled out</text></g>'
    crossed = (
        '<g class="forbidden"><path d="M150,203 L172,203"/><polygon points="179,203 171,199.4 171,206.6"/>'
        f'<path class="cross" transform="translate(161 203) scale(.8)" d="{CROSS}"/></g>'
        '<text x="186" y="207">ruled out by assumption</text>'
    )
    return f'<g class="legend">{may}{crossed}</g>'


def main() -> None:
    """Write the files."""
    folder = ROOT / "docs" / "images"
    for assumption in assumptions_reached():
        path: Path = folder / file_name(assumption)
        path.write_text(svg(drawn(assumption)), encoding="utf-8")
        print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
