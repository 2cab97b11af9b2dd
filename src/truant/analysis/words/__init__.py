"""An analysis in plain words and figures: every sentence that terminals, pages, notebooks and JSON share."""

from truant.analysis.words.figures import (
    UNKNOWN,
    Figures,
    chance,
    lift_text,
    listed,
    p_value,
    percent,
    signed_percent,
)
from truant.analysis.words.groups import chances_sentence, group_rows
from truant.analysis.words.rows import (
    best_end,
    by_code,
    course_sentence,
    direction_sentence,
    leading_arms,
    missing_sentence,
    missing_share,
)
from truant.analysis.words.tipping import tipping_sentence
from truant.analysis.words.verdict import (
    answer_sentences,
    settling_sentences,
    verdict_document,
    verdict_sentence,
)

__all__ = [
    "UNKNOWN",
    "Figures",
    "answer_sentences",
    "best_end",
    "by_code",
    "chance",
    "chances_sentence",
    "course_sentence",
    "direction_sentence",
    "group_rows",
    "leading_arms",
    "lift_text",
    "listed",
    "missing_sentence",
    "missing_share",
    "p_value",
    "percent",
    "settling_sentences",
    "signed_percent",
    "tipping_sentence",
    "verdict_document",
    "verdict_sentence",
]
