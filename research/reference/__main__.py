"""Writes the schemas and the pages: `python -m research.reference`."""

from __future__ import annotations

from research import ROOT
from research.reference.catalogue import FOLDER, schemas, written
from research.reference.pages import pages
from research.reference.stub import STUB, stub
from truant.files import written_whole


def main() -> None:
    for name, schema in schemas().items():
        with written_whole(FOLDER / name) as temporary:
            temporary.write_text(written(schema), encoding="utf-8")
    print(f"{FOLDER.relative_to(ROOT)} is written.")
    for name, text in pages().items():
        with written_whole(ROOT / "docs" / name) as temporary:
            temporary.write_text(text, encoding="utf-8")
        print(f"docs/{name} is written.")
    with written_whole(STUB) as temporary:
        temporary.write_text(stub(), encoding="utf-8")
    print(f"{STUB.relative_to(ROOT)} is written.")


if __name__ == "__main__":
    main()
