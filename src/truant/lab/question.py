"""What is asked of a simulation: keyword arguments of `truant.simulate`, and options of `truant simulate`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

from truant.errors import HORIZON, RUNS
from truant.questions import ask

if TYPE_CHECKING:
    from truant.policies import Policy
    from truant.spec import Spec
    from truant.worlds import World


@dataclass(frozen=True)
class SimulationQuestion:
    """What is asked of a simulation."""

    world: World | Spec | str = ask(
        python='a name (a new instance for each run; parameters as in "mar:gamma=0.5,1.0"), or one world.',
        flags=(),
    )
    policies: Sequence[Policy | Spec | str] | Policy | Spec | str = ask(
        (),
        help="Policy to compare, see `truant policies`; with parameters as in mar-ucb:level=cautious; may be repeated.",
        python='names such as "mar-ucb" or "mar-ucb:level=cautious", or Policy objects.',
        flags=("--policy",),
        default_words="naive-ucb, ucb with the assumption that holds in the world, oracle-ucb",
        several=True,
        complete="policy",
    )
    _: KW_ONLY
    horizon: int = ask(
        HORIZON, help="Number of rounds of each run.", python="rounds T of each run.", kind="integer"
    )
    runs: int = ask(
        RUNS,
        help="Number of runs; each draws a new instance of the world.",
        python="number of runs; all policies of a run face the same instance.",
        kind="integer",
    )
    seed: int = ask(
        0,
        help="Seed of the random numbers; the same seed gives the same result.",
        python="the same seed gives the same numbers, whatever the number of threads.",
        kind="integer",
    )
    threads: int | None = ask(
        None,
        help="Number of threads.",
        python="how many runs at a time; all cores unless given.",
        kind="integer",
        default_words="one per core",
    )
    parameters: Mapping[str, Any] | None = ask(None, python="of a named world.", flags=())
    delay: int = ask(
        0,
        help="Number of rounds after which an outcome becomes known.",
        python="rounds after which an outcome enters the counts; 0: before the next choice.",
        kind="integer",
    )
    minimize: bool = ask(
        False,
        help="Lower outcomes are better, as for costs, churn or deaths.",
        python="less is better: the best arm has the lowest mean. False: as the world says.",
        kind="flag",
    )
    follow_up_cost: float | None = ask(
        None,
        help="Cost of following up a missing outcome, in units of the outcome. Policies such as follow-up-ucb may "
        "then do so; follow-up-ucb is added to the default policies.",
        python="what following up a missing outcome costs, in units of the outcome, for policies that do; None: it "
        "cannot be done.",
        kind="number",
    )
    follow_up_success: float = ask(
        1.0,
        help="Probability that a follow-up obtains the outcome.",
        python="the probability that a follow-up brings the outcome, whatever that is.",
        kind="number",
    )
    estimates: bool = ask(
        True,
        python="compute each policy's final estimates of the means, which takes time under `mnar` and its kin; False: "
        "they are NaN.",
        flags=(),
    )
    intervals: bool = ask(
        False,
        help="Compute 95% intervals of the means, calibrated by replaying each run; this takes long.",
        python="compute 95% intervals of the means, calibrated by replaying each run 200 times, which takes as long "
        "as that; NaN for oracles.",
        kind="flag",
    )
    progress: bool | Callable[[float], None] | None = ask(
        None,
        python="show a progress bar; by default if standard error is a terminal. Or a function, which is told the "
        "share that is done, now and then.",
        flags=(),
    )
