"""Charts as drawings on a page: the same to look at, in the colours of the page, small, and with nothing that runs."""

import re
from xml.etree import ElementTree

import altair as alt
import numpy as np
import pandas as pd
import pytest

from tests.charts.tables import CELLS, CURVE, CURVES, ESTIMATES
from truant.charts import COLOURS, DARK, estimates_chart, missing_heatmap, regret_chart, tipping_chart
from truant.charts.analysis import TippingPoint
from truant.charts.style import HEAT, dark_properties, themed_svg

TIP = tipping_chart(CURVE, TippingPoint("<a>", 'b" onload="x', shift=0.5), width="container")


def drawn(chart, **options):
    text = themed_svg(chart, **{"name": "one", "alternative": "A chart.", **options})
    return text, ElementTree.fromstring(text)


def texts(root):
    return [part.text for part in root.iter("text")]


def test_a_drawing_is_one_named_image_without_scripts_links_or_fonts():
    text, root = drawn(TIP, width=400, alternative='"A" & <b>')
    assert root.tag == "svg"
    assert (root.get("role"), root.get("aria-label")) == ("img", '"A" & <b>')
    assert {"<a>", 'b" onload="x'} < set(texts(root))
    names = {name for part in root.iter() for name in part.attrib}
    assert names == {name for name in names if re.fullmatch(r"[a-zA-Z0-9-]+", name)}  # no xlink
    assert not [
        name for name in names if name.startswith("on") or name in ("class", "font-family", "href", "style")
    ]
    assert not list(root.iter("script"))
    assert "http" not in text


def test_a_fluid_chart_is_as_wide_as_it_is_told():
    for width in (300, 700):
        root = drawn(TIP, width=width)[1]
        assert root.get("width") == str(width)
        assert root.get("viewBox").startswith(f"0 0 {width} ")


def test_every_colour_has_a_property_which_a_dark_page_sets():
    dark = dict(pair.split(": ") for pair in dark_properties().rstrip(";").split("; "))
    assert dark["--chart-0072b2"] == DARK["#0072B2"]
    for chart in (estimates_chart(ESTIMATES), missing_heatmap(CELLS), regret_chart(CURVES), TIP):
        root = drawn(chart, width=400)[1]
        colours = {part.get(name) for part in root.iter() for name in ("fill", "stroke")} - {None, "none"}
        used = {re.sub(r" [\d.]+%\)$", "", colour) for colour in colours}
        for name, light in re.findall(r"var\((--chart-\w+),(#\w+)\)", " ".join(colours)):
            assert dark[name] == DARK[light.upper()]
        assert all(colour.startswith(("var(", "color-mix(in srgb,var(")) for colour in used)


def test_what_lies_between_two_colours_is_their_mixture():
    scale = alt.Scale(domain=[0, 1], range=list(HEAT))
    cells = pd.DataFrame({"x": ["a", "b", "c"], "share": [0.0, 0.5, 1.0]})
    root = drawn(
        alt.Chart(cells).mark_rect().encode(x="x", color=alt.Color("share:Q", scale=scale, legend=None))
    )[1]
    fills = [part.get("fill") for part in root.iter() if "mix" in part.get("fill", "")]
    shares = [float(re.search(r"([\d.]+)%", fill)[1]) for fill in fills]
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, 100.0)
    assert 35 < shares[1] < 65


def test_ids_begin_with_the_name_and_the_same_chart_is_drawn_alike():
    first, root = drawn(TIP, width=400)
    ids = [part.get("id") for part in root.iter() if part.get("id")]
    used = re.findall(r"url\(#([^)]+)\)", first)
    assert set(used) == set(ids)
    assert all(one.startswith("one-") for one in ids)
    assert drawn(TIP, width=400)[0] == first


def test_letters_are_those_of_the_chart():
    found = texts(drawn(estimates_chart(ESTIMATES, outcome="weight"))[1])
    assert {"a", 'b"]', "naive", "mar", "weight", "0.3", "★"} <= set(found)


@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_lines_keep_their_form_with_fewer_points(noise):
    rounds = np.arange(1, 1001)
    mean = 50 * np.sqrt(rounds) + noise * np.random.default_rng(1).normal(size=1000)
    table = pd.DataFrame({"policy": "a", "round": rounds, "mean": mean, "low": mean, "high": mean})
    chart = regret_chart(table, width=500, height=300)
    paths = [part.get("d") for part in drawn(chart)[1].iter("path") if part.get("d").count("L") > 5]
    assert paths
    for path in paths:
        assert path.count("L") < 300
    corners = np.array([[float(n) for n in corner.split(",")] for corner in paths[-1].strip("MZ").split("L")])
    limit = 1.05 * mean.max()
    expected = 300 * (1 - np.interp(corners[:, 0] / 500 * 1000, rounds, mean) / limit)
    np.testing.assert_allclose(corners[:, 1], expected, atol=0.5)  # pixels


def test_what_waits_for_a_pointer_is_left_out():
    text, _ = drawn(regret_chart(CURVES))
    assert 'opacity="0"' not in text
    assert COLOURS[0] in text
