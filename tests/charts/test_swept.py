"""Sections of a sweep from plain rows: which charts there are, and which rows each of them holds."""

import json

import pytest

from truant.charts.sweep_sections import sweep_charts
from truant.charts.swept import SweptBlock, Varied, panels_by, spread_out, thinned


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


def test_one_map_if_every_world_is_one_point():
    longer = rows([{}], ("a", "b", "mar-ucb"))
    (charts,) = sweep_charts([block(), block(number=2, title="a-rather-long-title", rows=longer)])
    (chart,) = charts
    spec = chart.chart.to_dict()
    cells = next(iter(spec["datasets"].values()))
    assert chart.name == "overview"
    assert [cell["y"] for cell in cells] == ["a", "b", "mar-ucb", "mar-ucb", "naive-ucb"]
    assert {cell["x"] for cell in cells} == {"mar", "a-rather-\nlong-title"}
    assert sum("★" in cell["words"] for cell in cells) == 2


def test_lines_winners_and_maps_along_what_has_the_most_values():
    (charts,) = sweep_charts([block([K, GAMMA], POINTS)])
    assert [chart.name for chart in charts] == ["world-1-curves", "world-1-winners", "world-1-maps"]
    lines, winners, maps = (chart.chart.to_dict() for chart in charts)
    assert [part["title"]["text"] for part in lines["concat"]] == ["K = few", "K = many"]
    cells = [cell for cells in winners["datasets"].values() for cell in cells]
    assert [(cell["x"], cell["y"], cell["winner"], cell["margin"]) for cell in cells] == [
        (x, y, "mar-ucb", "×2") for x in ("0.2", "0.4", "1") for y in ("few", "many")
    ]
    assert [part["title"]["text"] for part in maps["concat"]] == ["naive-ucb", "mar-ucb"]
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
    first, second = sweep_charts([block(varied_in_policies=[level], rows=[*flat, *varying]), other])
    assert [chart.name for chart in (*first, *second)] == ["world-1-level", "world-2-policies"]
    spec = first[0].chart.to_dict()
    line = next(part for part in spec["layer"] if part["mark"]["type"] == "line")
    drawn = [(row["policy"], row["x"]) for row in spec["datasets"][line["data"]["name"]]]
    expected = [("naive-ucb", 0.5), ("naive-ucb", 2.0), *(("mar-ucb", value) for value in (0.5, 1.0, 2.0))]
    assert sorted(drawn) == sorted(expected)


def test_an_oracle_alone_has_no_winners():
    alone = rows([{"gamma": gamma, "K": "few"} for gamma in GAMMA.values], ["oracle-ucb"])
    alone = [{**row, "behind_mean": None, "best": False, "as_good": False} for row in alone]
    (charts,) = sweep_charts([block([GAMMA], rows=alone)])
    assert [chart.name for chart in charts] == ["world-1-curves"]


def test_values_beyond_sixty_are_thinned_with_their_rows():
    many = Varied("gamma", "gamma", tuple(range(1, 101)))
    points = [{"gamma": value} for value in many.values]
    fewer, sentence = thinned(block([many], points))
    assert len(fewer.varied[0].values) == 60
    assert fewer.varied[0].values[::59] == (1, 100)
    assert {row["gamma"] for row in fewer.rows} == set(fewer.varied[0].values)
    assert sentence == " Drawn are 60 of 100 values of gamma."
    (charts,) = sweep_charts([block([many], points)])
    assert all(chart.sentence.endswith(sentence) for chart in charts)


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


def test_names_of_charts_are_plain():
    assert block(number=3).chart_name("K = L, γ") == "world-3-k---l--γ"


def test_charts_are_plain_json():
    for chart in sweep_charts([block([K, GAMMA], POINTS)])[0]:
        assert "NaN" not in json.dumps(chart.chart.to_dict())
