"""`truant sweep`: a whole study from one file."""

from __future__ import annotations

import json
from pathlib import Path

import click

from truant.cli.base import as_json, cli, console, integer
from truant.cli.interrupts import exit_stopped
from truant.documents import document

BACKENDS = ("threads", "processes", "ray")  # those of truant.sweeps.backend, which is slow to import


@cli.command()
@click.argument("study", type=click.Path(path_type=Path))
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Folder of the results.  [default: STUDY-results, beside it]",
)
@click.option(
    "--backend",
    metavar=f"[{'|'.join(BACKENDS)}]",
    shell_complete=lambda ctx, param, word: [name for name in BACKENDS if name.startswith(word)],
    default="threads",
    show_default=True,
    help="Where the runs are made; the numbers are the same. Ray takes the cluster of RAY_ADDRESS, or this machine.",
)
@click.option("--workers", type=integer, default=None, help="Tasks at a time.  [default: all cores]")
@click.option("--check", is_flag=True, help="Read and check the study, say how large it is, and run nothing.")
@as_json
def sweep(
    study: Path, out: Path | None, backend: str, workers: int | None, check: bool, as_json: bool
) -> None:
    """Run a study: worlds x parameters x policies x runs, from one TOML file.

    What is done is kept: a sweep that was stopped, even killed, goes on where it was, and more values, policies or
    runs in the file cost only what is new. The folder then has results.parquet (every run), summary.json and
    index.html (who wins where).
    """
    from truant.sweeps.sweep import size
    from truant.sweeps.sweep import sweep as run

    if check:
        figures = size(study)
        size_document = document("sweep-size", 1, figures)
        click.echo(json.dumps(size_document, indent=2) if as_json else _sentence(figures))
        return
    try:
        result = run(study, out=out, backend=backend, workers=workers)
    except KeyboardInterrupt:
        exit_stopped("Stopped; what was done is kept, and the same command goes on from there.")
    if as_json:
        click.echo(json.dumps(result.summary(), indent=2, default=list))
    else:
        console().print(result)


def _sentence(figures: dict[str, int]) -> str:
    return (
        "The study is sound: {points:,} points, {policies:,} policies at most, {runs:,} runs of each, "
        "{tasks:,} tasks, {rounds:,} rounds."
    ).format(**figures)
