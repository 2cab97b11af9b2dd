"""The tables on the page of the demo."""

from __future__ import annotations

from collections.abc import Mapping

from truant.demo.learning import DROPS, LEARNS, LearningResult
from truant.demo.live import LiveResult
from truant.demo.means import dropped_means, estimated_means
from truant.demo.table import TableResult
from truant.report.document import Cell, Table


def means_table(result: TableResult) -> Table:
    """What each way to treat missing outcomes says of each mail."""
    dropped, mar = dropped_means(result), estimated_means(result.by_mediator, "mar")
    followed = estimated_means(result.followed, "follow-up")
    arms = {arm.arm: arm for arm in result.by_mediator.arms}
    rows = [
        [
            Cell(mail),
            Cell(f"{arms[mail].pulls:,}"),
            Cell(f"{arms[mail].missing_share:.0%}"),
            Cell(f"{dropped.means[mail]:.1f}", best=mail == dropped.named),
            Cell(f"{result.with_zeros[mail]:.1f}", best=mail == result.zeros_name),
            *(
                Cell(f"{way.means[mail]:.1f}", _ends(way.intervals[mail]), best=mail == way.named)
                for way in (mar, followed)
            ),
            Cell(f"{true:.1f}", best=mail == result.best),
        ]
        for mail, true in result.true_means.items()
    ]
    columns = [
        "mail",
        "rows",
        "missing",
        "rows dropped",
        "set to 0",
        "truant, mar",
        "after follow-ups",
        "true mean",
    ]
    return Table("Mean spent by mail, with 95% intervals; ★ the mail that is named", columns, rows)


def sent_table(result: LearningResult) -> Table:
    """Which mails each policy sent, and what it lost."""
    rows = [
        [
            Cell(policy),
            *(Cell(f"{share:.1%}") for share in result.shares(policy).values()),
            Cell(f"{result.lost(policy):,.0f}"),
            Cell(f"{result.late_share(policy):.1%}"),
        ]
        for policy in (DROPS, LEARNS)
    ]
    columns = [
        "policy",
        *(f"sent {mail}" for mail in result.shares(DROPS)),
        "spending lost",
        "in the 2nd half",
    ]
    return Table("Share of customers who got each mail, and spending lost", columns, rows)


def arms_table(result: LiveResult, true_means: Mapping[str, float]) -> Table:
    """The mails of the experiment, as they stand after its last day."""
    rows = []
    for arm in result.status.arms:
        counts = (arm.asked, arm.pending, arm.observed, arm.missing, arm.late)
        mean = Cell("–")
        if arm.mean is not None and arm.low is not None and arm.high is not None:
            mean = Cell(f"{arm.mean:.1f}", _ends((arm.low, arm.high)))
        figures = [Cell(f"{count:,}") for count in counts]
        rows.append(
            [Cell(arm.arm), Cell(f"{arm.share:.0%}"), *figures, mean, Cell(f"{true_means[arm.arm]:.1f}")]
        )
    columns = [
        "mail",
        "share now",
        "sent",
        "pending",
        "observed",
        "missing",
        "late",
        "truant, mar",
        "true mean",
    ]
    return Table("The experiment after four weeks; means under mar with 95% intervals", columns, rows)


def _ends(interval: tuple[float, float]) -> str:
    return f"[{interval[0]:.1f}, {interval[1]:.1f}]"
