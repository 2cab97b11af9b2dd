"""The ablation studies: each is sound, and the page says what was measured. The whole is too slow for a test."""

import pytest
from research.ablations import study as ablation
from research.ablations.tables import figure, overview
from research.cache import Cache
from research.sections import ABLATIONS
from research.workbench import Workbench

import truant
from research import ROOT
from truant.lab.study import check
from truant.lab.study_file import read_study

STUDIES = sorted(path.stem for path in ablation.HERE.glob("*.toml"))


def file_of(name):
    return ablation.HERE / f"{name}.toml"


def reading_of(name):
    return (ablation.HERE / f"{name}.md").read_text(encoding="utf-8").strip()


def test_every_study_is_a_section_with_a_reading():
    assert sorted(ABLATIONS) == STUDIES
    assert all(reading_of(name) for name in STUDIES)


@pytest.mark.parametrize("name", STUDIES)
def test_it_is_sound(name):
    study = read_study(file_of(name))
    assert study.title
    assert study.runs >= 100
    assert len(check(study)) == sum(1 for _ in study.points())


@pytest.mark.parametrize("name", ["first-pulls", "mediator-quality"])
def test_tables_show_every_mean(name, tmp_path):
    result = truant.sweep(ablation.smaller(file_of(name)), out=tmp_path)
    text = "\n\n".join(ablation.paragraphs(name, result, "What it shows."))
    assert "What it shows." in text
    assert f"`PYTHONPATH=research/plugin truant sweep research/ablations/{name}.toml`: 3 runs" in text
    for row in result.rows:
        assert figure(row) in text
    assert len(ablation.chart(result).to_dict()["concat"]) == len(result.study.blocks)


def test_an_overview_has_a_column_for_each_world(tmp_path):
    study = ablation.smaller(file_of("wrong-assumption"))
    result = truant.sweep(study, out=tmp_path)
    lines = overview(result).splitlines()
    assert len(lines) == 2 + len({row["policy"] for row in result.rows})
    assert all(line.count("|") == len(study["worlds"]) + 2 for line in lines)
    assert sum(line.count("★") for line in lines) == len(study["worlds"])


def test_a_confirmation_has_fewer_runs_and_other_random_numbers(tmp_path):
    def study_for(**options):
        return ablation.study_for(Workbench(tmp_path, Cache(tmp_path / "kept"), **options), file_of("z"))

    recorded, other = study_for(), study_for(share=0.1, draw=2)
    assert recorded == read_study(file_of("z"))
    assert (other.runs, other.seed) == (30, recorded.seed + 2_000_000)
    assert other.blocks == recorded.blocks


def test_the_page_is_of_these_studies():
    text = (ROOT / "docs" / "ablations.md").read_text(encoding="utf-8")
    for name in STUDIES:
        study = read_study(file_of(name))
        assert f"## {study.title}\n\n{study.description}\n" in text
        command = f"`PYTHONPATH=research/plugin truant sweep research/ablations/{name}.toml`"
        assert f"{command}: {study.runs} runs at each point, seed {study.seed}." in text
        assert " ".join(reading_of(name).split()) in " ".join(text.split())
