"""What is asked of a table, stated once: each field with its option, its meaning and the check of its value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from truant.errors import LEVEL, InvalidValue, unknown
from truant.questions import ask, options

if TYPE_CHECKING:
    from truant.policies import Policy

WAYS = ("fixed", "adaptive")
COLUMN = "COLUMN"
MARKS = "-99,?"
LEVEL_HELP = "Level of the intervals; a clear winner is the best arm with at least this probability."


# Checks: each takes the name of a field and its value, or raises InvalidValue.


def _switch(name: str, value: object) -> None:
    from truant.setting import switch

    switch(name, value)


def _decimal(name: str, value: object) -> None:
    if not isinstance(value, str) or value not in (".", ","):
        raise InvalidValue(f"{name} must be '.' or ',', got {value!r}.")


def _collected(name: str, value: object) -> None:
    if not isinstance(value, str) or value not in WAYS:
        raise unknown("way of collecting", value, WAYS)


def _failures(name: str, value: object) -> None:
    from truant.assumptions.follow_up import FAILURES

    if value is not None and value not in FAILURES:
        raise unknown("way to take failed follow-ups", value, FAILURES)


def _values(name: str, value: object) -> None:
    from truant.logs.values import listed_texts

    if value is not None:
        listed_texts(name, value)


def _range(name: str, value: Any) -> None:
    from truant.tables.request import known_outcomes

    known_outcomes(None, value)


def _levels(name: str, value: Any) -> None:
    from truant.tables.request import known_outcomes

    known_outcomes(value, None)


def _cut(name: str, value: object) -> None:
    from truant.tables.request import outcome_cut

    outcome_cut(value, None)


def _assume(name: str, value: object) -> None:
    from truant.analysis.making import assumption_names

    assumption_names(value)


def _mix(name: str, value: Any) -> None:
    from truant.collection.weighted import parsed_mix

    if value is not None:
        parsed_mix(value)


@dataclass(frozen=True, kw_only=True, eq=False)
class _OfTable:
    """What questions of a table share."""

    refuses_texts: ClassVar[bool] = True  # where numbers belong

    @classmethod
    def of(cls, values: Mapping[str, Any], *, what: str) -> Self:
        """The question with these values, checked; or raises InvalidValue, or UnknownName for one that it has not."""
        known = options(cls)
        for name in values:
            if name not in known:
                raise unknown(f"keyword of {what}", name, known)
        for one in fields(cls):
            if one.default is MISSING and one.name not in values:
                raise InvalidValue(f"{what} needs {one.name}: {known[one.name].python_words()}")
        # what can be read once only is read here, as checks and rooms below read it again
        values = {name: tuple(one) if isinstance(one, Iterator) else one for name, one in values.items()}
        question = cls(**values)
        for name, option in known.items():
            if option.check is not None and name in values:
                option.check(name, values[name])
        return question

    def given(self) -> dict[str, Any]:
        """The fields that differ from their defaults, in order."""
        values = {one.name: (getattr(self, one.name), one.default) for one in fields(self)}
        return {name: value for name, (value, default) in values.items() if not _is_default(value, default)}

    @property
    def mediators(self) -> list[Any]:
        """The columns of the mediator, whether one, several or None."""
        from truant.tables.request import named_mediators

        return named_mediators(vars(self)["mediator"])

    def columns(self, *roles: str) -> dict[str, Any]:
        """The columns of these roles."""
        return {role: self.mediators if role == "mediator" else getattr(self, role) for role in roles}


def _is_default(value: object, default: object) -> bool:
    if default == ():
        return value is None or (isinstance(value, list | tuple) and not value)
    return value is default or (isinstance(value, str | int | float) and value == default)


@dataclass(frozen=True, kw_only=True, eq=False)
class Question(_OfTable):
    """What is asked of a table by `truant.analyze` and `truant analyze`: which column plays which part, and how."""

    table: str | None = ask(None, python="the name of the table, where `data` is a connection.", flags=())
    arm: str = ask(
        help="Column with the arm of each row.",
        python="the column with the arm of each row.",
        metavar=COLUMN,
    )
    outcome: str = ask(
        help="Column with the outcome, empty where it is missing.",
        python="the column with the outcome; words such as yes and no are read as 1 and 0.",
        metavar=COLUMN,
    )
    mediator: str | Sequence[str] | None = ask(
        (),
        help="Column known before the outcome and related to it; may be repeated. NAME:3 cuts a number into thirds.",
        python='a column known before the outcome, or several; "cd420:3" cuts a continuous one at its tertiles.',
        metavar="COLUMN[:N]",
        several=True,
    )
    control: Any = ask(
        None,
        help="The arm that the others are compared with.",
        python="the arm that others are compared with.",
        metavar="ARM",
    )
    assume: str | Sequence[str] = ask(
        (),
        help="Assumption about why outcomes are missing, see `truant assumptions`; may be repeated.",
        python="names of assumptions, see `truant assumptions`; all that are possible unless given.",
        default_words="all that these data allow",
        several=True,
        complete="assumption",
        check=_assume,
    )
    level: float = ask(
        LEVEL,
        help=LEVEL_HELP,
        python="of confidence intervals, and the probability of being best from which a winner is clear.",
        kind="number",
    )
    tolerance: float | None = ask(
        None,
        help="Largest expected loss, in units of the outcome, at which arms count as equal.",
        python="the expected loss, in units of the outcome, up to which arms count as equal; never unless given.",
        kind="number",
    )
    range: tuple[float, float] | None = ask(
        None,
        help="Lowest and highest possible outcome.",
        python="the lowest and the highest possible outcome, for worst-case bounds; levels bring their own.",
        kind="numbers",
        metavar="LOW,HIGH",
        check=_range,
    )
    levels: Sequence[float] | None = ask(
        None,
        help="Values of a discrete outcome.",
        python="the values of a discrete outcome; found out unless given.",
        kind="numbers",
        metavar="0,1,...",
        default_words="from the data",
        check=_levels,
    )
    cut_outcome: int | Sequence[float] | None = ask(
        None,
        help="Cut a real outcome into classes, for mnar: 3 cuts into thirds, 10,50 at these points (one point: 10,).",
        python="cuts a real outcome into levels for mnar: 3 at its tertiles, [10, 50] at these points (a value equal "
        "to a point belongs below it); the value of a level is the mean of the observed outcomes in it.",
        kind="cut",
        metavar="3|10,50",
        check=_cut,
    )
    missing_values: Sequence[object] = ask(
        (),
        help="Values that mean missing, in addition to empty, -, NA, N/A, #N/A, NaN, null and None.",
        python="further values that mean missing, e.g. -99, beside NULL, NaN, blank, - and in any case NA, N/A, #N/A, "
        "NaN, null and None.",
        kind="values",
        metavar=MARKS,
        check=_values,
    )
    only_missing_values: Sequence[object] | None = ask(
        None,
        help="The only values that mean missing, apart from empty.",
        python="values that mean missing instead, beside NULL, NaN and blank.",
        kind="values",
        metavar=MARKS,
        check=_values,
    )
    decimal: str = ask(
        ".",
        help="Decimal sign of the numbers: a point or a comma.",
        python='the decimal sign of numbers that are text, "." or ",".',
        metavar="SIGN",
        check=_decimal,
    )
    observed: str | None = ask(
        None,
        help="Column that says whether the outcome was observed.",
        python="a column that says whether the outcome was observed.",
        metavar=COLUMN,
    )
    followed_up: str | None = ask(
        None,
        help="Column that marks rows whose outcome was missing at first and then obtained by a follow-up.",
        python="a column that says yes where the outcome was missing at first and then followed up: the outcome "
        "column holds the answer, and is empty if the follow-up failed. Adds `follow-up`, and tests of the "
        "assumptions.",
        metavar=COLUMN,
    )
    failed_follow_ups: str | None = ask(
        None,
        help="How outcomes that follow-ups did not obtain are treated: worst-case (they may have any value) or "
        "ignorable (they are like the obtained ones).",
        python='"worst-case" (the default): outcomes that follow-ups failed to obtain may be anywhere in the range of '
        'the outcome; "ignorable": they are like those that were obtained, of the same arm and level.',
        metavar="WAY",
        default_words="worst-case",
        check=_failures,
    )
    expected_split: Sequence[float] | None = ask(
        None,
        help="Planned shares of the arms, sorted by arm; truant warns if those of the rows differ.",
        python="the share of units that each arm should have, in the order of the arms.",
        kind="numbers",
        metavar="1,1,...",
    )
    minimize: bool = ask(
        False,
        help="Lower outcomes are better, as for costs, churn or deaths.",
        python="the best arm is the one with the lowest mean: costs, churn, deaths.",
        kind="flag",
        check=_switch,
    )
    where: str | None = ask(
        None,
        help="Rows to keep, as in \"country = 'DE' and age >= 18\".",
        python="which rows to keep, as in \"country = 'DE' and age >= 18\": comparisons of columns with values, and, "
        "or, not, in, between, like and is null.",
        kind="once",
        metavar="CONDITION",
    )
    by: str | None = ask(
        None,
        help="One analysis for each value of this column, on one page.",
        python="a column; the analysis is made for each of its values, at most 50, and the result has them as "
        "`groups`.",
        metavar=COLUMN,
    )
    time: str | None = ask(
        None,
        help="Column with the time of each row: shows the shares of arms and of missing outcomes over time.",
        python="a column that says when a row was; the result has the course `over_time`, and warnings about it.",
        metavar=COLUMN,
    )
    unit: str | None = ask(
        None,
        help="Column with the unit (e.g. customer) of each row, if units have several rows: standard errors are "
        "clustered.",
        python="a column that tells units (customers, patients) apart; errors are clustered by it.",
        metavar=COLUMN,
    )
    collected: str = ask(
        "fixed",
        help="How arms were chosen: fixed, or adaptive (by earlier outcomes; intervals are then confidence sequences).",
        python='"fixed", or "adaptive" if a policy chose the arms by what it had seen: confidence sequences.',
        metavar="WAY",
        check=_collected,
    )
    collected_by: str | Policy | None = ask(
        None,
        help="Policy that chose the arms, e.g. mar-ucb: intervals are calibrated by replaying it.",
        python='the policy that did, if it is one of truant\'s, as in "mar-ucb": it is replayed in worlds that are '
        "fitted to the log, and intervals are calibrated by that; kept on disk.",
        metavar="POLICY",
    )
    horizon: int | None = ask(
        None,
        help="Horizon that the policy of --collected-by was given; required with it.",
        python="number of rows that this policy was told; the log may have fewer.",
        kind="integer",
        metavar="ROWS",
    )
    replays: int | None = ask(
        None,
        help="Number of replays of the policy of --collected-by.",
        python="how often it is replayed; 800 unless given.",
        kind="integer",
        default_words="800",
    )
    probability: str | None = ask(
        None,
        help="Column with the probability with which the arm of the row was chosen: estimates are adaptively weighted.",
        python="a column with the probability with which the row's arm was chosen: adaptively weighted estimates.",
        metavar=COLUMN,
    )
    value: str | Mapping[str, float] | None = ask(
        None,
        help="Also estimate the mean outcome if arms are chosen with these shares.",
        python='shares of arms, as in "a=0.5,b=0.5" or as a dict: the mean outcome if arms were chosen like that.',
        kind="shares",
        metavar="A=.5,B=.5",
        check=_mix,
    )
    encoding: str | None = ask(
        None,
        help="Encoding of CSV files, e.g. latin-1, cp1252 or utf-16.",
        python="of CSV files, such as latin-1, cp1252 or utf-16; UTF-8 unless given.",
        metavar="NAME",
        default_words="utf-8",
    )
    merge_labels: bool = ask(
        False,
        help="Count labels of arms, mediator levels and groups that differ only by case or blanks as one.",
        python="arms, mediator levels and groups that differ by case, blanks or the way a character is stored are "
        "one, under the spelling with the most rows.",
        kind="flag",
        check=_switch,
    )
    partitioned: bool = ask(
        False,
        help="Read folder names such as day=3 as columns.",
        python="folder names such as `day=3` are columns, too; they are not unless asked for.",
        kind="flag",
        check=_switch,
    )

    id = None  # rows of an analysis need no names


def _like(name: str, **changes: Any) -> Any:
    """A field of another question as it stands in `Question`, but for these changes."""
    own = next(one for one in fields(Question) if one.name == name)
    return field(default=own.default, metadata={"option": replace(own.metadata["option"], **changes)})


@dataclass(frozen=True, kw_only=True, eq=False)
class PlanQuestion(_OfTable):
    """What is asked of a table by `truant.plan` and `truant plan`; fields of the same name are those of `Question`."""

    table: str | None = _like("table")
    arm: str = _like("arm")
    outcome: str = _like("outcome")
    mediator: str | Sequence[str] | None = _like("mediator")
    id: str | None = ask(
        None,
        help="Column with the name of each row.",
        python="column that names each row; without it rows are listed by number, counted from 1 below the header.",
        metavar=COLUMN,
        default_words="the number of the row",
    )
    budget: int | None = ask(
        None,
        help="Number of follow-ups that you can make.",
        python="number of follow-ups that can be made; found unless given.",
        kind="integer",
        metavar="N",
        default_words="truant finds how many are needed",
    )
    chance: float = ask(
        0.8,
        help="Probability with which the follow-ups must show a clear winner.",
        python="probability with which the best arm must become the clear winner.",
        kind="number",
    )
    level: float = _like(
        "level",
        help="A clear winner is the best arm with at least this probability.",
        python="probability of being the best from which on an arm is clear.",
    )
    differ: float = ask(
        0.5,
        help="How much the mean of the missing outcomes of an arm may differ from that of its observed ones, in "
        "standard deviations.",
        python="in the second scenario, the standard deviation of the difference between missing and observed "
        "outcomes of an arm, as a share of that of an outcome.",
        kind="number",
    )
    success: float = ask(
        1.0,
        help="Share of follow-ups that obtain the outcome.",
        python="share of follow-ups that are expected to bring an outcome.",
        kind="number",
    )
    seed: int = ask(
        0,
        help="Seed of the random numbers; the same seed draws the same rows.",
        python="the same seed draws the same rows.",
        kind="integer",
    )
    followed_up: str | None = _like(
        "followed_up",
        help="Column that marks rows that were followed up before; they are not listed again.",
        python="a column that is true where the outcome was missing and then followed up; only others are planned.",
    )
    failed_follow_ups: str | None = _like(
        "failed_follow_ups",
        help="How outcomes that follow-ups do not obtain will be treated, as in `truant analyze`: worst-case (they "
        "may have any value) or ignorable (they are like the obtained ones).",
        python='"worst-case" (the default): outcomes that follow-ups failed to obtain, or will fail to, may be '
        'anywhere in the range of the outcome; "ignorable": they are like the obtained ones.',
    )
    observed: str | None = _like("observed")
    range: tuple[float, float] | None = _like("range")
    levels: Sequence[float] | None = _like("levels")
    minimize: bool = _like("minimize")
    missing_values: Sequence[object] = _like("missing_values")
    only_missing_values: Sequence[object] | None = _like("only_missing_values")
    decimal: str = _like("decimal")
    where: str | None = _like("where")
    encoding: str | None = _like("encoding")
    merge_labels: bool = _like("merge_labels")
    partitioned: bool = _like("partitioned")

    # what an analysis may be asked beside, when a table is read
    by = unit = time = probability = cut_outcome = None
