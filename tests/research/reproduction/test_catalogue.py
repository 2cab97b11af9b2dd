"""The figures of the paper: their sizes, their choices, and how their policies look."""

from research.reproduction.catalogue import FIGURES
from research.reproduction.charts import looks_of_lines
from research.reproduction.figure import Scene

from truant.charts import DARK
from truant.charts.style import darker


def test_sizes_are_those_of_the_text():
    sizes = {line.scene.size(False, None) for line in FIGURES["mcar-gamma"].lines()}
    assert sizes == {(10_000, 20)}
    for name in ("mar-known-p", "mar-peaked", "mar-against-ucb", "mnar", "mnar-against-ucb"):
        assert {line.scene.size(False, None) for line in FIGURES[name].lines()} == {(100_000, 10)}
    assert Scene("mar").size(True, None) == (10_000, 5)
    assert Scene("mar").size(True, 40) == (10_000, 40)
    assert Scene("mcar", 10_000, 20).size(True, None) == (10_000, 10)


def test_a_policy_looks_the_same_everywhere_and_unlike_its_neighbours():
    seen = {}
    for figure in FIGURES.values():
        for panel in (*figure.paper, *figure.truant):
            drawn = looks_of_lines({line.name: line.policy for line in panel.lines})
            assert len(set(drawn.values())) == len({look.dash for look in drawn.values()}) == len(panel.lines)
            for line in panel.lines:
                look = drawn[line.name]
                assert {look.colour, darker(look.colour)} <= set(DARK)  # it can be read on a dark page
                if line.label == "":
                    assert seen.setdefault(line.policy, look) == look


def test_every_figure_has_choices_and_a_claim_or_none_is_made_in_the_paper():
    for name, figure in FIGURES.items():
        assert figure.choices
        untried = name in ("mediator-mar", "mediator-mnar", "both-mnar")
        assert bool(figure.claims) != untried
        for claim in figure.claims:
            for case in claim.cases:
                assert {(line.scene, line.policy) for line in case.lines} <= {
                    (line.scene, line.policy) for line in figure.lines()
                }
