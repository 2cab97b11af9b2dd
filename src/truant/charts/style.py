"""How every chart looks: colours, fonts, axes, titles; and how charts are joined, saved and drawn on a page.

Style sits in the charts themselves, so that they can be joined freely. On a page each colour of `DARK` is a custom
property of CSS, which `dark_properties` sets for those who read in the dark.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple
from xml.etree import ElementTree

import altair as alt
import numpy as np

from truant.errors import InvalidValue, quoted, visible
from truant.files import CHARTS, output_path, written_whole
from truant.setting import FloatArray, positive_number

# Okabe and Ito's colours, told apart by every kind of colour vision; the palest come last.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#B8A800")
NOT_GREEN = tuple(
    colour for colour in COLOURS if colour != "#009E73"
)  # where green says that a winner is clear
# Dashes tell the lines apart in grey print.
DASHES = ((1, 0), (7, 3), (2, 2), (9, 3, 2, 3), (4, 2), (12, 4), (1, 3), (6, 2, 1, 2, 1, 2))
# One hue for one policy under several conditions, the strongest first.
SHADES = ("#4A1A38", "#8A3F73", "#B8659A", "#D49ABD")

INK, FAINT, GRID = "#222222", "#666666", "#E6E6E6"
PALE, RULE = "#E4EAF2", "#9AA0A6"  # behind what matters; a quiet line
NEUTRAL = "#6B6B6B"  # the naive mean: no assumption's colour
HEAT = ("#F1F5FA", "#084A86")  # one hue, from few to many
ON_HEAT = ("#1B2733", "#FFFFFE")  # letters on either end of it

# each colour's stand-in on a dark page, light enough to read
DARK = {
    INK: "#E9EAEC",
    FAINT: "#A9AFB8",
    GRID: "#343A43",
    PALE: "#2C3644",
    RULE: "#7D858F",
    NEUTRAL: "#B4B9C0",
    HEAT[0]: "#232B36",
    HEAT[1]: "#6FB3EE",
    ON_HEAT[0]: "#E9EAED",
    ON_HEAT[1]: "#0D1620",
    "#0072B2": "#55AEE8",
    "#D55E00": "#F58B45",
    "#009E73": "#34C79B",
    "#CC79A7": "#E5A3CB",
    "#E69F00": "#F4BC4A",
    "#56B4E9": "#A6DAF8",
    "#000000": "#FFFFFF",
    "#000": "#E9EAEC",  # letters that no chart gives a colour
    "#B8A800": "#DDD14B",
    SHADES[0]: "#FBE3F1",
    SHADES[1]: "#EDBEDB",
    SHADES[2]: "#D795BD",
    SHADES[3]: "#B3789B",
}


class Look(NamedTuple):
    """How a line looks."""

    colour: str
    dash: tuple[int, ...]


SHAPES = (
    "circle",
    "square",
    "diamond",
    "triangle-up",
    "triangle-down",
    "cross",
    "triangle-right",
    "triangle-left",
)

Lines = str | Sequence[str]
Width = int | Literal["container"]  # in pixels, or as wide as the page leaves room
FONT = "Helvetica Neue, Helvetica, Arial, Liberation Sans, DejaVu Sans, sans-serif"
LABEL_SIZE = 12
LABEL_GAP = 16.0  # pixels between the middles of two labels

PERCENT = "format(datum.value, '.0%')"  # on an axis
# 10k and 2.5M, but 0.1 and not 100m
NUMBER = "abs(datum.value) < 1 ? format(datum.value, '~g') : format(datum.value, '~s')"


_INDEPENDENT = alt.Resolve(
    scale=alt.ScaleResolveMap(
        color="independent", fill="independent", stroke="independent", strokeDash="independent"
    )
)


def in_rows(
    charts: Sequence[alt.LayerChart], title: str = "", subtitle: Lines = "", columns: int = 2
) -> alt.ConcatChart:
    """Charts in rows of so many, each with its own axes, under one title."""
    return alt.ConcatChart(
        concat=list(charts),
        columns=columns,
        spacing=40,
        resolve=_INDEPENDENT,
        title=styled_title(title, subtitle, size=20),
    )


class ForScript(json.JSONEncoder):
    """JSON that cannot end the script element it stands in, whatever the names in it are."""

    def encode(self, o: Any) -> str:
        """The same values; what HTML would notice is written as escapes."""
        text = super().encode(o)
        for letter in "<>&\u2028\u2029":
            text = text.replace(letter, f"\\u{ord(letter):04x}")
        return text


def save_chart(chart: alt.TopLevelMixin, path: str | os.PathLike[str], *, scale: float = 2.0) -> Path:
    """Write a chart as .png (its pixels times `scale`), .svg or as an interactive .html page without network."""
    target = output_path(path, CHARTS)
    if not isinstance(chart, alt.TopLevelMixin):
        raise InvalidValue(f"chart must be a chart of Altair, got {quoted(chart)}.")
    positive_number("scale", scale)
    options: dict[str, Any] = {"format": target.suffix.lower().lstrip(".")}
    if options["format"] == "png":
        options["scale_factor"] = scale
    if options["format"] == "html":  # without the link to an online editor, which would send the data away
        actions = {"export": True, "source": False, "editor": False}
        options |= {"inline": True, "embed_options": {"actions": actions}, "json_kwds": {"cls": ForScript}}
    framed = chart.properties(padding=16)  # only a whole chart may have it, not one that is joined
    with written_whole(target) as temporary:
        framed.save(str(temporary), **options)
    return target


def save_pictures(chart: alt.TopLevelMixin, png: Path, svg: Path) -> None:
    """Write a chart as both kinds of picture; it is drawn once."""
    import vl_convert

    spec = chart.properties(padding=16).to_dict()
    drawn: str = vl_convert.vegalite_to_svg(spec)
    with written_whole(output_path(svg, (".svg",))) as temporary:
        temporary.write_text(drawn, encoding="utf-8")
    with written_whole(output_path(png, (".png",))) as temporary:
        temporary.write_bytes(vl_convert.svg_to_png(drawn, scale=2))


def spread(places: FloatArray, gap: float, low: float, high: float) -> FloatArray:
    """The nearest places (least squares) within [low, high] that keep their order and a gap.

    Of equal places the first comes highest.
    """
    order = np.lexsort((-np.arange(len(places)), places))
    gap = min(gap, (high - low) / max(len(places) - 1, 1))
    steps = gap * np.arange(len(places))
    # without the steps, "at least a gap apart" is "not decreasing": pool what decreases
    blocks: list[tuple[float, int]] = []
    for value in places[order] - steps:
        mean, size = float(value), 1
        while blocks and blocks[-1][0] > mean:
            before, count = blocks.pop()
            mean, size = (mean * size + before * count) / (size + count), size + count
        blocks.append((mean, size))
    pooled = np.concatenate([np.full(size, mean) for mean, size in blocks])
    result = np.empty(len(places))
    result[order] = np.clip(pooled, low, high - steps[-1]) + steps
    return result


def styled_axis(**options: Any) -> alt.Axis:
    """An axis in the common style; options go over it."""
    style: dict[str, Any] = {
        "labelFont": FONT,
        "labelFontSize": 11,
        "labelColor": FAINT,
        "labelExpr": NUMBER,
        "titleFont": FONT,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titleColor": INK,
        "titlePadding": 10,
        "domainColor": FAINT,
        "tickColor": FAINT,
        "gridColor": GRID,
    }
    return alt.Axis(**style | options)


def value_axis(foot: float, top: float, log: bool) -> alt.Axis:
    """A vertical axis from foot to top, with round figures also where it is logarithmic."""
    if not log:
        return styled_axis(domain=False, ticks=False, tickCount=6)
    decades = range(int(np.floor(np.log10(foot))), int(np.ceil(np.log10(top))) + 1)
    steps = (1, 2, 5) if len(decades) <= 4 else (1,)
    values = [step * 10.0**decade for decade in decades for step in steps]
    return styled_axis(domain=False, ticks=False, values=[v for v in values if foot <= v <= top])


def styled_legend(**options: Any) -> alt.Legend:
    """A legend above a chart, in the common style; options go over it."""
    style: dict[str, Any] = {
        "title": None,
        "orient": "top",
        "labelFont": FONT,
        "labelFontSize": LABEL_SIZE,
        "labelColor": INK,
        "titleFont": FONT,
        "titleFontWeight": "normal",
        "titleColor": FAINT,
    }
    return alt.Legend(**style | options)


def series_scales(names: Sequence[str]) -> tuple[alt.Scale, alt.Scale, alt.Scale]:
    """Colours, dashes and shapes of several series, in their order."""
    looks: tuple[Sequence[Any], ...] = (COLOURS, [list(dash) for dash in DASHES], SHAPES)
    colours, dashes, shapes = (
        alt.Scale(domain=list(names), range=[look[i % len(look)] for i in range(len(names))])
        for look in looks
    )
    return colours, dashes, shapes


def styled_letters(colour: str = INK, **options: Any) -> dict[str, Any]:
    """Options of a text mark in the common style; options go over it."""
    style = {"align": "left", "baseline": "middle", "font": FONT, "fontSize": 11, "color": colour}
    return style | options


def framed(layers: Sequence[alt.Chart], **properties: Any) -> alt.LayerChart:
    """Layers as one chart without a frame around the plot."""
    return alt.LayerChart(layer=list(layers), view=alt.ViewBackground(stroke=None), **properties)


def styled_title(title: str, subtitle: Lines, size: int = 16) -> alt.TitleParams:
    """A title and a subtitle, flush left with the chart."""
    below = visible(subtitle) if isinstance(subtitle, str) else [visible(line) for line in subtitle]
    return alt.TitleParams(
        visible(title),
        subtitle=below or alt.Undefined,
        anchor="start",
        frame="group",
        offset=14,
        font=FONT,
        fontSize=size,
        color=INK,
        subtitleFont=FONT,
        subtitleFontSize=12,
        subtitleColor=FAINT,
        subtitlePadding=5,
    )


def short(value: float) -> str:
    """Three figures below 100, whole above."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def value_text(value: Any) -> str:
    """The value of a parameter, a number or a text, as it is written on axes and in tables."""
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def darker(colour: str) -> str:
    """The same hue, dark enough to read as small text on white."""
    return "#" + "".join(f"{round(0.75 * part):02X}" for part in _parts(colour))


