"""The ablation studies: each is sound, and the page says what was measured. The whole is too slow for a test."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))  # the ablations are no part of the package

from ablations import run

import truant
from truant.sweeps.study import check
from truant.sweeps.study_file import read_study

STUDIES = sorted(path.stem for path in run.HERE.glob("*.toml") if path.stem != "readings")


def test_every_study_has_a_reading():
    assert sorted(run.READINGS["studies"]) == STUDIES


@pytest.mark.parametrize("name", STUDIES)
def test_it_is_sound(name):
    study = read_study(run.HERE / f"{name}.toml")
    assert study.title
    assert study.runs >= 100
    assert len(check(study)) == sum(1 for _ in study.points())


@pytest.mark.parametrize("name", ["first-pulls", "mediator-quality"])
def test_tables_show_every_mean(name, tmp_path):
    result = truant.sweep(run.smaller(run.HERE / f"{name}.toml"), out=tmp_path)
    text = "\n\n".join(run.section(name, result, "What it shows."))
    assert "What it shows." in text
    assert f"`truant sweep ablations/{name}.toml`: 3 runs" in text
    for row in result.rows:
        assert run.figure(row["regret_mean"], row["regret_se"]) in text
    assert len(run.picture(result).to_dict()["concat"]) == len(result.study.blocks)


def test_an_overview_has_a_column_for_each_world(tmp_path):
    study = run.smaller(run.HERE / "wrong-assumption.toml")
    result = truant.sweep(study, out=tmp_path)
    lines = run.overview(result).splitlines()
    assert len(lines) == 2 + len({row["policy"] for row in result.rows})
    assert all(line.count("|") == len(study["worlds"]) + 2 for line in lines)
    assert sum(line.count("★") for line in lines) == len(study["worlds"])


def test_the_page_is_of_these_studies():
    text = (run.ROOT / "docs" / "ablations.md").read_text(encoding="utf-8")
    for name in STUDIES:
        study = read_study(run.HERE / f"{name}.toml")
        assert f"## {study.title}\n\n{study.description}\n" in text
        made = f"`truant sweep ablations/{name}.toml`: {study.runs} runs at each point, seed {study.seed}."
        assert made in text
        assert " ".join(run.READINGS["studies"][name].split()) in " ".join(text.split())
