"""`truant simulate`: compare policies in a world."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from truant.cli.base import as_json, cli, console, integer, say, seeded, wrote
from truant.cli.interrupts import exit_stopped
from truant.cli.sections import examples
from truant.defaults import HORIZON, RUNS

if TYPE_CHECKING:
    from truant.lab.result import Simulation
    from truant.spec import Spec


def _complete_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from truant import registry
    from truant.policies import policy_names

    known = registry.names("world") if param.name == "world" else policy_names()
    return [CompletionItem(name) for name in known if name.startswith(incomplete)]


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
    shell_complete=_complete_names,
    help="World to draw outcomes from, see `truant worlds`.",
)
@click.option(
    "--policy",
    "policies",
    multiple=True,
    shell_complete=_complete_names,
    help="Policy to compare, see `truant policies`; with parameters as in mar-ucb:level=cautious; may be repeated.  "
    "[default: naive-ucb, ucb with the assumption that holds in the world, oracle-ucb]",
)
@click.option(
    "--horizon", type=integer, default=HORIZON, show_default=True, help="Number of rounds of each run."
)
@click.option(
    "--runs",
    type=integer,
    default=RUNS,
    show_default=True,
    help="Number of runs; each draws a new instance of the world.",
)
@seeded
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    shell_complete=_complete_keys,
    help="Parameter of the world, see `truant worlds NAME`, e.g. gamma=0.5,1.0; may be repeated.",
)
@click.option(
    "--delay",
    type=integer,
    default=0,
    show_default=True,
    help="Number of rounds after which an outcome becomes known.",
)
@click.option(
    "--follow-up-cost",
    type=float,
    default=None,
    help="Cost of following up a missing outcome, in units of the outcome. Policies such as follow-up-ucb may then do "
    "so; follow-up-ucb is added to the default policies.",
)
@click.option(
    "--follow-up-success",
    type=float,
    default=1.0,
    show_default=True,
    help="Probability that a follow-up obtains the outcome.",
)
@click.option("--minimize", is_flag=True, help="Lower outcomes are better, as for costs, churn or deaths.")
@click.option(
    "--intervals",
    is_flag=True,
    help="Compute 95% intervals of the means, calibrated by replaying each run; this takes long.",
)
@click.option("--threads", type=integer, default=None, help="Number of threads.  [default: one per core]")
@click.option(
    "--chart",
    type=click.Path(path_type=str),
    help="Write a chart of the regret: .png, .svg or .html (interactive).",
)
@click.option("--log", is_flag=True, help="Use a logarithmic axis for the regret in the chart.")
@click.option("--out", type=click.Path(path_type=str), help="Write all runs: .csv or .parquet.")
@as_json
def simulate(
    world: str,
    policies: tuple[str, ...],
    horizon: int,
    runs: int,
    seed: int,
    settings: tuple[str, ...],
    delay: int,
    follow_up_cost: float | None,
    follow_up_success: float,
    minimize: bool,
    intervals: bool,
    threads: int | None,
    chart: str | None,
    log: bool,
    out: str | None,
    as_json: bool,
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

    try:
        simulation = run(
            of_world,
            list(dict.fromkeys(policies)) or _default_policies(of_world, follow_up_cost is not None),
            horizon=horizon,
            runs=runs,
            seed=seed,
            threads=threads,
            delay=delay,
            minimize=minimize,
            follow_up_cost=follow_up_cost,
            follow_up_success=follow_up_success,
            estimates=out is not None,  # only the file shows them
            intervals=intervals,
        )
    except KeyboardInterrupt:
        exit_stopped("Stopped before the first run was finished; there is nothing to show.")
    if simulation.runs < runs:
        say(f"Stopped after {simulation.runs} of {runs} runs; what follows is about these.", err=True)
    written = _write(simulation, out, chart, log)  # before anything that can fail, such as a closed pipe
    if as_json:
        click.echo(json.dumps(simulation.summary(), indent=2))
    else:
        console().print(simulation)
    for path in written:
        say(f"Wrote {path}", err=as_json)  # with --json, stdout is JSON and nothing else
    if simulation.runs < runs:
        exit_stopped()


def _default_policies(world: Spec, follow_ups: bool) -> list[str]:
    """Everyone's habit, what the world's own assumption would do, and what could be done at best."""
    from truant import registry

    part = registry.find("world", world.name)  # an unknown world is the first thing to say
    known = registry.names("assumption") if part.package else registry.built_in_names("assumption")
    named_after = [name for name in known if f"{part.name}-".startswith(f"{name}-")]
    own = f"{max(named_after, key=len, default='mar')}-ucb"
    return ["naive-ucb", own, *(["follow-up-ucb"] if follow_ups else []), "oracle-ucb"]


def _write(simulation: Simulation, out: str | None, chart: str | None, log: bool) -> list[Path]:
    written = []
    if out:
        written.append(wrote(simulation.save(out)))
    if chart:
        from truant.charts import save_chart

        written.append(wrote(save_chart(simulation.chart(log=log), chart)))
    return written
