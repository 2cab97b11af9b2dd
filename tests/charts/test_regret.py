"""Charts of regret, alone and in panels: what is drawn where, and that files stand on their own."""

import re
import struct

import altair as alt
import numpy as np
import pyarrow as pa
import pytest

from tests.charts.tables import curves
from truant.charts import (
    COLOURS,
    DARK,
    LABEL_GAP,
    Look,
    in_rows,
    regret_chart,
    save_chart,
    save_pictures,
    spread,
)
from truant.charts.regret import (
    Extent,
    RegretPanel,
    panel_chart,
)
from truant.errors import InvalidValue


def values(spec, mark):
    """The rows behind the first layer with this kind of mark, and the layer."""
    layer = next(layer for layer in spec["layer"] if layer["mark"]["type"] == mark)
    return spec["datasets"][layer["data"]["name"]], layer


def test_lines_bands_and_labels_show_the_table():
    table = curves({"naive-ucb": 40_000, "mar-ucb:level=cautious": 55.5})
    spec = regret_chart(table, title="World x", subtitle="y").to_dict()
    rows, line = values(spec, "line")
    assert [(row["policy"], row["round"], row["height"]) for row in rows] == list(
        table[["policy", "round", "mean"]].itertuples(index=False, name=None)
    )
    assert line["encoding"]["y"]["axis"]["labelExpr"].endswith("format(datum.value, '~s')")
    rows, band = values(spec, "area")
    assert [row["low"] for row in rows] == list(table["low"])
    assert band["encoding"]["y2"]["field"] == "high"
    rows, _ = values(spec, "text")
    assert [row["label"].split() for row in rows] == [
        ["naive-ucb", "40,000"],
        ["mar-ucb:level=cautious", "55.5"],
    ]


def test_lines_differ_in_colour_and_in_dash():
    finals = {f"policy-{i}": 100.0 * (i + 1) for i in range(20)}
    _, line = values(regret_chart(curves(finals)).to_dict(), "line")
    scale, stroke = (line["encoding"][channel]["scale"] for channel in ("strokeDash", "stroke"))
    colours = dict(zip(stroke["domain"], stroke["range"], strict=True))
    looks = [(colours[name], tuple(dash)) for name, dash in zip(scale["domain"], scale["range"], strict=True)]
    assert scale["domain"] == list(finals)
    assert len(set(looks)) == 20
    assert len({dash for _, dash in looks[:8]}) == len({colour for colour, _ in looks[:8]}) == len(COLOURS)


@pytest.mark.parametrize("log", [False, True])
def test_labels_keep_their_distance_when_lines_coincide(log):
    finals = {f"policy-{i}": 500.0 for i in range(6)} | {"other": 5000.0}
    rows, line = values(regret_chart(curves(finals), log=log, height=300).to_dict(), "line")
    foot, top = line["encoding"]["y"]["scale"]["domain"]
    rows, _ = values(regret_chart(curves(finals), log=log, height=300).to_dict(), "text")
    places = np.array([row["place"] for row in rows])
    share = np.log(places / foot) / np.log(top / foot) if log else places / top
    pixels = 300 * share
    assert np.all(np.diff(np.sort(pixels)) >= LABEL_GAP - 1e-6)
    assert pixels.min() >= -1e-6
    assert pixels.max() <= 300 + 1e-6
    assert list(np.argsort(-pixels)) == [6, 0, 1, 2, 3, 4, 5]  # of equals the first is on top


def test_spread_is_the_nearest_way_to_keep_a_gap():
    np.testing.assert_allclose(spread(np.array([10.0, 50.0]), 16, 0, 100), [10, 50])
    np.testing.assert_allclose(spread(np.array([50.0, 50.0]), 16, 0, 100), [58, 42])
    np.testing.assert_allclose(spread(np.array([0.0, 1.0, 2.0]), 16, 0, 100), [0, 16, 32])
    np.testing.assert_allclose(spread(np.array([99.0, 100.0]), 16, 0, 100), [84, 100])
    np.testing.assert_allclose(spread(np.array([40.0, 44.0, 90.0]), 16, 0, 100), [34, 50, 90])
    np.testing.assert_allclose(spread(np.zeros(11), 16, 0, 100), np.arange(100, -1, -10))  # more than fit
    np.testing.assert_allclose(spread(np.array([30.0]), 16, 0, 100), [30])


