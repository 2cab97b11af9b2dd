"""Study files: what they mean, and a refusal with file, place and remedy for whatever is wrong."""

import itertools

import pytest

from truant import registry
from truant.errors import TruantError, UnknownName
from truant.lab.study import check
from truant.lab.study_file import read_study, study_of
from truant.policies import named
from truant.spec import Spec

SMALL = {"policies": ["naive-ucb"], "worlds": ["mcar"]}


class Unspeakable:
    """An object that cannot be shown."""

    def __repr__(self):
        raise RuntimeError("not to be shown")


def points(table):
    return [(p.world.name, dict(p.world.parameters), p.horizon) for p in study_of(table).points()]


def test_every_combination_of_what_varies():
    world = {"name": "mar", "set": {"sd": 2.0}, "vary": {"gamma": [0.5, [0.1, 0.4]], "K": [2, 3, 4]}}
    found = points({"policies": ["mar-ucb"], "horizon": [1e3, 500], "worlds": [world, "mcar"]})
    expected = [
        ("mar", {"sd": 2.0, "gamma": gamma, "K": K}, horizon)
        for horizon, gamma, K in itertools.product((1000, 500), (0.5, (0.1, 0.4)), (2, 3, 4))
    ]
    assert found == [*expected, ("mcar", {}, 1000), ("mcar", {}, 500)]
    assert all(isinstance(horizon, int) for _, _, horizon in found)


def test_parameters_that_vary_together():
    world = {"name": "mnar-clear", "vary": {"K, L": [2, 3]}}
    assert [p for _, p, _ in points(SMALL | {"worlds": [world]})] == [{"K": 2, "L": 2}, {"K": 3, "L": 3}]


def test_spans():
    def values(span, key="gamma"):
        return [p[key] for _, p, _ in points(SMALL | {"worlds": [{"name": "mar", "vary": {key: span}}]})]

    assert values({"from": 0.1, "to": 0.4, "steps": 4}) == [0.1, 0.2, 0.3, 0.4]
    assert values({"from": 2, "to": 20, "steps": 4}, "K") == [2, 8, 14, 20]
    assert values({"from": 0.01, "to": 1, "steps": 3, "scale": "log"}) == [0.01, 0.1, 1]
    assert all(isinstance(K, int) for K in values({"from": 2, "to": 20, "steps": 4}, "K"))
    horizons = [
        horizon
        for _, _, horizon in points(SMALL | {"horizon": {"from": 1e3, "to": 1e6, "steps": 4, "scale": "log"}})
    ]
    assert horizons == [1000, 10_000, 100_000, 1_000_000]
    between = {"from": 1000, "to": 10_000, "steps": 3, "scale": "log"}
    assert [horizon for _, _, horizon in points(SMALL | {"horizon": between})] == [1000, 3162, 10_000]


def test_policies_that_vary():
    entry = {"name": "mar-ucb", "set": {"kappa": 2}, "vary": {"level": [0.5, "cautious"]}}
    (block,) = study_of(SMALL | {"policies": ["naive-ucb", entry]}).blocks
    assert [choice.name for choice in block.choices] == [
        "naive-ucb",
        "mar-ucb:kappa=2,level=0.5",
        "mar-ucb:kappa=2,level=cautious",
    ]
    assert [choice.family for choice in block.choices] == ["naive-ucb", "mar-ucb:kappa=2", "mar-ucb:kappa=2"]
    assert [dict(choice.varied) for choice in block.choices] == [{}, {"level": 0.5}, {"level": "cautious"}]


def test_the_value_of_a_policy_is_kept_to_the_last_digit():
    entry = {"name": "mar-ucb", "vary": {"level": [0.1, 0.1 + 1e-15, 1 / 3, 2.0]}}
    (block,) = study_of(SMALL | {"policies": [entry]}).blocks
    assert [choice.name for choice in block.choices] == [
        "mar-ucb:level=0.1",
        "mar-ucb:level=0.100000000000001",
        "mar-ucb:level=0.3333333333333333",
        "mar-ucb:level=2",
    ]


