"""`truant plan`: from the table to the list, and what it refuses."""

import csv
import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import truant
from truant.cli import cli
from truant.errors import InvalidValue, TruantError
from truant.follow_up.result import MissingRows

COLUMNS = {"arm": "mail", "outcome": "spent", "mediator": "opened"}


def rows(seed=1, number=600):
    rng = np.random.default_rng(seed)
    found = []
    for i in range(number):
        arm, opened = rng.integers(0, 2, 2)
        spent = rng.normal(10 + 4 * arm + 2 * opened, 3)
        missing = rng.random() < (0.6 if opened == 0 else 0.2)
        found.append((f"{i:04}", "ab"[arm], "ny"[opened], "" if missing else f"{spent:.2f}"))
    return found


@pytest.fixture
def visits(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "visits.csv"
    write(path, rows())
    return path


def write(path, some, head="customer,mail,opened,spent"):
    path.write_text("\n".join([head, *(",".join(row) for row in some)]) + "\n", encoding="utf-8")


def run(*arguments):
    return CliRunner().invoke(cli, ["plan", *map(str, arguments)])


ARGUMENTS = ("visits.csv", "--arm", "mail", "--outcome", "spent", "--mediator", "opened")


def test_the_list_names_missing_rows_as_they_stand_and_as_planned(visits):
    plan = truant.plan("visits.csv", **COLUMNS, id="customer", seed=3)
    table = {row[0]: row for row in rows()}
    listed = plan.rows().to_pylist()
    assert [row["call"] for row in listed] == list(range(1, plan.follow_ups + 1))
    assert len({row["id"] for row in listed}) == len(listed)
    for row in listed:
        assert table[row["id"]][1:] == (row["arm"], row["mediator"], "")
    for cell in plan.table().to_pylist():
        own = [row for row in listed if (row["arm"], row["mediator"]) == (cell["arm"], cell["mediator"])]
        assert len(own) == cell["follow_ups"] <= cell["missing"]
    assert plan.needed == plan.follow_ups
    assert min(plan.chances.values()) >= 0.8


def test_row_numbers_count_from_one_below_the_header(visits):
    by_id = truant.plan("visits.csv", **COLUMNS, id="customer", seed=3).rows()["id"].to_pylist()
    by_row = truant.plan("visits.csv", **COLUMNS, seed=3).rows()["row"].to_pylist()
    assert by_row == [int(name) + 1 for name in by_id]


def test_a_filter_does_not_change_row_numbers(visits):
    plan = truant.plan("visits.csv", **COLUMNS, where="customer >= '0300'", budget=40)
    assert min(plan.rows()["row"].to_pylist()) > 300


def test_the_same_seed_draws_the_same_rows_and_another_does_not(visits):
    first, same, other = (
        truant.plan("visits.csv", **COLUMNS, budget=40, seed=seed).rows() for seed in (1, 1, 2)
    )
    assert first.equals(same)
    assert not first.equals(other)


def test_tables_in_memory_are_planned_alike(visits):
    columns = dict(zip(("customer", "mail", "opened", "spent"), zip(*rows(), strict=True), strict=True))
    columns["spent"] = [float(value) if value else None for value in columns["spent"]]
    by_file, by_dict = (
        truant.plan(data, **COLUMNS, id="customer", budget=40) for data in ("visits.csv", columns)
    )
    assert by_file.rows().equals(by_dict.rows())


def test_every_missing_row_of_a_cell_is_drawn_as_often():
    """Of 12 rows in one cell 4 are drawn, 3,000 times: each within 4 standard errors of a third."""
    import pyarrow as pa

    found = MissingRows(pa.chunked_array([range(14)]), np.array([0] * 12 + [1] * 2), np.zeros(14, int))
    times = np.zeros(14)
    for seed in range(3000):
        times[found.drawn(np.array([[4], [1]]), seed)] += 1
    np.testing.assert_allclose(times[:12] / 3000, 1 / 3, atol=4 * np.sqrt(2 / 9 / 3000))


def test_wherever_one_stops_the_calls_are_shared_out_as_planned():
    import pyarrow as pa

    arms = np.repeat([0, 1], [300, 100])
    found = MissingRows(pa.chunked_array([range(400)]), arms, np.zeros(400, int))
    calls = arms[found.drawn(np.array([[90], [30]]), 1)]
    for stop in (12, 40, 80):
        assert abs((calls[:stop] == 1).sum() - stop / 4) <= 2


def test_rows_that_were_followed_up_are_not_listed_again(visits, tmp_path):
    first = truant.plan("visits.csv", **COLUMNS, id="customer", budget=30, seed=1)
    asked = set(first.rows()["id"].to_pylist())
    later = [
        (*row[:3], "12.5" if row[0] in asked and int(row[0]) % 2 else row[3], str(int(row[0] in asked)))
        for row in rows()
    ]
    write(tmp_path / "later.csv", later, "customer,mail,opened,spent,called")
    plan = truant.plan("later.csv", **COLUMNS, id="customer", budget=30, followed_up="called", range=(0, 50))
    assert not asked & set(plan.rows()["id"].to_pylist())
    assert plan.summary()["followed_up"] == 30
    assert plan.missing == first.missing - 30


def test_success_lists_more_rows(visits):
    all_answer, few_answer = (
        truant.plan("visits.csv", **COLUMNS, success=success, failed_follow_ups="ignorable")
        for success in (1.0, 0.5)
    )
    assert 1.5 * all_answer.follow_ups < few_answer.follow_ups < 3 * all_answer.follow_ups


def test_command_writes_list_page_and_json(visits):
    done = run(
        *ARGUMENTS, "--id", "customer", "--budget", 20, "--out", "list.csv", "--html", "plan.html", "--json"
    )
    assert done.exit_code == 0, done.output
    summary = json.loads(done.stdout)
    assert summary["schema"] == "truant/plan/2"
    assert summary["follow_ups"] == 20 == sum(cell["follow_ups"] for cell in summary["cells"])
    with open("list.csv", encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) == 20
    assert "Follow up 20 of the" in Path("plan.html").read_text(encoding="utf-8")
    assert run(*ARGUMENTS, "--out", "list.parquet").exit_code == 0
    assert b"truant/plan-rows/1" in pq.read_schema("list.parquet").metadata[b"truant"]


def test_terminal_output_and_repr(visits):
    done = run(*ARGUMENTS)
    assert "Follow up" in done.output
    assert "Before you call" in done.output
    plan = truant.plan("visits.csv", **COLUMNS)
    assert plan.sentence in repr(plan)
    assert plan.sentence.split(":")[0] in str(plan)
    assert "<table>" in plan._repr_html_()
    assert plan.chart().to_dict()["layer"]


def test_the_table_that_was_read_is_never_written(visits):
    before = visits.read_bytes()
    done = run(*ARGUMENTS, "--out", "visits.csv")
    assert done.exit_code == 2
    assert "it is an input" in done.output
    with pytest.raises(TruantError, match="it is an input"):
        truant.plan("visits.csv", **COLUMNS, budget=10).save("visits.csv")
    assert visits.read_bytes() == before


@pytest.mark.parametrize(
    ("place", "sentence"),
    [("nowhere/list.csv", "does not exist; make it first."), ("visits.csv/list.csv", "is no folder")],
)
def test_a_list_that_cannot_be_written_is_refused_before_the_work(visits, place, sentence):
    before = visits.read_bytes()
    done = run(*ARGUMENTS, "--out", place)
    assert done.exit_code == 2
    assert sentence in done.output
    assert visits.read_bytes() == before


def test_a_mean_that_is_to_be_low(visits):
    up = truant.plan("visits.csv", **COLUMNS, budget=50)
    down = truant.plan("visits.csv", **COLUMNS, budget=50, minimize=True)
    assert up.chances["alike"] == pytest.approx(down.chances["alike"], abs=0.05)


def test_no_number_is_enough(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    some = [(str(i), "ab"[i % 2], "n", "" if i % 4 < 2 else str(i // 2 % 7)) for i in range(80)]
    write(tmp_path / "visits.csv", some)
    plan = truant.plan("visits.csv", arm="mail", outcome="spent")
    assert plan.kind == "not-reached"
    assert plan.needed is None
    assert plan.sentence.startswith("Even all 40 missing outcomes together may not settle it.")


def test_settled_by_bounds(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    some = [(str(i), "ab"[i % 2], "n", "" if i % 40 == 1 else str(i % 2)) for i in range(400)]
    write(tmp_path / "visits.csv", some)
    plan = truant.plan("visits.csv", arm="mail", outcome="spent")
    assert plan.kind == "settled"
    assert plan.sentence.startswith("No follow-up is needed: 'b' is the best arm whatever the reason")
    assert plan.rows().num_rows == 0


REFUSED = [
    ({"budget": 0}, "budget must be a whole number of at least 1, got 0."),
    ({"budget": -5}, "budget must be a whole number of at least 1, got -5."),
    ({"budget": 10**6}, "budget must be at most the number of missing outcomes that can be followed up, "),
    ({"chance": 1.0}, "chance must be above 0 and below 1, got 1.0."),
    ({"level": 0.3}, "level must be at least 0.5 and below 1, got 0.3."),
    ({"success": 0}, "success must be above 0 and at most 1, got 0."),
    (
        {"success": 0.9},
        "0.1 of the follow-ups are expected to fail; give the range of the outcome (--range LOW,HIGH, in Python "
        "range=(low, high)), or say that they fail for reasons unrelated to the outcome",
    ),
    ({"failed_follow_ups": "ignorabel"}, "Unknown way to take failed follow-ups 'ignorabel'"),
    ({"differ": -1}, "differ must be a positive number, got -1."),
    ({"seed": -1}, "seed must be a whole number of at least 0, got -1."),
    ({"id": "custmer"}, "Unknown column 'custmer'; did you mean 'customer'?"),
    ({"id": "mail"}, "id must be another column than arm and outcome, got 'mail'."),
    ({"id": "opened"}, "Column 'opened' must name each row by itself, and some values occur several times"),
    ({"mediator": "openned"}, "Unknown column 'openned'; did you mean 'opened'?"),
]


@pytest.mark.parametrize(("options", "sentence"), REFUSED)
def test_refusals(visits, options, sentence):
    with pytest.raises(TruantError) as refused:
        truant.plan("visits.csv", **(COLUMNS | options))
    assert str(refused.value).startswith(sentence)


TABLES = [
    (
        [("1", "a", "n", "1"), ("2", "b", "n", "2.5")] * 9,
        "No outcome is missing in 'spent': there is nothing to follow up.",
    ),
    (
        [("1", "a", "n", "1"), ("2", "a", "n", "3"), ("3", "a", "n", "")] * 9,
        "There is only one arm, 'a': a plan compares arms; add another to the ",
    ),
    ([("1", "a", "n", ""), ("2", "b", "n", "")] * 9, "All 18 outcomes in column 'spent' are missing"),
    (
        [("1", "a", "n", "1"), ("2", "a", "n", "3"), ("3", "b", "n", "")] * 9,
        "arm 'b' has no observed outcome, so the spread of its outcomes is unknown",
    ),
]


@pytest.mark.parametrize(("some", "sentence"), TABLES)
def test_tables_without_a_plan(tmp_path, monkeypatch, some, sentence):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "visits.csv", some)
    with pytest.raises(TruantError) as refused:
        truant.plan("visits.csv", arm="mail", outcome="spent")
    assert str(refused.value).startswith(sentence)


def test_rows_without_a_name(visits, tmp_path):
    write(tmp_path / "some.csv", [("", *row[1:]) if i == 3 else row for i, row in enumerate(rows())])
    with pytest.raises(
        TruantError, match="1 of 600 rows have no value in the column 'customer' that names them"
    ):
        truant.plan("some.csv", **COLUMNS, id="customer")


def test_rows_of_several_files_need_a_name(visits, tmp_path):
    write(tmp_path / "visits-2.csv", [(f"x{row[0]}", *row[1:]) for row in rows(2)])
    with pytest.raises(TruantError, match="Rows of several files have no numbers in common"):
        truant.plan("visits*.csv", **COLUMNS)
    assert truant.plan("visits*.csv", **COLUMNS, id="customer", budget=30).rows().num_rows == 30


def test_outcomes_without_spread_and_odd_options_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "visits.csv", [(str(i), "ab"[i % 2], "n", "" if i % 4 < 2 else "3") for i in range(80)])
    with pytest.raises(InvalidValue, match="All observed outcomes of an arm are equal"):
        truant.plan("visits.csv", arm="mail", outcome="spent", range=(0, 10))
    with pytest.raises(InvalidValue, match="differ must be at most 10 standard deviations"):
        truant.plan("visits.csv", arm="mail", outcome="spent", range=(0, 10), differ=1e300)


def test_an_arm_gets_ten_follow_ups_since_no_winner_is_clear_with_fewer(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    rows = [
        (str(i), "ab"[i % 2], "n", "" if rng.random() < 0.5 else f"{5 + 2 * (i % 2) + rng.normal():.4f}")
        for i in range(400)
    ]
    write(tmp_path / "visits.csv", rows)
    plan = truant.plan("visits.csv", arm="mail", outcome="spent")
    assert plan.kind == "reached"
    assert min(plan.by_arm().values()) >= 10
    small = truant.plan("visits.csv", arm="mail", outcome="spent", budget=12)
    assert max(small.chances.values()) == 0.0


def test_after_the_list_the_command_says_what_to_do_next(visits):
    done = run(
        *ARGUMENTS, "--budget", 30, "--where", "customer != 'x'", "--minimize", "--out", "my calls.csv"
    )
    steps = done.output.partition("\nNext\n")[2].splitlines()
    assert steps[0] == "1. Call the rows of my calls.csv in this order."
    assert "write each answer into column 'spent', and yes into a new column 'followed_up'" in steps[1]
    assert steps[2] == (
        "3. Then: truant analyze visits.csv --arm mail --mediator opened --outcome spent --followed-up followed_up "
        """--where 'customer != '"'"'x'"'"'' --minimize (if a call fails, add --range LOW,HIGH: the lowest and """
        "highest possible outcome)"
    )
    assert "Next" not in run(*ARGUMENTS, "--budget", 30).output
    bounded = run(*ARGUMENTS, "--budget", 30, "--range=-20,50", "--out", "calls.csv").output
    assert bounded.endswith("--followed-up followed_up --range=-20,50\n")


def test_failed_calls_in_the_data_limit_the_promise(visits, tmp_path):
    """Of 40 calls 16 failed: what the worst case leaves open no further call closes."""
    first = truant.plan("visits.csv", **COLUMNS, id="customer", budget=40, seed=1)
    asked = first.rows()["id"].to_pylist()
    failed = set(asked[::5]) | set(asked[1::5])
    later = [
        (*row[:3], "12.5" if row[0] in set(asked) - failed else row[3], str(int(row[0] in asked)))
        for row in rows()
    ]
    later = [
        (*row[:3], f"{float(row[3]) + i % 3:.2f}" if row[3] else "", row[4]) for i, row in enumerate(later)
    ]
    write(tmp_path / "later.csv", later, "customer,mail,opened,spent,called")
    options = COLUMNS | {"followed_up": "called", "range": (0, 60), "id": "customer"}
    worst = truant.plan("later.csv", **options)
    assert worst.failed == 16
    assert worst.kind == "not-reached"
    assert min(worst.chances.values()) < 0.8
    assert "outcomes of failed calls may have any value in the range" in worst.sentence
    assert truant.analyze("later.csv", **COLUMNS, followed_up="called", range=(0, 60)).verdict.kind in (
        "unsettled",
        "depends",
    )
    stated = truant.plan("later.csv", **options, failed_follow_ups="ignorable")
    assert stated.kind in ("reached", "settled")
    assert worst.summary()["options"]["failed_follow_ups"] == "worst-case"
    with pytest.raises(InvalidValue, match="16 of 40 follow-ups brought no outcome; give the range"):
        truant.plan("later.csv", **(options | {"range": None}))
