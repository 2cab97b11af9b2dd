"""`truant sweep`: a whole study from one file."""

from __future__ import annotations

import json
from pathlib import Path

import click

from truant.cli.base import as_json, cli, console, integer
from truant.cli.interrupts import exit_stopped
from truant.documents import document
from truant.text import counted

BACKENDS = ("threads", "processes", "ray")  # those of truant.sweeps.backend, which is slow to import


@cli.command()
@click.argument("study", type=click.Path(path_type=Path))
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Folder for the results.  [default: STUDY-results, beside the file]",
)
@click.option(
    "--backend",
    metavar=f"[{'|'.join(BACKENDS)}]",
    shell_complete=lambda ctx, param, word: [name for name in BACKENDS if name.startswith(word)],
    default="threads",
    show_default=True,
    help="How runs are spread over cores; the results are the same. Ray uses the cluster of RAY_ADDRESS, or else this "
    "machine.",
)
@click.option(
    "--workers", type=integer, default=None, help="Number of threads or processes.  [default: one per core]"
)
@click.option("--check", is_flag=True, help="Only read and check the study and say how large it is.")
@as_json
def sweep(
    study: Path, out: Path | None, backend: str, workers: int | None, check: bool, as_json: bool
) -> None:
    """Compare policies in many worlds, as one TOML file says.

    STUDY lists worlds, values of their parameters, policies and the number of runs. Finished runs are kept: a sweep
    that was stopped, even killed, continues with the same command. If values, policies or runs are added to the file,
    only these are computed. The folder then has results.parquet (every run), summary.json and index.html (which policy
    is the best where).
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
    points, runs = counted(figures["points"], "point"), counted(figures["runs"], "run")
    policies = counted(figures["policies"], "policy", "policies")
    tasks, rounds = counted(figures["tasks"], "task"), counted(figures["rounds"], "round")
    return f"The study is valid: {points}, {policies} at most, {runs} of each, {tasks}, {rounds}."
