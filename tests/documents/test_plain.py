"""No label, column or file name gives orders to a terminal, to rich or to a page."""

import dataclasses
import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.console import Console

import truant
from truant.charts import save_chart
from truant.cli import cli

EVIL = "\x1b[2J\x07[red]x[/red][link=http://a]\u202e\u200b\r</script><script>alert(1)</script>"
SHOWN = "\\x1b[2J\\x07[red]x[/red][link=http://a]\\u202e\\u200b\\r</script>"
FORBIDDEN = ("\x1b[2J", "\x07", "\u202e", "\u200b", "\r")


def drawn(result, width=250):
    console = Console(width=width, force_terminal=True)
    with console.capture() as shown:
        console.print(result)
    return shown.get()


def harmless(text):
    return not any(letters in text for letters in FORBIDDEN)


@pytest.fixture(scope="module")
def analysis():
    table = {
        f"arm{EVIL}": [f"a{EVIL}", f"b{EVIL}" * 9] * 30,
        f"m{EVIL}": [f"x{EVIL}", f"x{EVIL}", f"y{EVIL}"] * 20,
        f"out{EVIL}": [1.0, 2.0, 3.0, 5.0, None, 4.5] * 10,
    }
    arm, mediator, outcome = table
    return truant.analyze(table, arm=arm, mediator=mediator, outcome=outcome, control=f"a{EVIL}")


@pytest.mark.parametrize("width", [60, 120, 400])
def test_an_analysis(analysis, width):
    text = drawn(analysis, width)
    assert harmless(text)
    assert harmless(str(analysis))
    assert SHOWN in str(analysis)  # whole in sentences
    assert "a\\x1b[2J\\x07[red]x[/red][link=" in text.replace("\n", "")
    assert max(map(len, str(analysis).splitlines())) <= 200
    assert json.loads(json.dumps(analysis.summary()))["control"] == f"a{EVIL}"  # JSON is exact


def test_pages_and_charts_cannot_be_left(analysis, tmp_path):
    page = analysis.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<script>alert(1)" not in page
    assert "<script>alert(1)" not in analysis._repr_html_()
    policy = dataclasses.replace(truant.policy("mcar-ucb"), name=f"own{EVIL}")
    result = truant.simulate("mcar", ["mcar-ucb", policy], horizon=20, runs=2, progress=False)
    result.world = f"w{EVIL}"
    assert harmless(drawn(result))
    assert harmless(repr(result))
    assert "own" + SHOWN[:20] in repr(result)
    assert "<script>alert(1)" not in result._repr_html_()
    chart = save_chart(result.chart(), tmp_path / "chart.html").read_text(encoding="utf-8")
    assert "<script>alert(1)" not in chart
    assert "alert(1)" in chart  # it is there, as a text


@pytest.mark.parametrize(
    "arguments",
    [
        ["analyze", f"none{EVIL}.csv", "--arm", "a", "--outcome", "b"],
        ["sweep", f"none{EVIL}.toml"],
        ["simulate", "--world", f"mar{EVIL}"],
        ["simulate", "--world", "mar", "--policy", f"x{EVIL}"],
        ["simulate", "--world", "mar", "--runs", EVIL],
        ["simulate", "--world", "mar", f"--{EVIL}"],
        ["simulate", "--world", "mar", "--out", f"{EVIL}.txt"],
        [f"{EVIL}"],
    ],
)
def test_refusals(arguments):
    result = CliRunner().invoke(cli, arguments)
    assert result.exit_code == 2
    assert harmless(result.stderr)


def test_what_was_written_is_said_harmlessly(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("\x1b[2Jx").mkdir()
    Path("\x1b[2Jx/d.csv").write_text("g,y\n" + "a,1\nb,2\na,3\nb,\n" * 9)
    command = ["analyze", "\x1b[2Jx/d.csv", "--arm", "g", "--outcome", "y", "--out", "\x1b[2Jx/e.csv"]
    result = CliRunner().invoke(cli, command)
    assert result.exit_code == 0
    assert harmless(result.output)
    assert "Wrote \\x1b[2Jx/e.csv" in result.output
