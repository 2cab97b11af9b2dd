"""The document of an analysis, alone and by the values of a column; and its JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from truant.analysis import Analysis
from truant.analysis.analysis import AnalysisBy, Arm, Interval
from truant.collection.intervals import FIXED
from truant.documents.analysis_charts import course_charts, estimates_chart, missing_chart, tipping_chart
from truant.documents.analysis_words import (
    better_of,
    chances_sentence,
    collection_sentences,
    course_sentence,
    facts_sentence,
    follow_ups_of,
    meanings_sentence,
    missing_sentence,
    tipping_sentence,
    value_sentences,
)
from truant.documents.blocks import (
    Block,
    Bullets,
    Cell,
    Column,
    Document,
    Drawing,
    Facts,
    Finding,
    On,
    Panels,
    Section,
    Sentence,
    Table,
    Tagged,
    Tags,
    Template,
    Tone,
    Warnings,
)
from truant.documents.graphs import assumption_graphs
from truant.documents.verdict import (
    KIND_TITLES,
    TONES,
    answer_sentences,
    data_answer,
    loss_text,
    settling_sentences,
    standing,
    verdict_sentence,
)
from truant.documents.words import (
    MOST_ARMS,
    UNKNOWN,
    Figures,
    chance,
    leading_arms,
    left_out_sentence,
    level_text,
    lift_text,
    missing_share,
    p_value,
    percent,
    shown_names,
)
from truant.errors import counted, named
from truant.evidence.warnings import contradicted_by

CHANCES_NOTE = (
    "The probability assumes that the means of the arms are independent and that before the data every mean is equally "
    "likely (a flat prior)."
)


def analysis_document(
    analysis: Analysis, title: str | None = None, about: Sequence[str] | None = None
) -> Document:
    """An analysis with a title and lines that say where the figures come from; its own unless given."""
    title, about = title or analysis.title, analysis.about if about is None else about
    own = [*collection_sentences(analysis.collection), *value_sentences(analysis)]
    lines = [*about, *(line for line in own if line not in about)]
    blocks = [
        Sentence(facts_sentence(analysis), "faint", on=On.TERMINAL),
        *analysis_blocks(analysis, verdict_block(analysis)),
        methods_section(analysis, lines),
    ]
    return Document(title, lines, blocks, better=better_of(analysis, lines))


def verdict_block(analysis: Analysis) -> Finding:
    """The verdict with what each assumption answers, and what would settle it."""
    kind = analysis.verdict.kind
    inner = [*_answers(analysis, Figures.of(analysis)), _settling(analysis)]
    return Finding(kind, KIND_TITLES[kind], verdict_sentence(analysis), TONES[kind], inner, on=On.HTML)


def _settling(analysis: Analysis) -> Bullets:
    return Bullets("What would settle it", settling_sentences(analysis))


def analysis_blocks(analysis: Analysis, verdict: Finding | None, name: str = "") -> list[Block]:
    """The blocks of an analysis.

    Parameters
    ----------
    verdict : comes first on pages, and after the values in the terminal; None if it stands elsewhere.
    name : tells its charts from those of others on the page.
    """
    figures = Figures.of(analysis)
    values, differences = values_table(analysis, figures), _differences(analysis, figures)
    in_terminal = [] if verdict is None else [replace(verdict, title="", blocks=(), on=On.TERMINAL)]
    warnings = Warnings([Tagged(one.code, one.message, one.arm) for one in analysis.warnings])
    infeasible = [Tagged(item.assumption, item.reason_alone) for item in analysis.infeasible]
    untestable = [Tagged(item.assumption, f"{item.reason}.") for item in analysis.untestable]
    unused = Tags("Assumptions that could not be used", infeasible, "faint")
    tests = [replace(table, on=On.PAGE) for table in _tests(analysis)]
    return [
        *([] if verdict is None else [verdict]),
        Facts(_facts(analysis)),
        replace(values, on=On.TERMINAL | On.NOTEBOOK),
        *in_terminal,
        *(Sentence(f"  {answer}", on=On.TERMINAL) for answer in answer_sentences(analysis, figures)),
        replace(_settling(analysis), on=On.TERMINAL),
        *(replace(table, on=On.TERMINAL) for table in differences),
        Section(
            "The mean of each arm",
            [
                Sentence(
                    "Each column estimates the mean of all outcomes, missing ones included, under one assumption about "
                    "why outcomes are missing."
                ),
                Sentence(f"{meanings_sentence(analysis)}.", "faint"),
                estimates_chart(analysis, figures, name),
                values,
                *differences,
                *_chances(analysis),
            ],
            on=On.PAGE,
        ),
        *_graphs(analysis),
        Section(
            "What is missing",
            [Sentence(missing_sentence(analysis)), missing_chart(analysis, name, missing_sentence(analysis))],
            on=On.PAGE,
        ),
        *_course(analysis, name),
        warnings,
        *_tipping(analysis, figures, name),
        Section(
            "What the data can and cannot tell",
            [*tests, Tags("What cannot be tested", untestable), unused],
            on=On.PAGE,
        ),
        replace(unused, on=On.TERMINAL),
    ]


def methods_section(analysis: Analysis, about: Sequence[str]) -> Section:
    """How everything is computed, with its formulas."""
    facts: dict[str, object] = {
        "direction": better_of(analysis, about).sentence,
        "level": f"{analysis.level:.4g}",
        "control": analysis.control,
        "adaptive": analysis.collection.kind != FIXED,
        "follow_ups": analysis.has_follow_ups,
    }
    return Section("Methods and formulas", [Template("methods.html", facts)], folded=True, on=On.PAGE)


def by_document(result: AnalysisBy) -> Document:
    """Analyses by the values of a column: a table of all groups, then each of them."""
    analyses, by, about = result.groups, result.by, result.about
    fullest = max(
        analyses.values(), key=lambda analysis: len(analysis.assumptions)
    )  # its methods are those of all
    own = [*collection_sentences(fullest.collection), *value_sentences(fullest)]
    page_about = [*about, *(line for line in own if line not in about)]
    overview = _overview(analyses, by)
    reasons = [f"{one.value} ({counted(one.rows, 'row')}): {one.reason}" for one in result.left_out]
    unused = Bullets("Groups that could not be analysed", reasons, "doubt")
    blocks: list[Block] = [
        Sentence(chances_sentence(len(analyses)), "strong", on=On.NOTEBOOK),
        replace(overview, on=On.TERMINAL | On.NOTEBOOK),
        Section("All groups", [overview, unused], on=On.PAGE),
        *(_brief(analysis, f"{by}: {value}") for value, analysis in analyses.items()),
        *(
            Section(
                f"{by}: {value}",
                analysis_blocks(analysis, verdict_block(analysis), f"group-{number}-"),
                folded=True,
                open=len(analyses) == 1,
                summary=verdict_sentence(analysis),
                on=On.PAGE,
            )
            for number, (value, analysis) in enumerate(analyses.items())
        ),
        replace(unused, on=On.TERMINAL | On.NOTEBOOK),
        Sentence("Each analysis is in .groups.", on=On.NOTEBOOK),
        methods_section(fullest, page_about),
    ]
    return Document(result.title, page_about, blocks, better=better_of(fullest, page_about))


def _brief(analysis: Analysis, heading: str) -> Section:
    """A group in the terminal: its values, verdict, and the codes of its warnings."""
    codes = ", ".join(dict.fromkeys(warning.code for warning in analysis.warnings))
    kind = analysis.verdict.kind
    values = replace(values_table(analysis, Figures.of(analysis)), legend="", left_out="")
    blocks: list[Block] = [values, Finding(kind, "", verdict_sentence(analysis), TONES[kind])]
    blocks += [Sentence(f"Warnings: {codes}", "doubt")] if codes else []
    return Section(heading, blocks, on=On.TERMINAL)


def _overview(analyses: Mapping[str, Analysis], by: str) -> Table:
    """Of each group its rows, its missing share, the winner of each assumption and the kind of verdict."""
    names = list(dict.fromkeys(name for analysis in analyses.values() for name in shown_names(analysis)))
    columns = [Column(by, words=True), Column("rows"), Column("missing")]
    columns += [Column(name, words=True) for name in (*names, "verdict")]
    rows = []
    for value, analysis in analyses.items():
        pulls = sum(arm.pulls for arm in analysis.arms)
        winners = [_group_winner(analysis, name) for name in names]
        missing = Cell(percent(missing_share(analysis)))
        rows.append([Cell(value), Cell(f"{pulls:,}"), missing, *winners, Cell(analysis.verdict.kind)])
    caption = "The best arm of each group by assumption, with its probability of being the best"
    return Table(caption, columns, rows)


def _group_winner(analysis: Analysis, name: str) -> Cell:
    winner = analysis.winner.get(name, UNKNOWN)
    own = [arm.estimates.get(name) for arm in analysis.arms if arm.arm == winner]
    return Cell(winner, chance(own[0].probability_best) if own and own[0] else "")


# -- tables and figures


def _facts(analysis: Analysis) -> list[tuple[str, str]]:
    missing_mediators = int(analysis.counts.real().table[:, -1, 0].sum())
    pulls = sum(arm.pulls for arm in analysis.arms)
    facts = [
        ("rows", f"{pulls:,}"),
        ("arms", f"{len(analysis.arms):,}"),
        ("outcomes missing", percent(missing_share(analysis))),
    ]
    if analysis.has_follow_ups:
        asked, answered = follow_ups_of(analysis)
        all_answered = ("followed up", f"{asked:,}")
        facts.append(
            all_answered if asked == answered else ("follow-ups answered", f"{answered:,} of {asked:,}")
        )
    if missing_mediators:
        facts.append(("mediators missing", percent(missing_mediators / pulls)))
    return [*facts, ("assumptions compared", f"{len(analysis.assumptions)}")]


def _answers(analysis: Analysis, figures: Figures) -> list[Table]:
    """What each assumption says, side by side; none without a contest."""
    verdict = analysis.verdict
    if len(analysis.arms) < 2 or not (verdict.answers or verdict.not_tried):
        return []
    rows = [
        [
            Cell(answer.assumption),
            Cell(answer.arm),
            Cell(chance(answer.probability)),
            Cell(loss_text(answer, figures)),
            Cell(
                standing(answer, analysis), tone="doubt" if answer.assumption in verdict.contradicted else ""
            ),
        ]
        for answer in verdict.answers
    ]
    unknown = [Cell(UNKNOWN)] * 3
    rows += [[Cell(name), *unknown, Cell("could not be used")] for name in verdict.not_tried]
    columns = [
        Column("assumption", words=True),
        Column("best arm", words=True),
        Column("probability"),
        Column("expected loss"),
        Column("tests", words=True),
    ]
    caption = "What each assumption says; expected loss: mean loss if you choose its best arm now"
    return [Table(caption, columns, rows)]


def values_table(analysis: Analysis, figures: Figures) -> Table:
    """Each arm's rows, missing share, mean under each assumption, and worst case where it is known."""
    bounded = any(arm.bounds for arm in analysis.arms)
    names, contest = shown_names(analysis), len(analysis.arms) > 1
    columns = [Column("arm", words=True), Column("rows"), Column("missing")]
    columns += [Column("followed up")] if analysis.has_follow_ups else []
    stacked = len(columns)
    columns += [*map(Column, names), *([Column("worst case", brief=1)] if bounded else [])]
    rows = [_value_cells(analysis, arm, figures, names, bounded) for arm in analysis.sorted_arms]
    caption = f"Mean of {named(analysis.labels.outcome)}, with {level_text(analysis.level)} intervals"
    worst = "; worst case: all missing outcomes as low or as high as possible" if bounded else ""
    if contest:
        caption += f"; sorted by {analysis.sorted_by}, best first; ★ best of its column"
    star = "★ best of its column; " if contest else ""
    return Table(
        f"{caption}{worst}{', with limits for sampling error' if bounded else ''}",
        columns,
        rows,
        legend=f"{star}{meanings_sentence(analysis)}{worst}.",
        stacked=stacked,
        shown=_leading(analysis),
        left_out=left_out_sentence(len(rows), MOST_ARMS, "--out, --html and --json have all of them"),
    )


