"""Says once that code is compiled: the first use of a policy takes some seconds, later ones do not."""

from __future__ import annotations

import logging

import click

SENTENCE = "Compiling for the first use; this takes some seconds, and later starts are quick ..."


class CompileNotice(logging.Handler):
    """Prints a line on standard error when the first function is compiled that was not kept on disk."""

    def __init__(self) -> None:
        super().__init__()
        self._said = False

    def emit(self, record: logging.LogRecord) -> None:
        """Say it, once."""
        if not self._said:
            self._said = True
            click.echo(SENTENCE, err=True)


def announce_compiling() -> None:
    """Have the line printed from now on."""
    logger = logging.getLogger("truant.compile")
    logger.setLevel(logging.INFO)
    logger.addHandler(CompileNotice())
