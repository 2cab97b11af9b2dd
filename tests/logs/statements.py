"""The statement that reduces a log to counts, for each dialect; `python -m tests.logs.statements` writes golden/ anew.

MySQL, BigQuery and Snowflake have not been tried: their files are read, not run. MySQL compares texts by the collation
of their column, which usually ignores case.
"""

from __future__ import annotations

from pathlib import Path

from sqlglot import exp

from truant.logs.engines import Table
from truant.logs.forms import Form
from truant.logs.query import Cut, reduction, tidy
from truant.logs.rows import condition_columns
from truant.logs.statement import render
from truant.logs.values import Rules
from truant.logs.where import expression, parse
from truant.tables.request import understand

TRIED = ("duckdb", "postgres", "sqlite", "spark")
UNTRIED = ("mysql", "bigquery", "snowflake")
GOLDEN = Path(__file__).parent / "golden"
COLUMNS = (
    ("mail", "text"),
    ("opened", "text"),
    ("score", "text"),
    ("revenue", "text"),
    ("country", "text"),
    ("age", "double"),
)
WHERE = "country in ('DE', 'AT') and age >= 18 and not (mail like 'test%' or score is null)"


def statement(dialect: str) -> str:
    """The reduction of a table of texts, with missing values, currency, a mediator that is cut, and a condition."""
    table = Table(exp.table_("visits", quoted=True), COLUMNS, untyped=dialect == "sqlite")
    names = [name for name, _ in COLUMNS]
    request = understand(names, "mail", "revenue", ["opened", "score:3"], None, None, None)
    tree = parse(WHERE, names)
    assert tree is not None
    wanted = {role: names.index(name) for role, name in (request.names() | condition_columns(tree)).items()}
    picked = table.rows(wanted, dialect)
    rules = Rules.of(["-99", "#N/A"], dialect)
    conditions = {name: picked.columns[role] for role, name in condition_columns(tree).items()}
    kept = picked.where(expression(tree, conditions, rules))
    currency = {"outcome": Form(replacements=(("$", ""), (",", "")))}
    cuts = (Cut(), Cut((2.5, 7.25), (0.0, 10.0)))
    columns = tidy(request, kept, rules, currency, cuts)
    found = reduction(columns, by_outcome=False, pivot=120.5, with_nan=False)
    return f"{render(found, dialect, pretty=True)}\n"


def main() -> None:
    """Write the files anew."""
    GOLDEN.mkdir(exist_ok=True)
    for dialect in (*TRIED, *UNTRIED):
        (GOLDEN / f"{dialect}.sql").write_bytes(statement(dialect).encode())


if __name__ == "__main__":
    main()
