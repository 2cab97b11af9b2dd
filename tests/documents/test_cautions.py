"""Cautions: each code has its sentence, in one file, and documents and JSON have the sentence and no other."""

import re
from pathlib import Path

import truant
from truant.analysis import Labels
from truant.documents.cautions import SENTENCES
from truant.envelope import plain
from truant.estimates.beliefs import Caution

SOURCE = Path(truant.__file__).parent
SET_ASIDE = {"SET_ASIDE": "set-aside"}  # codes that have a name
OF_CELLS = {"empty-cell", "rarely-observed"}  # chosen between in a line of their own


def test_every_code_has_a_sentence_and_every_sentence_a_code():
    made = set()
    for path in SOURCE.rglob("*.py"):
        for text, name in re.findall(
            r'Caution\(\s*(?:"([\w-]+)"|([A-Z_]+))', path.read_text(encoding="utf-8")
        ):
            made.add(text or SET_ASIDE[name])
    assert made | OF_CELLS == set(SENTENCES)


def test_a_concern_keeps_its_own_words_whatever_its_code():
    facts = {
        "assumption": "theirs",
        "assumption_text": "Under {assumption}, {arm} has few outcomes with {mediator}.",
        "mediator": 1,
        "labels": Labels.of("ab", ["no", "{arm}"], mediator_column="opened"),
    }
    concern = Caution("contradicted", "a", 3.0, facts)
    assert concern.message == "Under theirs, arm 'a' has few outcomes with opened = {arm}."
    assert plain(concern) == {"code": "contradicted", "message": concern.message, "arm": "a", "value": 3.0}
    assert repr(concern) == f"<contradicted: {concern.message}>"
