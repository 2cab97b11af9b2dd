"""What the tests of sweeps share: a study, its whole result, and a count of the work."""

import pytest

import truant
from tests.sweeps.studies import TEXT
from truant.sweeps import sweep as lab


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(TEXT)
    return path


@pytest.fixture(scope="session")
def whole(tmp_path_factory):
    """The uninterrupted result, on one thread."""
    path = tmp_path_factory.mktemp("whole") / "study.toml"
    path.write_text(TEXT)
    return truant.sweep(path, workers=1)


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
