"""Commands of live experiments: create, ask, tell, and changes."""

import os
import re
import shlex
import subprocess
import sys

import pytest

from tests.live.commands import CREATE, in_a_folder, printed, refused, run  # noqa: F401
from truant.live.experiment import Experiment

pytestmark = pytest.mark.usefixtures("in_a_folder")


@pytest.fixture
def mail(in_a_folder):  # noqa: F811
    run(*CREATE)
    return in_a_folder


def events():
    return printed("events", "mail")["events"]


def test_create_says_what_was_made_and_when_it_can_learn():
    result = run(
        *("create", "mail", "--arms", "old, new", "--mediator-levels", "closed,opened", "--range", "0,200"),
        *("--assume", "mar", "--window", "7d", "--grace", "1d", "--horizon", "5e4", "--holdout", ".05"),
        *(
            "--split",
            ".25,.75",
            "--control",
            "old",
            "--minimum-share",
            ".01",
            "--warm-up",
            "14d",
            "--why",
            "a try",
        ),
    )
    lines = result.stdout.splitlines()
    assert lines[0] == "Experiment mail"
    shown = dict(re.split(r" {2,}", line.strip(), maxsplit=1) for line in lines[1:-4])
    assert shown["arms"] == "old, new"
    assert shown["outcome"] == "0 to 200"
    assert shown["policy"] == "mar-ucb"
    assert shown["horizon"] == "50,000"
    assert shown["split"] == "0.25, 0.75"
    assert lines[-3].startswith("No window closes before ")
    assert "shares stay fixed until" in lines[-3]
    event = events()[0]
    assert (event["kind"], event["actor"], event["why"]) == ("created", "tester", "a try")
    experiment = Experiment.open("mail", store="truant.db")
    configuration = experiment.configuration.summary()
    assert configuration["window"] == "7d"
    assert configuration["grace"] == "1d"
    assert configuration["control"] == "old"
    assert configuration["minimum_share"] == 0.01
    experiment.store.close()


def test_create_as_json_and_the_list_of_experiments(mail):
    made = printed("create", "other", *CREATE[2:], "--minimize")
    assert made["name"] == "other"
    assert made["status"] == "running"
    assert made["configuration"]["minimize"] is True
    listed = printed("list")["experiments"]
    assert [one["name"] for one in listed] == ["mail", "other"]
    lines = run("list").stdout.splitlines()
    assert lines[0].split() == ["name", "status", "revision", "created"]
    assert lines[2].split()[:3] == ["mail", "running", "1"]


def test_a_store_without_experiments(mail):
    run("backup", "--out", "copy.db")
    assert run("restore", "copy.db", "--store", "new.db").stdout == "1 experiment was restored.\n"
    assert printed("list", "--store", "new.db")["experiments"] == printed("list")["experiments"]
    assert "has some" in refused("restore", "copy.db")


def test_ask_keeps_the_decision_and_a_key_its_arm(mail):
    first = printed("ask", "mail", "--key", "customer-17")
    again = printed("ask", "mail", "--key", "customer-17")
    assert first["experiment"] == "mail"
    assert first["decisions"][0]["repeated"] is False
    assert again["decisions"][0] == first["decisions"][0] | {"repeated": True}
    assert printed("lookup", "mail", "--key", "customer-17")["decisions"] == again["decisions"]
    several = printed("ask", "mail", "--n", "10")["decisions"]
    assert len({one["id"] for one in several}) == 10
    assert {one["probability"] for one in several} == {0.5}


def test_ask_for_people(mail):
    head, line = run("ask", "mail", "--key", "customer-17").stdout.splitlines()
    assert head.split() == ["id", "arm", "probability", "deadline"]
    id, arm, probability, deadline = line.split()
    kept = printed("lookup", "mail", "--key", "customer-17")["decisions"][0]
    assert (id, arm, probability) == (kept["id"], kept["arm"], "0.5")
    assert deadline == kept["deadline"][:19] + "Z"
    assert "asked before" in run("ask", "mail", "--key", "customer-17").stdout