def test_texts_with_commas_and_lists_of_lists_are_kept(monkeypatch):
    """In policies as in worlds: what the file says is what the part gets."""
    given = []
    built = registry._built_in

    def curious(rule="", table=()):
        """Takes anything."""
        given.append((rule, table))
        return named("naive-ucb")

    monkeypatch.setattr(
        registry, "_built_in", lambda kind: built(kind) | ({"curious": curious} if kind == "policy" else {})
    )
    rule = 'a=1, "b": c'
    entry = {"name": "curious", "set": {"rule": rule}, "vary": {"table": [[[1, 2], [3, 4]], [0.5]]}}
    (block,) = study_of(SMALL | {"policies": [entry]}).blocks
    assert [choice.name for choice in block.choices] == [
        'curious:rule="a=1, \\"b\\": c",table=[[1,2],[3,4]]',
        'curious:rule="a=1, \\"b\\": c",table=[0.5]',
    ]
    assert given == [(rule, ((1, 2), (3, 4))), (rule, (0.5,))]
    assert [Spec.parse(choice.name) for choice in block.choices] == [choice.spec for choice in block.choices]


def test_names_are_shown_as_they_are_written():
    (block,) = study_of(SMALL | {"policies": [" mar-ucb:kappa=2.0, level=1.0"]}).blocks
    (choice,) = block.choices
    assert (choice.name, choice.family) == (" mar-ucb:kappa=2.0, level=1.0",) * 2
    assert str(choice.spec) == "mar-ucb:kappa=2,level=1"


def test_a_world_may_have_policies_and_a_horizon_of_its_own():
    own = {"name": "mar", "policies": ["mar-ucb"], "horizon": 7}
    first, second = study_of({"policies": ["naive-ucb"], "worlds": ["mcar", own]}).blocks
    assert ([c.name for c in first.choices], first.horizons) == (["naive-ucb"], (10_000,))
    assert ([c.name for c in second.choices], second.horizons) == (["mar-ucb"], (7,))
    assert len(study_of({"worlds": [own]}).blocks) == 1  # then nothing need be said for all


def test_the_fingerprint_is_that_of_the_instance():
    def of(**world):
        return check(study_of(SMALL | {"worlds": [{"name": "mar", **world}]}))

    assert of() == of()
    assert of() != of(set={"K": 4})
    assert of() != check(study_of(SMALL | {"seed": 1, "worlds": ["mar"]}))
    assert len(set(of(vary={"gamma": [0.5, 0.6, 0.7]}))) == 3


def test_the_fingerprint_knows_what_policies_are_told(tmp_path):
    """Outcomes -1 and 3 have the mean of 0 and 2, and come as often."""

    def of(*outcomes):
        rows = [f"{arm},{outcome}" for arm in "ab" for outcome in outcomes]
        (tmp_path / "rows.csv").write_text("\n".join(["arm,y", *rows]))
        table = {"data": str(tmp_path / "rows.csv"), "arm": "arm", "outcome": "y"}
        return check(study_of(SMALL | {"worlds": [{"name": "table", "set": table}]}))

    assert of(0, 2) == of(0, 2)
    assert of(0, 2) != of(-1, 3)