def test_log_axis_has_only_positive_values():
    table = curves({"mar-ucb": 1000.0, "lucky": 0.0}, sd=1.5)
    table.loc[0, ["mean", "low", "high"]] = 0.0
    rows, line = values(regret_chart(table, log=True).to_dict(), "line")
    scale = line["encoding"]["y"]["scale"]
    assert scale["type"] == "log"
    assert scale["domain"][0] == 500.0  # the lowest positive mean
    assert all(row[key] >= 500.0 for row in rows for key in ("height", "low", "high"))
    assert min(row["mean"] for row in rows) == 0.0
    labels, _ = values(regret_chart(table, log=True).to_dict(), "text")
    assert [row["label"].split()[1] for row in labels] == ["1,000", "0"]  # the mean, not where it is drawn
    assert line["encoding"]["y"]["axis"]["values"] == [500, 1000, 2000]


@pytest.mark.parametrize("log", [False, True])
def test_no_regret_at_all_can_be_drawn(tmp_path, log):
    path = save_chart(regret_chart(curves({"a": 0.0, "b": 0.0}), log=log), tmp_path / "null.svg")
    assert "NaN" not in path.read_text()


def test_a_single_checkpoint_is_a_point():
    spec = regret_chart(curves({"a": 3.0}, rounds=(1,))).to_dict()
    assert values(spec, "line")[1]["mark"]["point"] is True
    assert values(regret_chart(curves({"a": 3.0})).to_dict(), "line")[1]["mark"]["point"] is False


def test_many_policies_are_drawn_with_fewer_points():
    table = curves({f"policy-{i}": i + 1.0 for i in range(30)}, rounds=range(1, 202))
    assert len(table) == 6030
    rows, _ = values(regret_chart(table).to_dict(), "line")  # Altair refuses more than 5,000 rows
    assert sorted({row["round"] for row in rows}) == list(range(1, 202, 2))
    assert len(rows) == 30 * 101


def test_a_reference_is_a_thin_dotted_line_with_a_label_and_no_band():
    reference = pa.table({"policy": ["√T"] * 3, "round": [100, 200, 400], "mean": [10.0, 14.1, 20.0]})
    panel = RegretPanel("", pa.Table.from_pandas(curves({"a": 3.0})), reference=reference)
    spec = panel_chart(panel, Extent(0.0, 21.0), width=300, height=200).to_dict()
    lines = [layer for layer in spec["layer"] if layer["mark"]["type"] == "line"]
    own, thin = (spec["datasets"][line["data"]["name"]] for line in lines)
    assert {row["policy"] for row in own} == {"a"}
    assert [(row["policy"], row["mean"]) for row in thin] == [("√T", 10.0), ("√T", 14.1), ("√T", 20.0)]
    assert lines[1]["mark"]["strokeWidth"] < lines[0]["mark"]["strokeWidth"]
    dashes = lines[1]["encoding"]["strokeDash"]["scale"]
    assert dict(zip(dashes["domain"], dashes["range"], strict=True))["√T"] == [1, 3]
    assert {row["policy"] for row in values(spec, "area")[0]} == {"a"}
    assert [row["label"].split() for row in values(spec, "text")[0]] == [["a", "3"], ["√T", "20"]]


def test_looks_and_limits_can_be_given():
    panel = RegretPanel("", curves({"a": 3.0, "b": 2.0}), looks={"b": Look("#123456", (3, 1))})
    spec = panel_chart(panel, Extent(0.0, 50.0), width=300, height=200).to_dict()
    line = values(spec, "line")[1]["encoding"]
    assert line["y"]["scale"]["domain"] == [0.0, 50.0]
    assert line["stroke"]["scale"] == {"domain": ["a", "b"], "range": [COLOURS[0], "#123456"]}
    assert line["strokeDash"]["scale"]["range"][1] == [3, 1]


