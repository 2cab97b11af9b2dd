"""The price of a wrong assumption: every assumption's policy in a world made for each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from research.figures import plus_minus, table
from research.markdown import picture, standard_error, verdict, yes
from research.validation.measures import LINEAR, grows, regret
from research.validation.pictures import heat_map, save
from truant.errors import NotIdentified
from truant.policies import named
from truant.worlds import make

if TYPE_CHECKING:
    from research.workbench import Workbench
    from truant.lab.result import Simulation

CONFIRMED_SHARE = 0.25  # of the runs, to confirm the figures
POLICIES = (
    "mcar-ucb",
    "mar-ucb",
    "mediator-mar-ucb",
    "mnar-ucb",
    "mediator-mnar-ucb",
    "both-mnar-ucb",
    "naive-ucb",
    "zero-ucb",
    "oracle-thompson",
)
# each with the policy that believes what is so
WORLDS = {
    "mcar": "mcar-ucb",
    "mar-low": "mar-ucb",
    "confounded": "mar-ucb",
    "mediator-mar": "mediator-mar-ucb",
    "mnar": "mnar-ucb",
    "mnar-hidden": "mnar-ucb",
    "mediator-mnar": "mediator-mnar-ucb",
    "mediator-mnar-hidden": "mediator-mnar-ucb",
    "both-mnar": "both-mnar-ucb",
}


def section(bench: Workbench) -> list[str]:
    runs, horizon = bench.runs(60, 3), bench.size(100_000, 3000)
    results = {world: in_world(bench, world, horizon, runs) for world in WORLDS}
    chart(bench, results)
    rows = [row(world, result) for world, result in results.items()]
    return [
        "## The cost of a wrong assumption",
        f"Mean regret after {horizon:,} rounds, {runs} runs; the policy whose assumption holds in the world "
        f"of the row is in bold. An arrow means that the second half of the rounds added at least {LINEAR} "
        "times the regret of the first half, so the regret still grows linearly. *Not possible*: the policy "
        "cannot be used in the world (its assumption needs a discrete outcome, or more levels). A row "
        "agrees if the right policy has no arrow and no wrong policy has less than half its regret. "
        f"{verdict([r[-1] for r in rows], 'rows')}",
        table(("world", *(f"`{policy}`" for policy in POLICIES), "agrees"), rows),
        picture("validation-wrong.png", "Mean regret of every policy in every world"),
    ]


def in_world(bench: Workbench, world: str, horizon: int, runs: int) -> Simulation:
    policies = [policy for policy in POLICIES if possible(policy, world)]
    return bench.simulated(world, policies, horizon, runs)


def possible(policy: str, world: str) -> bool:
    """Whether a policy accepts the setting of a world."""
    try:
        named(policy).curve(make(world).setting, 1000)
    except NotIdentified:
        return False
    return True


def mean(result: Simulation, policy: str) -> float:
    return float(regret(result, policy).mean())


def row(world: str, result: Simulation) -> list[str]:
    right = WORLDS[world]
    cells = []
    for policy in POLICIES:
        if policy not in result.policies:
            cells.append("not possible")
            continue
        final = regret(result, policy)
        words = f"{final.mean():,.0f}" + (" ↗" if grows(result, policy) else "")
        words = f"**{words}**" if policy == right else words
        cells.append(plus_minus(final.mean(), standard_error(final), size=len(final), text=words))
    rivals = [mean(result, policy) for policy in result.policies if policy not in (right, "oracle-thompson")]
    return [world, *cells, yes(not grows(result, right) and mean(result, right) <= 2 * min(rivals))]


def chart(bench: Workbench, results: dict[str, Simulation]) -> None:
    rows = [
        {
            "world": world,
            "policy": policy,
            "regret": mean(result, policy) if policy in result.policies else None,
            "right": policy == WORLDS[world],
        }
        for world, result in results.items()
        for policy in POLICIES
    ]
    save(bench, "validation-wrong.png", heat_map(rows))