def _parts(colour: str) -> list[int]:
    """Red, green and blue of #RRGGBB."""
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]


# letters in a darker tone are as light as their line on a dark page
DARK.update({darker(colour): DARK[colour] for colour in (*COLOURS, *SHADES, FAINT)})


def dark_properties() -> str:
    """Declarations of CSS: each colour of a drawing on a dark page."""
    return " ".join(f"{_property(light)}: {dark};" for light, dark in sorted(DARK.items()))


def themed_svg(chart: alt.TopLevelMixin, *, name: str, alternative: str, width: int | None = None) -> str:
    """A chart as an <svg> element that stands in an HTML page: without scripts, in the colours and font of the page.

    Parameters
    ----------
    chart : what is drawn.
    name : begins the ids in the drawing; another one for each drawing of a page.
    alternative : what is said to those who do not see it.
    width : of the whole drawing in pixels, for a chart whose own width is "container".
    """
    import vl_convert

    with alt.data_transformers.enable("default", max_rows=None):  # Altair would refuse more than 5,000
        # unchecked: our own charts are checked in tests, and the check takes longer than the rest of a page
        spec: dict[str, Any] = chart.properties(background="transparent").to_dict(validate=False)
    spec.setdefault("config", {})["aria"] = False  # the drawing is one image with one name
    if spec.get("width") == "container":
        spec |= {"width": width, "autosize": {"type": "fit-x", "contains": "padding"}}
    root = ElementTree.fromstring(vl_convert.vegalite_to_svg(spec))
    size = {side: f"{float(root.attrib[side]):.0f}" for side in ("width", "height")}
    drawing = ElementTree.Element("svg", {"viewBox": root.attrib["viewBox"], **size, "role": "img"})
    drawing.attrib |= {"aria-label": visible(alternative), "fill": "none"}
    for part in root:
        drawing.extend(_page_parts(part))
    numbers: dict[str, int] = {}  # Vega counts on from one drawing to the next
    for part in drawing.iter():
        for key, value in part.attrib.items():
            if key == "id" or value.startswith("url(#"):
                own = value.removeprefix("url(#").removesuffix(")")
                part.set(key, value.replace(own, f"{name}-{numbers.setdefault(own, len(numbers))}"))
    return ElementTree.tostring(drawing, encoding="unicode")


