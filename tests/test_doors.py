"""What a command refuses, Python refuses in the same sentence, and only with errors of truant."""

import datetime
import os
from decimal import Decimal

import numpy as np
import pytest
from click.testing import CliRunner

import truant
from tests.analyses import analyzed
from truant.analysis import Labels
from truant.charts import save_chart
from truant.cli import cli
from truant.counts import Counts
from truant.errors import InvalidValue, TruantError
from truant.lab.sweep import size
from truant.policies.decider import Decider
from truant.setting import Setting
from truant.spec import Spec
from truant.worlds import DiscreteWorld, RealWorld, from_table, make

ROWS = [("a", "x", 1.0), ("b", "x", 2.5), ("a", "y", 3.0), ("b", "y", None), ("a", "x", 0.5)] * 8
DATA = {"g": [row[0] for row in ROWS], "m": [row[1] for row in ROWS], "y": [row[2] for row in ROWS]}
REAL = Setting(arms=2, mediators=2)
COUNTS = Counts.fold(REAL, [0, 1] * 10, [0, 0, 1, 1] * 5, [0.1, 0.5, 0.9, np.nan, 0.2] * 4)
LABELS = Labels.of(["a", "b"], ["x", "y"])
STUDY = {"runs": 1, "horizon": 5, "policies": ["mcar-ucb"], "worlds": ["mcar"]}


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.csv"
    lines = [",".join("" if cell is None else str(cell) for cell in row) for row in ROWS]
    path.write_text("\n".join(["g,m,y", *lines]) + "\n")
    return str(path)