def _leading(analysis: Analysis) -> list[int]:
    """Numbers of the arms that a terminal shows, best first."""
    leading = leading_arms(analysis, MOST_ARMS)
    return [number for number, arm in enumerate(analysis.sorted_arms) if arm in leading]


def _value_cells(
    analysis: Analysis, arm: Arm, figures: Figures, names: Sequence[str], bounded: bool
) -> list[Cell]:
    verdict = analysis.verdict
    clear = verdict.kind == "clear" and verdict.arm == arm.arm
    good: Tone = "good" if clear else ""
    remaining = [answer.assumption for answer in verdict.remaining]
    cells = [Cell(arm.arm, tone=good), Cell(f"{arm.pulls:,}"), Cell(percent(arm.missing_share))]
    if analysis.has_follow_ups:
        every = arm.answered == arm.follow_ups
        cells.append(Cell(f"{arm.follow_ups:,}" if every else f"{arm.answered:,} of {arm.follow_ups:,}"))
    for name in names:
        interval: Interval | None = arm.naive if name == "naive" else arm.estimates.get(name)
        if interval is None:
            cells.append(Cell(UNKNOWN))
            continue
        best = len(analysis.arms) > 1 and analysis.winner[name] == arm.arm
        tone: Tone = good if best and name in remaining else ""
        cells.append(Cell(figures.number(interval.mean), figures.limits(interval), best, tone))
    if bounded and arm.bounds is None:
        cells.append(Cell(UNKNOWN))
    elif arm.bounds is not None:
        ends = [figures.number(end) for end in (arm.bounds.low, arm.bounds.high)]
        limits = [figures.number(end) for end in (arm.bounds.low_limit, arm.bounds.high_limit)]
        cells.append(Cell(f"{ends[0]} to {ends[1]}", f"[{limits[0]}, {limits[1]}]"))
    return cells


