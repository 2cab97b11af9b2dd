"""The README's picture, from the demo: what dropping rows names, what truant names, and what it costs a policy.

python -m research.demo_picture docs/images/demo.png
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import altair as alt

from truant.charts import save_chart
from truant.charts.regret import NAIVE, RegretPanel, panel_chart, regret_range
from truant.charts.style import Look, styled_title
from truant.demo.document import RIGHT, WRONG, means_chart
from truant.demo.parts import DROPS, LEARNS
from truant.demo.run import Demo, run_demo

WIDTH, ROW = 235, 58  # of a plot, and of a mail in it, in pixels
TITLE = "Dropping rows with missing outcomes can name the wrong mail"


def save_picture(made: Demo, path: Path) -> Path:
    """Write the picture as .png, on a ground of its own."""
    table, customers = made.table, made.table.customers
    subtitle = (
        f"Three simulated mails, {len(customers.mail):,} customers, {1 - customers.known.mean():.0%} of the outcomes "
        "missing. Dots: mean spent by each method, with 95% interval."
    )
    panels = []
    for name, heading in (
        ("rows_dropped", "Rows with missing outcomes dropped"),
        ("mar", "truant, using who opened the mail"),
    ):
        way = table.ways[name]
        right = way.named == table.best
        title = styled_title(
            heading, f"names '{way.named}': the {'right' if right else 'wrong'} mail", size=14
        )
        title.subtitleColor, title.subtitleFontWeight = RIGHT if right else WRONG, 600
        panels.append(means_chart(way, table, WIDTH, ROW, title))
    heading = "Policies that choose the next mail: spending lost"
    panel = RegretPanel(heading, made.simulation.curves(), {DROPS: NAIVE, LEARNS: Look(RIGHT, (1, 0))})
    extent, runs = regret_range(panel.curves, log=False), made.simulation.runs
    regret = panel_chart(
        panel,
        extent,
        subtitle=f"against the best mail, mean of {runs} runs",
        width=WIDTH,
        height=ROW * len(table.true_means),
        quantity="spending lost",
    )
    whole = alt.HConcatChart(
        hconcat=[*panels, regret],
        spacing=34,
        title=styled_title(TITLE, subtitle, size=20),
        background="#FFFFFF",
        resolve=alt.Resolve(
            scale=alt.ScaleResolveMap(color="independent", fill="independent", stroke="independent")
        ),
    )
    return save_chart(whole, path)


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        save_picture(run_demo(Path(folder) / "demo", say=print), Path(sys.argv[1]))
