"""Results that show themselves: in a terminal, in a notebook, as a page. Rooms above draw them, when asked."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from truant.errors import is_installed
from truant.files import PAGES, TABLES, output_path, written_whole
from truant.tables.write import write_table

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.console import Console, ConsoleOptions, RenderResult

RENDERERS = {
    "terminal": "truant.documents.terminal:Printed",
    "notebook": "truant.documents.page:fragment",
    "page": "truant.documents.page:page",
}


class Shown:
    """A result that prints itself and writes its page: its document is made once, and rendered in each way."""

    _views: ClassVar[
        dict[str, str]
    ]  # "document", and what else a class asks for -> "truant.room.module:function"

    def _view(self, kind: str, *arguments: Any, **options: Any) -> Any:
        """What a function of a room above makes of these."""
        return made_above((RENDERERS | self._views)[kind], *arguments, **options)

    def document(self) -> Any:
        """Everything as a `truant.documents.blocks.Document`, which terminal, page and notebook render."""
        return self._view("document", self)

    def html(self) -> str:
        """The whole page as text: charts and plain sentences, without scripts; it needs no network."""
        return str(self._view("page", self.document()))

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write that page to an .html file, whole or not at all."""
        return self._save_page(path, getattr(self, "inputs", ()))

    def _save_page(self, path: str | os.PathLike[str], inputs: tuple[str, ...]) -> Path:
        """Write the page to an .html file, whole or not at all; refused if it is one of the inputs."""
        target = output_path(path, PAGES, inputs)  # refused before the work
        page = self.html()
        with written_whole(target) as temporary:
            temporary.write_text(page, encoding="utf-8")
        return target

    def _repr_html_(self) -> str | None:
        # without the packages of charts a notebook shows the text
        return str(self._view("notebook", self.document())) if is_installed("charts") else None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self._view("terminal", self.document())

    def __str__(self) -> str:
        from rich.console import Console

        console = Console(width=200, no_color=True)
        with console.capture() as captured:
            console.print(self, crop=False)
        return captured.get()


def made_above(target: str, *arguments: Any, **options: Any) -> Any:
    """What a function of a room above, as "truant.room.module:function", makes of these."""
    module, _, name = target.partition(":")
    return getattr(importlib.import_module(module), name)(*arguments, **options)


def save_table(table: pa.Table, path: str | os.PathLike[str], kind: str, inputs: tuple[str, ...]) -> Path:
    """Write a table as .csv or .parquet, whole or not at all; refused if it is one of the inputs."""
    return write_table(table, output_path(path, TABLES, inputs), kind)
