"""What an analysis tells, whole and by the values of a column, in records that tables, pages and JSON are made from."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from truant.analysis.verdict import Verdict
from truant.assumptions import REFERENCE
from truant.collection.intervals import Collection
from truant.collection.weighted import Value
from truant.counts import Counts
from truant.envelope import document, plain
from truant.errors import counted, named
from truant.estimates.beliefs import Caution, Direction, Infeasible, Labels
from truant.estimates.differences import Bounds, Difference
from truant.evidence.contradictions import Test, Untestable
from truant.evidence.course import OverTime
from truant.evidence.sensitivity import Tipping
from truant.provenance import Provenance
from truant.setting import Setting
from truant.shown import Shown, save_table
from truant.tables.arrow import make_table

if TYPE_CHECKING:
    import pyarrow as pa

ADJUSTMENT = "Dunnett: simultaneous intervals and p-values of all differences to the control"


@dataclass(frozen=True)
class Interval:
    """A mean with its confidence limits; these are nan where no interval can be given."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class ArmEstimate(Interval):
    """An arm under one assumption."""

    standard_error: float  # nan where no interval can be given, as the next
    probability_best: float
    difference: Difference | None  # to the control; None for the control itself, or without one


@dataclass(frozen=True)
class Arm:
    """An arm under every assumption."""

    arm: str
    pulls: int
    observed: int
    missing_share: float
    naive: Interval | None  # mean of the observed; None if there are none
    estimates: dict[str, ArmEstimate]
    bounds: Bounds | None  # None if the range of the outcome is not known
    follow_ups: int = field(default=0, repr=False)  # of missing outcomes
    answered: int = field(default=0, repr=False)  # follow-ups that brought an outcome


@dataclass(frozen=True, eq=False, kw_only=True)
class Analysis(Shown):
    """Estimates, verdict, tests and warnings: the mean of each arm under each assumption, and how far to rely on it.

    Nothing is chosen: assumptions stand side by side, in `arms`; `winner` says which arm each prefers, and `verdict`
    whether these answers decide.
    """

    _views: ClassVar = {
        "document": "truant.documents.analysis:analysis_document",
        "sentence": "truant.documents.verdict:verdict_sentence",
        "to_settle": "truant.documents.verdict:settling_sentences",
        "about": "truant.documents.analysis_words:about_sentences",
    }

    verdict: Verdict
    arms: tuple[Arm, ...]
    infeasible: tuple[Infeasible, ...]
    winner: dict[str, str]  # by assumption, and for the naive mean
    expected_loss: dict[str, float]  # of choosing that winner now
    warnings: tuple[Caution, ...]
    tests: tuple[Test, ...]
    untestable: tuple[Untestable, ...]
    sensitivity: tuple[Tipping, ...]
    tipping_curves: dict[str, list[dict[str, float]]]
    missing: tuple[dict[str, Any], ...]  # arm, mediator, place, pulls, observed, missing_share of each cell
    level: float
    control: str | None
    outcome_sd: float
    over_time: OverTime | None = None
    value: Value | None = None  # of a mix that was asked for
    collection: Collection  # how the rows came about, and what intervals were made of that
    failures_ignored: bool = field(default=False, repr=False)  # follow-ups failed, stated to be like others
    counts: Counts = field(repr=False)  # that everything was computed from
    setting: Setting = field(repr=False)  # of the counts: arms, levels, range of the outcome
    labels: Labels = field(repr=False)  # names of arms and mediator levels
    provenance: Provenance = field(default=Provenance(), repr=False)  # where the counts came from

    @property
    def verdict_sentence(self) -> str:
        """The verdict in words, as terminal, page and JSON show it."""
        return str(self._view("sentence", self))

    @property
    def to_settle(self) -> list[str]:
        """What would settle the question, a sentence each; none where it is settled."""
        sentences: list[str] = self._view("to_settle", self)
        return sentences

    @property
    def source(self) -> str:
        """The file, table or database that was read."""
        return self.provenance.source

    @property
    def rows(self) -> int:
        """Rows that were read."""
        return self.provenance.rows if self.provenance.is_table else int(self.counts.pulls.sum())

    @property
    def notes(self) -> tuple[str, ...]:
        """How values were read, one sentence each."""
        return self.provenance.notes

    @property
    def missing_markers(self) -> Mapping[str, Mapping[str, int]]:
        """By column and then by marker: how many rows hold it in place of a value."""
        return self.provenance.missing_markers

    @property
    def title(self) -> str:
        """What is on top of tables and pages."""
        return f"M{self.provenance.means[1:]}" if self.provenance.is_table else "Analysis"

    @property
    def about(self) -> list[str]:
        """Where the figures come from, a short sentence each."""
        lines: list[str] = self._view("about", self, self.provenance) if self.provenance.is_table else []
        return lines

    @property
    def assumptions(self) -> list[str]:
        """Those that could be estimated."""
        return list(self.arms[0].estimates)

    @property
    def minimize(self) -> bool:
        """Whether the lowest value is the best."""
        return self.setting.minimize

    @property
    def sorted_by(self) -> str:
        """The assumption whose values the arms are sorted by in reports; naive if there is none."""
        names = [answer.assumption for answer in self.verdict.remaining] or self.assumptions
        if self.verdict.evidence is not None:
            return self.verdict.evidence
        return REFERENCE if REFERENCE in names else next(iter(names), "naive")

    @property
    def sorted_arms(self) -> list[Arm]:
        """The arms, best value first; those without one last."""
        name, direction = self.sorted_by, Direction(self.minimize)

        def value(arm: Arm) -> float:
            interval = arm.naive if name == "naive" else arm.estimates[name]
            return math.inf if interval is None else -direction.value(interval.mean)

        return sorted(self.arms, key=value)

    @property
    def has_follow_ups(self) -> bool:
        """Whether missing outcomes were followed up."""
        return self.counts.followed_up is not None

    @property
    def agree(self) -> bool:
        """Whether the naive mean and every assumption name the same winner."""
        return len(set(self.winner.values())) == 1

    def summary(self) -> dict[str, Any]:
        """Everything but the counts, as plain values for JSON."""
        found: dict[str, Any] = plain(self)
        found["verdict"] |= {"sentence": self.verdict_sentence, "to_settle": self.to_settle}
        if self.has_follow_ups:
            for row, arm in zip(found["arms"], self.arms, strict=True):
                row |= {"follow_ups": arm.follow_ups, "answered": arm.answered}
            own_fields = ("by_follow_up", "more_follow_ups")
            found["verdict"] |= {name: getattr(self.verdict, name) for name in own_fields}
        adjustment = ADJUSTMENT if self.control is not None else None
        own = {"minimize": self.minimize, "adjustment": adjustment, "sorted_by": self.sorted_by}
        own |= self.provenance.summary() if self.provenance.is_table else {}
        return document("analysis", 2, found | own)

    def table(self) -> pa.Table:
        """One row for each arm and assumption (the naive mean among them)."""
        rows: list[dict[str, Any]] = []
        for arm in self.arms:
            followed_up = ("follow_ups", "answered") if self.has_follow_ups else ()
            shown = ("arm", "pulls", "observed", "missing_share", *followed_up)
            own = {key: getattr(arm, key) for key in shown}
            if arm.bounds:
                own |= {f"bounds_{key}": value for key, value in asdict(arm.bounds).items()}
            nothing = dict.fromkeys(("mean", "low", "high"))
            rows.append({**own, "assumption": "naive", **(asdict(arm.naive) if arm.naive else nothing)})
            for name, estimate in arm.estimates.items():
                values = asdict(estimate)
                change = values.pop("difference") or {}
                lift = change.pop("lift", None) or dict.fromkeys(("mean", "low", "high") if change else ())
                rows.append(
                    {**own, "assumption": name, **values}
                    | {f"difference_{key}": value for key, value in change.items()}
                    | {f"lift_{key}": value for key, value in lift.items()}
                )
        names = dict.fromkeys(name for row in rows for name in row)
        return make_table({name: [row.get(name) for row in rows] for name in names})

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write `table()` as .csv or .parquet; refused if the log was read from there."""
        return save_table(self.table(), path, "analysis-table", self.provenance.inputs)

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write one page with charts and plain sentences, which needs no network."""
        return self._save_page(path, self.provenance.inputs)

    def __repr__(self) -> str:
        return f"<analysis of {counted(self.rows, 'row')}: {self.verdict_sentence}>"


