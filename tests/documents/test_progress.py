"""Progress: a function is called instead of a bar, and a bar is drawn only where it is wanted."""

import truant
from truant.documents.progress import progress_bar


def test_progress_is_told_up_to_the_end():
    told = []
    truant.simulate("mar", ["naive-ucb", "mar-ucb"], horizon=200_000, runs=3, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0


def shown(capsys, wanted):
    with progress_bar("working", wanted) as show:
        show(1.0)
    printed = capsys.readouterr()
    assert printed.out == ""
    return "working" in printed.err


def test_a_bar_is_drawn_on_a_terminal_unless_unwanted(capsys, monkeypatch):
    assert not shown(capsys, None)  # standard error is no terminal here
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich takes it for one
    assert shown(capsys, None)
    assert not shown(capsys, False)
