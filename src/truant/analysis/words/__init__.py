"""An analysis in plain words and figures: every sentence that terminals, pages, notebooks and JSON share."""

from truant.analysis.shares import UNKNOWN, chance, p_value, percent
from truant.analysis.words.answers import CHANCES_NOTE, KIND_TITLES, answer_rows, data_answer, loss_text
from truant.analysis.words.figures import (
    Figures,
    lift_text,
    listed,
    signed_percent,
)
from truant.analysis.words.follow_ups import follow_up_text, follow_ups_fact
from truant.analysis.words.glossary import meanings_sentence
from truant.analysis.words.graphs import forbids_sentence
from truant.analysis.words.groups import chances_sentence, group_rows
from truant.analysis.words.rows import (
    best_end,
    by_code,
    course_sentence,
    direction_sentence,
    direction_with_option,
    drawn_sentence,
    leading_arms,
    missing_sentence,
    missing_share,
    undrawn_sentence,
)
from truant.analysis.words.tipping import tipping_sentence
from truant.analysis.words.verdict import (
    answer_sentences,
    settling_sentences,
    verdict_document,
    verdict_sentence,
)

__all__ = [
    "CHANCES_NOTE",
    "KIND_TITLES",
    "UNKNOWN",
    "Figures",
    "answer_rows",
    "answer_sentences",
    "best_end",
    "by_code",
    "chance",
    "chances_sentence",
    "course_sentence",
    "data_answer",
    "direction_sentence",
    "direction_with_option",
    "drawn_sentence",
    "follow_up_text",
    "follow_ups_fact",
    "forbids_sentence",
    "group_rows",
    "leading_arms",
    "lift_text",
    "listed",
    "loss_text",
    "meanings_sentence",
    "missing_sentence",
    "missing_share",
    "p_value",
    "percent",
    "settling_sentences",
    "signed_percent",
    "tipping_sentence",
    "undrawn_sentence",
    "verdict_document",
    "verdict_sentence",
]
