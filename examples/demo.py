"""Why truant exists: a world where dropping missing rows never recovers, beside one where it does no harm."""

from __future__ import annotations

import sys
from pathlib import Path

from rich.console import Console

from truant.charts import regret_chart, save_chart, side_by_side
from truant.lab.result import Simulation
from truant.lab.simulate import simulate

WORLDS = ["confounded", "mar"]
POLICIES = ["naive-ucb", "mar-ucb", "oracle-ucb"]  # drop missing rows; reweight; see everything
HORIZON, RUNS, SEED = 100_000, 20, 1


def main(folder: Path) -> None:
    """Run both worlds; print a table and a sentence for each, and where the chart is."""
    console = Console()
    charts = []
    for world in WORLDS:
        simulation = simulate(world, POLICIES, horizon=HORIZON, runs=RUNS, seed=SEED)
        verdict, figures = what_happened(simulation)
        console.print(simulation)
        console.print(f"[bold]In world {world}, {verdict}:[/bold] {figures}.\n", highlight=False)
        chart = regret_chart(
            simulation.curves(), title=f"World {world}", subtitle=f"Here {verdict}", width=380, height=300
        )
        charts.append(chart)
    title = "What it costs to drop the rows whose outcome is missing"
    subtitle = f"Mean ± 1 sd of {RUNS} runs of {HORIZON:,} rounds; mind the two scales"
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("demo.png", "demo.html"):
        console.print(f"Chart: {save_chart(side_by_side(charts, title, subtitle), folder / name)}")


def what_happened(simulation: Simulation) -> tuple[str, str]:
    """A verdict and its figures: a policy that has learned loses little in the second half of its rounds."""
    rows = {row["policy"]: row for row in simulation.table().to_pylist()}
    naive, ours = rows["naive-ucb"], rows["mar-ucb"]
    late = 1 - naive["regret_first_half_mean"] / naive["regret_mean"]
    factor = naive["regret_mean"] / ours["regret_mean"]
    figures = (
        f"naive-ucb lost {naive['regret_mean']:,.0f}, {late:.0%} of it in the second half, "
        f"and mar-ucb, which reweights by the mediator, {ours['regret_mean']:,.0f}"
    )
    if late > 0.4 and factor > 2:  # a straight line has .5
        return "dropping the missing rows never recovers", f"{figures}, {1 / factor:.0%} of that"
    return f"dropping the missing rows {'does no harm' if factor < 1.25 else 'costs some'}", figures


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