@dataclass(frozen=True)
class LeftOut:
    """A group that cannot be analysed."""

    value: str
    rows: int
    reason: str


@dataclass(frozen=True, eq=False, kw_only=True)
class AnalysisBy(Shown):
    """An analysis for each value of the column `by`; labels, cut points, levels and range are common to all."""

    _views: ClassVar = {
        "document": "truant.documents.analysis:by_document",
        "about": "truant.documents.analysis_words:about_sentences",
        "chances": "truant.documents.analysis_words:chances_sentence",
    }

    by: str
    groups: Mapping[str, Analysis]
    left_out: tuple[LeftOut, ...]
    provenance: Provenance  # of all groups together

    @property
    def source(self) -> str:
        """The file, table or database that was read."""
        return self.provenance.source

    @property
    def rows(self) -> int:
        """Rows that were read."""
        return self.provenance.rows

    @property
    def notes(self) -> tuple[str, ...]:
        """How values were read, one sentence each."""
        return self.provenance.notes

    @property
    def title(self) -> str:
        """What is on top of tables and pages."""
        return f"M{self.provenance.means[1:]}, for each {named(self.by)}"

    @property
    def about(self) -> list[str]:
        """Where the figures come from, a short sentence each."""
        first = next(iter(self.groups.values()))
        return [*self._view("about", first, self.provenance), *filter(None, [self.chances])]

    @property
    def chances(self) -> str:
        """What looking at several groups does to the error of naming a winner."""
        return str(self._view("chances", len(self.groups)))

    def summary(self) -> dict[str, Any]:
        """Everything but the counts, as plain values for JSON."""
        own = self.provenance.summary()
        del own["missing_markers"]  # each group has its own
        own |= {
            "chances": self.chances,
            "groups": [{"value": label, "analysis": group.summary()} for label, group in self.groups.items()],
            "left_out": [vars(group) for group in self.left_out],
        }
        return document("analysis-by", 2, {"by": self.by} | own)

    def table(self) -> pa.Table:
        """One row for each group, arm and assumption (the naive mean among them); the group is the column `by`."""
        import pyarrow as pa

        tables = []
        for label, group in self.groups.items():
            table = group.table()
            tables.append(table.add_column(0, "by", pa.array([label] * len(table), pa.string())))
        return pa.concat_tables(tables, promote_options="permissive")

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write `table()` as .csv or .parquet; refused if the log was read from there."""
        return save_table(self.table(), path, "analysis-by-table", self.provenance.inputs)

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write one page with a table of all groups and the analysis of each, which needs no network."""
        return self._save_page(path, self.provenance.inputs)

    def __repr__(self) -> str:
        groups = counted(len(self.groups), "group")
        left_out = f", {len(self.left_out):,} left out" if self.left_out else ""
        return f"<analysis of {counted(self.rows, 'row')} by {named(self.by)}: {groups}{left_out}>"
