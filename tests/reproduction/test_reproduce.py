"""The paper's figures again: the files, that they say the same, and verdicts that can go either way."""

import json
import math
import re

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import truant
from tests.browser import drawn_page, needs_browser
from truant import theory
from truant.charts import DARK
from truant.charts.style import darker
from truant.cli import cli
from truant.errors import InvalidValue, UnknownName
from truant.lab.result import Simulation
from truant.reproduction import run as reproduction
from truant.reproduction import work
from truant.reproduction.catalogue import FIGURES
from truant.reproduction.claims import judged, order, shape
from truant.reproduction.figure import Claim, Curve, Growth, Rising, Scene
from truant.reproduction.pictures import looks
from truant.reproduction.results import Results
from truant.reproduction.run import reproduce
from truant.reproduction.words import overall
from truant.worlds import make

SMALL = {"figures": ["mar-known-p"], "quick": True, "runs": 3, "seed": 5}


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return reproduce(**SMALL, out=tmp_path_factory.mktemp("small"))


def invoke(*arguments):
    return CliRunner().invoke(cli, ["reproduce", *arguments], prog_name="truant")


def written(names):
    charts = {
        f"{name}-{version}.{kind}"
        for name in names
        for version in ("paper", "truant")
        for kind in ("png", "svg")
    }
    return charts | {"reproduction.parquet", "summary.json", "index.html"}


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
    monkeypatch.setattr(
        reproduction,
        "save_pictures",
        lambda chart, *paths: [path.write_text(chart.to_json()) for path in paths],
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
    for figure in summary["figures"]:
        for text in (figure["title"], *figure["choices"], *(claim["figures"] for claim in figure["claims"])):
            assert text.replace("'", "&#39;") in page
    panels = sum(len(panels) for figure in FIGURES.values() for panels in figure.versions.values())
    assert len(re.findall(r'<div class="chart" id="[\w-]+"', page)) == panels


def test_charts_are_pictures(small):
    assert {path.name for path in small.folder.iterdir()} == written(["mar-known-p"])
    assert (small.folder / "mar-known-p-paper.png").read_bytes().startswith(b"\x89PNG")
    drawn = (small.folder / "mar-known-p-truant.svg").read_text(encoding="utf-8")
    for word in ("mar-known-ucb", "√(TnH)", "10,000 rounds, 3 runs", "its constant is left open"):
        assert word in drawn


def test_curves_are_those_of_simulate(small):
    policies = ["paper-mar-known", "paper-mar", "naive-ucb", "mar-ucb", "mar-known-ucb"]
    direct = truant.simulate("mar", policies, horizon=10_000, runs=3, seed=5)
    data = pd.read_parquet(small.folder / "reproduction.parquet")
    for number, policy in enumerate(policies):
        rows = data[data["policy"] == policy].drop_duplicates(["run", "round"])
        assert np.array_equal(rows["regret"].to_numpy().reshape(3, -1), direct.regret[number])
        assert list(rows["round"].unique()) == list(direct.rounds)


def test_the_lower_bound_is_that_of_the_theory(small):
    worlds = [truant.lab.simulate.plan_of("mar", "mar-ucb", 10_000, 5, {}).instance(run) for run in range(3)]
    expected = np.mean([theory.mar_lower_bound(world, 10_000) for world in worlds])
    assert [curve["lower_bound"] for curve in small.summary["curves"]] == pytest.approx([expected] * 7)
    scene = FIGURES["mar-known-p"].truant[0].curves[0].scene
    results = Results({scene: truant.simulate("mar", ["naive-ucb"], horizon=10_000, runs=3, seed=5)})
    line = results.reference(FIGURES["mar-known-p"].truant[0]).set_index("round")["mean"]
    early = np.mean([theory.mar_lower_bound(world, 1000) for world in worlds])
    assert np.interp(1000, line.index, line) == pytest.approx(early, rel=1e-3)


def test_the_mcar_bound_is_known_in_closed_form():
    scene = Scene("mcar:gamma=0.5", bound="mcar")
    results = Results({scene: truant.simulate("mcar:gamma=0.5", "naive-ucb", horizon=400, runs=2)})
    assert results.bound(scene) == pytest.approx(math.sqrt(10 * 400 / 0.5))
    assert results.bound(Scene("mnar")) is None


def test_at_full_size_regret_grows_as_fewer_outcomes_are_seen_and_stays_below_the_bound(tmp_path):
    made = reproduce("mcar-gamma", runs=100, seed=7, out=tmp_path)
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


def simulation(world, horizon=100, **regret):
    """Final regrets by policy; each curve is linear, or flat from half of the rounds on if its name says so."""
    rounds = np.array([horizon // 2, horizon])
    finals = np.array(list(regret.values()), float)
    halves = np.array([1.0 if "flat" in name else 0.5 for name in regret])[:, None] * finals
    arms = np.zeros((*finals.shape, 2))
    return Simulation(
        world=world,
        parameters={},
        horizon=horizon,
        seed=0,
        policies=list(regret),
        rounds=rounds,
        regret=np.stack([halves, finals], axis=2),
        pulls=arms.astype(int),
        estimates=arms,
        means=np.zeros((finals.shape[1], 2)),
        nanoseconds=np.zeros(finals.shape),
    )


def test_an_order_is_clear_one_way_the_other_way_or_not_at_all():
    low, high = np.array([10.0, 12, 11, 9]), np.array([20.0, 23, 22, 18])
    assert order(low, high) == "survives"
    assert order(high, low) == "does not survive"
    assert order(low, low + np.array([5, -5, 6, -5.5])) == "depends"
    assert order(low[:1], high[:1]) == "depends"  # one run shows nothing
    # Student: of two runs, a difference of 2 ± 1 is not clear
    assert order(np.zeros(2), np.array([1.0, 3.0])) == "depends"


@pytest.mark.parametrize(
    ("ratio", "linear", "word"),
    [
        (1.0, True, "survives"),
        (0.71, True, "survives"),
        (0.1, True, "does not survive"),
        (0.1, False, "survives"),
        (1.02, False, "does not survive"),
        (0.65, True, "depends"),
        (0.65, False, "depends"),
        (float("nan"), True, "depends"),
    ],
)
def test_a_line_is_told_from_a_bend(ratio, linear, word):
    assert shape(ratio, linear) == word


def test_the_ratio_of_the_halves():
    scene = Scene("mar")
    results = Results({scene: simulation("mar", line=[10.0, 30.0], flat=[5.0, 7.0], nothing_flat=[0.0, 0.0])})
    assert results.ratio(Curve(scene, "line")) == pytest.approx(1)
    assert results.ratio(Curve(scene, "flat")) == 0
    assert math.isnan(results.ratio(Curve(scene, "nothing_flat")))
    real = Results({scene: truant.simulate("mar", "mar-uniform", horizon=4000, runs=3)})
    assert real.ratio(Curve(scene, "mar-uniform")) == pytest.approx(1, abs=0.1)  # never learns


def test_verdicts_have_the_figures_and_mixed_cases_depend():
    one, two = Scene("mar"), Scene("confounded")
    results = Results(
        {
            one: simulation("mar", paper=[90.0, 110.0, 100.0], naive=[10.0, 12.0, 11.0]),
            two: simulation("confounded", paper=[9.0, 11.0, 10.0], naive=[1000.0, 1200.0, 1100.0]),
        }
    )
    cases = [Rising((Curve(scene, "paper"), Curve(scene, "naive"))) for scene in (one, two)]
    fails, holds = (judged(Claim("Naive loses more.", (case,)), results) for case in cases)
    assert (fails.word, holds.word) == ("does not survive", "survives")
    assert fails.sentence == (
        "In mar, paper lost 100 and naive lost 11 on average; naive lost more than paper in 0 of 3 runs."
    )
    assert "paper lost 10 and naive lost 1,100 on average" in holds.sentence
    assert "in 3 of 3 runs" in holds.sentence
    mixed = judged(Claim("Both.", tuple(cases)), results)
    assert mixed.word == "depends"
    assert fails.sentence in mixed.sentence
    assert holds.sentence in mixed.sentence
    line = judged(Claim("A line.", (Growth(Curve(two, "naive"), linear=True),)), results)
    assert line.word == "survives"
    assert "1.00 times as much as in the first" in line.sentence
    assert overall([fails, holds, mixed], quick=False).startswith(
        "Of 3 claims of the paper, 1 survives, 1 does not, and 1 depends"
    )
    assert "quick run" in overall([fails], quick=True)


def test_the_worlds_of_the_text_do_not_bear_the_claims_out_and_the_worst_case_does(tmp_path):
    made = reproduce(["mar-against-ucb"], runs=20, seed=1, out=tmp_path)
    worse, line, worst_case = made.summary["figures"][0]["claims"]
    assert (worse["verdict"], line["verdict"]) == ("does not survive", "does not survive")
    assert worst_case["ours"]
    assert worst_case["verdict"] == "survives"


def test_the_command_prints_what_it_writes(tmp_path, small):
    arguments = ["--figure", "mar-known-p", "--quick", "--runs", "3", "--seed", "5", "--threads", "1"]
    result = invoke(*arguments, "--out", str(tmp_path), "--json")
    assert result.exit_code == 0, result.stderr
    printed = json.loads(result.stdout)
    assert printed == json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))
    for key in ("figures", "curves"):
        assert printed[key] == small.summary[key]  # whatever the threads
    assert {"truant", "python", "numpy", "numba", "pyarrow"} == set(printed["versions"])
    assert {path.name for path in tmp_path.iterdir()} == written(["mar-known-p"])
    assert re.fullmatch(rf"1 figure in \d+ s: {re.escape(str(tmp_path))}/index.html\n", result.stderr)


def test_the_command_tells_people_what_became_of_the_claims(tmp_path, monkeypatch, small):
    monkeypatch.setattr(reproduction, "reproduce", lambda *arguments, **parameters: small)
    result = invoke("--figure", "mar-known-p")
    assert result.exit_code == 0, result.stderr
    claim = small.summary["figures"][0]["claims"][0]
    assert f"{claim['verdict']}: {claim['claim']}" in result.stdout
    assert claim["figures"] in " ".join(result.stdout.split())
    assert result.stdout.splitlines()[-1].endswith("index.html")


@pytest.fixture
def no_simulation(monkeypatch):
    """Fails the test if anything is simulated."""

    def refuse(*arguments, **parameters):
        raise AssertionError("simulated before the input was checked")

    monkeypatch.setattr(work, "simulate", refuse)


@pytest.mark.usefixtures("no_simulation")
def test_refusals_come_before_the_work(tmp_path):
    result = invoke("--figure", "mar-peeked", "--out", str(tmp_path / "x"))
    assert result.exit_code == 2
    assert result.stderr.startswith("Unknown figure 'mar-peeked'; did you mean 'mar-peaked'?")
    with pytest.raises(UnknownName, match="Unknown figure 'nothing'"):
        reproduce("nothing", out=tmp_path)
    for wrong, sentence in (
        ({"runs": 0}, "runs must be"),
        ({"seed": -1}, "seed must"),
        ({"threads": 0}, "threads"),
    ):
        with pytest.raises(InvalidValue, match=sentence):
            reproduce("mnar", out=tmp_path / "x", **wrong)
    assert not (tmp_path / "x").exists()


@pytest.mark.usefixtures("no_simulation")
def test_a_folder_that_cannot_be_is_refused(tmp_path):
    (tmp_path / "file").write_text("mine")
    for out in ("file", "file/inside"):
        result = invoke("--figure", "mnar", "--out", str(tmp_path / out))
        assert result.exit_code == 2
        assert result.stderr.startswith("Cannot use ")
        assert len(result.stderr.splitlines()) == 1
    assert (tmp_path / "file").read_text() == "mine"
    (tmp_path / "taken" / "index.html").mkdir(parents=True)
    with pytest.raises(InvalidValue, match="it is a folder"):
        reproduce("mnar", out=tmp_path / "taken")
    with pytest.raises(InvalidValue, match="A folder is needed, got 3"):
        reproduce("mnar", out=3)


def test_files_from_before_are_replaced(tmp_path):
    (tmp_path / "summary.json").write_text("old")
    (tmp_path / "mnar-paper.svg").write_text("old")
    reproduce("mnar", quick=True, runs=1, out=tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == written(["mnar"])
    assert "<svg" in (tmp_path / "mnar-paper.svg").read_text(encoding="utf-8")
    curves = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))["curves"]
    assert {curve["regret_sd"] for curve in curves} == {None}  # one run


