"""Commands that show what is known, and those that write files."""

import csv
import json
import re
import sqlite3
import time

import pytest
from rich.console import Console

from tests.live.commands import CREATE, in_a_folder, printed, refused, run, settled_experiment  # noqa: F401
from truant.cli.live import show as watching
from truant.live.experiment import Experiment

pytestmark = pytest.mark.usefixtures("in_a_folder")


@pytest.fixture
def mail(in_a_folder):  # noqa: F811
    """Sixty decisions of the past, of which 40 have an outcome; their windows are over."""
    return settled_experiment()


def test_status_closes_windows_and_shows_the_arms(mail, in_a_folder):  # noqa: F811
    result = run("status", "mail", "--no-calibrate", "--html", "page.html")
    lines = result.stdout.splitlines()
    assert lines[0].startswith("Experiment mail  running at 20")
    assert lines[1] == "60 decisions: 0 pending, 40 observed, 20 missing; mar-ucb, window 7d"
    head = next(number for number, line in enumerate(lines) if line.startswith("arm "))
    arms = {line.split()[0]: line.split() for line in lines[head + 2 : head + 4]}
    found = printed("status", "mail", "--no-calibrate")
    for arm in found["arms"]:
        shown = arms[arm["arm"]]
        assert shown[2:7] == [
            str(arm[name]) for name in ("asked", "pending", "settled", "observed", "missing")
        ]
    assert found["verdict"] in result.stdout
    assert "Settled decisions (window closed) under every assumption; 95% intervals" in lines
    assert lines[-1] == "Wrote page.html"
    assert "<html" in (in_a_folder / "page.html").read_text(encoding="utf-8")


def test_a_verdict_stands_once(mail):
    verdict = printed("status", "mail", "--no-calibrate")["verdict"]
    assert run("status", "mail", "--no-calibrate").stdout.count(verdict) == 1


def test_status_before_anything_is_known():
    run(*CREATE)
    found = run("status", "mail").stdout
    assert "0 decisions: 0 pending, 0 observed, 0 missing" in found
    assert "No window closes before" in found
    assert "under every assumption" not in found


def test_a_page_is_refused_before_the_work(mail, monkeypatch):
    def refuse(*arguments, **options):
        raise AssertionError("worked before the output was checked")

    monkeypatch.setattr(Experiment, "status", refuse)
    assert "must end in .html" in refused("status", "mail", "--html", "page.pdf")


def test_watch_when_piped_is_one_plain_status(mail):
    found = run("watch", "mail").stdout
    assert re.match(r"Experiment mail  running at 20.*\n60 decisions", found)
    assert "\x1b" not in found
    assert found.count("Last events") == 1
    assert "created" in found.splitlines()[-2]
    assert "closed" in found.splitlines()[-1]
    assert "under every assumption" not in found


def test_watch_several_times(mail, monkeypatch):
    monkeypatch.setattr(watching, "PAUSE", 0.2)
    start = time.monotonic()
    found = run("watch", "mail", "--times", "3").stdout
    assert time.monotonic() - start >= 0.4
    assert "--every was removed" in run("watch", "mail", "--every", "1m", code=2).stderr
    assert found.count("Last events") == 3
    documents = [
        json.loads(line) for line in run("watch", "mail", "--times", "2", "--json").stdout.splitlines()
    ]
    assert [one["schema"] for one in documents] == ["truant/status/1"] * 2


def test_watch_in_a_terminal_shows_only_the_last_events(mail, monkeypatch):
    screen = Console(force_terminal=True, width=100, height=40, record=True)
    monkeypatch.setattr(watching, "is_terminal", lambda: True)
    monkeypatch.setattr(watching, "console", lambda: screen)
    monkeypatch.setattr(watching, "PAGE", 3)
    for i in range(8):
        run("pause" if i % 2 == 0 else "resume", "mail", "--why", f"event {i}")
    monkeypatch.setattr(watching, "PAUSE", 0)
    run("watch", "mail", "--times", "2")
    shown = screen.export_text()
    assert "event 7" in shown
    assert "event 3" not in shown
    assert "Experiment mail" in shown


def test_events_in_pages(mail):
    run("pause", "mail")
    run("resume", "mail", "--why", "back")
    first = printed("events", "mail", "--limit", "2")["events"]
    rest = printed("events", "mail", "--after", first[-1]["number"])["events"]
    assert first[0]["kind"] == "created"
    assert rest[-1]["kind"] == "resumed"
    assert rest[-1]["at"].endswith("Z")
    shown = run("events", "mail", "--limit", "2").stdout.splitlines()
    assert shown[-1] == f"There may be more: --after {first[-1]['number']}."
    assert "back" in run("events", "mail").stdout


def test_doctor_finds_nothing_then_a_changed_outcome(mail):
    run("close-windows", "mail")
    assert "mail: no errors found" in run("doctor").stdout
    connection = sqlite3.connect("truant.db")
    with connection:
        connection.execute(
            "UPDATE decisions SET outcome = 1 - outcome WHERE number = 2 AND outcome IS NOT NULL"
        )
    connection.close()
    assert "differ from a recount" in run("doctor", "mail", code=1).stdout
    found = printed("doctor", code=1)
    assert found["healthy"] is False
    assert found["experiments"][0]["findings"]
    assert "did you mean 'mail'?" in refused("doctor", "mial")


