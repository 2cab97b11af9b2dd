"""`truant simulate`, `truant sweep` and `truant demo`."""

from __future__ import annotations

import os
import shutil
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from truant.cli.base import (
    as_json,
    cli,
    console,
    examples,
    exit_stopped,
    gone,
    integer,
    is_terminal,
    print_document,
    say,
    wrote,
)
from truant.cli.question_options import question_options
from truant.envelope import plain
from truant.errors import MissingExtra, counted, is_installed
from truant.lab.question import SimulationQuestion

if TYPE_CHECKING:
    from truant.lab.records import SweepSize
    from truant.lab.result import Simulation
    from truant.spec import Spec


def _complete_worlds(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from truant import registry

    return [CompletionItem(name) for name in registry.names("world") if name.startswith(incomplete)]


def _complete_keys(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from truant import registry

    world = (ctx.params.get("world") or "").partition(":")[0]
    if world not in registry.built_in_names("world"):  # completing does not run code of another package
        return []
    keys = registry.find("world", world).parameters
    return [CompletionItem(f"{key}=") for key in keys if f"{key}=".startswith(incomplete)]


class WorldName(click.types.StringParamType):
    """The name of a world; where it is not given, the error says how to find one."""

    def get_missing_message(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """What to do if the option is missing."""
        return "`truant worlds` lists them."


@cli.command(
    epilog=examples(
        "truant simulate --world mar",
        "truant simulate --world mar --set gamma=0.1,1.0 --policy mar-ucb",
        "truant simulate --world mnar --horizon 5000 --runs 50 --chart regret.svg",
    )
)
@click.option(
    "--world",
    type=WorldName(),
    required=True,
    shell_complete=_complete_worlds,
    help="World to draw outcomes from, see `truant worlds`.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    shell_complete=_complete_keys,
    help="Parameter of the world, see `truant worlds NAME`, e.g. gamma=0.5,1.0; may be repeated.",
)
@question_options(SimulationQuestion)
@click.option(
    "--chart",
    type=click.Path(path_type=str),
    help="Write a chart of the regret: .png, .svg or .html (interactive).",
)
@gone("--log", "was removed: in Python, simulation.chart(log=True) has a logarithmic axis", is_flag=True)
@click.option("--out", type=click.Path(path_type=str), help="Write all runs: .csv or .parquet.")
@as_json
def simulate(
    world: str, settings: tuple[str, ...], chart: str | None, out: str | None, as_json: bool, **asked: Any
) -> None:
    """Compare policies on simulated outcomes with known means.

    A world draws the outcomes and decides which are missing. All policies are run on the same instances of the world,
    so that their differences are paired. The table shows regret: the sum, over the rounds of a run, of the difference
    between the mean of the best arm and that of the chosen arm.
    """
    from truant.files import CHARTS, TABLES, check_outputs, named_files
    from truant.spec import Spec, parse_parameters

    of_world = Spec.parse(world, **parse_parameters(settings))
    # before the work: a long simulation must not end in a file that cannot be written
    check_outputs([(chart, CHARTS), (out, TABLES)], named_files(of_world.parameters.values()))
    from truant.lab.simulate import simulate as run

    follow_ups = asked["follow_up_cost"] is not None
    asked["policies"] = list(dict.fromkeys(asked["policies"])) or _default_policies(of_world, follow_ups)
    try:
        simulation = run(of_world, **asked, estimates=out is not None)  # only the file shows them
    except KeyboardInterrupt:
        exit_stopped("Stopped before the first run was finished; there is nothing to show.")
    if simulation.runs < asked["runs"]:
        say(
            f"Stopped after {simulation.runs} of {asked['runs']} runs; what follows is about these.", err=True
        )
    written = _write(simulation, out, chart)  # before anything that can fail, such as a closed pipe
    if as_json:
        print_document(simulation.summary())
    else:
        console().print(simulation)
    for path in written:
        say(f"Wrote {path}", err=as_json)  # with --json, stdout is JSON and nothing else
    if simulation.runs < asked["runs"]:
        exit_stopped()


def _default_policies(world: Spec, follow_ups: bool) -> list[str]:
    """Everyone's habit, what the world's own assumption would do, and what could be done at best."""
    from truant import registry
    from truant.assumptions import named_after

    part = registry.find("world", world.name)  # an unknown world is the first thing to say
    known = registry.names("assumption") if part.package else registry.built_in_names("assumption")
    return [
        "naive-ucb",
        f"{named_after(part.name, known)}-ucb",
        *(["follow-up-ucb"] if follow_ups else []),
        "oracle-ucb",
    ]


def _write(simulation: Simulation, out: str | None, chart: str | None) -> list[Path]:
    written = []
    if out:
        written.append(wrote(simulation.save(out)))
    if chart:
        from truant.charts import save_chart

        written.append(wrote(save_chart(simulation.chart(), chart)))
    return written


BACKENDS = ("threads", "processes", "ray")  # those of truant.lab.sweep, which is slow to import


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
    only these are computed. The folder then has results.parquet (every run), summary.json and index.html (regret
    along what varies, and who is best).
    """
    from truant.lab.sweep import size
    from truant.lab.sweep import sweep as run

    if check:
        figures = size(study)
        if as_json:
            print_document(plain(figures))
        else:
            click.echo(_sentence(figures))
        return
    try:
        result = run(study, out=out, backend=backend, workers=workers)
    except KeyboardInterrupt:
        exit_stopped("Stopped; what was done is kept, and the same command goes on from there.")
    if as_json:
        print_document(result.summary())
    else:
        console().print(result)


def _sentence(figures: SweepSize) -> str:
    points, runs = counted(figures.points, "point"), counted(figures.runs, "run")
    policies = counted(figures.policies, "policy", "policies")
    tasks, rounds = counted(figures.tasks, "task"), counted(figures.rounds, "round")
    return f"The study is valid: {points}, {policies} at most, {runs} of each, {tasks}, {rounds}."


OPENING = (
    "Three mails, simulated, so that the true mean of each is known. Everything is computed now; the first run also "
    "compiles code and takes about a minute."
)


@cli.command(epilog=examples("truant demo", "truant demo --out first-look --json"))
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("out/demo"),
    show_default=True,
    help="Folder for the page, the tables and the SQLite file of the experiment; made if it is not there.",
)
@as_json
def demo(out: Path, as_json: bool) -> None:
    """Show what truant does, in about a minute.

    A table on which dropping the rows with a missing outcome names the wrong mail, and what truant says; a policy that
    learns although outcomes are missing, beside one that does not; and a live experiment on SQLite. All of it goes to
    one page. Files of an earlier demo in the folder are replaced.
    """
    missing = [extra for extra in ("logs", "charts") if not is_installed(extra)]
    if missing:
        raise MissingExtra('The demo needs the extras logs and charts: pip install "truant[logs,charts]".')
    say(OPENING, err=as_json)  # before anything that takes time
    from truant.demo.run import run_demo

    try:
        made = run_demo(out, say=partial(say, err=as_json), program=_program())
    except KeyboardInterrupt:
        exit_stopped(f"Stopped before the page was written; finished tables, if any, are in {out}.")
    if as_json:
        print_document(made.summary())
        return
    console().print(made, crop=False)
    page = made.page.resolve().as_uri() if is_terminal() else made.page  # a link for a terminal
    click.echo()
    say(f"All of it on one page: {page}")


def _program() -> str:
    """How this command was called, so that the next commands can be copied."""
    called = Path(sys.argv[0])
    if called.name == "__main__.py" and "truant" in called.parts:
        return "python -m truant"
    found = shutil.which("truant")
    if called.stem != "truant" or (found is not None and Path(found).resolve() == called.resolve()):
        return "truant"
    return os.path.relpath(called)