def test_lookup_enters_nobody(mail):
    result = run("lookup", "mail", "--key", "customer-17", code=1)
    assert (result.stdout, result.stderr) == ("", "No decision has this key.\n")
    assert printed("lookup", "mail", "--key", "customer-17", code=1)["decisions"] == []
    assert printed("ask", "mail", "--key", "customer-17")["decisions"][0]["repeated"] is False


def test_ask_imports_neither_numba_nor_numpy(mail):
    code = (
        "import sys\n"
        "from truant.cli import main\n"
        "sys.argv = ['truant', 'ask', 'mail', '--key', 'customer-17']\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code\n"
        "heavy = {'numba', 'numpy', 'pyarrow', 'rich'} & {*sys.modules}\n"
        "assert not heavy, heavy\n"
    )
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
    assert printed("lookup", "mail", "--key", "customer-17")["decisions"][0]["id"] in done.stdout


def test_tell_in_parts_in_any_order():
    run(*CREATE, "--mediator-levels", "closed,opened", "--assume", "mar")
    id = printed("ask", "mail", "--key", "k")["decisions"][0]["id"]
    assert run("tell", "mail", id, "--outcome", "1").stdout == f"Decision {id}: accepted.\n"
    assert printed("tell", "mail", "--key", "k", "--mediator", "opened")["verdict"] == "accepted"
    again = printed("tell", "mail", id, "--outcome", "1", "--mediator", "opened")
    assert (again["id"], again["verdict"]) == (id, "repeated")
    assert "has outcome 1 already, got 0" in refused("tell", "mail", id, "--outcome", "0")
    assert "got missing" in refused("tell", "mail", id, "--outcome", "missing")


def test_the_word_missing_and_a_level_of_that_name():
    run(*CREATE, "--mediator-levels", "missing,opened", "--assume", "mar")
    id = printed("ask", "mail")["decisions"][0]["id"]
    run("tell", "mail", id, "--mediator", "missing", "--outcome", "missing")
    run("export", "mail", "--out", "rows.csv", "--all")
    with open("rows.csv") as file:
        head, row = (line.strip().split(",") for line in file)
    found = dict(zip(head, row, strict=True))
    assert found["mediator"].strip('"') == "missing"
    assert found["outcome"] == ""
    assert "is reported as missing already" in refused("tell", "mail", id, "--outcome", "1")


def test_a_number_as_mediator_is_cut():
    run(*CREATE, "--mediator-cuts", "10,50", "--assume", "mar")
    id = printed("ask", "mail")["decisions"][0]["id"]
    assert printed("tell", "mail", id, "--mediator", "-3")["verdict"] == "accepted"
    assert printed("tell", "mail", id, "--mediator", "10")["verdict"] == "repeated"
    assert "another mediator" in refused("tell", "mail", id, "--mediator", "10.5")
    assert refused("tell", "mail", id, "--mediator", "ten") == (
        "mediator must be a finite number, or the word missing, got 'ten'."
    )


def test_correct_withdraw_and_forget_are_events(mail):
    id = printed("ask", "mail", "--key", "k")["decisions"][0]["id"]
    run("tell", "mail", id, "--outcome", "1")
    assert (
        run("correct", "mail", id, "--outcome", "0", "--why", "typo").stdout
        == f"Decision {id} was corrected.\n"
    )
    assert printed("tell", "mail", id, "--outcome", "0")["verdict"] == "repeated"
    change = printed("withdraw", "mail", "--key", "k", "--actor", "anna", "--why", "no consent")
    assert (change["action"], change["id"]) == ("withdrawn", None)
    assert "was withdrawn" in refused("tell", "mail", id, "--outcome", "0")
    assert printed("forget", "mail", "--key", "k")["action"] == "forgotten"
    assert run("forget", "mail", "--key", "k").stdout == "No decision has this key.\n"
    kinds = [(one["kind"], one["actor"], one["why"]) for one in events()[1:]]
    assert kinds == [
        ("corrected", "tester", "typo"),
        ("withdrawn", "anna", "no consent"),
        ("forgotten", "tester", None),
    ]


