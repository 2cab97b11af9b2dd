"""The door as a whole: real trials to the last printed digit, the same pulls through lab and logs, JSON, refusals."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import truant
from truant import datasets
from truant.analysis import Analysis
from truant.cli import cli
from truant.counts import Counts
from truant.provenance import Provenance
from truant.worlds import make


def printed(result, name, digits):
    return [f"{arm.estimates[name].mean:.{digits}f}" for arm in result.arms]


def test_actg175():
    result = truant.analyze(
        datasets.actg175(), arm="treatment", mediator=["offtrt", "cd420:3"], outcome="cd496", control="ZDV"
    )
    assert [arm.arm for arm in result.arms] == ["ZDV", "ZDV+ddC", "ZDV+ddI", "ddI"]
    assert [arm.pulls for arm in result.arms] == [532, 524, 522, 561]
    assert [f"{arm.missing_share:.3f}" for arm in result.arms] == ["0.397", "0.357", "0.362", "0.374"]
    assert [f"{arm.naive.mean:.1f}" for arm in result.arms] == ["287.6", "354.8", "341.3", "328.8"]
    assert printed(result, "mar", 1) == ["270.6", "335.1", "324.7", "313.5"]
    assert len(result.labels.mediators) == 6
    assert result.winner["mar"] == "ZDV+ddC"
    off = [cell.missing_share for cell in result.missing if "offtrt=1" in cell.mediator]
    assert min(off) > max(cell.missing_share for cell in result.missing if "offtrt=0" in cell.mediator)
    assert "mnar" in {entry.assumption for entry in result.infeasible}
    assert result.arms[0].bounds is None  # nobody said what a CD4 count can be at most
    assert any(warning.code == "contradicted" for warning in result.warnings)


def test_colon():
    result = truant.analyze(datasets.colon(), arm="rx", mediator="relapse", outcome="alive")
    assert [arm.arm for arm in result.arms] == ["Lev", "Lev+5FU", "Obs"]
    assert printed(result, "mcar", 3) == ["0.270", "0.349", "0.233"]
    assert printed(result, "mar", 3) == ["0.313", "0.394", "0.274"]
    assert printed(result, "mnar", 3) == ["0.494", "0.594", "0.476"]
    assert [w.arm for w in result.warnings if w.code == "linear-infeasible"] == ["Lev", "Obs"]
    from truant.assumptions.mnar import mnar

    linear = [mnar().linear(result.counts, arm) for arm in range(3)]
    assert f"{linear[2].mean:.3f}" == "0.512"
    assert f"{1 / (1 + linear[2].odds.min()):.2f}" == "1.07"
    assert f"{1 / (1 + linear[0].odds.min()):.3f}" == "1.004"


def test_pbc():
    table = datasets.pbc()
    whole = truant.analyze(table, arm="trt", mediator="dead", outcome="time")
    assert [f"{arm.naive.mean:.0f}" for arm in whole.arms] == ["2016", "1997"]
    dropped = truant.analyze(table.drop_null(), arm="trt", mediator="dead", outcome="time")
    assert [f"{arm.naive.mean:.0f}" for arm in dropped.arms] == ["1957", "2000"]
    assert whole.rows == 312
    assert dropped.rows == 276
    assert printed(whole, "mar", 6) == [f"{arm.naive.mean:.6f}" for arm in whole.arms]


@pytest.mark.parametrize("name", ["mar-low", "mediator-mar", "mnar", "both-mnar"])
def test_the_same_pulls_through_lab_and_logs(name, tmp_path):
    """Counts equal (real sums to 1e-12), and so is every estimate (to 1e-9)."""
    levels = {"K": 3, "L": 3} if name.endswith("mnar") else {}
    world = make(name, seed=4, arms=3, **levels)
    arms = np.arange(9000) % 3
    mediators, outcomes = world.pulls(arms, 4)
    lab = Counts.fold(world.setting, arms, mediators, outcomes)
    frame = pd.DataFrame({"a": arms, "m": pd.array(mediators, "Int64"), "y": outcomes})
    frame.loc[mediators < 0, "m"] = pd.NA
    path = tmp_path / "log.parquet"
    frame.to_parquet(path)
    options = {} if world.setting.levels else {"range": (-20.0, 20.0)}
    result = truant.analyze(str(path), arm="a", mediator="m", outcome="y", **options)
    kept = result.counts.about(lab.centre)
    if world.setting.levels:
        assert np.array_equal(kept.table, lab.table)
    else:
        assert np.array_equal(kept.table[..., :2], lab.table[..., :2])
        assert kept.table == pytest.approx(lab.table, rel=1e-12, abs=1e-10)
    for assumption in result.assumptions:
        part = truant.registry.find("assumption", assumption).build()
        for a, arm in enumerate(result.arms):
            estimate = part.estimate(lab, a, world.setting)
            assert arm.estimates[assumption].mean == pytest.approx(estimate.mean, rel=1e-9)
            assert arm.estimates[assumption].standard_error == pytest.approx(
                estimate.standard_error, rel=1e-6
            )


# The command


@pytest.fixture
def visits(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = ["mail,opened,spent"] + [
        f"{'ab'[i % 2]},{'yes' if i % 3 else 'no'},{'' if i % 5 == 0 else i % 7}" for i in range(400)
    ]
    (tmp_path / "visits.csv").write_text("\n".join(rows) + "\n")
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(cli, ["analyze", *arguments])


USUAL = ("visits.csv", "--arm", "mail", "--mediator", "opened", "--outcome", "spent")


def test_json(visits):
    result = run(*USUAL, "--json", "--control", "a", "--level", "0.9", "--assume", "mar", "--assume", "mnar")
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    arm = document["arms"][1]
    assert set(arm) >= {"arm", "pulls", "observed", "missing_share", "naive", "estimates", "bounds"}
    assert set(arm["naive"]) == {"mean", "low", "high"}
    assert set(arm["estimates"]["mar"]) >= {"mean", "low", "high", "standard_error", "probability_best"}
    assert set(document["infeasible"][0]) == {"assumption", "reason"}
    assert set(document["winner"]) == {"naive", "mar"}
    assert set(document["sensitivity"][0]) >= {"assumption", "winner", "runner_up", "shift", "shift_in_sd"}
    assert document["level"] == 0.9
    assert document["rows"] == 400
    direct = truant.analyze("visits.csv", arm="mail", mediator="opened", outcome="spent", level=0.9)
    assert arm["estimates"]["mar"]["low"] == direct.arms[1].estimates["mar"].low


def test_files(visits):
    result = run(*USUAL, "--out", "table.csv", "--html", "report.html", "--json")
    assert result.exit_code == 0, result.output
    json.loads(result.stdout)  # and nothing else
    table = pd.read_csv("table.csv")
    assert list(table["assumption"].unique()) == ["naive", "mcar", "mar"]
    assert "<html" in (visits / "report.html").read_text(encoding="utf-8")
    assert run(*USUAL, "--out", "table.parquet").exit_code == 0
    assert pd.read_parquet("table.parquet")["mean"].tolist() == pytest.approx(table["mean"].tolist())


def test_terminal(visits):
    result = run(*USUAL)
    assert result.exit_code == 0, result.output
    direct = truant.analyze("visits.csv", arm="mail", mediator="opened", outcome="spent")
    assert "Mean of 'spent' by 'mail'" in result.output
    for arm in direct.arms:
        assert f"{arm.estimates['mar'].mean:.3g}"[:3] in result.output
    assert str(direct) == result.output
    assert "<table" in direct._repr_html_()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("visits.csv", "--arm", "mial", "--outcome", "spent"), "did you mean 'mail'?"),
        (("visits.csv", "--arm", "opened", "--outcome", "mail"), "must be numbers"),
        ((*USUAL, "--decimal", ";"), "decimal must be '.' or ','"),
        (("nowhere.csv", "--arm", "mail", "--outcome", "spent"), "nowhere.csv"),
        ((*USUAL, "--control", "c"), "Unknown arm 'c'"),
        ((*USUAL, "--assume", "mr"), "Unknown assumption 'mr'"),
        ((*USUAL, "--level", "2"), "level must be between 0 and 1"),
        ((*USUAL, "--range", "0"), "two numbers"),
        ((*USUAL, "--range", "a,b"), "range must be numbers, got 'a,b'."),
        ((*USUAL, "--out", "table.txt"), "must end in .csv or .parquet"),
        ((*USUAL, "--html", "no/where.html"), "does not exist"),
        ((*USUAL, "--expected-split", "1,2,3"), "expected_split must be 2"),
    ],
)
def test_refusals(visits, arguments, sentence):
    result = run(*arguments)
    assert result.exit_code == 2
    assert sentence in result.output
    assert "Traceback" not in result.output
    assert len(result.output.strip().splitlines()) <= 4  # click adds its hint at --help
    problem = run(*arguments, "--json")
    assert problem.exit_code == 2
    assert sentence in json.loads(problem.stderr)["detail"]


def test_missing_values_and_observed(visits):
    (visits / "codes.csv").write_text("g,y,seen\na,-99,1\na,1,1\na,2,1\nb,NA,1\nb,3,1\nb,5,0\nb,4,1\n")
    result = run(
        "codes.csv",
        "--arm",
        "g",
        "--outcome",
        "y",
        "--missing-values",
        "-99,NA",
        "--observed",
        "seen",
        "--json",
    )
    assert result.exit_code == 0, result.output
    arms = json.loads(result.stdout)["arms"]
    assert [(arm["pulls"], arm["observed"]) for arm in arms] == [(3, 2), (4, 2)]
    assert [arm["naive"]["mean"] for arm in arms] == [1.5, 3.5]


def test_it_is_an_analysis_that_knows_where_it_comes_from():
    table = pd.DataFrame({"arm": ["a", "a", "b", "b", None], "y": [1.0, 2.0, 3.0, 5.0, 1.0]})
    result = truant.analyze(table, arm="arm", outcome="y", control="a")
    assert type(result) is Analysis
    assert (result.source, result.rows, result.provenance.skipped) == ("pandas DataFrame", 5, 1)
    own = {
        "source": "pandas DataFrame",
        "rows": 5,
        "skipped": 1,
        "where": None,
        "filtered_out": 0,
        "missing_markers": {"arm": {"empty": 1}},
        "notes": ["missing in 'arm': 1 empty"],
    }
    own |= {"unit": None, "units": None, "cut_outcome": None}
    columns = {
        "arm": "arm",
        "outcome": "y",
        "mediator": [],
        "observed": None,
        "by": None,
        "unit": None,
        "time": None,
        "probability": None,
    }
    counted = replace(result, provenance=Provenance())  # as if the counts had been given
    assert result.summary() == {**counted.summary(), **own, "columns": columns}
    assert (counted.rows, counted.source, counted.title, counted.about) == (4, "", "Analysis", [])


def test_a_control_that_cannot_be_shown():
    class Unspeakable:
        def __repr__(self):
            raise RuntimeError("not to be shown")

    with pytest.raises(
        truant.TruantError, match="control must be the label of an arm, got a value of type Unspeakable"
    ):
        truant.analyze({"arm": ["a", "b"], "y": [1, 2]}, arm="arm", outcome="y", control=Unspeakable())


def test_one_arm_is_described_and_compared_with_nothing(tmp_path):
    rows = {"arm": ["only"] * 30, "y": [float(i % 7) for i in range(30)]}
    found = truant.analyze(rows, arm="arm", outcome="y", levels=())
    assert found.verdict.kind == found.summary()["verdict"]["kind"] == "one-arm"
    assert found.to_settle == ["Add rows of another arm."]
    assert "There is only one arm, 'only'" in str(found)
    assert "only" in found.report(tmp_path / "page.html").read_text(encoding="utf-8")


def test_equal_outcomes_at_several_levels_have_no_interval():
    """Sums of equal outcomes round differently at each level, which is no spread."""
    rng = np.random.default_rng(3)
    arm = rng.integers(0, 2, 600)
    y = np.where((rng.random(600) < 0.05) & (arm == 0), rng.lognormal(3, 1, 600), 0.0)
    rows = {"arm": arm, "m": rng.integers(0, 3, 600), "y": y}
    found = truant.analyze(rows, arm="arm", outcome="y", mediator="m", levels=())
    for name in ("mcar", "mar"):
        assert found.arms[1].estimates[name].mean == pytest.approx(0.0, abs=1e-9)
        assert np.isnan(found.arms[1].estimates[name].low)
    assert found.verdict.kind == "unsettled"


def test_the_command_ends_with_how_to_check_what_the_data_cannot_test(tmp_path, monkeypatch):
    rng = np.random.default_rng(1)
    arm, opened = rng.integers(0, 2, 600), rng.integers(0, 2, 600)
    spent = rng.normal(10 + 4 * arm + 2 * opened, 3)
    seen = rng.random(600) < np.where(opened == 1, 0.8, 0.4)
    lines = [
        f"{'ab'[a]},{'ny'[m]},{f'{y:.2f}' if s else ''}"
        for a, m, y, s in zip(arm, opened, spent, seen, strict=True)
    ]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my visits.csv").write_text("\n".join(["mail,opened,spent", *lines]) + "\n", encoding="utf-8")
    names = ["analyze", "my visits.csv", "--arm", "mail", "--outcome", "spent"]
    last = CliRunner().invoke(cli, [*names, "--mediator", "opened"]).output.splitlines()[-1]
    told = "truant plan 'my visits.csv' --arm mail --mediator opened --outcome spent"
    assert last == f"Next: check mar with follow-ups: {told}"
    assert "Next:" not in CliRunner().invoke(cli, names).output  # no winner is clear
    assert "Next:" not in CliRunner().invoke(cli, [*names, "--mediator", "opened", "--json"]).output
