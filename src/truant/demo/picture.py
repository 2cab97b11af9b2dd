"""The picture of the demo: what dropping rows names, what truant names, and what it costs a policy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from truant.demo.charts import RIGHT, WRONG, means_chart, regret_lines
from truant.demo.learning import LearningResult
from truant.demo.means import Means, dropped_means, estimated_means
from truant.demo.page import TOP
from truant.demo.table import TableResult

if TYPE_CHECKING:
    import altair as alt

WIDTH, ROW = 235, 58  # of a plot, and of a mail in it, in pixels
TITLE = "Dropping rows with missing outcomes can name the wrong mail"


def save_picture(table: TableResult, learning: LearningResult, path: Path) -> Path:
    """Write the picture as .png, on a ground of its own."""
    import altair as alt

    from truant.charts import save_chart
    from truant.charts.style import styled_title

    count = len(table.true_means)
    missing = f"{1 - table.customers.known.mean():.0%}"
    subtitle = (
        f"Three simulated mails, {len(table.customers.mail):,} customers, {missing} of the outcomes missing. "
        "Dots: mean spent by each method, with 95% interval."
    )
    left = _panel("Rows with missing outcomes dropped", dropped_means(table), table)
    middle = _panel("truant, using who opened the mail", estimated_means(table.by_mediator, "mar"), table)
    heading = styled_title(
        "Policies that choose the next mail",
        f"spending lost against the best mail, mean of {learning.simulation.runs} runs",
        size=14,
    )
    right = regret_lines(learning, width=WIDTH + 95, height=ROW * count, title=heading)
    whole = alt.HConcatChart(
        hconcat=[left, middle, right],
        spacing=34,
        title=styled_title(TITLE, subtitle, size=20),
        background="#FFFFFF",
        resolve=alt.Resolve(
            scale=alt.ScaleResolveMap(color="independent", fill="independent", stroke="independent")
        ),
    )
    return save_chart(whole, path)


def _panel(heading: str, shown: Means, table: TableResult) -> alt.LayerChart:
    from truant.charts.style import styled_title

    right = shown.named == table.best
    title = styled_title(heading, f"names '{shown.named}': the {'right' if right else 'wrong'} mail", size=14)
    title.subtitleColor, title.subtitleFontWeight = RIGHT if right else WRONG, 600
    return means_chart(shown, table.true_means, top=TOP, width=WIDTH, row=ROW, title=title)
