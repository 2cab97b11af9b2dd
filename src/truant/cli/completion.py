"""`truant completion`: names that the shell can complete."""

from __future__ import annotations

import os
from pathlib import Path

import click
from click.shell_completion import get_completion_class

from truant.cli.base import cli
from truant.errors import InvalidValue

SHELLS = ("bash", "zsh", "fish")


@cli.command()
@click.argument("shell", type=click.Choice(SHELLS), required=False)
def completion(shell: str | None) -> None:
    """Print a script that lets a shell complete names.

    For bash, put  eval "$(truant completion bash)"  into ~/.bashrc; for zsh, the same with zsh into ~/.zshrc; for fish,
    run  truant completion fish > ~/.config/fish/completions/truant.fish
    """
    shell = shell or Path(os.environ.get("SHELL", "")).name
    found = get_completion_class(shell) if shell in SHELLS else None
    if found is None:
        raise InvalidValue(f"The shell must be {', '.join(SHELLS[:-1])} or {SHELLS[-1]}, got {shell!r}.")
    click.echo(found(cli, {}, "truant", "_TRUANT_COMPLETE").source())
