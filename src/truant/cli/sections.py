"""Where `truant --help` lists each command: by what a person wants to do."""

from __future__ import annotations

import click

SECTIONS = {
    "Start here": ("demo", "which"),
    "Analyse a table": ("analyze", "plan"),
    "Run an experiment": (
        "create",
        "ask",
        "lookup",
        "tell",
        "status",
        "watch",
        "follow-up",
        "export",
    ),
    "Change an experiment": (
        "change",
        "arm",
        "pause",
        "resume",
        "end",
        "correct",
        "withdraw",
        "forget",
        "import",
        "close-windows",
    ),
    "Look after experiments": ("list", "events", "doctor", "backup", "restore"),
    "Simulate": ("simulate", "rehearse", "sweep", "reproduce"),
    "Look up names": ("worlds", "policies", "assumptions", "indices", "completion"),
}
OTHERS = "Commands"


def in_sections(names: list[str]) -> dict[str, list[str]]:
    """These commands by the heading that they come under, in the order in which they are listed."""
    placed = {name for listed in SECTIONS.values() for name in listed}
    found = {heading: [name for name in listed if name in names] for heading, listed in SECTIONS.items()}
    found[OTHERS] = [name for name in names if name not in placed]
    return {heading: listed for heading, listed in found.items() if listed}


class SectionedGroup(click.Group):
    """Commands that help lists by what a person wants to do, each with its first sentence, which is never cut."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the headings and their commands."""
        found = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        shown = {name: command for name, command in found.items() if command and not command.hidden}
        width = max(map(len, shown))
        for heading, names in in_sections(list(shown)).items():
            with formatter.section(heading):
                formatter.write_dl(
                    [(f"{name:<{width}}", shown[name].get_short_help_str(limit=1000)) for name in names]
                )


def examples(*lines: str) -> str:
    """The examples below the options of a command, each in a line of its own."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)
