"""Commands that move decisions and stores: export, import, backup and restore."""

from __future__ import annotations

import click

from truant.cli.base import wrote
from truant.cli.live.base import answer, live_command, opened, opened_store


@live_command("export")
@click.argument("name")
@click.option("--out", required=True, type=click.Path(path_type=str), help="File to write: .csv or .parquet.")
@click.option("--all", "every", is_flag=True, help="Also write decisions that are not settled yet.")
def export(name: str, out: str, every: bool, store: str | None, as_json: bool) -> None:
    """Write a table with one row for each settled decision.

    `truant analyze` reads the file with --arm arm --mediator mediator --outcome outcome --probability probability.
    """
    with opened(name, store) as experiment:
        path = wrote(experiment.export(out, all=every))
    _answer(as_json, f"Wrote {path}", "exported", str(path), experiment=name)


@live_command("import", changes=True)
@click.argument("name")
@click.argument("rows", type=click.Path(path_type=str))
def import_(
    name: str, rows: str, actor: str | None, why: str | None, store: str | None, as_json: bool
) -> None:
    """Add past decisions from a .csv or .parquet file.

    ROWS needs a column arm, and may have the columns key, probability, asked, mediator and outcome. If one row is
    refused, none is added.
    """
    with opened(name, store) as experiment:
        added = experiment.import_rows(rows, actor=actor, why=why)
    sentence = "1 decision was added." if added == 1 else f"{added:,} decisions were added."
    _answer(as_json, sentence, "imported", rows, experiment=name, decisions=added)


@live_command("backup")
@click.option(
    "--out", required=True, type=click.Path(path_type=str), help="File to write: .db, .sqlite or .backup."
)
def backup(out: str, store: str | None, as_json: bool) -> None:
    """Write all experiments of a store into one file.

    Others can ask and tell at the same time.
    """
    from truant.live.backup import backup as run

    with opened_store(store) as place:
        path = wrote(run(place, out))
    _answer(as_json, f"Wrote {path}", "backed-up", str(path))


@live_command("restore")
@click.argument("file", type=click.Path(path_type=str))
def restore(file: str, store: str | None, as_json: bool) -> None:
    """Copy a backup into an empty store.

    The store may be of another kind: a backup of PostgreSQL can be restored into an SQLite file.
    """
    from truant.live.backup import restore as run

    found = run(file, store)  # which looks at the backup before it makes a store
    sentence = "1 experiment was restored." if found == 1 else f"{found:,} experiments were restored."
    _answer(as_json, sentence, "restored", file, experiments=found)


def _answer(
    as_json: bool,
    sentence: str,
    action: str,
    file: str,
    experiment: str | None = None,
    decisions: int | None = None,
    experiments: int | None = None,
) -> None:
    moved = {"experiment": experiment, "decisions": decisions, "experiments": experiments}
    answer(as_json, "transfer", {"action": action, "file": file, **moved}, sentence)
