"""What the tests of sweeps share: a study, its whole result, and a count of the work."""

import pytest

import truant
from tests.lab.studies import SIZE, TEXT
from truant.lab import study as task
from truant.lab import sweep as lab
from truant.lab import sweep_result as results


@pytest.fixture
def study(tmp_path, monkeypatch):
    monkeypatch.setattr(task, "RUNS", SIZE)
    path = tmp_path / "study.toml"
    path.write_text(TEXT)
    return path


@pytest.fixture(scope="session")
def whole(tmp_path_factory):
    """The uninterrupted result, on one thread, of tasks of the usual size."""
    path = tmp_path_factory.mktemp("whole") / "study.toml"
    path.write_text(TEXT)
    return truant.sweep(path, workers=1)


@pytest.fixture
def no_page(monkeypatch):
    """Sweeps leave out their page, which costs more than a small study."""
    monkeypatch.setattr(results.SweepResult, "report", lambda result, path: None)


@pytest.fixture
def counted(monkeypatch):
    """The tasks that are handed out."""
    handed = []
    original = lab.work

    def counting(number, task, stop):
        handed.append(task)
        return original(number, task, stop)

    monkeypatch.setattr(lab, "work", counting)
    return handed