ANALYZE = [
    (["--range", "0"], {"range": (0.0,)}, "range must be two numbers, low < high, got (0.0,)."),
    (["--range", "4,0"], {"range": (4.0, 0.0)}, "range must be two numbers, low < high, got (4.0, 0.0)."),
    (["--range", "0,x"], {"range": "0,x"}, "range must be numbers, got '0,x'."),
    (["--range", "0,1e300"], {"range": (0.0, 1e300)}, "range must be within ±1e+100, got 1e+300."),
    (["--range", "nan,1"], {"range": (float("nan"), 1.0)}, "range must be finite, got [nan, 1.0]."),
    (["--level", "1"], {"level": 1.0}, "level must be between 0 and 1, got 1.0."),
    (["--level", "much"], {"level": "much"}, "level must be between 0 and 1, got 'much'."),
    (["--levels", "1"], {"levels": (1.0,)}, "levels must be at least two increasing values, got (1.0,)."),
    (["--levels", "low"], {"levels": "low"}, "levels must be numbers, got 'low'."),
    (
        ["--cut-outcome", "1"],
        {"cut_outcome": 1},
        "An outcome is cut into 2 to 10 classes, got cut_outcome=1; a",
    ),
    (
        ["--cut-outcome", "11"],
        {"cut_outcome": 11},
        "An outcome is cut into 2 to 10 classes, got cut_outcome=11;",
    ),
    (
        ["--cut-outcome", "2.5"],
        {"cut_outcome": 2.5},
        "An outcome is cut into 2 to 10 classes, got cut_outcome=2.5;",
    ),
    (["--cut-outcome", "few"], {"cut_outcome": "few"}, "cut_outcome must be numbers, got 'few'."),
    (
        ["--cut-outcome", "1,nan"],
        {"cut_outcome": (1.0, float("nan"))},
        "cut_outcome must be finite, got [1.0, nan].",
    ),
    (
        ["--cut-outcome", "1,1e300"],
        {"cut_outcome": (1.0, 1e300)},
        "cut_outcome must be within ±1e+100, got 1e+300.",
    ),
    (
        ["--cut-outcome", "2,2"],
        {"cut_outcome": (2.0, 2.0)},
        "cut_outcome must be a number of classes or 1 to 9 increasing points, got (2.0, 2.0).",
    ),
    (
        ["--cut-outcome", "2", "--levels", "0,1"],
        {"cut_outcome": 2, "levels": (0, 1)},
        "cut_outcome finds the levels of the outcome; give either cut_outcome or levels.",
    ),
    (
        ["--cut-outcome", "2,"],
        {"cut_outcome": [2]},
        "cut_outcome prepares an outcome for mnar, which needs a mediator, and none was given; name one with mediator",
    ),
    (
        ["--cut-outcome", "3", "--mediator", "m"],
        {"cut_outcome": 3, "mediator": "m"},
        "cut_outcome must make at most as many classes as the mediator has levels, got 3 classes and 2",
    ),
    (
        ["--cut-outcome", "0.1,2", "--mediator", "m"],
        {"cut_outcome": [0.1, 2], "mediator": "m"},
        "cut_outcome must leave observed outcomes in every class, there are none with y <= 0.1; leave out a point,",
    ),
    (
        ["--cut-outcome", "0.7,1.5,2.7", "--mediator", "m"],
        {"cut_outcome": [0.7, 1.5, 2.7], "mediator": "m"},
        "cut_outcome must make fewer levels than the outcome has values, 'y' has only 0.5, 1, 2.5 and 3 and is disc",
    ),
    (
        ["--expected-split", "1"],
        {"expected_split": (1.0,)},
        "expected_split must be 2 positive shares, one for",
    ),
    (["--expected-split", "-"], {"expected_split": "-"}, "expected_split must be numbers, got '-'."),
    (["--mediator", "m:1"], {"mediator": "m:1"}, "A mediator is cut into 2 to 100 classes, got 'm:1'."),
    (["--mediator", "no"], {"mediator": ["no"]}, "Unknown column 'no'. Known: g, m, y."),
    (["--control", "c"], {"control": "c"}, "Unknown arm 'c'. Known: a, b."),
    (["--assume", "mnr"], {"assume": ["mnr"]}, "Unknown assumption 'mnr'; did you mean 'mnar'?"),
    (["--observed", "y"], {"observed": "y"}, "observed must be a column of its own, got 'y'"),
    (
        ["--collected", "adaptve"],
        {"collected": "adaptve"},
        "Unknown way of collecting 'adaptve'; did you mean",
    ),
    (
        ["--collected", "adaptive", "--unit", "m"],
        {"collected": "adaptive", "unit": "m"},
        "unit cannot be used with rows that a policy chose",
    ),
    (
        ["--horizon", "100"],
        {"horizon": 100},
        "horizon describes the policy that collected the rows; name that policy with",
    ),
    (
        ["--collected-by", "mar-ucb"],
        {"collected_by": "mar-ucb"},
        "collected_by needs the horizon that the policy",
    ),
    (
        ["--collected-by", "mar-ucv", "--horizon", "100"],
        {"collected_by": "mar-ucv", "horizon": 100},
        "Unknown policy 'mar-ucv'; did you mean 'mar-ucb'?",
    ),
    (
        ["--collected-by", "mar-ucb", "--horizon", "9"],
        {"collected_by": "mar-ucb", "horizon": 9},
        "horizon must be at least the number of rows, 40, got 9; give the horizon that mar-ucb was told.",
    ),
    (
        ["--collected-by", "mar-ucb", "--horizon", "100", "--replays", "5"],
        {"collected_by": "mar-ucb", "horizon": 100, "replays": 5},
        "replays must be a whole number of at least 200, got 5.",
    ),
    (
        ["--collected-by", "mar-ucb", "--horizon", "100", "--by", "m"],
        {"collected_by": "mar-ucb", "horizon": 100, "by": "m"},
        "collected_by cannot be used with by",
    ),
    (
        ["--collected-by", "mar-ucb", "--horizon", "100", "--cut-outcome", "2"],
        {"collected_by": "mar-ucb", "horizon": 100, "cut_outcome": 2},
        "collected_by cannot be used with cut_outcome",
    ),
    (
        ["--probability", "y"],
        {"probability": "y"},
        "probability must be another column than arm and outcome, got",
    ),
    (
        ["--probability", "m"],
        {"probability": "m"},
        "The probability of a choice must be in (0, 1]; in 40 of 40 rows",
    ),
    (
        ["--probability", "m", "--collected-by", "mar-ucb", "--horizon", "100"],
        {"probability": "m", "collected_by": "mar-ucb", "horizon": 100},
        "Name either collected_by, to replay the policy, or probability",
    ),
    (["--value", "a=1,c=0"], {"value": "a=1,c=0"}, "Unknown arm 'c'. Known: a, b."),
    (
        ["--value", "a=.5,b=.6"],
        {"value": {"a": 0.5, "b": 0.6}},
        "The shares of value must sum to 1, got 1.1.",
    ),
    (
        ["--value", "a=-1,b=2"],
        {"value": {"a": -1, "b": 2}},
        "A share of value must be at least 0, got -1 for 'a'.",
    ),
    (["--value", "half"], {"value": "half"}, 'value must be shares of arms, as in "a=0.5,b=0.5"'),
]


