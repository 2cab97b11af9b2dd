"""What the demo says is true: checked against the simulated customers, of whom everything is known."""

import csv
import math
import re

import numpy as np
import pytest

from truant.demo.document import (
    calls_sentence,
    harmless_sentence,
    headline,
    learning_sentences,
    live_sentences,
)
from truant.demo.parts import (
    CALLS,
    DAYS,
    DROPS,
    EACH_DAY,
    FOLLOWED,
    LEARNS,
    MAILS,
    ROWS,
    TABLE,
    analyse_table,
    mail_world,
    named_by,
)


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def names(table):
    return {name: way.named for name, way in table.ways.items()}


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
    assert names(table)["rows_dropped"] == dropped == "classic"
    zeros = highest([np.where(customers.known, customers.spent, 0.0)[rows].mean() for rows in own])
    assert names(table)["set_to_zero"] == zeros == "short"
    assert names(table)["mar"] == names(table)["follow_up"] == "story"
    assert names(table)["no_mediator"] is None
    assert table.verdicts["no_mediator"].startswith("No arm can be named the best")
    assert table.verdicts["follow_up"].startswith(
        "'story' is the clear winner, whatever the reason for missingness"
    )


def test_where_dropping_does_no_harm(ran):
    world, harmless = mail_world(), ran.demo.table.harmless
    for number, mail in enumerate(MAILS):
        alike = len(set(world.observation[number])) == 1
        assert alike == (mail in [arm.arm for arm in harmless.arms])
    assert harmless.winner["naive"] == named_by(harmless) == "story"


@pytest.mark.parametrize("seed", range(2, 6))
def test_the_verdicts_do_not_hang_on_the_seed(tmp_path, seed):
    table = analyse_table(tmp_path, seed)
    right = {"mar": "story", "no_mediator": None, "follow_up": "story"}
    assert names(table) == {"rows_dropped": "classic", "set_to_zero": "short"} | right
    assert named_by(table.harmless) == "story"


def test_intervals_hold_the_true_means(ran):
    table = ran.demo.table
    for name in ("mar", "follow_up"):
        for mail, true in table.true_means.items():
            value = table.ways[name].values[mail]
            assert value.low < true < value.high


def test_one_policy_learns_and_the_other_does_not(ran):
    drops, learns = ran.demo.policies
    assert (drops.policy, learns.policy) == (DROPS, LEARNS)
    assert drops.second_half_share > 0.45
    assert learns.second_half_share < 0.1
    assert drops.regret_mean > 20 * learns.regret_mean
    assert learns.shares["story"] > 0.95
    assert drops.shares["classic"] > 0.8
    gap = mail_world().means.max() - mail_world().means
    for played in (drops, learns):
        sent = np.array(list(played.shares.values()))
        assert played.regret_mean == pytest.approx(played.horizon * sent @ gap)


def test_the_experiment_has_late_and_missing_outcomes_and_finds_the_best_mail(ran):
    status = ran.demo.status
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
    assert "dropping rows names 'story' and truant names 'story', the same mail." in harmless_sentence(table)
    for chance in table.plan.chances.values():
        assert f"{100 * chance:.0f}%" in calls_sentence(table)


def test_the_terminal_has_the_figures_of_the_page(ran):
    said = " ".join(str(ran.demo).split())
    for sentence in (
        headline(ran.demo.table),
        *learning_sentences(*ran.demo.policies),
        *live_sentences(ran.demo.status),
    ):
        assert " ".join(sentence.split()) in said
    for mail, true in ran.demo.table.true_means.items():
        assert re.search(rf"{mail} +[\d,]+ +\d+% .* {true:.1f}", said)
    assert all(command in said for _, command in ran.demo.commands)