def test_doctor_of_several_experiments_and_of_none(mail):
    run(*CREATE[:1], "other", *CREATE[2:])
    found = printed("doctor")
    assert [one["experiment"] for one in found["experiments"]] == ["mail", "other"]
    assert found["healthy"] is True


def test_close_windows_counts_decisions(mail):
    assert run("close-windows", "mail").stdout == "60 decisions were counted.\n"
    assert printed("close-windows", "mail")["decisions"] == 0


def test_export_writes_settled_decisions_that_analyze_reads(mail, in_a_folder):  # noqa: F811
    run("close-windows", "mail")
    run("ask", "mail", "--n", "5")
    assert run("export", "mail", "--out", "rows.csv").stdout == "Wrote rows.csv\n"
    run("export", "mail", "--out", "all.csv", "--all")
    sizes = {}
    for name in ("rows.csv", "all.csv"):
        with open(name, newline="") as file:
            sizes[name] = len(list(csv.DictReader(file)))
    assert sizes == {"rows.csv": 60, "all.csv": 65}
    analysis = printed(
        "analyze",
        "rows.csv",
        "--arm",
        "arm",
        "--mediator",
        "mediator",
        "--outcome",
        "outcome",
        "--levels",
        "0,1",
    )
    status = printed("status", "mail", "--no-calibrate")
    naive = {arm["arm"]: arm["naive"]["mean"] for arm in analysis["arms"]}
    assert naive == pytest.approx({arm["arm"]: arm["naive"]["mean"] for arm in status["analysis"]["arms"]})


def test_import_adds_past_decisions_or_none(in_a_folder):  # noqa: F811
    run(*CREATE)
    (in_a_folder / "past.csv").write_text(
        "n,arm,outcome,asked\n1,old,1,2026-01-01 09:00\n2,new,,2026-01-02 09:00\n3,new,0,2026-01-02 10:00\n"
    )
    command = ["import", "mail", "past.csv", "--source", "shop", "--identified-by", "n"]
    assert run(*command, "--why", "last year").stdout == "3 decisions were added.\n"
    assert run(*command).stdout == "0 decisions were added, 3 were known already.\n"
    found = printed("status", "mail", "--no-calibrate")
    assert (found["settled"], found["observed"]) == (3, 2)
    assert [one["why"] for one in printed("events", "mail")["events"] if one["kind"] == "imported"] == [
        "last year"
    ]
    (in_a_folder / "wrong.csv").write_text("n,arm,outcome\n4,old,1\n5,odl,1\n")
    wrong = ["import", "mail", "wrong.csv", "--source", "shop", "--identified-by", "n"]
    assert "line 3: Unknown arm 'odl'; did you mean 'old'?" in refused(*wrong)
    assert "would count its rows twice" in refused(*wrong[:3])
    assert printed("status", "mail", "--no-calibrate")["decisions"] == 3


def test_backup_is_a_store(mail):
    assert run("backup", "--out", "copy.db").stdout == "Wrote copy.db\n"
    assert printed("list", "--store", "copy.db")["experiments"] == printed("list")["experiments"]
    assert "there already" in refused("backup", "--out", "copy.db")
    assert "There is no backup at 'nosuch.db'." in refused("restore", "nosuch.db", "--store", "new.db")


def test_follow_ups_for_people(mail):
    result = run("follow-up", "mail", "--n", "4")
    lines = result.stdout.splitlines()
    assert lines[0] == "4 of 20 missing outcomes picked for follow-up"
    assert lines[2].split() == ["id", "arm", "mediator", "asked", "pick", "probability"]
    assert len(lines) >= 7
    listed = [one for one in printed("events", "mail")["events"] if one["kind"] == "listed"]
    assert [one["actor"] for one in listed] == ["tester"]
    assert "The budget is used up." in run("follow-up", "mail", "--budget", "4").stdout
    assert "Say how many to pick" in refused("follow-up", "mail")


def test_the_same_commands_on_postgresql(postgres_url, in_a_folder, monkeypatch):  # noqa: F811
    monkeypatch.setenv("TRUANT_STORE", postgres_url)
    run(*CREATE)
    ids = [one["id"] for one in printed("ask", "mail", "--n", "20")["decisions"]]
    (in_a_folder / "outcomes.csv").write_text(
        "id,outcome\n" + "".join(f"{id},1\n" for id in [*ids, "nosuch"])
    )
    assert printed("tell", "mail", "--csv", "outcomes.csv", code=1)["counts"]["accepted"] == 20
    assert printed("status", "mail", "--no-calibrate")["pending"] == 20
    assert printed("doctor")["healthy"] is True
    run("backup", "--out", "copy.db")
    run("restore", "copy.db", "--store", "copied.db")
    found = printed("tell", "mail", ids[0], "--outcome", "1", "--store", "copied.db")
    assert found["verdict"] == "repeated"


@pytest.mark.parametrize(
    ("width", "kept"),
    [(50, ["arm", "share", "observed", "missing", "mean"]), (100, ["asked", "mean", "P(best)"])],
)
def test_a_status_fits_the_terminal(mail, width, kept):
    experiment = Experiment.open("mail", store="truant.db")
    console = Console(width=width)
    with console.capture() as captured:
        console.print(experiment.status(calibrate=False))
    experiment.store.close()
    lines = captured.get().splitlines()
    head = next(line for line in lines if line.startswith("arm"))
    assert {*kept} <= {*head.split()}
    assert ("asked" in head) == (width == 100)
    assert "withdrawn" not in head  # there are none
    assert max(map(len, lines)) <= width
