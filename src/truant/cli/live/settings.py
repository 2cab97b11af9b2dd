"""Options for the settings of an experiment: those of `create`, and those that `change` takes, too."""

from __future__ import annotations

from typing import Any

import click

from truant.cli.analyze import _complete_assumptions as complete_assumptions
from truant.cli.base import integer, number, numbers
from truant.cli.live.base import names, options
from truant.cli.simulate import _complete_names as complete_policies
from truant.defaults import HORIZON, LEVEL
from truant.errors import InvalidValue
from truant.text import quoted


def _refuse_texts(ctx: click.Context, option: click.Parameter, value: Any) -> Any:
    """A list of numbers as it was typed; a text that is none would be taken letter by letter."""
    if isinstance(value, str):
        raise InvalidValue(f"{option.opts[0]} must be numbers with commas between them, got {quoted(value)}.")
    return value


outcome_options = options(
    click.option(
        "--range",
        "range",
        type=numbers,
        callback=_refuse_texts,
        metavar="LOW,HIGH",
        help="Lowest and highest possible outcome.",
    ),
    click.option(
        "--levels",
        type=numbers,
        callback=_refuse_texts,
        metavar="0,1,...",
        help="All values of a discrete outcome.",
    ),
    click.option(
        "--absent",
        type=number,
        metavar="VALUE",
        help="Outcome of a decision for which none was told in its window, e.g. 0 for no purchase.",
    ),
    click.option(
        "--minimize", is_flag=True, help="Lower outcomes are better, as for costs, churn or deaths."
    ),
)
mediator_options = options(
    click.option(
        "--mediator-levels",
        type=names,
        metavar="closed,opened",
        help="Levels of the mediator: something known before the outcome that is related to it.",
    ),
    click.option(
        "--mediator-cuts",
        type=numbers,
        callback=_refuse_texts,
        metavar="10,50",
        help="Points at which a numeric mediator is cut into classes, instead of --mediator-levels.",
    ),
    click.option(
        "--mediator-absent",
        metavar="LEVEL",
        help="Mediator level of a decision for which none was told in its window.",
    ),
)
changeable_options = options(
    click.option(
        "--assume",
        shell_complete=complete_assumptions,
        help="Assumption about why outcomes are missing, see `truant assumptions`.",
    ),
    click.option(
        "--policy",
        shell_complete=complete_policies,
        help="How arms are chosen, see `truant policies`.  [default: --assume with ucb]",
    ),
    click.option("--window", metavar="7d", help="How long to wait for an outcome; after that it is missing."),
    click.option(
        "--grace",
        metavar="1d",
        help="How long after its window a decision still waits for outcomes that happened within it.",
    ),
    click.option(
        "--horizon",
        type=integer,
        metavar="N",
        help=f"Number of decisions that are expected in total.  [default: {HORIZON} in a new experiment]",
    ),
    click.option("--minimum-share", type=number, metavar="SHARE", help="Smallest probability of each arm."),
    click.option(
        "--holdout",
        type=number,
        metavar="SHARE",
        help="Share of decisions whose arm is drawn with the fixed shares of --split; the policy does not use them.",
    ),
    click.option(
        "--split",
        type=numbers,
        callback=_refuse_texts,
        metavar=".5,.5",
        help="Fixed shares of the arms, for warm-up and holdout.  [default: equal shares]",
    ),
    click.option("--control", metavar="ARM", help="The arm that the others are compared with."),
    click.option(
        "--fallback",
        metavar="ARM",
        help="The arm to use if the store cannot be reached, or the experiment is paused or has ended.",
    ),
    click.option(
        "--level",
        type=number,
        help=f"Level of intervals and verdicts in reports.  [default: {LEVEL} in a new experiment]",
    ),
    click.option(
        "--tolerance",
        type=number,
        help="Largest expected loss, in units of the outcome, at which arms count as equal.",
    ),
    click.option(
        "--stop-loss",
        type=number,
        metavar="LOSS",
        help="Recommend to stop if the expected loss of the best arm is at most this.",
    ),
    click.option(
        "--stop-level",
        type=number,
        metavar="PROBABILITY",
        help="Recommend to stop if an arm is the best with at least this probability.",
    ),
)
