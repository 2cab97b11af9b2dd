"""What an analysis tells, whole and by the values of a column, in records that tables, pages and JSON are made from."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple

from truant.analysis.verdict import Verdict
from truant.assumptions import REFERENCE
from truant.collection.intervals import Collection
from truant.collection.weighted import Value
from truant.counts import Counts
from truant.envelope import FloatOrNaN, Sometimes, in_document, in_document_as, plain
from truant.errors import counted, named
from truant.estimates.beliefs import Caution, Direction, Infeasible, Labels
from truant.estimates.differences import Bounds, Difference
from truant.evidence.contradictions import Test, Untestable
from truant.evidence.course import OverTime
from truant.evidence.sensitivity import ShiftedMean, Tipping
from truant.provenance import Provenance
from truant.setting import Setting
from truant.shown import Shown, save_table
from truant.tables.arrow import make_table

if TYPE_CHECKING:
    import pyarrow as pa

ADJUSTMENT = "Dunnett: simultaneous intervals and p-values of all differences to the control"
FOLLOW_UP_FIELDS = "by_follow_up", "more_follow_ups", "follow_ups", "answered"  # only if there are any


@dataclass(frozen=True)
class Interval:
    """A mean with its confidence limits; these are nan where no interval can be given."""

    mean: float  # the mean
    low: FloatOrNaN  # lower end of its confidence interval; NaN if there is none
    high: FloatOrNaN  # upper end of its confidence interval; NaN if there is none


@dataclass(frozen=True)
class ArmEstimate(Interval):
    """An arm under one assumption."""

    standard_error: FloatOrNaN  # standard error of the mean; NaN if no interval can be given
    probability_best: FloatOrNaN  # probability that this arm is the best; NaN if an arm has no interval
    # mean of this arm minus the mean of the control; None for the control itself, or without a control
    difference: Difference | None


@dataclass(frozen=True)
class Arm:
    """An arm under every assumption."""

    arm: str  # name of the arm
    pulls: int  # rows with this arm
    observed: int  # rows with this arm whose outcome was observed
    missing_share: FloatOrNaN  # share of its outcomes that are missing; NaN if it has no rows
    naive: Interval | None  # mean of the observed outcomes, missing ones dropped; None if there are none
    estimates: dict[str, ArmEstimate]  # the mean of this arm under each assumption, by the assumption's name
    # worst-case bounds: the mean if every missing outcome were the lowest or the highest possible value; None if the
    # range of the outcome is not known
    bounds: Bounds | None
    # missing outcomes of this arm that were followed up; only present if there are follow-ups
    follow_ups: Sometimes[int] = 0
    answered: Sometimes[int] = 0  # follow-ups that obtained an outcome; only present if there are follow-ups


class MissingCell(NamedTuple):
    """The missing outcomes of an arm and mediator level."""

    arm: str  # name of the arm
    mediator: str  # mediator level; empty without a mediator
    place: str  # the mediator level in words, such as `opened = no`
    pulls: int  # rows of this arm and level
    observed: int  # rows whose outcome was observed
    missing_share: float | None  # share of outcomes that are missing; None if there are no rows
    # missing outcomes that were followed up; only present if there are follow-ups
    follow_ups: Sometimes[int] = 0
    answered: Sometimes[int] = 0  # follow-ups that obtained an outcome; only present if there are follow-ups


@dataclass(frozen=True, kw_only=True)
class VerdictInWords(Verdict):
    """A verdict with its sentences, as documents have it."""

    sentence: str  # the verdict in a sentence
    to_settle: list[str]  # what would settle the question, one sentence each; empty if it is settled


@dataclass(frozen=True, eq=False, kw_only=True)
class Analysis(Shown):
    """Estimates, verdict, tests and warnings: the mean of each arm under each assumption, and how far to rely on it.

    Nothing is chosen: assumptions stand side by side, in `arms`; `winner` says which arm each prefers, and `verdict`
    whether these answers decide.
    """

    schema: ClassVar = "truant/analysis/2"
    _views: ClassVar = {
        "document": "truant.documents.analysis:analysis_document",
        "sentence": "truant.documents.verdict:verdict_sentence",
        "to_settle": "truant.documents.verdict:settling_sentences",
        "about": "truant.documents.analysis_words:about_sentences",
    }

    verdict: Verdict  # which arm is best, and whether that is clear
    arms: tuple[Arm, ...]  # one entry for each arm
    infeasible: tuple[Infeasible, ...]  # assumptions that cannot be used with these data
    # the arm with the best mean under each assumption, and under `naive` (missing outcomes dropped)
    winner: dict[str, str]
    # expected loss of choosing that winner now under each assumption, in units of the outcome
    expected_loss: dict[str, FloatOrNaN]
    warnings: tuple[Caution, ...]  # what to know before relying on a figure, the most serious first
    tests: tuple[Test, ...]  # tests of the assumptions by the data
    untestable: tuple[Untestable, ...]  # assumptions that these data cannot contradict
    # the tipping point of each assumption: by how much the missing outcomes would have to differ until the winner is
    # no better than the runner-up
    sensitivity: tuple[Tipping, ...]
    # the winner's mean as its missing outcomes are shifted, by assumption
    tipping_curves: dict[str, list[ShiftedMean]]
    # rows and missing outcomes of each arm and mediator level
    missing: tuple[MissingCell, ...]
    level: float  # level of the confidence intervals
    control: str | None  # the arm that others are compared with; None if none was named
    # standard deviation of the observed outcomes within arms; NaN if there are too few
    outcome_sd: FloatOrNaN
    over_time: OverTime | None = None  # the course over time; None if no time column was named
    # the mean outcome if arms were chosen with given shares; None unless asked for
    value: Value | None = None
    collection: Collection  # how the rows were collected, and how intervals allow for it
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
    @in_document
    def minimize(self) -> bool:
        """Whether the best arm is the one with the lowest mean."""
        return self.setting.minimize

    @property
    @in_document
    def sorted_by(self) -> str:
        """The assumption by whose means reports sort the arms; `naive` if there is none."""
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

    @property
    @in_document_as("verdict")
    def _verdict_in_words(self) -> VerdictInWords:
        """Which arm is best, and whether that is clear."""
        return VerdictInWords(**vars(self.verdict), sentence=self.verdict_sentence, to_settle=self.to_settle)

    @property
    @in_document
    def adjustment(self) -> str | None:
        """How differences are adjusted for several arms; None without a control."""
        return None if self.control is None else ADJUSTMENT

    @property
    @in_document_as("*")
    def _table_fields(self) -> Provenance | None:
        """Only present if a table was read."""
        return self.provenance if self.provenance.is_table else None

    @property
    def _absent(self) -> tuple[str, ...]:
        """What its document leaves out."""
        return () if self.has_follow_ups else FOLLOW_UP_FIELDS

    def summary(self) -> dict[str, Any]:
        """Everything but the counts, as plain values for JSON."""
        return dict(plain(self))

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

    value: str  # value of the column
    rows: int  # rows with this value
    reason: str  # why they cannot be analysed


class GroupAnalysis(NamedTuple):
    """The analysis of a group."""

    value: str  # value of the column
    analysis: Analysis  # the analysis of the rows with this value


@dataclass(frozen=True, eq=False, kw_only=True)
class AnalysisBy(Shown):
    """An analysis for each value of the column `by`; labels, cut points, levels and range are common to all."""

    schema: ClassVar = "truant/analysis-by/2"
    _absent: ClassVar = ("missing_markers",)  # each group has its own
    _views: ClassVar = {
        "document": "truant.documents.analysis:by_document",
        "about": "truant.documents.analysis_words:about_sentences",
        "chances": "truant.documents.analysis_words:chances_sentence",
    }

    by: str  # the column
    groups: Mapping[str, Analysis]  # the analysis of each group, by the value of the column
    left_out: tuple[LeftOut, ...]  # groups that cannot be analysed
    provenance: Provenance = field(repr=False)  # of all groups together

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
    @in_document
    def chances(self) -> str:
        """What looking at several groups does to the probability of a false winner; empty with a single group."""
        return str(self._view("chances", len(self.groups)))

    @property
    @in_document_as("groups")
    def _group_list(self) -> list[GroupAnalysis]:
        """One entry for each group."""
        return [GroupAnalysis(*group) for group in self.groups.items()]

    @property
    @in_document_as("*")
    def _table_fields(self) -> Annotated[Provenance, "analysis-2.json"]:
        """How the table was read."""
        return self.provenance

    def summary(self) -> dict[str, Any]:
        """Everything but the counts, as plain values for JSON."""
        return dict(plain(self))

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
