"""The wheel, installed light into clean environments: it is small, works, and names the extras that are missing."""

import glob
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
VERSIONS = ("3.11", "3.12", "3.13")
MOST_MEGABYTES = 500  # that `pip install truant` adds to an environment; releases of numba and scipy grow
HEAVY = (
    "altair",
    "duckdb",
    "lifelines",
    "narwhals",
    "pandas",
    "pyarrow",
    "psycopg",
    "pyspark",
    "ray",
    "sklearn",
    "sqlglot",
)

SIMULATE = ("simulate", "--world", "mcar", "--policy", "mcar-ucb", "--horizon", "200", "--runs", "2")
STORE = ("--store", "sqlite:///live.db")
LIVE = (
    ("create", "mails", "--arms", "old,new", "--levels", "0,1", "--assume", "mcar", "--window", "7d", *STORE),
    ("ask", "mails", "--key", "customer-17", *STORE),
    ("tell", "mails", "--key", "customer-17", "--outcome", "1", *STORE),
    ("status", "mails", *STORE),
    ("export", "mails", "--all", "--out", "decisions.csv", *STORE),
    ("doctor", "mails", *STORE),
)
# what a light installation cannot do, and the extra that is named
REFUSED = (
    (("analyze", "table.csv", "--arm", "mail", "--outcome", "spent"), "logs"),
    ((*SIMULATE, "--chart", "regret.png"), "charts"),
    ((*SIMULATE, "--out", "runs.parquet"), "logs"),
    (("status", "mails", "--html", "status.html", *STORE), "charts"),
    (("sweep", "study.toml"), "charts"),
    (("simulate", "--world", "pbc"), "data"),
    (("list", "--store", "postgresql://nobody@localhost/none"), "postgres"),
)


def found_python(version: str) -> str | None:
    """An interpreter of this version: on the path, or among those of pyenv."""
    root = os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv"))
    places = sorted(glob.glob(f"{glob.escape(root)}/versions/{version}.*/bin/python{version}"))
    for candidate in (f"python{version}", *places):
        try:
            made = subprocess.run(
                [candidate, "-c", "import sys; print(sys.version)"], capture_output=True, text=True
            )
        except OSError:
            continue
        if made.returncode == 0 and made.stdout.startswith(f"{version}."):
            return candidate
    return None


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=PROJECT,
        check=True,
        capture_output=True,
    )
    (found,) = folder.glob("truant-*.whl")
    return found


class Installed:
    """A clean environment with the wheel in it."""

    def __init__(self, python: str, wheel: Path, folder: Path) -> None:
        self.folder = folder
        self.python = folder / "environment" / "bin" / "python"
        self.environ = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
        self.environ["TRUANT_CACHE_DIR"] = str(folder / "cache")
        self.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        uv = Path(sys.executable).with_name("uv")
        if uv.exists():  # it takes seconds, and pip half a minute
            subprocess.run([uv, "venv", "-q", "-p", python, folder / "environment"], check=True)
            install = [uv, "pip", "install", "-q", "-p", self.python]
        else:
            subprocess.run([python, "-m", "venv", folder / "environment"], check=True)
            install = [self.python, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        self.before = self.megabytes()
        subprocess.run([*install, wheel], check=True, env=self.environ)
        self.added = self.megabytes() - self.before

    def megabytes(self) -> float:
        """What the packages of the environment weigh."""
        (place,) = (self.folder / "environment" / "lib").glob("python*/site-packages")
        return sum(path.lstat().st_size for path in place.rglob("*") if path.is_file()) / 1e6

    def truant(self, *args: str) -> subprocess.CompletedProcess[str]:
        """The command, run away from the sources."""
        command = [str(self.python), "-m", "truant", *args]
        return subprocess.run(command, cwd=self.folder, env=self.environ, capture_output=True, text=True)


@pytest.fixture(scope="module", params=VERSIONS)
def installed(request, wheel, tmp_path_factory):
    python = found_python(request.param)
    if python is None:
        pytest.skip(f"Python {request.param} is not installed here")
    return Installed(python, wheel, tmp_path_factory.mktemp(f"light-{request.param}"))


def test_light_installation(installed):
    assert installed.added < MOST_MEGABYTES
    listed = f"import importlib.util as u; print([m for m in {HEAVY} if u.find_spec(m)])"
    found = subprocess.run([str(installed.python), "-c", listed], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
    made = installed.truant("--version")
    assert re.fullmatch(r"truant \d+\.\d+\.\d+\n", made.stdout), made.stderr
    made = installed.truant(*SIMULATE, "--json")
    assert made.returncode == 0, made.stderr
    assert '"schema": "truant/simulation/1"' in made.stdout
    assert "mcar-ucb" in installed.truant(*SIMULATE).stdout
    for command in LIVE:
        made = installed.truant(*command)
        assert made.returncode == 0, (command, made.stderr)
    assert (installed.folder / "decisions.csv").read_text().count("\n") == 2
    for command, extra in REFUSED:
        made = installed.truant(*command)
        assert made.returncode == 2, (command, made.stdout, made.stderr)
        assert made.stderr.count("\n") == 1, made.stderr
        assert f'pip install "truant[{extra}]"' in made.stderr