def test_pause_resume_and_end(mail):
    assert run("pause", "mail", "--why", "holidays").stdout == "Experiment 'mail' is paused.\n"
    assert "is paused" in refused("ask", "mail")
    assert printed("resume", "mail")["status"] == "running"
    run("ask", "mail")
    assert run("end", "mail").stdout == "Experiment 'mail' has ended.\n"
    assert "has ended" in refused("ask", "mail")
    assert "cannot be resumed" in refused("resume", "mail")
    assert [one["kind"] for one in events()] == ["created", "paused", "resumed", "ended"]


def test_a_fallback_is_marked_as_outside(mail):
    run("change", "mail", "--fallback", "old")
    run("pause", "mail")
    decision = printed("ask", "mail")["decisions"][0]
    assert (decision["id"], decision["arm"], decision["fallback"]) == (None, "old", True)
    assert "outside the experiment" in run("ask", "mail").stdout


def test_change_makes_a_revision(mail):
    assert run("change", "mail", "--policy", "mcar-ucb", "--window", "1d").stdout == (
        "Experiment 'mail' is at revision 2 now.\n"
    )
    assert "stays at revision 2" in run("change", "mail", "--policy", "mcar-ucb").stdout
    made = printed("change", "mail", "--control", "old", "--stop-loss", ".01", "--revision", "2")
    assert made["configuration"]["control"] == "old"
    assert made["configuration"]["window"] == "1d"
    unset = printed("change", "mail", "--control", "", "--stop-loss", "")
    assert unset["revision"] == 4
    assert unset["configuration"]["control"] is None
    assert unset["configuration"]["stop_loss"] is None
    assert "meant for 2" in refused("change", "mail", "--level", ".9", "--revision", "2")
    assert "Say what to change" in refused("change", "mail")
    gone = run("change", "mail", "--unset", "control", code=2).stderr
    assert "--unset was replaced by an empty value of the setting, such as --control ''." in gone
    assert "Say how long to wait" in refused("change", "mail", "--window", "")


def test_arms_come_and_go(mail):
    assert run("arm", "add", "mail", "bold", "--why", "an idea").stdout == "Arm 'bold' was added.\n"
    assert printed("arm", "retire", "mail", "old")["configuration"]["retired"] == ["old"]
    arms = {one["arm"] for one in printed("ask", "mail", "--n", "200")["decisions"]}
    assert arms == {"new", "bold"}
    assert "did you mean 'new'?" in refused("arm", "retire", "mail", "nwe")
    assert "There is an arm 'bold' already." in refused("arm", "add", "mail", "bold")
    assert [one["kind"] for one in events()] == ["created", "arm_added", "arm_retired"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["ask", "mial"], "Unknown experiment 'mial'; did you mean 'mail'? Known: mail."),
        (
            ["ask", "mail", "--store", "other.db"],
            "There is no store at 'other.db'; create an experiment first, or name the store with --store",
        ),
        (["ask", "mail", "--store", "mysql://host/x"], "Unknown store 'mysql'"),
        (["ask", "mail", "--n", "0"], "n must be a whole number from 1 to 100,000, got 0."),
        (["ask", "mail", "--n", "2", "--key", "k"], "Give one of n, key and keys."),
        (["tell", "mail", "nosuch", "--outcome", "1"], "There is no decision with the id 'nosuch'"),
        (["tell", "mail", "--outcome", "1"], "Say which decision with its id, or with the key"),
        (["tell", "mail", "--key", "k", "--outcome", "1"], "There is no decision with the key 'k'"),
        (["tell", "mail", "--key", "k"], "give mediator, outcome or both"),
        (["tell", "mail", "--key", "k", "--outcome", "7"], "one of the levels 0, 1, got 7.0."),
        (
            ["tell", "mail", "--key", "k", "--outcome", "nan"],
            "a finite number, or the word missing, got 'nan'.",
        ),
        (["tell", "mail", "--key", "k", "--mediator", "opened"], "This experiment has no mediator"),
        (["tell", "mail", "--key", "k", "--outcome", "1", "--at", "noon"], "at must be a date and time"),
        (
            ["tell", "mail", "--key", "k", "--verdicts", "v.csv"],
            "--ignore-columns and --verdicts go with --csv.",
        ),
        (["tell", "mail", "--key", "k", "--csv", "x.csv"], "Give --csv, or one decision"),
        (["change", "mail", "--policy", "mcar-ubc"], "did you mean 'mcar-ucb'?"),
        (["change", "mail", "--policy", "oracle-ucb"], "oracle"),
        (["close-windows", "mail", "--now", "2099-01-01"], "now must not be in the future"),
        (["watch", "mail", "--times", "0"], "times must be a whole number of at least 1, got 0."),
        (["events", "mail", "--limit", "0"], "limit must be a whole number of at least 1, got 0."),
        (["events", "mail", "--after", "x"], "after must be a whole number of at least 0, got 'x'."),
        (
            ["doctor", "mail", "--allocations", "0"],
            "allocations must be a whole number of at least 1, got 0.",
        ),
        ([*CREATE, "--levels", "zero"], "--levels must be numbers with commas between them, got 'zero'."),
        (
            [*CREATE, "--split", "half,half"],
            "--split must be numbers with commas between them, got 'half,half'.",
        ),
        (
            CREATE,
            "There is an experiment 'mail' already. It is ready: truant ask mail; or choose another name.",
        ),
        ([*CREATE[:1], "x", *CREATE[2:], "--range", "0,1"], "either range=(0, 200)"),
        ([*CREATE[:1], "x", "--arms", "one", *CREATE[4:]], "arms must be at least 2 names"),
        ([*CREATE[:1], "x", *CREATE[2:], "--settle", "at_clsoe"], "did you mean 'at_close'?"),
        ([*CREATE[:1], "x", *CREATE[2:], "--assume", "mnar"], "This experiment could never learn"),
    ],
)
def test_refusals(mail, arguments, sentence):
    assert sentence in refused(*arguments)


