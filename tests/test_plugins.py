"""Packages that offer broken parts harm nobody who does not ask for them, and are named where parts are listed."""

import json
import os
import signal
import subprocess
import sys

import pytest
from click.testing import CliRunner

import truant
from truant import registry
from truant.cli import cli
from truant.errors import InvalidValue, UnknownName
from truant.policies import named, policy_names
from truant.registry import offered_points
from truant.worlds import make

GOOD = '''
from truant.assumptions.mcar import Mcar
from truant.indices.thompson import Thompson
from truant.worlds import RealWorld

class Sound(Mcar):
    """Sound."""

class Quick(Thompson):
    """Quick."""

def sound_world(rng, *, odd=float("nan"), weird=(1, {2: {3}})):
    """Sound \\x1b[31mworld."""
    return RealWorld([[1.0]] * 2, [[0.1], [0.2]])

def sound_policy():
    """Takes a name that means something built in."""
    raise AssertionError("nobody asked for it")
'''

BROKEN = {
    "raises": "raise RuntimeError('it is broken\\nin many ways')",
    "exits": "import sys; sys.exit(3)",
    "interrupts": "raise KeyboardInterrupt",
    "panics": "class Panic(BaseException): pass\nraise Panic('lost')",
    "panics_late": "class Panic(BaseException): pass\ndef part(): raise Panic('lost')",
    "number": "part = 3",
    "unreadable": "class P:\n    __signature__ = 'none'\n    def __call__(self): pass\npart = P()",
    "wrong": "def part(): return 5",
    "raises_late": "def part(): raise ValueError('late')",
    "exits_late": "import sys\ndef part(): sys.exit()",
    "interrupts_late": "def part(): raise KeyboardInterrupt",
    "needs_more": "def part(something): return something",
    "mute": "class Mute(Exception):\n    def __str__(self): raise Mute\nraise Mute",
    "hidden": (
        "from truant.assumptions.mcar import Mcar\nclass part(Mcar):\n"
        "    @property\n    def needs(self): raise OSError('gone')"
    ),
}
SAID = {
    "raises": "cannot be loaded: RuntimeError: it is broken.",
    "exits": "cannot be loaded: SystemExit: 3.",
    "interrupts": "cannot be loaded: KeyboardInterrupt.",
    "panics": "cannot be loaded: Panic: lost.",
    "panics_late": "cannot be built: Panic: lost.",
    "number": "must be a class or function, got int.",
    "unreadable": "must have parameters that can be read: TypeError: unexpected object 'none'",
    "wrong": "must build an Assumption, got int.",
    "raises_late": "cannot be built: ValueError: late.",
    "exits_late": "cannot be built: SystemExit.",
    "interrupts_late": "cannot be built: KeyboardInterrupt.",
    "needs_more": "cannot be built: TypeError: part() missing 1 required positional argument: 'something'.",
    "mute": "cannot be loaded: Mute.",
    "hidden": "cannot be used: OSError: gone.",
}


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Write a package as pip leaves it: modules, and the metadata beside them."""
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)

    def write(name, entry_points, **modules):
        about = tmp_path / f"{name}-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text(entry_points)
        for module, source in modules.items():
            (tmp_path / f"{module}.py").write_text(source)

    write("sound", SOUND, sound_module=GOOD)
    yield write
    for module in set(sys.modules) - before:
        if module.startswith(("sound_module", "broken_")):
            del sys.modules[module]


THROWAWAY = '''
from truant.assumptions import Advice, Inquiry

from truant.assumptions.mcar import Mcar

class Weather(Mcar):
    """Outcomes are missing on rainy days."""

    needs = "dry days in each arm"
    meaning = "outcomes are missing on rainy days, whoever they are of"
    advice = Advice("Rain decides.", "The scanner was wet.", "Dry days.", "Look at the sky.")
    inquiry = Inquiry(question="Were outcomes lost on rainy days?", explanation="Rain is no property of a customer.")
    listing_order = 0.5
'''
SOUND = """
[truant.assumptions]
sound = sound_module:Sound
[truant.indices]
quick = sound_module:Quick
[truant.worlds]
sound = sound_module:sound_world
"""


def listing(plural):
    """The names of a listing and its warnings, as text and as JSON."""
    shown = CliRunner().invoke(cli, [plural], catch_exceptions=False)
    found = json.loads(CliRunner().invoke(cli, [plural, "--json"], catch_exceptions=False).stdout)
    assert shown.exit_code == 0
    assert shown.stderr.splitlines() == found["warnings"]
    return [row["name"] for row in found[plural]], found["warnings"], shown.stdout


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_part_is_named_once_where_parts_are_listed_and_refused_where_asked_for(package, kind):
    package("broken", f"[truant.assumptions]\nodd = broken_{kind}:part\n", **{f"broken_{kind}": BROKEN[kind]})
    names, (warning,), _ = listing("assumptions")
    assert warning.startswith(f"The assumption 'odd' of broken {SAID[kind]}")
    assert "\n" not in warning
    assert "odd" not in names
    assert names[-1] == "sound"
    names, warnings, _ = listing("policies")
    assert {"mar-ucb", "sound-quick", "mar-quick", "sound-ucb"} <= set(names)
    assert not [name for name in names if name.startswith("odd")]
    assert len(warnings) == 1
    assert "odd-ucb" in policy_names()  # nothing was imported to know
    if (
        "interrupts" in kind
    ):  # as if the user had pressed Ctrl-C, unless that is ignored, as in the background
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            with pytest.raises(KeyboardInterrupt):
                named("odd-ucb")
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            with pytest.raises(InvalidValue, match="KeyboardInterrupt"):
                named("odd-ucb")
        finally:
            signal.signal(signal.SIGINT, before)
    elif kind != "hidden":
        with pytest.raises(InvalidValue) as refusal:
            named("odd-ucb")
        assert str(refusal.value) == warning


def test_a_listing_that_is_interrupted_ends(package):
    source = "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)\nfor _ in range(10**8): pass"
    package("broken", "[truant.worlds]\nodd = broken_slow:part\n", broken_slow=source)
    assert CliRunner().invoke(cli, ["worlds"]).exit_code == 143


def test_nobody_else_is_hurt(package, tmp_path):
    """A package that ends the process on import, and offers a name of every kind."""
    rooms = ("assumptions", "indices", "worlds", "policies")
    points = "".join(f"[truant.{room}]\nodd = broken_exits:part\n" for room in rooms)
    package("broken", points, broken_exits="import os; print('imported'); os._exit(9)")
    data = {"g": ["a", "b"] * 20, "y": [1.0, 2.0, 3.0, None] * 10}
    assert truant.analyze(data, arm="g", outcome="y").assumptions
    assert truant.simulate("mcar", "mcar-ucb", horizon=10, runs=1, progress=False).runs == 1
    assert "broken_exits" not in sys.modules
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    code = "from truant.cli import main; main()"
    for arguments, more in [
        (["--help"], {}),
        (
            [],
            {
                "_TRUANT_COMPLETE": "bash_complete",
                "COMP_WORDS": "truant simulate --world o",
                "COMP_CWORD": "3",
            },
        ),
        (
            [],
            {
                "_TRUANT_COMPLETE": "bash_complete",
                "COMP_WORDS": "truant simulate --world odd --set g",
                "COMP_CWORD": "5",
            },
        ),
    ]:
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments], capture_output=True, env=environment | more, check=False
        )
        assert done.returncode == 0, done.stderr
        assert b"imported" not in done.stdout


def test_an_assumption_of_another_package_is_used_where_it_is_named(package):
    data = {"g": ["a", "b"] * 20, "y": [1.0, 2.0, 3.0, None] * 10}
    alone = truant.analyze(data, arm="g", outcome="y")
    assert "sound" not in alone.assumptions
    assert "sound_module" not in sys.modules
    assert truant.analyze(data, arm="g", outcome="y", assume=["mcar", "sound"]).assumptions == [
        "mcar",
        "sound",
    ]


@pytest.mark.parametrize("name", ["", "two words", "a:b", "bell\x07", "_", "-x", "x\u202e", "a,b", "a=b"])
def test_a_name_that_nobody_can_type_is_not_offered(package, name, monkeypatch):
    from importlib.metadata import EntryPoint

    odd = EntryPoint(name, "sound_module:sound_world", "truant.worlds")
    monkeypatch.setattr(registry, "offered_points", lambda group: ([odd], []))
    assert name not in registry.names("world")
    _, (warning,), shown = listing("worlds")
    assert warning.startswith(
        f"The world {name!r} of another package cannot be used: a name is letters, digits, "
    )
    assert "\x07" not in shown
    with pytest.raises(UnknownName):
        registry.find("world", name)


def test_a_built_in_name_stays_what_it_is(package):
    package(
        "thief",
        "[truant.worlds]\nmar = sound_module:sound_world\n"
        "[truant.policies]\nmar-ucb = sound_module:sound_policy\nnaive-ucb = sound_module:sound_policy\n"
        "[truant.assumptions]\nmar-epsilon = sound_module:Sound\nmar-low = sound_module:Sound\n",
    )
    assert registry.find("world", "mar").package == ""
    assert listing("worlds")[1] == [
        "The world 'mar' of thief is ignored: 'mar' is built in; it needs another name."
    ]
    assert listing("policies")[1] == [
        f"The policy {name!r} of thief is ignored: {name!r} is built in; it needs another name."
        for name in ("mar-ucb", "naive-ucb")
    ]
    assert named("mar-ucb").summary.startswith("mar with ucb: ")
    assert named("mar-epsilon-greedy").summary.startswith("mar with epsilon-greedy: ")
    result = CliRunner().invoke(
        cli, ["simulate", "--world", "mar-low", "--horizon", "20", "--runs", "1", "--json"]
    )
    assert [row["name"] for row in json.loads(result.stdout)["policies"]][1] == "mar-ucb"


def test_a_name_that_two_packages_offer_means_neither(package):
    for name in ("one", "two"):
        package(name, "[truant.worlds]\ntwin = sound_module:sound_world\n")
    names, (warning,), _ = listing("worlds")
    assert warning == "The world 'twin' is offered more than once, by one and two; uninstall one."
    assert "twin" not in names
    with pytest.raises(InvalidValue, match=r"^The world 'twin' is offered more than once, by one and two"):
        make("twin")


def test_odd_defaults_and_escapes_are_listed_and_printing_stays_out_of_json(package):
    package(
        "loud",
        "[truant.indices]\nloud = broken_loud:Loud\n",
        broken_loud=f"print('loud'){GOOD}\nLoud = Quick",
    )
    result = CliRunner().invoke(cli, ["indices", "--json"])
    assert json.loads(result.stdout)["indices"][-1]["name"] == "loud"
    assert "loud\n" in result.stderr
    _, warnings, shown = listing("worlds")
    assert warnings == []
    assert "Sound \\x1b[31mworld.  odd=nan weird=1,{'2': '{3}'}" in shown


@pytest.mark.parametrize(
    ("file", "content"),
    [("entry_points.txt", b"[truant.worlds]\nno equals sign\n"), ("entry_points.txt", b"\xff\xfe")],
)
def test_a_package_whose_metadata_cannot_be_read_is_named(package, tmp_path, file, content):
    folder = tmp_path / "damaged-1.0.dist-info"
    folder.mkdir()
    (folder / file).write_bytes(content)
    assert "sound" in registry.names("world")
    names, (warning,), _ = listing("worlds")
    assert "sound" in names
    assert warning.startswith("The entry points of ")
    assert "damaged-1.0.dist-info cannot be read: " in warning


def test_a_package_without_metadata_still_offers_its_parts(package, tmp_path):
    folder = tmp_path / "bare-1.0.dist-info"
    folder.mkdir()
    (folder / "entry_points.txt").write_text("[truant.worlds]\nbare = sound_module:sound_world\n")
    points, problems = offered_points("truant.worlds")
    assert problems == []
    assert {"bare", "sound"} <= {point.name for point in points}
    assert make("bare").setting.arms == 2


def test_a_part_that_fails_while_it_is_built_is_named_with_its_package(package):
    package(
        "fails",
        "[truant.worlds]\nfails = broken_fails:world\n",
        broken_fails="def world(rng, *, arms=2):\n    return 1 / arms if arms < 3 else {}['x']\n",
    )
    for arms, said in [
        (0, "cannot be built: ZeroDivisionError: "),
        (1, "must build a World, got float."),
        (3, "KeyError"),
    ]:
        with pytest.raises(InvalidValue, match=f"^The world 'fails' of fails .*{said}"):
            make("fails", arms=arms)
    result = CliRunner().invoke(cli, ["simulate", "--world", "fails:arms=0", "--policy", "mcar-ucb"])
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)


def test_an_assumption_of_one_file_appears_wherever_assumptions_do(package, tmp_path):
    package(
        "throwaway",
        "[truant.assumptions]\nweather = broken_weather:Weather\n",
        broken_weather=THROWAWAY,
    )

    def run(*arguments):
        result = CliRunner().invoke(cli, arguments, catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return result.stdout

    assert "weather  " in run("assumptions")
    assert "7. Were outcomes lost on rainy days?" in run("which")
    concluded = run("which", "--answers", "no,no,yes")
    assert "Assumption: weather\nWhy: Rain decides.\nExample: The scanner was wet." in concluded
    assert "truant analyze DATA.csv --arm ARM --outcome OUTCOME --assume weather\n" in concluded
    assert json.loads(run("which", "--answers", "no,yes,yes,yes,no", "--json"))["assumption"] == "follow-up"
    rows = tmp_path / "rows.csv"
    rows.write_text("arm,y\n" + "old,0\nold,1\nnew,1\nnew,\n" * 25 + "old,0\nnew,1\n" * 50)
    table = (
        "analyze",
        str(rows),
        "--arm",
        "arm",
        "--outcome",
        "y",
        "--assume",
        "weather",
        "--assume",
        "mcar",
    )
    shown = json.loads(run(*table, "--json"))
    assert {"weather", "mcar"} == set(shown["arms"][0]["estimates"])
    assert "it leads under weather (" in shown["verdict"]["sentence"]
    page = run(*table)
    assert "weather: outcomes are missing on rainy days, whoever they are of" in page