def _chances(analysis: Analysis) -> list[Block]:
    """Each arm's probability of being the best, with what it takes for granted; none without a contest."""
    if len(analysis.arms) < 2 or not analysis.assumptions:
        return []
    rows = [
        [Cell(arm.arm)]
        + [
            Cell(chance(estimate.probability_best), star=analysis.winner[name] == arm.arm)
            for name, estimate in arm.estimates.items()
        ]
        for arm in analysis.sorted_arms
    ]
    columns = [Column("arm", words=True), *map(Column, analysis.assumptions)]
    doubts = [Sentence(one.message, "doubt") for one in analysis.warnings if one.code == "flat-prior"]
    table = Table("Probability of being the best arm, if the assumption holds", columns, rows)
    return [table, Sentence(CHANCES_NOTE, "faint"), *doubts]


def _differences(analysis: Analysis, figures: Figures) -> list[Table]:
    """Each arm's mean minus the control's, absolute and relative, with p-values; none without a control."""
    if analysis.control is None or not analysis.assumptions or len(analysis.arms) < 2:
        return []
    rows: list[list[Cell]] = []
    shown, leading = [], leading_arms(analysis, MOST_ARMS)
    for arm in analysis.sorted_arms:
        if arm.arm == analysis.control:
            continue
        left = len(arm.estimates)
        for name, estimate in arm.estimates.items():
            change = estimate.difference
            assert change is not None
            number, limits = figures.number(change.mean, sign=True), figures.limits(change, sign=True)
            excludes_zero = change.low > 0 or change.high < 0
            lift, _, of_lift = lift_text(change.lift).partition(" ")
            if arm in leading:
                shown.append(len(rows))
            rows.append(
                [
                    Cell(arm.arm, rows=left),
                    Cell(name),
                    Cell(number, limits, star=excludes_zero, tone="strong" if excludes_zero else ""),
                    Cell(lift, of_lift),
                    Cell(p_value(change.p_value)),
                ]
            )
            left = 0
    columns = [Column("arm", words=True), Column("assumption", words=True)]
    columns += map(Column, ("difference", "lift", "p"))
    caption = (
        f"simultaneous {level_text(analysis.level)} intervals and p-values (Dunnett); "
        "★ interval excludes zero; lift: the difference as a share of the control's mean"
    )
    return [Table(caption, columns, rows, heading=f"Difference to {named(analysis.control)}", shown=shown)]