def test_an_interrupt_keeps_the_finished_figures(tmp_path, monkeypatch):
    played = []

    def interrupted(world, policies, **parameters):
        played.append(world)
        if world.name == "mar-peaked":
            raise KeyboardInterrupt
        return truant.simulate(world, policies, **parameters)

    monkeypatch.setattr(work, "simulate", interrupted)
    both = ["--figure", "mar-known-p", "--figure", "mar-peaked", "--quick", "--runs", "1"]
    result = invoke(*both, "--out", str(tmp_path), "--json")
    assert result.exit_code == 0
    assert result.stderr.splitlines()[0] == "Stopped after 1 of 2 figures; what follows is about these."
    assert {path.name for path in tmp_path.iterdir()} == written(["mar-known-p"])
    assert [figure["name"] for figure in json.loads(result.stdout)["figures"]] == ["mar-known-p"]
    result = invoke("--figure", "mar-peaked", "--quick", "--runs", "1", "--out", str(tmp_path / "none"))
    assert result.exit_code == 130
    assert result.stderr.startswith("Stopped before the page was written")
    assert list((tmp_path / "none").iterdir()) == []


def test_a_scene_is_simulated_once_for_all_figures_and_versions(tmp_path, monkeypatch):
    calls = []

    def counted(world, policies, **parameters):
        calls.append((world.name, sorted(policies)))
        return truant.simulate(world, policies, **parameters)

    monkeypatch.setattr(work, "simulate", counted)
    monkeypatch.setattr(reproduction, "_draw", lambda *arguments: None)
    reproduce(["mar-known-p", "mar-against-ucb"], quick=True, runs=1, out=tmp_path)
    ours = ["mar-thompson", "mar-ucb", "naive-ucb", "oracle-ucb", "paper-mar", "paper-mar-known"]
    assert calls == [("mar", sorted([*ours, "mar-known-ucb"])), ("confounded", ours)]