# what Vega writes that a page does not need; and values that SVG takes anyway
_DROPPED = re.compile("aria-.*|class|cursor|font-family|pointer-events|role|stroke-miterlimit|version")
_DEFAULTS = {"fill": "none", "opacity": "1", "stroke-width": "1", "text-anchor": "start"}
_DEFAULTS |= {"transform": "translate(0,0)"}
_INHERITED = (
    "fill",
    "stroke",
    "stroke-dasharray",
    "stroke-width",
    "font-size",
    "font-style",
    "font-weight",
    "text-anchor",
)
OFF = 0.25  # pixels, which cannot be seen
_PLACES = ("d", "height", "transform", "width", "x", "x1", "x2", "y", "y1", "y2")


def _page_parts(part: ElementTree.Element) -> Iterator[ElementTree.Element]:
    """A part of Vega's drawing as a page has it: nothing if it is not seen, its parts if it only holds them."""
    tag = part.tag.rpartition("}")[2]
    kept = ElementTree.Element(tag)
    kept.text = part.text
    kept.attrib = {
        key: _page_value(key, value)
        for key, value in part.attrib.items()
        if not _DROPPED.fullmatch(key) and _DEFAULTS.get(key) != value
    }
    if tag == "clipPath":  # its shapes have no colour, and are not seen
        kept.extend(ElementTree.Element("rect", shape.attrib) for shape in part)
    else:
        kept.extend(inner for child in part for inner in _page_parts(child))
    if kept.get("display") == "none" or kept.get("opacity") == "0" or (tag == "g" and not len(kept)):
        return
    if tag == "g":
        _say_once(kept)
        yield from [kept] if kept.attrib else kept
    elif tag in ("defs", "clipPath", "tspan") or {"fill", "stroke"} & set(kept.attrib):
        yield kept


