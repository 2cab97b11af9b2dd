"""The files of a reproduction: all are there, they say the same, and an interrupt keeps the finished ones."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from research.reproduction.catalogue import FIGURES

import truant
from research.reproduction import reproduce, run
from tests.research.reproduction.made import invoke, written
from truant import theory
from truant.errors import MissingExtra
from truant.worlds import make


def recomputed(group):
    """The main figures of a curve, from its rows in the Parquet file."""
    wide = group.pivot_table(index="run", columns="round", values="regret")
    horizon = wide.columns[-1]
    half = wide[horizon // 2].mean()
    final = wide[horizon]
    return {
        "horizon": horizon,
        "runs": len(wide),
        "regret_mean": final.mean(),
        "regret_median": final.median(),
        "regret_sd": final.std(ddof=1),
        "second_half_ratio": (final.mean() - half) / half,
    }


def test_every_figure_is_made_and_its_files_say_the_same(tmp_path, monkeypatch):
    # drawn in earnest elsewhere: all of these would take half the time of all tests here
    monkeypatch.setattr(run, "themed_svg", lambda chart, **words: f"<svg>{chart.to_json()}</svg>")
    monkeypatch.setattr(
        run, "save_pictures", lambda chart, *paths: [path.write_text(chart.to_json()) for path in paths]
    )
    made = reproduce(quick=True, runs=2, seed=3, out=tmp_path / "made" / "here")
    assert {path.name for path in made.folder.iterdir()} == written(FIGURES)
    summary = json.loads((made.folder / "summary.json").read_text(encoding="utf-8"))
    assert summary == made.summary
    assert [figure["name"] for figure in summary["figures"]] == list(FIGURES)
    keys = ["figure", "version", "panel", "label", "world", "parameters", "policy"]
    data = pd.read_parquet(made.folder / "reproduction.parquet")
    assert list(data.columns) == [*keys, "run", "round", "regret"]
    groups = dict(list(data.groupby(keys, observed=True)))
    assert len(groups) == len(summary["curves"])
    for curve in summary["curves"]:
        key = tuple(json.dumps(curve[k]) if k == "parameters" else curve[k] for k in keys)
        for name, value in recomputed(groups[key]).items():
            assert curve[name] == pytest.approx(value, rel=1e-9), (key, name)
    page = made.page.read_text(encoding="utf-8")
    assert "I. Mahrooghi" in page
    assert "arXiv:2411.05661 (2024), also at UAI 2025" in page
    for figure in summary["figures"]:
        for text in (figure["title"], *figure["choices"], *(claim["figures"] for claim in figure["claims"])):
            assert text.replace("'", "&#39;") in page
    assert page.count("<figure") == 2 * len(FIGURES)


def test_charts_are_pictures(small):
    assert {path.name for path in small.folder.iterdir()} == written(["mar-known-p"])
    assert (small.folder / "mar-known-p-paper.png").read_bytes().startswith(b"\x89PNG")
    drawn = (small.folder / "mar-known-p-truant.svg").read_text(encoding="utf-8")
    for word in ("mar-known-ucb", "√(TnH)", "10,000 rounds, 3 runs", "constant unknown"):
        assert word in drawn


def test_curves_are_those_of_simulate(small):
    policies = ["paper-mar-known", "paper-mar", "naive-ucb", "mar-ucb", "mar-known-ucb"]
    direct = truant.simulate("mar", policies, horizon=10_000, runs=3, seed=5)
    data = pd.read_parquet(small.folder / "reproduction.parquet")
    for number, policy in enumerate(policies):
        rows = data[data["policy"] == policy].drop_duplicates(["run", "round"])
        assert np.array_equal(rows["regret"].to_numpy().reshape(3, -1), direct.regret[number])
        assert list(rows["round"].unique()) == list(direct.rounds)


def test_at_full_size_regret_grows_as_fewer_outcomes_are_seen_and_stays_below_the_bound(tmp_path):
    made = reproduce(["mcar-gamma"], runs=100, seed=7, out=tmp_path)
    found = {(c["parameters"]["gamma"], c["policy"]): c for c in made.summary["curves"]}
    for policy in ("paper-mcar", "mcar-thompson"):
        means = []
        for gamma in (0.5, 0.7, 0.9, 1):
            curve = found[gamma, policy]
            assert (curve["horizon"], curve["runs"]) == (10_000, 100)
            world = make("mcar", gamma=gamma)
            assert curve["regret_mean"] < theory.mcar_upper_bound(world, 10_000)
            means.append(curve["regret_mean"])
        # proportional to 1/gamma where gaps are large, to its root where they are small
        assert math.sqrt(2) * 0.8 < means[0] / means[-1] < 2 * 1.2
    assert made.summary["figures"][0]["claims"][0]["verdict"] == "survives"


def test_the_worlds_of_the_text_do_not_bear_the_claims_out_and_the_worst_case_does(tmp_path):
    made = reproduce(["mar-against-ucb"], runs=20, seed=1, out=tmp_path)
    worse, line, worst_case = made.summary["figures"][0]["claims"]
    assert (worse["verdict"], line["verdict"]) == ("does not survive", "does not survive")
    assert worst_case["ours"]
    assert worst_case["verdict"] == "survives"


def test_files_from_before_are_replaced(tmp_path):
    (tmp_path / ".truant").write_text("truant reproduction\n")
    (tmp_path / "summary.json").write_text("old")
    (tmp_path / "mnar-paper.svg").write_text("old")
    reproduce(["mnar"], quick=True, runs=1, out=tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == written(["mnar"])
    assert "<svg" in (tmp_path / "mnar-paper.svg").read_text(encoding="utf-8")
    curves = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))["curves"]
    assert {curve["regret_sd"] for curve in curves} == {None}  # one run


def test_an_interrupt_keeps_the_finished_figures(tmp_path, monkeypatch, capsys):
    played = []

    def interrupted(world, policies, **parameters):
        played.append(world)
        if world.name == "mar-peaked":
            raise KeyboardInterrupt
        return truant.simulate(world, policies, **parameters)

    monkeypatch.setattr(run, "simulate", interrupted)
    both = ["mar-known-p", "mar-peaked", "--quick", "--runs", "1"]
    result = invoke(capsys, *both, "--out", str(tmp_path), "--json")
    assert result.status == 130
    assert result.err.splitlines()[1] == "Stopped after 1 of 2 figures; what follows is about these."
    assert {path.name for path in tmp_path.iterdir()} == written(["mar-known-p"])
    assert [figure["name"] for figure in json.loads(result.out)["figures"]] == ["mar-known-p"]
    none = tmp_path / "none"
    result = invoke(capsys, "mar-peaked", "--quick", "--runs", "1", "--out", str(none))
    assert result.status == 130
    assert result.err.startswith("Stopped before the page was written")
    assert {path.name for path in none.iterdir()} == {".truant", ".lock"}


def test_a_scene_is_simulated_once_for_all_figures_and_versions(tmp_path, monkeypatch):
    calls = []

    def counted(world, policies, **parameters):
        calls.append((world.name, sorted(policies)))
        return truant.simulate(world, policies, **parameters)

    monkeypatch.setattr(run, "simulate", counted)
    monkeypatch.setattr(run, "draw", lambda *arguments: {})
    reproduce(["mar-known-p", "mar-against-ucb"], quick=True, runs=1, out=tmp_path)
    ours = ["mar-thompson", "mar-ucb", "naive-ucb", "oracle-ucb", "paper-mar", "paper-mar-known"]
    assert calls == [("mar", sorted([*ours, "mar-known-ucb"])), ("confounded", ours)]


def test_what_needs_an_extra_is_left_out_unless_it_was_asked_for(tmp_path, monkeypatch):
    def missing(world, *arguments):
        if world.name == "pbc":
            raise MissingExtra("The data need truant[data].")
        return plan_of(world, *arguments)

    plan_of = run.plan_of
    monkeypatch.setattr(run, "plan_of", missing)
    chosen, left_out = run.chosen([])
    assert [figure.name for figure in chosen] == [name for name in FIGURES if name != "pbc"]
    assert left_out == {"pbc": "The data need truant[data]."}
    with pytest.raises(MissingExtra):
        reproduce(["pbc"], out=tmp_path)
