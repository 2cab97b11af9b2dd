"""The page of an analysis: its figures are those of the analysis, it stands alone, and a browser draws it."""

import html
import json
import re
from html.parser import HTMLParser

import pytest

import truant
from tests.analyses import HOSTILE, TABLE, binary, real
from tests.browser import faults, needs_axe
from tests.documents.pages import analysis_html, analysis_page, charts_of, save_page
from tests.documents.test_in_browser import mails
from truant.documents.analysis import CHANCES_NOTE, analysis_document
from truant.documents.analysis_words import tipping_sentence
from truant.documents.verdict import verdict_sentence
from truant.documents.words import Figures, chance, p_value, percent
from truant.errors import InvalidValue


class Page(HTMLParser):
    """Tables, tags and texts of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.tables, self.words, self._cell, self._script = [], [], [], None, None
        self.scripts = []
        self.feed(text)
        self.text = " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])
        if tag in ("td", "th"):
            self._cell = []
        if tag in ("script", "style"):
            self._script = []

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.tables[-1][-1].append(" ".join("".join(self._cell).split()))
            self._cell = None
        if tag in ("script", "style"):
            self.scripts.append("".join(self._script))
            self._script = None

    def handle_data(self, data):
        if self._script is not None:
            self._script.append(data)
            return
        self.words.append(data)
        if self._cell is not None:
            self._cell.append(data)


@pytest.fixture(scope="module")
def analysis():
    return binary(control="none")


@pytest.fixture(scope="module")
def page(analysis):
    return Page(analysis_page(analysis, title="A trial", about=["trial.csv", "Outcome: alive"]))


def test_tables_have_the_figures_of_the_analysis(analysis, page):
    figures, summary = Figures.of(analysis), analysis.summary()
    order = [arm.arm for arm in analysis.sorted_arms]
    arms = sorted(summary["arms"], key=lambda arm: order.index(arm["arm"]))

    def shown(value, sign=False):
        mean, low, high = (figures.number(value[key], sign) for key in ("mean", "low", "high"))
        return mean, f"[{low}, {high}]"

    answers, values, changes, chances, *_, tests = page.tables
    assert answers[0] == ["assumption", "best arm", "probability", "expected loss", "tests"]
    for row, answer in zip(answers[1:], summary["verdict"]["answers"], strict=True):
        assert row[:3] == [answer["assumption"], answer["arm"], chance(answer["probability"])]
        assert float(row[3]) == pytest.approx(answer["expected_loss"], abs=10.0 ** -(figures.decimals + 1))
    assert values[0] == ["arm", "rows", "missing", "mcar", "mar", "mnar", "worst case"]  # naive is mcar
    for row, arm in zip(values[1:], arms, strict=True):
        assert row[:3] == [arm["arm"], f"{arm['pulls']:,}", percent(arm["missing_share"])]
        ends = [figures.number(arm["bounds"][key]) for key in ("low", "high", "low_limit", "high_limit")]
        assert row[-1] == "{} to {} [{}, {}]".format(*ends)
        for cell, (name, value) in zip(row[3:-1], arm["estimates"].items(), strict=True):
            mean, limits = shown(value)
            star = " ★" if summary["winner"][name] == arm["arm"] else ""
            assert cell == f"{mean}{star} {limits}"
    for row, arm in zip(chances[1:], arms, strict=True):
        found = [cell.removesuffix(" ★") for cell in row[1:]]
        assert found == [chance(value["probability_best"]) for value in arm["estimates"].values()]
    others = [arm for arm in arms if arm["arm"] != "none"]
    expected = []
    for arm in others:
        for number, (name, value) in enumerate(arm["estimates"].items()):
            change = value["difference"]
            lift = "{:+.1%} [{:+.1%}, {:+.1%}]".format(
                *(change["lift"][key] for key in ("mean", "low", "high"))
            )
            mean, limits = shown(change, sign=True)
            star = " ★" if change["low"] > 0 or change["high"] < 0 else ""
            cells = [name, f"{mean}{star} {limits}", lift, p_value(change["p_value"])]
            expected.append(cells if number else [arm["arm"], *cells])
    assert changes[1:] == expected
    assert [float(row[4].replace(",", "")) for row in tests[1:]] == [
        round(test["statistic"], 2) for test in summary["tests"]
    ]


def test_answers_of_the_data_say_what_they_contradict(analysis, page):
    for row, test in zip(page.tables[-1][1:], analysis.tests, strict=True):
        low = test.p_value < 0.05
        expected = {
            (True, True): "contradicted",
            (False, True): "not contradicted",
            (True, False): "no, but this does not contradict it",
            (False, False): "yes",
        }
        assert row[1] == f"{test.question} {test.remark}".strip()
        assert row[3] == expected[low, test.could_contradict]
    assert {test.could_contradict for test in analysis.tests} == {True, False}


def test_methods_say_which_way_is_better():
    less = Page(analysis_page(binary(minimize=True), title="x"))
    assert "observed or missing; lower 'outcome' is better." in less.text
    assert "higher" not in less.text.lower()


def test_sentences_are_on_the_page(analysis, page):
    figures = Figures.of(analysis)
    sentences = [verdict_sentence(analysis), "trial.csv", "Outcome: alive", "Dunnett"]
    sentences += [tipping_sentence(tip, figures) for tip in analysis.sensitivity]
    sentences += [warning.message for warning in analysis.warnings]
    sentences += [item.reason for item in analysis.untestable]
    sentences += [item.reason_alone for item in analysis.infeasible]
    for sentence in sentences:
        assert sentence in page.text


def test_charts_draw_the_estimates_of_the_analysis(analysis, page):
    assert [attrs["id"] for tag, attrs in page.tags if tag == "figure" and "chart" in attrs["class"]] == [
        *("estimates", "missing", "tipping-0", "tipping-1", "tipping-2")
    ]
    chart = charts_of(analysis_document(analysis, "x").blocks)["estimates"].to_dict()
    rows = [row for rows in chart["datasets"].values() for row in rows if "assumption" in row]
    drawn = {(row["arm"], row["assumption"]): row["mean"] for row in rows}
    table = analysis.table().to_pylist()
    assert drawn == {
        (row["arm"], row["assumption"]): row["mean"] for row in table if row["assumption"] != "naive"
    }


def test_what_no_other_table_has_stands_folded_below_its_chart(analysis, page):
    figures, folded = Figures.of(analysis), page.tables[4:8]
    missing = folded[0][1:]
    for arm, row in zip(analysis.sorted_arms, missing, strict=True):
        own = [cell for cell in analysis.missing if cell.arm == arm.arm]
        assert row == [arm.arm, *(f"{cell.missing_share:.1%} of {cell.pulls:,}" for cell in own)]
    for tip, table in zip(analysis.sensitivity, folded[1:], strict=True):
        curve = analysis.tipping_curves[tip.assumption]
        assert table[0] == ["worse by", tip.winner, "from", "to", tip.runner_up]
        for row, point in ((table[1], curve[0]), (table[-1], curve[-1])):
            assert row == [figures.number(value) for value in point]


def test_headings_tables_and_charts_are_named_for_those_who_hear_them(page):
    tags = [tag for tag, _ in page.tags]
    assert tags.count("h1") == 1
    assert tags.count("h2") == 7
    assert all(attrs["aria-label"] for tag, attrs in page.tags if tag in ("table", "svg"))
    assert tags.count("summary") == tags.count("details")
    assert all(attrs["scope"] in ("row", "rowgroup", "col") for tag, attrs in page.tags if tag == "th")
    assert dict(page.tags)["html"]["lang"] == "en"


def test_the_page_stands_alone(page):
    for tag, attrs in page.tags:
        assert not {"src", "href", "srcset", "action", "data"} & set(attrs), (tag, attrs)
        assert tag not in ("link", "iframe", "img", "object", "embed", "base")
    styles = [
        script for script in page.scripts if "prefers-color-scheme: dark" in script and ":root" in script
    ]
    assert len(styles) == 1
    assert "url(" not in styles[0]
    assert "@import" not in styles[0]
    policy = next(attrs["content"] for _, attrs in page.tags if "http-equiv" in attrs)
    assert (
        policy == "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    )  # nothing is fetched, nothing runs
    assert not {"script", "noscript"} & {tag for tag, _ in page.tags}


def test_every_id_of_a_page_is_its_own(page):
    ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    assert len(ids) == len(set(ids)) > 5


def test_names_cannot_become_markup():
    analysis = binary(arms=HOSTILE, mediators=["<b>low</b>", "</style>"], control=HOSTILE[2])
    text = analysis_page(analysis, title="<img src=x onerror=alert(1)>", about=["<script>1</script>"])
    page = Page(text)
    tags = [tag for tag, _ in page.tags]
    assert "script" not in tags
    assert "img" not in tags
    assert "b" not in tags
    assert not any(name.startswith("on") for _, attrs in page.tags for name in attrs)
    assert {row[0] for row in page.tables[1][1:]} == set(HOSTILE)
    assert "<img src=x onerror=alert(1)>" in page.text
    assert page.text.count("<script>alert('a')</script>") > 5  # in tables and in charts
    fragment = Page(analysis_html(analysis))
    assert {tag for tag, _ in fragment.tags} <= {
        *("div", "p", "strong", "table", "caption", "thead", "tbody", "tr", "th", "td", "small", "code")
    }
    assert {row[0] for row in fragment.tables[1][1:]} == set(HOSTILE)


def test_fragment_has_the_verdict_and_the_table(analysis):
    text = analysis_html(analysis)
    assert verdict_sentence(analysis) in html.unescape(text)
    assert "<script" not in text
    assert "higher 'outcome' is better" in html.unescape(text)
    assert Page(text).tables == Page(analysis_page(analysis, title="x")).tables[:2]


def test_saved_whole_and_of_sane_size(tmp_path, analysis):
    path = save_page(analysis, tmp_path / "page.html", title="A trial")
    assert [file.name for file in tmp_path.iterdir()] == ["page.html"]
    assert path.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert path.stat().st_size < 200_000
    with pytest.raises(InvalidValue, match=r"must end in \.html, got"):
        save_page(analysis, tmp_path / "page.pdf", title="A trial")


def test_of_many_arms_the_best_are_drawn_and_all_are_listed():
    analysis = real(arms=40, n=4000)
    page = Page(analysis_page(analysis, title="Many"))
    assert "12 of 40 arms are drawn: each assumption's winner and those with the highest means." in page.text
    assert "30 of 40 arms are drawn" in page.text  # of the heat map
    assert len(page.tables[1]) == 41


def test_doubts_about_the_probability_stand_below_it():
    analysis = mails(arms=20, n=3000, assume=["mcar", "mar"])
    doubts = [warning.message for warning in analysis.warnings if warning.code == "flat-prior"]
    assert doubts
    page = Page(analysis_page(analysis, title="Many"))
    start = page.text.index("Probability of being the best arm")
    below = page.text[start : page.text.index("What each assumption forbids")]
    assert CHANCES_NOTE in below
    for doubt in doubts:
        assert doubt in below


def test_axes_have_the_names_of_the_user():
    rows = {
        "mail": ["old", "new"] * 60,
        "opened": [("no", "yes")[i // 2 % 2] for i in range(120)],
        "sold": [(i * i // 3) % 2 if i % 7 else None for i in range(120)],
    }
    result = truant.analyze(rows, arm="mail", outcome="sold", mediator="opened")
    charts = charts_of(result.document().blocks)
    specs = {name: json.dumps(chart.to_dict()) for name, chart in charts.items()}
    assert '"title": "mean of sold"' in specs["estimates"]
    assert '"title": "mean of sold"' in specs["tipping-0"]
    assert '"title": "opened"' in specs["missing"]
    order = [arm.arm for arm in result.sorted_arms]
    assert f'"sort": {json.dumps(order)}' in specs["missing"]
    page = Page(analysis_page(result, title="x"))
    assert [row[0] for row in page.tables[1][1:]] == order
    assert "higher 'sold' is better" in page.text.partition("Clear winner")[0]
    assert "of 'sold'" in page.text


def test_no_missing_outcomes_and_no_control():
    page = Page(analysis_page(binary(assume=["mcar", "mar"], table=TABLE * [1, 1, 0]), title="Complete"))
    assert "No outcome is missing." in page.text
    assert "No outcome of 'new' or of the runner-up 'old' is missing" in page.text
    assert "Difference to" not in page.text


def test_pages_of_sparse_data():
    one = Page(analysis_page(binary(arms=["only"], assume=["mcar"], table=TABLE[:1]), title="One"))
    assert "There is only one arm, 'only', so there is nothing to compare." in one.text
    assert "★" not in "".join(one.tables[0][1])
    none = Page(analysis_page(real(assume=["mnar"]), title="None"))
    assert "no assumption can be used on these data" in none.text
    table = TABLE.copy()
    table[1, :, :2] = 0
    unseen = Page(analysis_page(binary(assume=["mcar", "mar"], table=table), title="Unseen"))
    assert unseen.tables[1][3] == ["new", "67", "100.0%", "–", "0.000 to 1.000 [0.000, 1.000]"]
    assert "No estimate, since no outcome was observed: 'new'." in unseen.text
    assert unseen.tables[0][1:] == [[name, "–", "–", "–", "could not be used"] for name in ("mcar", "mar")]
    assert "none of the outcomes of arm 'new' was observed." in unseen.text


@needs_axe
def test_a_browser_draws_hostile_names_without_network(tmp_path):
    page = save_page(binary(arms=HOSTILE, control=HOSTILE[0]), tmp_path / "page.html", title="A trial")
    assert faults({"page": page}, tmp_path) == []


UNSEEN = ("a\x1b[31m", "b\x07", "c\u202e")


def test_characters_that_cannot_be_seen_are_escaped():
    rows = {
        "g": list(UNSEEN) * 40,
        "m": [f"m{i % 2}\u202e" for i in range(120)],
        "day": [i // 12 for i in range(120)],
        "y": [(i * i // 3) % 2 if i % 4 else None for i in range(120)],
    }
    result = truant.analyze(rows, arm="g", outcome="y", mediator="m", time="day", control=UNSEEN[0])
    page = analysis_page(result, title="t\u202e", about=["x\x1b"])
    drawings = re.findall(r"<svg.*?</svg>", page)
    assert all("a\\x1b[31m" in drawing for drawing in drawings[:2])  # the axis has an expression of its own
    for raw in ("\x1b", "\x07", "\u202e"):
        assert raw not in page
