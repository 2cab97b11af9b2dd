"""`truant list`: the experiments of a store."""

from __future__ import annotations

from truant.cli.base import console, say
from truant.cli.live.base import live_command, opened_store, print_document, written
from truant.documents import document


@live_command("list")
def list_experiments(store: str | None, as_json: bool) -> None:
    """List the experiments of a store."""
    from truant.live.experiment import experiments

    with opened_store(store) as place:
        rows = [one | {"created": written(one["created"])} for one in experiments(place)]
    if as_json:
        print_document(document("experiments", 1, {"experiments": rows}))
    elif rows:
        from truant.terminal.live_tables import experiments_table

        console().print(experiments_table(rows))
    else:
        say("The store has no experiments.")
