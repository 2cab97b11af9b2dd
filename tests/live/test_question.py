"""The settings of an experiment are stated once: keywords, options, documentation and what may change follow."""

import inspect
from dataclasses import fields
from typing import get_type_hints

import truant
from truant.cli import cli
from truant.live.configuration import Configuration
from truant.live.question import CHANGEABLE, ChangeableSettings, ExperimentQuestion, ExperimentSettings

ASKED = {one.name: one for one in fields(ExperimentQuestion)}
OF_THE_CALL = {"name", "store", "actor", "why", "clock", "seed"}  # arguments of create that are no settings


def test_keywords_are_typed_for_editors_as_they_are_asked():
    types = get_type_hints(ExperimentQuestion)
    settings = get_type_hints(ExperimentSettings)
    assert settings == {name: types[name] for name in ASKED if name != "arms"}
    assert set(get_type_hints(ChangeableSettings)) == set(CHANGEABLE)


def test_create_takes_and_describes_what_is_asked():
    python = inspect.signature(truant.Experiment.create).parameters
    assert set(python) == OF_THE_CALL | set(ASKED)
    described = truant.Experiment.create.__doc__
    for name in set(ASKED) - {"arms"}:
        assert python[name].default == ASKED[name].default
        assert f"\n        {name} : " in described


def test_commands_have_the_options_that_are_asked():
    create = {one.name for one in cli.commands["create"].params if one.name in ASKED}
    assert create == set(ASKED)
    change = {one.name for one in cli.commands["change"].params if one.name in ASKED}
    assert change == set(CHANGEABLE)


def test_a_configuration_keeps_what_is_asked():
    kept = {one.name for one in fields(Configuration)}
    assert set(ASKED) - kept == {"range"}
    assert kept - set(ASKED) == {"low", "high", "retired"}


def test_a_change_to_the_present_settings_changes_nothing():
    question = ExperimentQuestion(arms=["a", "b"], levels=[0, 1], assume="mcar", window="7d")
    before = question.configuration()
    from truant.live.question import changed

    assert changed(before, {"window": "7d", "policy": "mcar-ucb", "level": before.level}) == before
