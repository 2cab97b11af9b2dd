"""`truant ask` and `truant lookup`: which arm to use. No estimate is made, and neither numpy nor numba is loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from truant.cli.base import integer, say
from truant.cli.live.base import live_command, opened, print_document
from truant.documents import document

if TYPE_CHECKING:
    from truant.live.decision import Decision


@live_command("ask")
@click.argument("name")
@click.option("--n", type=integer, metavar="N", help="Number of decisions.  [default: 1]")
@click.option(
    "--key", metavar="KEY", help="Key of a customer, patient or visit; the same key gets the same decision."
)
def ask(name: str, n: int | None, key: str | None, store: str | None, as_json: bool) -> None:
    """Ask which arm to use.

    The arm is drawn at random with the present shares of the arms, and the decision is stored. Decisions whose window
    is over are counted by `tell`, `status`, `watch` and `close-windows`, not by `ask`.
    """
    with opened(name, store, settles=False) as experiment:
        found: Any = experiment.ask(n, key=key)
    _print(name, found if isinstance(found, list) else [found], as_json)


@live_command("lookup")
@click.argument("name")
@click.option("--key", required=True, metavar="KEY", help="Key of a customer, patient or visit.")
def lookup(name: str, key: str, store: str | None, as_json: bool) -> None:
    """Show the decision of a key, without making a new one.

    The exit code is 1 if the key has no decision.
    """
    with opened(name, store, settles=False) as experiment:
        found = experiment.lookup(key)
    _print(name, [found] if found else [], as_json)
    if found is None:
        if not as_json:
            say("No decision has this key.", err=True)
        click.get_current_context().exit(1)


def _print(name: str, decisions: list[Decision], as_json: bool) -> None:
    rows = [decision.summary() for decision in decisions]
    if as_json:
        print_document(document("asked", 1, {"experiment": name, "decisions": rows}))
    elif rows:
        from truant.terminal.decisions import decision_lines

        click.echo("\n".join(decision_lines(rows)))
