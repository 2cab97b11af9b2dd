"""Commands that move decisions and stores: export, import, backup and restore."""

from __future__ import annotations

import click

from truant.cli.base import wrote
from truant.cli.live.base import answer, live_command, opened, opened_store


@live_command("export")
@click.argument("name")
@click.option("--out", required=True, type=click.Path(path_type=str), help="File to write: .csv or .parquet.")
@click.option("--all", "every", is_flag=True, help="Pending decisions, too.")
def export(name: str, out: str, every: bool, store: str | None, as_json: bool) -> None:
    """Write a row for each settled decision.

    `truant analyze` reads them: --arm arm --mediator mediator --outcome outcome --probability probability.
    """
    with opened(name, store) as experiment:
        path = wrote(experiment.export(out, all=every))
    answer(
        as_json, "transfer", {"action": "exported", "experiment": name, "file": str(path)}, f"Wrote {path}"
    )


@live_command("import", changes=True)
@click.argument("name")
@click.argument("rows", type=click.Path(path_type=str))
def import_(
    name: str, rows: str, actor: str | None, why: str | None, store: str | None, as_json: bool
) -> None:
    """Add past decisions from a .csv or .parquet file.

    All are added, or none if one is refused. ROWS has a column arm, and may have key, probability, asked, mediator
    and outcome.
    """
    with opened(name, store) as experiment:
        added = experiment.import_rows(rows, actor=actor, why=why)
    fields = {"action": "imported", "experiment": name, "file": rows, "decisions": added}
    answer(
        as_json, "transfer", fields, f"{_counted(added, 'decision')} {'was' if added == 1 else 'were'} added."
    )


@live_command("backup")
@click.option(
    "--out", required=True, type=click.Path(path_type=str), help="File to write: .db, .sqlite or .backup."
)
def backup(out: str, store: str | None, as_json: bool) -> None:
    """Write the whole store into one file; asks and tells go on."""
    from truant.live.backup import backup as run

    with opened_store(store) as place:
        path = wrote(run(place, out))
    answer(as_json, "transfer", {"action": "backed-up", "file": str(path)}, f"Wrote {path}")


@live_command("restore")
@click.argument("file", type=click.Path(path_type=str))
def restore(file: str, store: str | None, as_json: bool) -> None:
    """Bring a backup into a store without experiments.

    The store may be of another kind: a backup of PostgreSQL can be restored into an SQLite file.
    """
    from truant.live.backup import restore as run

    with opened_store(store, create=True) as place:
        found = run(file, place)
    fields = {"action": "restored", "file": file, "experiments": found}
    answer(
        as_json,
        "transfer",
        fields,
        f"{_counted(found, 'experiment')} {'was' if found == 1 else 'were'} restored.",
    )


def _counted(number: int, what: str) -> str:
    return f"1 {what}" if number == 1 else f"{number:,} {what}s"