def test_a_dark_page_knows_every_colour_of_lines_and_letters():
    spec = regret_chart(curves({f"policy-{i}": i + 1.0 for i in range(8)})).to_dict()
    used = [
        values(spec, mark)[1]["encoding"][channel]["scale"]["range"]
        for mark, channel in (("line", "stroke"), ("area", "fill"), ("text", "color"))
    ]
    assert {colour for colours in used for colour in colours} <= set(DARK)


def test_rows_of_charts_have_their_own_colours():
    charts = [regret_chart(curves({name: 3.0}), title=name) for name in "abc"]
    spec = in_rows(charts, "All", ["two", "lines"]).to_dict()
    assert (spec["columns"], len(spec["concat"])) == (2, 3)
    assert spec["title"]["subtitle"] == ["two", "lines"]
    assert spec["resolve"]["scale"] == dict.fromkeys(("color", "fill", "stroke", "strokeDash"), "independent")


def test_joined_charts_keep_their_axes_and_what_the_pointer_shows():
    charts = [regret_chart(curves({"a": high, "b": 2.0}), title=f"World {high}") for high in (9.0, 900.0)]
    spec = in_rows(charts, "Both", "with a subtitle").to_dict()
    assert [part["title"]["text"] for part in spec["concat"]] == ["World 9.0", "World 900.0"]
    assert (spec["title"]["text"], spec["title"]["subtitle"]) == ("Both", "with a subtitle")
    names = [parameter["name"] for parameter in spec["params"]]
    assert len(set(names)) == 2  # hovering over one does not move the other
    tops = [values(spec | part, "line")[1]["encoding"]["y"]["scale"]["domain"][1] for part in spec["concat"]]
    assert tops == pytest.approx([1.05 * 1.3 * 9, 1.05 * 1.3 * 900])


def test_an_empty_table_is_refused():
    with pytest.raises(InvalidValue, match="at least one row"):
        regret_chart(curves({}))


def test_png_is_drawn_at_twice_the_size(tmp_path):
    path = save_chart(regret_chart(curves({"a": 3.0}), width=300, height=200), tmp_path / "chart.png")
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", data[16:24])
    assert width > 600
    assert height > 400


def test_both_pictures_are_those_of_save_chart(tmp_path):
    chart = regret_chart(curves({"mar-ucb": 3.0}))
    save_pictures(chart, tmp_path / "both.png", tmp_path / "both.svg")
    for kind in ("png", "svg"):
        one = save_chart(chart, tmp_path / f"one.{kind}")
        assert (tmp_path / f"both.{kind}").read_bytes() == one.read_bytes()


def test_svg_names_the_policies(tmp_path):
    text = save_chart(
        regret_chart(curves({"mar-ucb": 3.0}), title="World x"), tmp_path / "chart.svg"
    ).read_text()
    assert text.startswith("<svg")
    assert "mar-ucb" in text
    assert "World x" in text


def test_html_needs_no_network(tmp_path):
    chart = in_rows([regret_chart(curves({"a": 3.0}))] * 1, "One")
    text = save_chart(chart, tmp_path / "chart.HTML").read_text()
    assert not re.findall(r"<(?:script|link|iframe)[^>]*(?:src|href)\s*=", text)
    assert not re.findall(r"@import|\bimport\s*\(", text)
    assert len(text) > 500_000  # the drawing library itself


def test_an_unknown_kind_names_the_three(tmp_path):
    with pytest.raises(InvalidValue, match=r"must end in \.png, \.svg or \.html, got .*chart\.jpg"):
        save_chart(regret_chart(curves({"a": 3.0})), tmp_path / "chart.jpg")
    (tmp_path / "folder.png").mkdir()
    with pytest.raises(InvalidValue, match="is a folder"):
        save_chart(regret_chart(curves({"a": 3.0})), tmp_path / "folder.png")
    assert not (tmp_path / "chart.jpg").exists()


def test_charts_can_be_joined_by_hand():
    chart = regret_chart(curves({"a": 3.0}))
    assert isinstance(chart | regret_chart(curves({"b": 3.0})), alt.HConcatChart)
