"""The graph of each assumption: what it forbids is crossed out, drawn between the names of the user, and said."""

import pytest

from tests.analyses import binary
from tests.documents.pages import analysis_page
from truant import registry
from truant.analysis import Labels
from truant.documents.graphs import assumption_graphs, graph

LABELS = Labels.of(["a", "b"], ["no", "yes"], "converted", "opened")
# crossed-out arrows and the sentence below the graph
EXPECTED = {
    "mcar": (
        2,
        "Whether 'converted' is observed may depend on the arm, but not on 'opened' nor on 'converted' itself.",
    ),
    "mar": (
        1,
        "Whether 'converted' is observed may depend on the arm and 'opened', but not on 'converted' itself.",
    ),
    "mnar": (
        1,
        "Whether 'converted' is observed may depend on the arm and 'converted' itself, but not on 'opened'.",
    ),
    "mediator-mar": (
        3,
        "Whether 'converted' is observed may depend on the arm, 'opened' and whether 'opened' is observed, but not "
        "on 'converted' itself. Whether 'opened' is observed may depend on the arm, but not on 'opened' itself nor "
        "on 'converted'.",
    ),
    "mediator-mnar": (
        3,
        "Whether 'converted' is observed may depend on the arm and 'opened', but not on 'converted' itself nor on "
        "whether 'opened' is observed. Whether 'opened' is observed may depend on the arm and 'opened' itself, but "
        "not on 'converted'.",
    ),
    "both-mnar": (
        3,
        "Whether 'converted' is observed may depend on the arm and 'converted' itself, but not on 'opened' nor on "
        "whether 'opened' is observed. Whether 'opened' is observed may depend on the arm and 'opened' itself, but "
        "not on 'converted'.",
    ),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_what_an_assumption_forbids_is_crossed_out_and_said(name):
    crosses, caption = EXPECTED[name]
    found = graph(name, registry.find("assumption", name).build().forbids, LABELS)
    assert found.caption == caption
    assert sum(arrow.cross is not None for arrow in found.arrows) == crosses
    assert found.alternative.partition("Forbidden: ")[2].count(" to ") == crosses
    missing_mediators = "is observed. Whether" in caption or name == "mediator-mar"
    assert len(found.nodes) == 4 + missing_mediators
    assert len(found.arrows) == 6 + 4 * missing_mediators


def test_the_crossed_arrow_lies_between_its_nodes():
    found = graph("mar", (("Y", "O"),), LABELS)
    by_text = {node.text: node for node in found.nodes}
    (x, y), *others = [arrow.cross for arrow in found.arrows if arrow.cross]
    assert others == []
    outcome, seen = by_text["converted"], by_text["converted observed"]
    assert seen.x < x < outcome.x
    assert outcome.y < y < seen.y


def test_without_a_mediator_there_is_none_in_the_graph():
    found = graph("mcar", (("M", "O"), ("Y", "O")), LABELS, has_mediator=False)
    assert [node.text for node in found.nodes] == ["arm", "converted", "converted observed"]
    assert found.caption == (
        "Whether 'converted' is observed may depend on the arm, but not on 'converted' itself."
    )


def test_long_names_are_cut_and_whole_in_the_title():
    labels = Labels.of(["a"], ["m"], "revenue per user and month", "")
    found = graph("mar", (("Y", "O"),), labels)
    texts = {node.title: node.text for node in found.nodes}
    assert texts["revenue per user and month"] == "revenue per…"
    assert texts["revenue per user and month observed"] == "revenue … observed"
    assert texts["mediator"] == "mediator"
    assert "may depend on the arm and the mediator," in found.caption


def test_an_assumption_that_states_nothing_has_no_graph(monkeypatch):
    analysis = binary(assume=["mar", "mnar"])
    assert [one.assumption for one in assumption_graphs(analysis)] == ["mar", "mnar"]
    monkeypatch.setattr("truant.assumptions.mar.Mar.forbids", ())
    assert [one.assumption for one in assumption_graphs(analysis)] == ["mnar"]
    only = binary(assume=["mar"])
    assert "What each assumption forbids" not in analysis_page(only, title="x")