@pytest.mark.parametrize(("options", "arguments", "sentence"), ANALYZE, ids=lambda value: str(value)[:40])
def test_analyze_refuses_alike(log, options, arguments, sentence):
    with pytest.raises(TruantError) as refusal:
        truant.analyze(log, arm="g", outcome="y", **arguments)
    assert str(refusal.value).startswith(sentence)
    result = CliRunner().invoke(cli, ["analyze", log, "--arm", "g", "--outcome", "y", *options])
    assert (result.exit_code, result.stderr.strip()) == (2, str(refusal.value))


SIMULATE = [
    (["--runs", "0"], {"runs": 0}, "runs must be a whole number of at least 1, got 0."),
    (["--runs", "many"], {"runs": "many"}, "runs must be a whole number, got 'many'."),
    (["--runs", "1.5"], {"runs": 1.5}, "runs must be a whole number of at least 1, got 1.5."),
    (["--seed", "-1"], {"seed": -1}, "seed must be a whole number of at least 0, got -1."),
    (["--seed", "1e30"], {"seed": 1e30}, "seed must be at most 1,000,000,000,000,000, got 1e+30."),
    (["--delay", "99"], {"delay": 99}, "delay must be at most the horizon, 10 rounds, got 99."),
    (
        ["--intervals", "--runs", "0"],
        {"intervals": True, "runs": 0},
        "runs must be a whole number of at least 1",
    ),
    (["--threads", "x"], {"threads": "x"}, "threads must be a whole number, got 'x'."),
    (["--set", "gama=1"], {"parameters": {"gama": 1}}, "Unknown parameter of world 'mcar': 'gama'; did you"),
    (["--set", "gamma=2"], {"parameters": {"gamma": 2}}, "gamma must be in (0, 1], got 2."),
]


@pytest.mark.parametrize(("options", "arguments", "sentence"), SIMULATE, ids=lambda value: str(value)[:40])
def test_simulate_refuses_alike(options, arguments, sentence):
    with pytest.raises(TruantError) as refusal:
        truant.simulate("mcar", "mcar-ucb", **{"horizon": 10} | arguments)
    assert str(refusal.value).startswith(sentence)
    command = ["simulate", "--world", "mcar", "--policy", "mcar-ucb", "--horizon", "10", *options]
    result = CliRunner().invoke(cli, command)
    assert (result.exit_code, result.stderr.strip()) == (2, str(refusal.value))


@pytest.mark.parametrize(
    ("options", "arguments", "sentence"),
    [
        (["--backend", "thread"], {"backend": "thread"}, "Unknown backend 'thread'; did you mean 'threads'?"),
        (["--workers", "0"], {"workers": 0}, "workers must be a whole number of at least 1, got 0."),
        (["--workers", "x"], {"workers": "x"}, "workers must be a whole number, got 'x'."),
    ],
)
def test_sweep_refuses_alike(tmp_path, options, arguments, sentence):
    path = tmp_path / "study.toml"
    path.write_text('runs = 1\nhorizon = 5\npolicies = ["mcar-ucb"]\nworlds = ["mcar"]\n')
    with pytest.raises(TruantError) as refusal:
        truant.sweep(path, **arguments)
    assert str(refusal.value).startswith(sentence)
    result = CliRunner().invoke(cli, ["sweep", str(path), *options])
    assert (result.exit_code, result.stderr.strip()) == (2, str(refusal.value))