def test_what_needs_an_extra_is_left_out_unless_it_was_asked_for(tmp_path, monkeypatch):
    from truant.errors import MissingExtra

    def missing(world, *arguments):
        if world.name == "pbc":
            raise MissingExtra("The data need truant[data].")
        return plan_of(world, *arguments)

    plan_of = reproduction.plan_of
    monkeypatch.setattr(reproduction, "plan_of", missing)
    chosen, left_out = reproduction._chosen(None)
    assert [figure.name for figure in chosen] == [name for name in FIGURES if name != "pbc"]
    assert left_out == {"pbc": "The data need truant[data]."}
    with pytest.raises(MissingExtra):
        reproduce("pbc", out=tmp_path)


def test_sizes_are_those_of_the_text():
    sizes = {curve.scene.size(False, None) for curve in FIGURES["mcar-gamma"].curves()}
    assert sizes == {(10_000, 20)}
    for name in ("mar-known-p", "mar-peaked", "mar-against-ucb", "mnar", "mnar-against-ucb"):
        assert {curve.scene.size(False, None) for curve in FIGURES[name].curves()} == {(100_000, 10)}
    assert Scene("mar").size(True, None) == (10_000, 5)
    assert Scene("mar").size(True, 40) == (10_000, 40)
    assert Scene("mcar", 10_000, 20).size(True, None) == (10_000, 10)