def _tests(analysis: Analysis) -> list[Table]:
    """What data could contradict, and whether they do."""
    if not analysis.tests:
        return []
    rows = [
        [
            Cell(test.assumption),
            Cell(test.question, test.remark),
            Cell(test.arm or "all arms"),
            Cell(data_answer(test), tone="doubt" if test.assumption in contradicted_by([test]) else ""),
            Cell(f"{test.statistic:,.2f}"),
            Cell(f"{test.freedom}"),
            Cell(p_value(test.p_value)),
        ]
        for test in analysis.tests
    ]
    words = ("assumption", "question", "arm", "answer of the data")
    columns = [Column(name, words=True) for name in words]
    columns += map(Column, ("chi-square", "degrees of freedom", "p"))
    return [Table("Tests of the assumptions; p corrected for several arms (Holm)", columns, rows)]


# -- sections


def _graphs(analysis: Analysis) -> list[Block]:
    graphs = assumption_graphs(analysis)
    if not graphs:
        return []
    text = (
        "An arrow means that one variable may influence another. The assumption rules out the dashed arrows with a "
        "cross: if such an influence exists, the estimate may be wrong."
    )
    drawn = [Drawing(graph.svg, graph.caption, graph.assumption) for graph in graphs]
    return [Section("What each assumption forbids", [Sentence(text), Panels(drawn)], on=On.PAGE)]


