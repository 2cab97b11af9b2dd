"""`truant reproduce`: reproduces the paper's figures and checks its claims."""

from __future__ import annotations

import json
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from truant.cli.base import as_json, cli, console, integer, say, seeded
from truant.cli.interrupts import exit_stopped


def _complete_figures(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from truant.reproduction.catalogue import FIGURES

    return [CompletionItem(name) for name in FIGURES if name.startswith(incomplete)]


@cli.command()
@click.option(
    "--figure",
    "figures",
    multiple=True,
    shell_complete=_complete_figures,
    help="Figure to reproduce, e.g. mar-against-ucb; may be repeated.  [default: all]",
)
@click.option("--quick", is_flag=True, help="Use a tenth of the rounds and half the runs.")
@click.option(
    "--runs", type=integer, default=None, help="Number of runs of every figure.  [default: as in the paper]"
)
@seeded
@click.option("--threads", type=integer, default=None, help="Number of threads.  [default: one per core]")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("reproduction"),
    show_default=True,
    help="Folder for the page, charts, data and summary; it is made if it does not exist.",
)
@as_json
def reproduce(
    figures: tuple[str, ...],
    quick: bool,
    runs: int | None,
    seed: int,
    threads: int | None,
    out: Path,
    as_json: bool,
) -> None:
    """Reproduce the paper's figures and check its claims.

    The paper is I. Mahrooghi, M. Moradi, S. Akbari, N. Kiyavash, "Multi-armed Bandits with Missing Outcome",
    arXiv:2411.05661 (2024). Each figure is made twice: with the paper's policies, and with those of truant beside naive
    and oracle policies.
    """
    from truant.report.reproduction import duration
    from truant.reproduction.run import reproduce as run

    try:
        made = run(figures or None, out=out, quick=quick, runs=runs, seed=seed, threads=threads)
    except KeyboardInterrupt:
        exit_stopped(
            f"Stopped before the page was written; charts of finished figures, if any, are in {out}."
        )
    count = len(made.summary["figures"])
    if made.stopped:
        wanted = len(made.summary["settings"]["figures"])
        say(f"Stopped after {count} of {wanted} figures; what follows is about these.", err=True)
    if as_json:
        click.echo(json.dumps(made.summary, indent=2))
    else:
        console().print(made)
    took = duration(made.summary["seconds"])
    say(f"{count} {'figure' if count == 1 else 'figures'} in {took}: {made.page}", err=as_json)
    if made.stopped:
        exit_stopped()