def test_another_outcome_is_refused_with_the_command_that_changes_it(mail):
    run("ask", "mail", "--key", "customer 17")
    run("tell", "mail", "--key", "customer 17", "--outcome", "1")
    said = refused("tell", "mail", "--key", "customer 17", "--outcome", "0", "--store", "truant.db")
    command = "truant correct mail --key 'customer 17' --outcome 0 --store truant.db"
    assert said.endswith(f"already, got 0. To change it: {command}")
    run(*shlex.split(command)[1:])
    (mail / "again.csv").write_text("key,outcome\ncustomer 17,1\n")
    assert "Use `truant correct` to change it." in run("tell", "mail", "--csv", "again.csv", code=1).stdout


def test_a_new_experiment_says_where_it_is_and_what_comes_next(in_a_folder):  # noqa: F811
    lines = run(*CREATE).stdout.splitlines()
    assert lines[-2:] == [
        "Store: truant.db in the current folder; in another folder, name it with --store or TRUANT_STORE.",
        "Next: truant ask mail --key customer-1",
    ]
    assert "settle" not in " ".join(lines)
    late = run(*CREATE, "--settle", "on_arrival", "--store", "sub.db").stdout
    assert "counted  when the outcome is told" in late
    assert late.splitlines()[-1] == "Next: truant ask mail --key customer-1 --store sub.db"


def test_an_arm_command_without_its_word():
    result = run("arm", code=2)
    assert result.stderr.splitlines()[-1] == "Error: Missing command."


def test_the_store_of_the_environment(mail, monkeypatch):
    monkeypatch.setenv("TRUANT_STORE", "sqlite:///elsewhere.db")
    assert "There is no store at 'elsewhere.db'" in refused("list")
    run(*CREATE)
    assert (mail / "elsewhere.db").exists()
    run("ask", "mail", "--key", "k", "--store", "truant.db")
    run("lookup", "mail", "--key", "k", code=1)


def test_a_store_that_is_none(mail):
    (mail / "notes.txt").write_text("no database " * 100)
    assert "it is not an SQLite file" in refused("list", "--store", "notes.txt")


def test_help_lists_experiments_apart_from_simulations():
    text = run("--help").stdout
    experiments, simulations = text.split("Run an experiment:")[1].split("Simulate:")
    assert "  close-windows " in experiments
    assert "  simulate " in simulations
    assert "  simulate " not in experiments
