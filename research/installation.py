"""What each extra weighs and how quickly truant starts: wheels in clean environments, into docs/installation.md.

python -m research.installation
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "installation.md"
EXTRAS = ("", "logs", "charts", "postgres", "data", "ray", "all")
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
START = """
import subprocess, sys, time
def seconds(code):
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    return time.perf_counter() - started
HELP = "import sys; sys.argv[1:] = ['--help']; import truant.__main__"
pairs = [(seconds("pass"), seconds("import truant"), seconds(HELP)) for _ in range(TIMES)]
empty, imported, helped = (min(column) for column in zip(*pairs))
print(imported - empty, helped - empty)
""".replace("TIMES", str(TIMES))


def main() -> None:
    """Measure every extra and write the table."""
    with tempfile.TemporaryDirectory() as folder:
        wheel = built(Path(folder))
        rows = [measured(extra, wheel, Path(folder)) for extra in EXTRAS]
    text = PAGE.read_text(encoding="utf-8")
    head, _, rest = text.partition(BEFORE)
    PAGE.write_text(head + BEFORE + "".join(lines(rows)) + AFTER + rest.partition(AFTER)[2], encoding="utf-8")


def built(folder: Path) -> Path:
    """The wheel of the sources as they are."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


def measured(extra: str, wheel: Path, folder: Path) -> tuple[str, dict[str, int], float, float]:
    """The extra, the bytes of each package, and the seconds of an import and of --help."""
    place = folder / (extra or "light")
    subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
    python = str(place / "bin" / "python")
    target = f"{wheel}[{extra}]" if extra else str(wheel)
    pip = [python, "-m", "pip", "install", "-qq", "--disable-pip-version-check", target]
    subprocess.run(pip, check=True)
    found = subprocess.run([python, "-c", SIZES], check=True, capture_output=True, text=True).stdout
    sizes = {name: int(size) for name, size in (line.rsplit(" ", 1) for line in found.splitlines())}
    times = subprocess.run(
        [python, "-c", START], check=True, capture_output=True, text=True, cwd=folder
    ).stdout
    imported, helped = map(float, re.findall(r"[\d.e-]+", times))
    print(
        f"{extra or 'light'}: {sum(sizes.values()) / 1e6:.0f} MB, {imported:.3f} s, {helped:.3f} s",
        flush=True,
    )
    return extra, sizes, imported, helped


def lines(rows: list[tuple[str, dict[str, int], float, float]]) -> Iterator[str]:
    """The table, and what the light installation consists of."""
    light = sum(rows[0][1].values())
    yield "| installation | MB in all | MB more than light | `import truant` | `truant --help` |\n"
    yield "|---|---|---|---|---|\n"
    for extra, sizes, imported, helped in rows:
        name = f'`pip install "truant[{extra}]"`' if extra else "`pip install truant`"
        total = sum(sizes.values())
        more = f"{(total - light) / 1e6:.0f}" if extra else ""
        yield f"| {name} | {total / 1e6:.0f} | {more} | {imported * 1000:.0f} ms | {helped * 1000:.0f} ms |\n"
    largest = list(rows[0][1].items())[:LISTED]
    listed = ", ".join(f"{name} {size / 1e6:.0f}" for name, size in largest)
    rest = light - sum(size for _, size in largest)
    yield f"\nThe light installation in MB: {listed}, all others {rest / 1e6:.0f}.\n"


if __name__ == "__main__":
    main()