def _course(analysis: Analysis, name: str) -> list[Block]:
    charts = course_charts(analysis, name)
    if not charts:
        return []
    blocks = [Panels(charts), Sentence(course_sentence(analysis), "faint")]
    return [Section("Over time", blocks, on=On.PAGE)]


def _tipping(analysis: Analysis, figures: Figures, name: str) -> list[Block]:
    """What would change the winner."""
    if not analysis.sensitivity:
        return []
    sentences = [tipping_sentence(tip, figures) for tip in analysis.sensitivity]
    text = (
        "An assumption may be wrong about the missing outcomes. Each chart makes the missing outcomes of the winner "
        "worse than the assumption says, until the runner-up is as good; the band is the winner's "
        f"{level_text(analysis.level)} interval. sd: standard deviations of an outcome within its arm."
    )
    panels = [
        Section(
            f"If {tip.assumption} holds",
            [tipping_chart(analysis, tip, f"{name}tipping-{i}", sentence, figures), Sentence(sentence)],
        )
        for i, (tip, sentence) in enumerate(zip(analysis.sensitivity, sentences, strict=True))
    ]
    lines = [
        f"{tip.assumption}: {sentence}" for tip, sentence in zip(analysis.sensitivity, sentences, strict=True)
    ]
    heading = "Would the winner change?"
    return [
        Bullets(f"{heading} (sd: standard deviations of an outcome)", lines, on=On.TERMINAL),
        Section(heading, [Sentence(text), Panels(panels)], on=On.PAGE),
    ]
