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
from truant.errors import InvalidValue, MissingExtra, UnknownName
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
    assert page.count("<figure") == sum(len(figure.versions) for figure in FIGURES.values())


def test_charts_are_pictures_unless_it_is_to_be_quick(tmp_path, small):
    assert {path.name for path in small.folder.iterdir()} == written(["mar-known-p"])
    made = reproduce(["mar-known-p"], runs=3, horizon=2000, out=tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == written(
        ["mar-known-p"], ("paper", "truant", "published")
    )
    assert made.page.read_text(encoding="utf-8").count('.png"') == 3
    assert (tmp_path / "mar-known-p-published.png").read_bytes().startswith(b"\x89PNG")
    drawn = (tmp_path / "mar-known-p-truant.svg").read_text(encoding="utf-8")
    for word in ("mar-known-ucb", "√(TnH)", "2,000 rounds, 3 runs", "constant unknown"):
        assert word in drawn


def test_as_text_and_as_published():
    for reading, versions in (("text", ["paper", "truant"]), ("published", ["published"])):
        figures, left_out = run.chosen([], reading)
        assert {version for figure in figures for version in figure.versions} == set(versions)
        assert all(figure.claims for figure in figures if reading == "published")
        assert sorted(left_out) == (
            [] if reading == "text" else ["both-mnar", "mediator-mar", "mediator-mnar"]
        )
    with pytest.raises(InvalidValue, match="mediator-mar: The paper has no such figure"):
        run.chosen(["mediator-mar"], "published")
    with pytest.raises(UnknownName, match="Unknown reading 'txt'; did you mean 'text'"):
        reproduce(["mnar"], reading="txt")


def test_what_was_run_agrees_with_the_stored_plots_and_its_claims_hold(tmp_path, monkeypatch):
    """20 runs of what was published: the claims that the world of the text does not bear out hold there."""
    monkeypatch.setattr(run, "draw", lambda *arguments: {})
    made = reproduce(
        ["mcar-gamma", "mar-peaked", "mar-against-ucb"], reading="published", runs=20, out=tmp_path
    )
    assert {(claim["as"], claim["word"]) for claim in made.summary["claims"]} == {("published", "survives")}
    plots = [plot for figure in made.summary["figures"] for plot in figure["stored_plots"]]
    assert len(plots) == 7
    assert all(plot["agrees"] for plot in plots)
    assert {curve["version"] for curve in made.summary["curves"]} == {"published"}


def test_alpha_and_horizon_are_set_for_every_policy_that_has_them(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "draw", lambda *arguments: {})
    made = reproduce(["mar-against-ucb"], reading="text", alpha=1, horizon=3000, runs=2, out=tmp_path)
    policies = {curve["policy"] for curve in made.summary["curves"]}
    assert {"paper-mar:alpha=1", "paper-mar-known:alpha=1", "naive-ucb:alpha=1", "mar-ucb"} <= policies
    assert {curve["horizon"] for curve in made.summary["curves"]} == {3000}
    assert (made.summary["settings"]["alpha"], made.summary["settings"]["horizon"]) == (1, 3000)
    direct = truant.simulate("mar", "paper-mar:alpha=1", horizon=3000, runs=2, seed=0)
    curve = next(
        c for c in made.summary["curves"] if c["policy"] == "paper-mar:alpha=1" and c["world"] == "mar"
    )
    assert curve["regret_mean"] == pytest.approx(direct.final.mean())


def test_curves_are_those_of_simulate(small):
    policies = ["paper-mar-known", "paper-mar", "naive-ucb", "mar-ucb", "mar-known-ucb"]
    direct = truant.simulate("mar", policies, horizon=10_000, runs=3, seed=5)
    data = pd.read_parquet(small.folder / "reproduction.parquet")
    for number, policy in enumerate(policies):
        rows = data[data["policy"] == policy].drop_duplicates(["run", "round"])
        assert np.array_equal(rows["regret"].to_numpy().reshape(3, -1), direct.regret[number])
        assert list(rows["round"].unique()) == list(direct.rounds)


def test_at_full_size_regret_grows_as_fewer_outcomes_are_seen_and_stays_below_the_bound(tmp_path):
    made = reproduce(["mcar-gamma"], reading="text", runs=100, seed=7, out=tmp_path)
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
    made = reproduce(["mar-against-ucb"], reading="text", runs=20, seed=1, out=tmp_path)
    worse, line, worst_case = made.summary["figures"][0]["claims"]
    assert (worse["verdict"], line["verdict"]) == ("does not survive", "does not survive")
    assert worst_case["ours"]
    assert worst_case["verdict"] == "survives"


def test_files_from_before_are_replaced(tmp_path):
    (tmp_path / ".truant").write_text("truant reproduction\n")
    (tmp_path / "summary.json").write_text("old")
    (tmp_path / "mnar-paper.svg").write_text("old")
    reproduce(["mnar"], reading="text", runs=1, horizon=2000, out=tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == written(["mnar"], ("paper", "truant"))
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
    reproduce(["mar-known-p", "mar-against-ucb"], reading="text", quick=True, runs=1, out=tmp_path)
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
