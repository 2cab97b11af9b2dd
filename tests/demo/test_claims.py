"""What the demo says is true: checked against the simulated customers, of whom everything is known."""

import csv
import math

import numpy as np
import pytest

from truant.demo.learning import DROPS, LEARNS
from truant.demo.live import DAYS, EACH_DAY
from truant.demo.mails import MAILS, mail_world
from truant.demo.table import CALLS, FOLLOWED, ROWS, TABLE, analyse_table
from truant.demo.words import calls_sentence, harmless_sentence, headline, named_by, table_sentences


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def highest(means):
    return MAILS[int(np.argmax(means))]


def test_the_files_hold_what_is_known_and_nothing_else(ran):
    customers, before = ran.demo.table.customers, rows_of(ran.demo.folder / TABLE)
    after = rows_of(ran.demo.folder / FOLLOWED)
    assert len(before) == len(after) == ROWS
    for place, (row, later) in enumerate(zip(before, after, strict=True)):
        spent = f"{customers.spent[place]:.2f}"
        assert row["spent"] == (spent if customers.known[place] else "")
        assert later["spent"] == (spent if customers.known[place] or later["called"] == "yes" else "")
        assert (row["mail"], row["opened"]) == (later["mail"], later["opened"])
        assert row["mail"] == MAILS[customers.mail[place]]
    called = [place for place, row in enumerate(after) if row["called"] == "yes"]
    assert len(called) == CALLS
    assert not customers.known[called].any()
    assert {row["id"] for row in ran.demo.table.plan.rows().to_pylist()} == {
        after[place]["customer"] for place in called
    }


def test_true_means_are_those_of_the_customers(ran):
    customers = ran.demo.table.customers
    for number, mail in enumerate(MAILS):
        spent = customers.spent[customers.mail == number]
        error = spent.std() / math.sqrt(len(spent))
        assert abs(spent.mean() - ran.demo.table.true_means[mail]) < 4 * error


def test_dropping_and_zeros_name_wrong_mails_and_truant_the_right_one(ran):
    table, customers = ran.demo.table, ran.demo.table.customers
    own = [customers.mail == number for number in range(len(MAILS))]
    assert table.best == highest([customers.spent[rows].mean() for rows in own]) == "story"
    dropped = highest([customers.spent[rows & customers.known].mean() for rows in own])
    assert table.dropping_names == dropped == "classic"
    zeros = highest([np.where(customers.known, customers.spent, 0.0)[rows].mean() for rows in own])
    assert table.zeros_name == zeros == "short"
    assert named_by(table.by_mediator) == named_by(table.followed) == "story"
    assert named_by(table.no_mediator) is None
    assert table.no_mediator.verdict.kind == "no-mediator"
    assert table.followed.verdict.by_follow_up


def test_where_dropping_does_no_harm(ran):
    world, harmless = mail_world(), ran.demo.table.harmless
    for number, mail in enumerate(MAILS):
        alike = len(set(world.observation[number, 1])) == 1
        assert alike == (mail in [arm.arm for arm in harmless.arms])
    assert harmless.winner["naive"] == named_by(harmless) == "story"


@pytest.mark.parametrize("seed", range(2, 6))
def test_the_verdicts_do_not_hang_on_the_seed(tmp_path, seed):
    table = analyse_table(tmp_path, seed)
    assert (table.dropping_names, table.zeros_name) == ("classic", "short")
    assert named_by(table.by_mediator) == named_by(table.harmless) == "story"
    assert named_by(table.no_mediator) is None
    assert named_by(table.followed) == "story"


def test_intervals_hold_the_true_means(ran):
    table = ran.demo.table
    for analysis, assumption in ((table.by_mediator, "mar"), (table.followed, "follow-up")):
        for arm in analysis.arms:
            found = arm.estimates[assumption]
            assert found.low < table.true_means[arm.arm] < found.high


def test_one_policy_learns_and_the_other_does_not(ran):
    learning = ran.demo.learning
    assert learning.late_share(DROPS) > 0.45
    assert learning.late_share(LEARNS) < 0.1
    assert learning.lost(DROPS) > 20 * learning.lost(LEARNS)
    assert learning.shares(LEARNS)["story"] > 0.95
    assert learning.shares(DROPS)["classic"] > 0.8
    gap = mail_world().means.max() - mail_world().means
    for policy in (DROPS, LEARNS):
        sent = np.array(list(learning.shares(policy).values()))
        assert learning.lost(policy) == pytest.approx(learning.simulation.horizon * sent @ gap)


def test_the_experiment_has_late_and_missing_outcomes_and_finds_the_best_mail(ran):
    status = ran.demo.live.status
    assert status.decisions == DAYS * EACH_DAY == status.settled + status.pending
    assert status.late > 5
    assert status.settled - status.observed > 100 < status.pending
    assert (status.analysis.verdict.kind, status.analysis.verdict.arm) == ("clear", "story")
    assert {arm.arm: arm.share > 0.5 for arm in status.arms} == {mail: mail == "story" for mail in MAILS}
    for arm in status.arms:
        assert arm.low < ran.demo.table.true_means[arm.arm] < arm.high


def test_sentences_say_what_was_found(ran):
    table = ran.demo.table
    assert (
        "names 'classic', setting missing outcomes to 0 names 'short', and truant names 'story'"
        in headline(table)
    )
    said = " ".join(table_sentences(table))
    assert said.count("the wrong mail") == 2
    assert "Without that column truant names no mail." in said
    for mail, mean in table.true_means.items():
        assert f"{mail} {mean:.1f}" in said
    assert "dropping rows names 'story' and truant names 'story', the same mail." in harmless_sentence(table)
    for chance in table.plan.chances.values():
        assert f"{100 * chance:.0f}%" in calls_sentence(table)
