"""One default for each setting: commands, Python functions, experiments and study files agree."""

import inspect

import pytest

import truant
from truant.cli import cli
from truant.errors import HORIZON, LEVEL, RUNS
from truant.lab.study_file import study_of
from truant.live.configuration import Configuration
from truant.live.question import configure

FUNCTIONS = {
    "simulate": truant.simulate,
    "analyze": truant.analyze,
    "plan": truant.plan,
    "rehearse": truant.rehearse,
    "sweep": truant.sweep,
}
OTHERWISE = {  # said in another way on the command line
    ("simulate", "policies"),
    ("rehearse", "windows"),
    ("rehearse", "parameters"),
}


def defaults_of(function):
    return {name: one.default for name, one in inspect.signature(function).parameters.items()}


def unset(value):
    return None if value is None or value in ((), "", []) else value


@pytest.mark.parametrize("command", FUNCTIONS)
def test_a_command_has_the_defaults_of_its_function(command):
    python = defaults_of(FUNCTIONS[command])
    context = cli.commands[command].make_context(command, [], resilient_parsing=True)
    both = {name for name in map(str, context.params) if name.rstrip("_") in python}
    compared = both - {name for of, name in OTHERWISE if of == command}
    assert len(compared) >= 2
    for name in compared:
        default = python[name.rstrip("_")]
        if default is not inspect.Parameter.empty:
            assert unset(context.params[name]) == unset(default), name


def test_one_horizon_everywhere():
    study = study_of({"policies": ["mcar-ucb"], "worlds": [{"name": "mcar"}]})
    assert {block.horizons for block in study.blocks} == {(HORIZON,)}
    places = [truant.simulate, truant.Decider, configure, Configuration]
    assert [defaults_of(place)["horizon"] for place in places] == [HORIZON] * len(places)
    assert f"[default: {HORIZON} in a new experiment]" in option("create", "horizon").help
    assert option("simulate", "horizon").default == HORIZON


def test_one_level_everywhere():
    places = [truant.analyze, truant.plan, truant.rehearse, configure, Configuration]
    assert [defaults_of(place)["level"] for place in places] == [LEVEL] * len(places)
    assert f"[default: {LEVEL} in a new experiment]" in option("create", "level").help


def test_the_default_horizon_is_played():
    simulation = truant.simulate("mcar", "mcar-ucb", progress=False)
    assert (simulation.horizon, simulation.runs) == (HORIZON, RUNS)


def option(command, name):
    (found,) = [one for one in cli.commands[command].params if one.name == name]
    return found