MAR = '[[worlds]]\nname = "mar"\n'
NAIVE = 'policies = ["naive-ucb"]\n'
BAD = {
    "not toml": ("policies = [1\nruns 5\n", ["as a TOML file", "line 2"]),
    "unknown key": (NAIVE + "run = 5\n" + MAR, ["Unknown key of a study: 'run'", "did you mean 'runs'?"]),
    "no worlds": (NAIVE, ["worlds is missing", '[[worlds]] with name = "mar"']),
    "no policies": (MAR, ["policies is missing", '["mar-ucb"]']),
    "empty policies": ("policies = []\n" + MAR, ["policies must be a list with at least one entry"]),
    "worlds not a list": (NAIVE + 'worlds = "mar"\n', ["worlds must be a list with at least one entry"]),
    "unknown world": (NAIVE + '[[worlds]]\nname = "mra"\n', ["world 1", "did you mean 'mar'?"]),
    "no name": (NAIVE + "[[worlds]]\nset = {}\n", ["world 1", 'name = "mar"', "got None"]),
    "unknown world key": (NAIVE + MAR + "varies = {}\n", ["world 1", "'varies'", "did you mean 'vary'?"]),
    "unknown parameter": (
        NAIVE + MAR + "[[worlds]]\nname = 'mar'\nvary = { gama = [1] }\n",
        ["world 2", "parameter of world 'mar': 'gama'", "did you mean 'gamma'?"],
    ),
    "wrong type": (NAIVE + 'runs = "many"\n' + MAR, ["runs must be a whole number, got 'many'"]),
    "huge runs": (
        NAIVE + f"runs = 1{'0' * 400}\n" + MAR,
        ["runs must be at most", "got a number of more than 300 digits"],
    ),
    "huge horizon": (NAIVE + f"horizon = 1{'0' * 400}\n" + MAR, ["world 1: horizon", "must be at most"]),
    "more digits than Python reads": (
        NAIVE + f"runs = 1{'0' * 5000}\n" + MAR,
        ["as a TOML file", "digits"],
    ),
    "brackets without end": (
        NAIVE + MAR + f"set = {{ sd = {'[' * 3000}",
        ["as a TOML file", "recursion"],
    ),
    "huge value": (NAIVE + MAR + f"set = {{ sd = 1{'0' * 30} }}\n", ["set.sd must be at most", "as 1e30"]),
    "huge end of a span": (
        NAIVE + MAR + f"vary = {{ sd = {{ from = 1, to = 1{'0' * 400}, steps = 2 }} }}\n",
        ["vary.sd", "to must be a finite number, got inf"],
    ),
    "huge text of a policy": (
        f'policies = ["mar-ucb:level=1{"0" * 5000}"]\n' + MAR,
        ["policy 1", "level must be a positive number", "got inf"],
    ),
    "no runs": (NAIVE + "runs = 0\n" + MAR, ["runs must be a whole number of at least 1, got 0"]),
    "negative seed": (NAIVE + "seed = -1\n" + MAR, ["seed must be a whole number of at least 0, got -1"]),
    "wrong title": (NAIVE + "title = 3\n" + MAR, ["title must be a text, got 3"]),
    "bad horizon": (NAIVE + "horizon = [10, 0]\n" + MAR, ["world 1: horizon", "at least 1, got 0"]),
    "horizon twice": (NAIVE + "horizon = [10, 10]\n" + MAR, ["world 1: horizon", "10 is listed twice"]),
    "value out of range": (
        NAIVE + MAR + "vary = { gamma = [0.5, 1.5] }\n",
        ["world 1", "gamma=1.5", "(0, 1]"],
    ),
    "not a list": (
        NAIVE + MAR + "vary = { gamma = 0.5 }\n",
        ["world 1: vary.gamma", "list of values", "got 0.5"],
    ),
    "empty list": (NAIVE + MAR + "vary = { gamma = [] }\n", ["world 1: vary.gamma", "got []"]),
    "value twice": (NAIVE + MAR + "vary = { gamma = [0.5, 0.5] }\n", ["vary.gamma", "0.5 is listed twice"]),
    "vary is no table": (NAIVE + MAR + "vary = 3\n", ["world 1", "vary must be a table", "got 3"]),
    "set and varied": (
        NAIVE + MAR + "set = { gamma = 0.5 }\nvary = { gamma = [0.5] }\n",
        ["world 1", "gamma is given twice", "either set or varied"],
    ),
    "a table as value": (NAIVE + MAR + "set = { gamma = { low = 1 } }\n", ["set.gamma must be a number"]),
    "a date": (NAIVE + MAR + "set = { gamma = 2020-01-01 }\n", ["set.gamma must be a number"]),
    "span without to": (NAIVE + MAR + "vary = { gamma = { from = 1 } }\n", ["vary.gamma", "a span needs to"]),
    "span key": (NAIVE + MAR + "vary = { gamma = { from = 1, til = 2 } }\n", ["vary.gamma", "'til'"]),
    "span text": (
        NAIVE + MAR + 'vary = { gamma = { from = "a", to = 1, steps = 2 } }\n',
        ["vary.gamma", "from must be a number, got 'a'"],
    ),
    "span log": (
        NAIVE + MAR + 'vary = { gamma = { from = 0, to = 1, steps = 2, scale = "log" } }\n',
        ["vary.gamma", "must be above 0, got 0 to 1"],
    ),
    "span scale": (
        NAIVE + MAR + 'vary = { gamma = { from = 0.1, to = 1, steps = 2, scale = "ln" } }\n',
        ["vary.gamma", "scale must be 'linear' or 'log', got 'ln'"],
    ),
    "span of one": (
        NAIVE + MAR + "vary = { gamma = { from = 0.1, to = 1, steps = 1 } }\n",
        ["vary.gamma", "steps must be a whole number of at least 2, got 1"],
    ),
    "broken levels": (
        NAIVE + MAR + "vary = { K = [2.5] }\n",
        ["world 1", "K=2.5", "K must be a whole number"],
    ),
    "unknown policy": ('policies = ["mar-ubc"]\n' + MAR, ["policy 1", "did you mean 'mar-ucb'?"]),
    "policy type": ("policies = [3]\n" + MAR, ["policy 1", "must be a name or a table with a name, got 3"]),
    "policy parameter": (
        'policies = ["naive-ucb", { name = "mar-ucb", vary = { lvel = [1] } }]\n' + MAR,
        ["policy 2", "'lvel'", "did you mean 'level'?"],
    ),
    "policy value": (
        'policies = [{ name = "mar-ucb", vary = { level = [1, -1] } }]\n' + MAR,
        ["policy 1", "level must be a positive number", "got -1"],
    ),
    "policy twice": ('policies = ["mar-ucb", "mar-ucb"]\n' + MAR, ["policies", "mar-ucb is listed twice"]),
    "impossible": (
        'policies = ["mnar-ucb"]\n' + MAR,
        [
            "world 1 (mar, horizon=10,000)",
            "policy 'mnar-ucb'",
            "discrete",
            "give the world its own `policies`",
        ],
    ),
    "impossible at one point": (
        'policies = ["mnar-ucb"]\n[[worlds]]\nname = "mnar"\nvary = { K = [5, 4] }\n',
        ["world 1 (mnar, K=4, horizon=10,000)", "policy 'mnar-ucb'", "or vary less"],
    ),
    "too large": (
        NAIVE
        + MAR
        + "vary = { gamma = { from = 0.1, to = 1, steps = 2000 }, sd = { from = 1, to = 2, steps = 600 } }",
        ["1,200,000 points", "fewer steps"],
    ),
    "too many runs": (NAIVE + "runs = 1e12\n" + MAR, ["1,000,000,000,000 runs", "or with fewer runs"]),
    "a policy in too many ways": (
        'policies = [{ name = "mar-ucb", vary = { level = { from = 1, to = 2, steps = 1e4 }, '
        "kappa = { from = 1, to = 2, steps = 1e4 } } }]\n" + MAR,
        ["world 1: policies", "more than 1,000; name fewer"],
    ),
    "deep title": (
        NAIVE + f"title.{'a.' * 3000}a = 1\n" + MAR,
        ["title must be a text, got a value of type dict"],
    ),
    "long title": (NAIVE + f"title = [{'1, ' * 300_000}]\n" + MAR, ["title must be a text, got [1, 1", "…"]),
    "long value": (
        NAIVE + MAR + f"set = {{ gamma = {{ a = [{'1, ' * 9_000}] }} }}\n",
        ["set.gamma must be", "…"],
    ),
    "long policies": (f"policies = {{ a = [{'1, ' * 9_000}] }}\n" + MAR, ["policies must be a list", "…"]),
    "many names": (
        NAIVE + MAR + f"set = {{ {', '.join(f'a{i} = 1' for i in range(60_000))} }}\n",
        ["parameter of world 'mar': 'a0'"],
    ),
    "many steps": (
        NAIVE + "horizon = { from = 1, to = 999999, steps = 1000000 }\n" + MAR,
        ["world 1: horizon", "steps must be at most 10,000, got 1,000,000; vary it in fewer steps"],
    ),
    "many values": (
        NAIVE + MAR + f"vary = {{ gamma = [{', '.join(map(str, range(10_001)))}] }}\n",
        ["vary.gamma", "values must be at most 10,000, got 10,001"],
    ),
    "many policies": (f"policies = [{'1, ' * 1001}]\n" + MAR, ["policies must have at most 1,000 entries"]),
    "many policies together": (
        "policies = ["
        + ", ".join(
            f'{{ name = "mar-ucb:kappa={k}", vary = {{ level = {{ from = 1, to = 2, steps = 501 }} }} }}'
            for k in (1, 2)
        )
        + "]\n"
        + MAR,
        ["world 1: policies", "more than 1,000; name fewer"],
    ),
    "a span of infinite width": (
        NAIVE + MAR + "vary = { sd = { from = -1e308, to = 1e308, steps = 3 } }\n",
        ["vary.sd", "must have a finite width, got -1e+308 to 1e+308"],
    ),
    "an empty name": (NAIVE + MAR + 'vary = { "," = [1] }\n', ["vary.,", "a name is empty"]),
    "a policy's parameter twice": (
        'policies = [{ name = "mar-ucb:level=1", vary = { level = [2, 3] } }]\n' + MAR,
        ["policy 1", "level is given twice, in the name 'mar-ucb:level=1'"],
    ),
    "two parameters in one text": (
        'policies = [{ name = "mar-ucb", set = { level = "cautious,kappa=3" } }]\n' + MAR,
        ["policy 1", "Unknown level 'cautious,kappa=3'; did you mean 'cautious'?"],
    ),
    "a policy twice, written in two ways": (
        'policies = ["mar-ucb:level=1,kappa=2", " mar-ucb:kappa=2.0, level=1.0"]\n' + MAR,
        ["world 1: policies", "mar-ucb:kappa=2,level=1 is listed twice;"],
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files_are_refused_with_file_place_and_remedy(tmp_path, name):
    text, parts = BAD[name]
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(TruantError) as refusal:
        check(read_study(path))
    message = str(refusal.value)
    assert message.startswith(f"{path}: ")
    for part in parts:
        assert part in message
    assert "\n" not in message.strip()


def test_what_cannot_be_read(tmp_path):
    with pytest.raises(TruantError, match=r"nowhere\.toml: cannot be read"):
        read_study(tmp_path / "nowhere.toml")
    (tmp_path / "noise.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(TruantError, match="cannot be read as a TOML file: 'utf-8' codec"):
        read_study(tmp_path / "noise.toml")
    with pytest.raises(TruantError, match="cannot be read"):
        read_study(tmp_path)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"title": "\ud800"}, r"title must be a text that UTF-8 can write, got '\\ud800'"),
        ({"description": "a\ud800"}, r"description must be a text that UTF-8 can write"),
        ({"worlds": [{"name": "mar", "vary": {3: [1]}}]}, "a name in vary must be a text, got 3"),
        ({"worlds": [{"name": "mar", "set": {"gamma": "\udfff"}}]}, r"set\.gamma must be a text that UTF-8"),
        ({"worlds": [{"name": "mar", "title": "\ud800"}]}, "title must be a text that UTF-8"),
        ({"title": Unspeakable()}, "title must be a text, got a value of type Unspeakable"),
        ({"policies": Unspeakable()}, "got a value of type Unspeakable"),
        ({"worlds": [Unspeakable()]}, "got a value of type Unspeakable"),
        ({"worlds": [{"name": "mar", "vary": {"gamma": Unspeakable()}}]}, "got a value of type Unspeakable"),
    ],
)
def test_bad_values_of_python_are_refused(given, sentence):
    with pytest.raises(TruantError, match=sentence):
        study_of(SMALL | given)


def test_large_whole_numbers_of_a_span_fit_into_a_table():
    (block,) = study_of(
        SMALL | {"worlds": [{"name": "mar", "vary": {"sd": {"from": 1, "to": 1e30, "steps": 2}}}]}
    ).blocks
    (axis,) = block.axes
    assert [(value, type(value)) for value in axis.values] == [(1, int), (1e30, float)]


def test_the_largest_lists_are_checked_soon():
    horizon = {"from": 10_000, "to": 19_999, "steps": 10_000}
    (block,) = study_of(SMALL | {"horizon": horizon, "delay": list(range(100))}).blocks
    assert (len(block.horizons), len(block.delays)) == (10_000, 100)


def test_a_mark_before_the_first_letter(tmp_path):
    (tmp_path / "s.toml").write_text(NAIVE + MAR, encoding="utf-8-sig")
    assert read_study(tmp_path / "s.toml").source == NAIVE + MAR


def test_the_kind_of_error_is_kept(tmp_path):
    (tmp_path / "s.toml").write_text(NAIVE + '[[worlds]]\nname = "mra"\n')
    with pytest.raises(UnknownName):
        read_study(tmp_path / "s.toml")