def _say_once(group: ElementTree.Element) -> None:
    """Move to a group what all of its parts say alike."""
    for key in _INHERITED:
        if key in group[0].attrib and len({part.get(key) for part in group}) == 1:
            group.set(key, group[0].attrib[key])
            for part in group:
                del part.attrib[key]


def _page_value(key: str, value: str) -> str:
    if key in ("fill", "stroke"):
        return _page_colour(value)
    if key == "d":
        value = _without_needless_points(value)
    if key in _PLACES:  # a tenth of a pixel cannot be seen
        return re.sub(
            r"-?\d+\.\d+(?:e-?\d+)?", lambda number: f"{float(number[0]):.1f}".removesuffix(".0"), value
        )
    return value


def _without_needless_points(path: str) -> str:
    """A path of straight lines without points that are less than OFF from the others' line (Douglas-Peucker)."""
    if not re.fullmatch(r"M[^A-Z]+(L[^A-Z]+){2,}Z?", path):
        return path
    corners = path.rstrip("Z")[1:].split("L")
    places = np.array([[float(number) for number in corner.split(",")] for corner in corners])
    kept = {0, len(corners) - 1}
    parts = [(0, len(corners) - 1)]
    while parts:
        first, last = parts.pop()
        along, away = places[last] - places[first], places[first + 1 : last] - places[first]
        length = float(np.hypot(*along))
        crossed = along[0] * away[:, 1] - along[1] * away[:, 0]
        distances = np.abs(crossed) / length if length else np.hypot(away[:, 0], away[:, 1])
        if len(distances) and distances.max() > OFF:
            middle = first + 1 + int(distances.argmax())
            kept.add(middle)
            parts += [(first, middle), (middle, last)]
    return "M" + "L".join(corners[i] for i in sorted(kept)) + "Z" * path.endswith("Z")


def _page_colour(colour: str) -> str:
    """A colour that the page can change; what lies between those of HEAT is a mixture of the two."""
    if colour.startswith("rgb("):
        few, many, here = (
            sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), parts, strict=True))
            for parts in (*map(_parts, HEAT), [int(part) for part in re.findall(r"\d+", colour)])
        )
        share = (here - few) / (many - few)
        return f"color-mix(in srgb,{_page_colour(HEAT[0])},{_page_colour(HEAT[1])} {share:.1%})"
    return f"var({_property(colour)},{colour})" if colour.upper() in DARK else colour


def _property(colour: str) -> str:
    """The custom property of a colour."""
    return f"--chart-{colour[1:].lower()}"
