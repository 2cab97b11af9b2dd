"""What each extra weighs and how quickly truant starts: wheels in clean environments, into docs/installation.md.

python -m research.installation
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "installation.md"
EXTRAS = ("", "logs", "charts", "postgres", "data", "ray", "spark", "all")
BEFORE, AFTER = "<!-- sizes: written by python -m research.installation -->\n", "<!-- end of sizes -->"
TIMES = 7  # starts of Python, of which the quickest counts
LISTED = 6  # largest packages of the light installation

# the packages of an environment with the bytes of their files, largest first; pip and what came with it left out
SIZES = """
import importlib.metadata as metadata, os
sizes = {}
for one in metadata.distributions():
    paths = [one.locate_file(path) for path in one.files or ()]
    sizes[one.name] = sum(os.path.getsize(path) for path in paths if os.path.exists(path))
for name, size in sorted(sizes.items(), key=lambda item: -item[1]):
    if name not in ("pip", "setuptools"):
        print(name, size)
"""
CODES = ("pass", "import truant", "import sys; sys.argv[1:] = ['--help']; import truant.__main__")


class Installation(NamedTuple):
    """A clean environment with one extra: its Python and the bytes of each package."""

    extra: str
    python: str
    sizes: dict[str, int]

    @property
    def megabytes(self) -> float:
        """All packages together."""
        return sum(self.sizes.values()) / 1e6


def main() -> None:
    """Measure every extra and write the table."""
    with tempfile.TemporaryDirectory() as folder:
        wheel = built(Path(folder))
        found = [installed(extra, wheel, Path(folder)) for extra in EXTRAS]
        table = "".join(lines(found, seconds_of_starts(found)))
    text = PAGE.read_text(encoding="utf-8")
    head, _, rest = text.partition(BEFORE)
    PAGE.write_text(head + BEFORE + table + AFTER + rest.partition(AFTER)[2], encoding="utf-8")


def built(folder: Path) -> Path:
    """The wheel of the sources as they are."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


def installed(extra: str, wheel: Path, folder: Path) -> Installation:
    """The wheel with this extra in an environment of its own."""
    place = folder / (extra or "light")
    subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
    python = str(place / "bin" / "python")
    target = f"{wheel}[{extra}]" if extra else str(wheel)
    pip = [python, "-m", "pip", "install", "-qq", "--disable-pip-version-check", target]
    subprocess.run(pip, check=True)
    listed = subprocess.run([python, "-c", SIZES], check=True, capture_output=True, text=True).stdout
    sizes = {name: int(size) for name, size in (line.rsplit(" ", 1) for line in listed.splitlines())}
    one = Installation(extra, python, sizes)
    print(f"{extra or 'light'}: {one.megabytes:.0f} MB", flush=True)
    return one


def seconds_of_starts(found: list[Installation]) -> dict[str, list[float]]:
    """By extra, the quickest start of Python alone, with `import truant`, and of --help; all take turns."""
    quickest = {one.extra: [float("inf")] * len(CODES) for one in found}
    for _ in range(TIMES):
        for one in found:
            for i, code in enumerate(CODES):
                started = time.perf_counter()
                subprocess.run(
                    [one.python, "-c", code], check=True, capture_output=True, cwd=Path(one.python).parent
                )
                quickest[one.extra][i] = min(quickest[one.extra][i], time.perf_counter() - started)
    return quickest


def lines(found: list[Installation], starts: dict[str, list[float]]) -> Iterator[str]:
    """The table, and what the light installation consists of."""
    light = found[0]
    yield "| installation | MB in all | MB more than light | `import truant` | `truant --help` |\n"
    yield "|---|---|---|---|---|\n"
    for one in found:
        name = f'`pip install "truant[{one.extra}]"`' if one.extra else "`pip install truant`"
        more = f"{one.megabytes - light.megabytes:.0f}" if one.extra else ""
        empty, imported, helped = (1000 * seconds for seconds in starts[one.extra])
        yield f"| {name} | {one.megabytes:.0f} | {more} | {imported - empty:.0f} ms | {helped - empty:.0f} ms |\n"
    largest = list(light.sizes.items())[:LISTED]
    listed = ", ".join(f"{name} {size / 1e6:.0f}" for name, size in largest)
    rest = light.megabytes - sum(size for _, size in largest) / 1e6
    yield f"\nThe light installation in MB: {listed}, all others {rest:.0f}.\n"


if __name__ == "__main__":
    main()
