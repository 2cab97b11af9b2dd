"""Charts of a sweep: what is drawn where."""

import json

import pytest

from tests.charts.tables import LINES
from truant.charts.sweep import (
    SweptBlock,
    Varied,
    panels_by,
    parameter_chart,
    regret_span,
    spread_out,
    sweep_charts,
)
from truant.errors import InvalidValue


def layer(chart, mark):
    spec = chart.to_dict()
    found = next(part for part in spec["layer"] if part["mark"]["type"] == mark)
    data = found.get("data") or spec["data"]  # layers that share their rows have them above
    return spec["datasets"][data["name"]], found["encoding"]


def test_lines_show_the_table():
    rows, encoding = layer(parameter_chart(LINES, parameter="gamma"), "line")
    assert [(r["policy"], r["round"], r["height"]) for r in rows] == [
        (r.policy, r.x, r.mean) for r in LINES.itertuples()
    ]
    assert encoding["x"]["title"] == "gamma"
    assert encoding["x"]["axis"]["values"] == [1, 2, 4]
    low, high = encoding["x"]["scale"]["domain"]
    assert low < 1 < 4 < high
    assert encoding["y"]["scale"]["type"] == "linear"
    rows, encoding = layer(parameter_chart(LINES, parameter="gamma"), "area")
    assert [r["low"] for r in rows] == list(LINES["low"])
    assert encoding["y2"]["field"] == "high"
    labels, _ = layer(parameter_chart(LINES, parameter="gamma"), "text")
    assert [r["label"] for r in labels] == ["a\N{EN SPACE}19", "b\N{EN SPACE}99"]


def test_wide_spans_are_logarithmic():
    wide = LINES.assign(
        x=LINES["x"].map({1: 1, 2: 10, 4: 100}), mean=LINES["mean"] ** 2, high=LINES["mean"] ** 2
    )
    _, encoding = layer(parameter_chart(wide, parameter="K"), "line")
    assert encoding["x"]["scale"]["type"] == encoding["y"]["scale"]["type"] == "log"
    _, narrow = layer(parameter_chart(LINES, parameter="K"), "line")
    assert narrow["x"]["scale"]["type"] == narrow["y"]["scale"]["type"] == "linear"


def test_texts_are_places_in_their_order():
    texts = LINES.assign(x=LINES["x"].map({1: "0.1–1", 2: 'quo"ted', 4: "last"}))
    rows, encoding = layer(parameter_chart(texts, parameter="gamma"), "line")
    assert [r["round"] for r in rows] == [0, 1, 2, 0, 1, 2]
    names = json.loads(encoding["x"]["axis"]["labelExpr"].removeprefix("(").removesuffix(")[datum.value]"))
    assert names == ["0.1–1", 'quo"ted', "last"]


def test_a_common_span():
    assert regret_span(LINES) == (10.0, pytest.approx(99 * 1.1))
    _, encoding = layer(parameter_chart(LINES, parameter="K", span=(1, 1000)), "line")
    assert encoding["y"]["scale"]["domain"] == [pytest.approx(1 / 1.15), pytest.approx(1150)]
    with pytest.raises(InvalidValue, match="at least one row"):
        parameter_chart(LINES[:0], parameter="K")


def test_without_an_order_there_are_dots_with_intervals_and_no_line():
    texts = LINES.assign(x=LINES["x"].map({1: "mar", 2: "mcar", 4: "a world with a rather long name" * 2}))
    rows, encoding = layer(parameter_chart(texts, parameter="world", joined=False), "rule")
    assert [(r["low"], r["high"]) for r in rows] == list(zip(LINES["low"], LINES["high"], strict=True))
    assert encoding["x"]["axis"]["labelAngle"] == -30
    spec = parameter_chart(texts, parameter="world", joined=False).to_dict()
    assert "line" not in {part["mark"]["type"] for part in spec["layer"]}


def rows(points, policies=("naive-ucb", "mar-ucb")):
    """Regret that grows with the number of the point; the last policy is the best by far."""
    found = []
    for number, point in enumerate(points, start=1):
        for place, policy in enumerate(policies):
            best = place == len(policies) - 1
            mean = float(number * (10 if best else 20))
            own = {"policy": policy, "family": policy, "horizon": 100, "delay": 0, "regret_mean": mean}
            own |= {"regret_se": 1.0, "best": best, "as_good": best, "behind_mean": 0.0 if best else mean / 2}
            found.append(own | point)
    return found


def block(varied=(), points=({},), number=1, **changes):
    options = {"title": "mar", "world": "mar", "conditions": [], "varied_in_policies": []}
    options |= {"rows": rows(points)} | changes
    return SweptBlock(number=number, varied=list(varied), **options)


GAMMA, K = Varied("gamma", "gamma", (0.2, 0.4, 1)), Varied("K", "K", ("few", "many"))
POINTS = [{"gamma": gamma, "K": k} for gamma in GAMMA.values for k in K.values]