def counts(change=None, **fields):
    table = COUNTS.table.copy()
    if change is not None:
        table[change[0]] = change[1]
    return Counts(**{"table": table, "centre": 0.5} | fields)


def decide(value):
    return Decider("mar-ucb", REAL, 100).scores(value)


def report(value, setting=REAL, labels=LABELS, **options):
    return analyzed(value, setting, labels, **options)


nested = [[1, 2], [3]]
CALLS = [
    # counts that cannot be
    (lambda: Counts(COUNTS.table[0]), "A table of counts with real outcomes must have shape (arms, mediator"),
    (
        lambda: Counts(np.zeros((2, 3, 4))),
        "A table of counts with real outcomes must have shape (arms, mediator",
    ),
    (
        lambda: Counts(np.zeros((2, 3, 5)), (0.0, 1.0)),
        "A table of counts with levels (0.0, 1.0) must have shape",
    ),
    (lambda: Counts(nested), "table must be numbers, got [[1, 2], [3]]."),
    (lambda: Counts(None), "A table of counts with real outcomes must have shape"),
    (lambda: Counts("abc"), "table must be numbers, got 'abc'."),
    (lambda: counts(centre=None), "centre must be a finite number, got None."),
    (lambda: counts(centre="x"), "centre must be a finite number, got 'x'."),
    *[
        (lambda use=use, change=change: use(counts(change)), sentence)
        for use in (decide, report, lambda value: truant.policy("mar-ucb").estimate(value, 0, REAL))
        for change, sentence in [
            (((0, 0, 0), -1), "Counts must be whole numbers of at least 0, got -1."),
            (((0, 0, 0), 2.5), "Counts must be whole numbers of at least 0, got 2.5."),
            (((1, 0, 1), 0.5), "Counts must be whole numbers of at least 0, got 0.5."),
            (((0, 1, 2), np.nan), "Counts must be finite, got NaN or an infinite one."),
            (((0, 1, 3), np.inf), "Counts must be finite, got NaN or an infinite one."),
            (
                ((1, 0, 1), 99),
                "Counts must have no more observed outcomes than pulls, got 99 of 5 for arm 1.",
            ),
        ]
    ],
    (lambda: decide(Counts.empty(Setting(arms=3, mediators=2))), "Counts must have shape (2, 3, 5) for this"),
    (
        lambda: report(Counts.empty(Setting(arms=2, levels=(0, 1)))),
        "Counts have levels (0.0, 1.0), the setting",
    ),
    (lambda: decide(None), "counts must be Counts, got None."),
    (lambda: report(COUNTS.table), "counts must be Counts, got array("),
    (lambda: report(COUNTS, setting=None), "setting must be a Setting, got None."),
    (lambda: report(COUNTS, labels=["a"]), "labels must be Labels, got ['a']."),
    (
        lambda: report(COUNTS, labels=Labels.of(["a"], ["x"])),
        "labels must name 2 arms and 2 mediator levels, got",
    ),
    (lambda: report(COUNTS, assume=None), "assume must be names of assumptions, got None."),
    (lambda: report(COUNTS, control=np.array([])), "Unknown arm array([]"),
    (lambda: report(COUNTS, expected_split=5), "expected_split must be 2 positive shares"),
    (lambda: Setting(arms=2, range_known=None), "range_known must be true or false, got None."),
    (lambda: Counts.empty(None), "setting must be a Setting, got None."),
    (lambda: Counts.fold(None, [0], [0], [0]), "setting must be a Setting, got None."),
    (lambda: Counts.fold(REAL, [0], [0], [10**400]), "Outcomes must be finite numbers or missing, got an"),
    (lambda: Counts.fold(REAL, [0], [0], [1j]), "Outcomes must be numbers or missing, got complex128."),
    (
        lambda: COUNTS.update(nested, 0, 1.0),
        "update takes one pull; arm must be a single value, got [[1, 2], [3]].",
    ),
    (lambda: COUNTS.merge(None), "Counts are merged with Counts, got None."),
    (lambda: COUNTS.about(None), "centre must be a number within ±1e+100, got None."),
    (lambda: COUNTS.about(float("inf")), "centre must be a number within ±1e+100, got inf."),
    # deciders, policies and specs
    (lambda: Decider(None, REAL, 9), "A policy must be a name or a Policy, got None."),
    (lambda: Decider("mar-ucb", None, 9), "setting must be a Setting, got None."),
    (lambda: Decider("mar-ucb", REAL, True), "horizon must be a whole number, got True."),
    (lambda: Decider("mar-ucb", REAL, 9).allocation(COUNTS, active=nested), "active must be 2 times True or"),
    (
        lambda: Decider("mar-ucb", REAL, 9).allocation(COUNTS, pending="ab"),
        "pending must be numbers, got 'ab'.",
    ),
    (lambda: truant.policy(3), "A name is a text, e.g. 'mar' or 'mar:gamma=0.5', got 3."),
    (lambda: Spec(3), "A name is a text, e.g. 'mar', got 3."),
    (lambda: Spec("mar", [1]), "Parameters are names with values, e.g. {'gamma': 0.5}, got [1]."),
    # settings
    (lambda: Setting(arms=2, low="0", high="1"), "range must be numbers, got ('0', '1')."),
    (
        lambda: Setting(arms=2, levels=np.ma.array([0, 1], mask=[0, 1])),
        "levels must be numbers, got masked_array",
    ),
    (lambda: Setting(arms=2, levels=[1j, 2]), "levels must be numbers, got [1j, 2]."),
    (
        lambda: Setting(arms=2, levels=range(10**5, 0, -1)),
        "levels must be at least two increasing values, got",
    ),
    (lambda: Setting(arms=2, scale=[1]), "scale must be a positive number, got [1]."),
    (lambda: Setting(arms=np.complex128(2)), "arms must be a whole number, got np.complex128(2+0j)."),
    # logs
    (lambda: truant.analyze(DATA, arm=None, outcome="y"), "A column name is needed, got None."),
    (lambda: truant.analyze(DATA, arm="g", outcome="y", mediator=3), "A column name is needed, got 3."),
    (
        lambda: truant.analyze(DATA, arm="g", outcome="y", mediator={"q"}),
        "Unknown column 'q'. Known: g, m, y.",
    ),
    (
        lambda: truant.analyze(DATA, arm="g", outcome="y", assume=None),
        "assume must be names of assumptions, got",
    ),
    (
        lambda: truant.analyze(DATA, arm="g", outcome="y", level=Decimal("0.9")),
        "level must be between 0 and 1, got",
    ),
    (lambda: truant.analyze(DATA, arm="g", outcome="y", levels=np.array(5)), "levels must be at least two"),
    (lambda: truant.analyze(DATA, arm="g", outcome="y", range=b"01"), "range must be numbers, got b'01'."),
    (
        lambda: truant.analyze(b"log.csv", arm="g", outcome="y"),
        "data must be a path, a URL with ::table, a connection with table=",
    ),
    (
        lambda: truant.analyze(DATA, arm="g", outcome="y", expected_split=-1),
        "expected_split must be 2 positive",
    ),
    # worlds
    (lambda: make(3), "A name is a text, e.g. 'mar' or 'mar:gamma=0.5', got 3."),
    (lambda: make("mar", seed=-1), "seed must be a whole number of at least 0, got -1."),
    (
        lambda: make("mar", gamma=np.array(0.5)),
        "gamma must be one number or a low, high range, got array(0.5).",
    ),
    (lambda: make("mar", gamma=nested), "gamma must be one number or a low, high range, got [[1, 2], [3]]."),
    (lambda: make("mar", arms={"a": 1}), "arms must be a whole number, got {'a': 1}."),
    (lambda: make("mar").pulls(nested), "arms must be a list of whole numbers, one per pull."),
    (lambda: RealWorld([[1.0]], [[0]], low=10**400), "range must be finite, got a number too large for one."),
    (
        lambda: RealWorld([[1.0]], None, samples=3),
        "samples must be rows (arms) of arrays (mediator levels), got 3.",
    ),
    (lambda: DiscreteWorld([[["a"]]]), "joint must be numbers, got [[['a']]]."),
    (
        lambda: from_table(DATA, arm="g", outcome="y", mediator=np.array(5)),
        "A column name is needed, got array(5).",
    ),
    # simulations and studies
    (lambda: truant.simulate(3, "mar-ucb", horizon=9), "world must be a name or a World, got 3."),
    (
        lambda: truant.simulate("mcar", np.array(5), horizon=9),
        "A policy must be a name or a Policy, got array(5).",
    ),
    (
        lambda: truant.simulate("mcar", "mcar-ucb", horizon=9, parameters=[1]),
        "Parameters are names with values,",
    ),
    (
        lambda: truant.simulate("mcar", "mcar-ucb", horizon=9, progress="no"),
        "progress must be true or false, got",
    ),
    (lambda: size(None), "study must be the path of a TOML file or a dict, got None."),
    (
        lambda: size(os.fsencode("study.toml")),
        "study must be the path of a TOML file or a dict, got b'study.toml'.",
    ),
    (
        lambda: truant.sweep(STUDY, backend=["ray"]),
        "Unknown backend ['ray']. Known: processes, ray, threads.",
    ),
    (lambda: truant.Simulation.load(None), "A file name is needed, got None."),
    (lambda: truant.Simulation.load(b"runs.parquet"), "A file name is needed, got b'runs.parquet'."),
    (lambda: save_chart(None, "x.svg"), "chart must be a chart of Altair, got None."),
    # theory
    (
        lambda: truant.theory.mcar_upper_bound(None, 10),
        "Theory reads the arrays of a RealWorld or a DiscreteWorld",
    ),
    (
        lambda: truant.theory.mnar_difficulty("mnar"),
        "Theory reads the arrays of a RealWorld or a DiscreteWorld",
    ),
    (
        lambda: truant.theory.mar_upper_bound(make("mar"), 10, Decimal(1)),
        "alpha must be a number, got Decimal('1').",
    ),
    (lambda: truant.theory.efficient_variance(make("mar"), None), "A name is a text, e.g. 'mar'"),
    (
        lambda: truant.theory.mar_lower_bound(make("mar"), datetime.date(2020, 1, 1)),
        "horizon must be a whole number",
    ),
]