def test_a_policy_looks_the_same_everywhere_and_unlike_its_neighbours():
    seen = {}
    for figure in FIGURES.values():
        for panel in (*figure.paper, *figure.truant):
            drawn = looks(panel)
            assert (
                len(set(drawn.values())) == len({look.dash for look in drawn.values()}) == len(panel.curves)
            )
            for curve in panel.curves:
                look = drawn[curve.shown]
                assert {look.colour, darker(look.colour)} <= set(DARK)  # it can be read on a dark page
                if curve.label == "":
                    assert seen.setdefault(curve.policy, look) == look


def test_every_figure_has_choices_and_a_claim_or_none_is_made_in_the_paper():
    for name, figure in FIGURES.items():
        assert figure.choices
        untried = name in ("mediator-mar", "mediator-mnar", "both-mnar")
        assert bool(figure.claims) != untried
        for claim in figure.claims:
            for case in claim.cases:
                assert {(curve.scene, curve.policy) for curve in case.curves} <= {
                    (curve.scene, curve.policy) for curve in figure.curves()
                }


def test_progress_is_told_up_to_the_end():
    told = []
    truant.simulate("mar", ["naive-ucb", "mar-ucb"], horizon=200_000, runs=3, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0


def test_the_page_stands_alone(small):
    page = small.page.read_text(encoding="utf-8")
    before_scripts = page[: page.index('<script type="application/json"')]
    links = re.findall(r'(?:href|src)="([^"]*)"', before_scripts)
    assert links
    assert all(link.startswith("#") or (small.folder / link).is_file() for link in links)
    assert not re.findall(r"<(?:script|link|iframe|img)[^>]*(?:src|href)\s*=", before_scripts)
    assert "default-src 'none'" in page
    for claim in small.summary["figures"][0]["claims"]:
        assert claim["figures"] in page
    assert f">{small.summary['settings']['seed']}</dd>" in page
    assert f"numba {small.summary['versions']['numba']}" in page


@needs_browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_browser_draws_it_without_network_and_within_a_narrow_window(tmp_path, small, scheme):
    text = small.page.read_text(encoding="utf-8")
    end = text.rindex("</body>")
    probe = (
        "<script>setInterval(() => { const d = document.documentElement;"
        "d.dataset.wide = d.scrollWidth > d.clientWidth; }, 200)</script>"
    )
    (tmp_path / "page.html").write_text(text[:end] + probe + text[end:], encoding="utf-8")
    dom = drawn_page(tmp_path / "page.html", tmp_path, scheme, width=420)
    assert 'data-wide="false"' in dom
    drawings = re.findall(r"<svg[^>]*class=\"marks\".*?</svg>", dom, flags=re.DOTALL)
    assert len(drawings) == 2
    blue = "#0072B2"  # mar-ucb
    assert ((DARK[blue] if scheme == "dark" else blue).lower()) in drawings[1].lower()