def test_one_chart_if_every_world_is_one_point():
    longer = rows([{}], ("a", "b", "mar-ucb"))
    (chart,) = sweep_charts([block(), block(number=2, title="another", rows=longer)])
    dots, _ = layer(chart.draw(), "circle")
    assert (chart.number, chart.name) == (0, "overview")
    assert [(dot["policy"], dot["x"], dot["mean"]) for dot in dots] == [
        ("naive-ucb", "mar", 20.0),
        ("mar-ucb", "mar", 10.0),
        ("a", "another", 20.0),
        ("b", "another", 20.0),
        ("mar-ucb", "another", 10.0),
    ]


def test_worlds_of_one_title_are_told_apart():
    (chart,) = sweep_charts([block(), block(number=2), block(number=3, title="other")])
    dots, _ = layer(chart.draw(), "circle")
    assert list(dict.fromkeys(dot["x"] for dot in dots)) == ["mar (1)", "mar (2)", "other"]


def test_lines_along_what_has_the_most_values():
    (chart,) = sweep_charts([block([K, GAMMA], POINTS)])
    assert (chart.number, chart.name, chart.heading) == (1, "world-1", "Regret along gamma")
    lines = chart.draw().to_dict()
    assert [part["title"]["text"] for part in lines["concat"]] == ["K = few", "K = many"]
    drawn = [row for part in lines["datasets"].values() for row in part if row.get("regret")]
    assert {(row["policy"], row["x"], row["low"], row["mean"], row["high"]) for row in drawn} >= {
        ("mar-ucb", 0.2, 8.0, 10.0, 12.0),
        ("naive-ucb", 1.0, 118.0, 120.0, 122.0),
    }


def test_a_policy_without_the_parameter_is_a_level_line():
    level = Varied("policy_level", "level", (0.5, 1, 2))
    flat, varying = rows([{"policy_level": None}], ["naive-ucb"]), []
    for value in level.values:
        varying += rows([{"policy_level": value, "family": "mar-ucb"}], [f"mar-ucb:level={value}"])
    other = block(rows=rows([{"policy_level": None}]), number=2)
    (chart,) = sweep_charts([block(varied_in_policies=[level], rows=[*flat, *varying]), other])
    assert (chart.name, chart.heading) == ("world-1", "Regret along level")  # nothing varies in the other
    drawn = [(row["policy"], row["x"]) for row in layer(chart.draw(), "line")[0]]
    expected = [("naive-ucb", 0.5), ("naive-ucb", 2.0), *(("mar-ucb", value) for value in (0.5, 1.0, 2.0))]
    assert sorted(drawn) == sorted(expected)


def test_a_policy_looks_the_same_in_all_worlds():
    reversed_rows = rows(POINTS, ["mar-ucb", "naive-ucb"])
    charts = sweep_charts([block([GAMMA, K], POINTS), block([GAMMA, K], number=2, rows=reversed_rows)])
    looks = []
    for chart in charts:
        scale = layer(chart.draw().concat[0], "line")[1]["stroke"]["scale"]
        looks.append(dict(zip(scale["domain"], scale["range"], strict=True)))
    assert looks[0] == looks[1]


def test_values_beyond_sixty_are_thinned_with_their_rows():
    many = Varied("gamma", "gamma", tuple(range(1, 101)))
    points = [{"gamma": value} for value in many.values]
    (chart,) = sweep_charts([block([many], points)])
    assert chart.sentence.endswith(" Drawn are 60 of 100 values of gamma.")
    xs = {row["x"] for row in layer(chart.draw(), "line")[0]}
    assert (len(xs), min(xs), max(xs)) == (60, 1, 100)


def test_panels_beyond_six_are_thinned():
    horizon = Varied("horizon", "horizon", (1000, 2000, 3000, 4000))
    points = [{"gamma": gamma, "horizon": value} for gamma in (0.5, 1) for value in horizon.values]
    panels, sentence = panels_by(rows(points), [Varied("gamma", "gamma", (0.5, 1)), horizon])
    assert len(panels) == 6
    assert sentence == " Drawn are 6 of 8 combinations."
    assert panels[0][0] == "gamma = 0.5, horizon = 1,000"
    assert panels[-1][0] == "gamma = 1, horizon = 4,000"
    assert [(row["gamma"], row["horizon"]) for row in panels[-1][1]] == [(1, 4000)] * 2


@pytest.mark.parametrize(("count", "kept"), [(2, [0, 9]), (4, [0, 3, 6, 9])])
def test_the_ends_are_kept(count, kept):
    assert spread_out(range(10), count) == kept


def test_charts_are_plain_json():
    for chart in sweep_charts([block([K, GAMMA], POINTS)]):
        assert "NaN" not in json.dumps(chart.draw().to_dict())