@pytest.mark.parametrize(("call", "sentence"), CALLS, ids=[sentence[:50] for _, sentence in CALLS])
def test_python_refuses_in_a_sentence(call, sentence):
    with pytest.raises(TruantError) as refusal:
        call()
    assert str(refusal.value).startswith(sentence)
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 500


def test_no_mediator_is_none_or_an_empty_list():
    several = [truant.analyze(DATA, arm="g", outcome="y", mediator=mediator) for mediator in (None, (), [])]
    assert [one.provenance.columns["mediator"] for one in several] == [[], [], []]
    one = truant.analyze(DATA, arm="g", outcome="y", mediator=iter(["m"]), assume=["mcar", "mcar"])
    assert (one.provenance.columns["mediator"], one.assumptions) == (["m"], ["mcar"])


def test_numbers_of_numpy_are_numbers():
    setting = Setting(arms=np.float32(2), mediators=np.uint8(2), scale=np.float16(0.5))
    assert (setting.arms, setting.mediators, setting.scale) == (2, 2, 0.5)
    assert truant.analyze(DATA, arm="g", outcome="y", level=np.float32(0.9)).level == pytest.approx(0.9)
    assert (
        Counts(COUNTS.table.astype(np.float32).tolist(), centre=np.float64(0.5)).checked(REAL).pulls.sum()
        == 20
    )


def test_an_error_quotes_the_ends_of_a_long_value_and_survives_a_broken_one():
    class Broken:
        def __repr__(self):
            raise RuntimeError

    with pytest.raises(
        InvalidValue, match=r"^arms must be a whole number, got \[0, 1, 2, .*….*, 99999\]\.$"
    ) as long:
        Setting(arms=list(range(10**5)))
    assert len(str(long.value)) < 300
    with pytest.raises(InvalidValue, match=r"^arms must be a whole number, got a value of type Broken\.$"):
        Setting(arms=Broken())
