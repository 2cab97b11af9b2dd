"""Reads a study from a TOML file, data only; whatever is wrong with it is said with file, place and remedy."""

from __future__ import annotations

import itertools
import os
import stat
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from truant import registry
from truant.defaults import HORIZON
from truant.errors import InvalidValue, unknown
from truant.play.run import rounds_late
from truant.policies import named
from truant.setting import switch, whole_number
from truant.spec import Spec
from truant.sweeps.study import Axis, Block, Choice, Study, at
from truant.sweeps.study_values import check_different, check_keys, check_text, settings_of, values_of
from truant.sweeps.task import RUNS, tasks_of_a_point
from truant.text import quoted, visible

STUDY_KEYS = ("title", "description", "seed", "runs", "horizon", "delay", "minimize", "policies", "worlds")
WORLD_KEYS = ("name", "title", "set", "vary", "horizon", "delay", "policies")
POLICY_KEYS = ("name", "set", "vary")
MOST_TASKS = 1_000_000  # they are listed before they are handed out, some hundred bytes each
MOST_CHOICES = 1_000  # policies of a world
MOST_ENTRIES = 1_000  # in a list of worlds or policies
LARGEST_FILE = 10_000_000  # bytes


def read_study(path: str | os.PathLike[str]) -> Study:
    """Read a study file; whatever is wrong with it is said with file, place and remedy."""
    name = os.fspath(path)
    try:
        source = _source(name)
        table = tomllib.loads(source)
    except InvalidValue:  # which is a ValueError, too
        raise
    except UnicodeDecodeError:
        raise InvalidValue(
            f"{name}: this is not a text in UTF-8; a study is a TOML file, e.g. study.toml."
        ) from None
    except OSError as error:
        raise InvalidValue(
            f"{name}: cannot be read ({error.strerror}); give the path of a TOML file."
        ) from None
    except (ValueError, RecursionError) as error:  # TOML's own, or what Python will not read
        raise InvalidValue(f"{name}: this is not valid TOML: {str(error).partition(';')[0]}.") from None
    return study_of(table, file=name, source=source)


def _source(name: str) -> str:
    """The text of a study file; a device or pipe might never end."""
    with at(name):
        try:
            status = os.stat(name)
        except ValueError:  # a NUL character, or half of one that UTF-8 has
            raise InvalidValue("this cannot be the name of a file; give the path of a TOML file.") from None
        if not stat.S_ISREG(status.st_mode):
            raise InvalidValue("cannot be read (it is no ordinary file); give the path of a TOML file.")
        with open(name, "rb") as file:
            content = file.read(LARGEST_FILE + 1)
        if len(content) > LARGEST_FILE:
            raise InvalidValue(f"this is more than {LARGEST_FILE:,} bytes; a study is a short TOML file.")
    text = content.decode("utf-8-sig")  # some editors put a mark before the first letter
    return text.replace("\r\n", "\n").replace("\r", "\n")


def study_of(table: Mapping[str, Any], *, file: str = "study", source: str = "") -> Study:
    """A study from what its file says."""
    with at(file):
        check_keys(table, STUDY_KEYS, "a study")
        for key, example in (("worlds", '[[worlds]] with name = "mar"'), ("policies", '["mar-ucb"]')):
            if key not in table and not (key == "policies" and _all_own_policies(table)):
                raise InvalidValue(f"{key} is missing; a study needs it, e.g. {example}.")
        worlds = _listed(table["worlds"], "worlds")
        blocks = tuple(_block(number, world, table) for number, world in enumerate(worlds))
        study = Study(
            title=_text(table, "title", visible(Path(file).stem)),
            description=_text(table, "description", ""),
            seed=whole_number("seed", table.get("seed", 0), at_least=0),
            runs=whole_number("runs", table.get("runs", 100), at_least=1),
            blocks=blocks,
            file=file,
            source=source,
            minimize=switch("minimize", table.get("minimize", False)),
        )
        points = sum(len(block.horizons) * len(block.delays) * _size(block.axes) for block in blocks)
        if points * tasks_of_a_point(study.runs) > MOST_TASKS:
            raise InvalidValue(
                f"The study has {points:,} points with {study.runs:,} runs each, more than {MOST_TASKS:,} tasks of "
                f"{RUNS} runs; vary fewer things, in fewer steps, or with fewer runs."
            )
    return study


def _block(number: int, entry: Any, study: Mapping[str, Any]) -> Block:
    with at(f"world {number + 1}"):
        table = {"name": entry} if isinstance(entry, str) else entry
        if not isinstance(table, Mapping):
            raise InvalidValue(f"a world must be a name or a table with a name, got {quoted(entry)}.")
        check_keys(table, WORLD_KEYS, "a world")
        name = _name(table, "mar")
        part = registry.find("world", name)
        fixed, axes = settings_of(table)
        for key in [*fixed, *(key for axis in axes for key in axis.name.split(","))]:
            if key not in part.parameters:
                raise unknown(f"parameter of world {name!r}:", key, part.parameters)
        rounds = _rounds("horizon", table.get("horizon", study.get("horizon", HORIZON)), at_least=1)
        delays = _rounds("delay", table.get("delay", study.get("delay", 0)), at_least=0)
        rounds_late(max(delays), min(rounds))
        minimize = switch("minimize", study.get("minimize", False))
        entries = _listed(table.get("policies", study.get("policies")), "policies")
        every = (choice for n, policy in enumerate(entries) for choice in _choices(n, policy))
        choices = tuple(itertools.islice(every, MOST_CHOICES + 1))
        with at("policies"):
            if len(choices) > MOST_CHOICES:
                raise InvalidValue(f"there are more than {MOST_CHOICES:,}; name fewer, or vary less in them.")
            _different_policies(choices)
        title = _text(table, "title", name)
        return Block(number, name, title, fixed, axes, rounds, choices, delays, minimize)


def _rounds(key: str, value: Any, at_least: int) -> tuple[int, ...]:
    """Numbers of rounds: one, a list or a span."""
    with at(key):
        several = values_of(value if isinstance(value, list | Mapping) else [value])
        if isinstance(value, Mapping):  # a span has values such as 5,623.4 between its ends
            several = tuple(round(number) for number in several)
        rounds = tuple(whole_number(key, number, at_least=at_least) for number in several)
        check_different(rounds)
    return rounds


def _choices(number: int, entry: Any) -> Iterator[Choice]:
    """A policy by name, or once for each value of what varies in it."""
    with at(f"policy {number + 1}"):
        table = {"name": entry} if isinstance(entry, str) else entry
        if not isinstance(table, Mapping):
            raise InvalidValue(f"a policy must be a name or a table with a name, got {quoted(entry)}.")
        check_keys(table, POLICY_KEYS, "a policy")
        name = _name(table, "mar-ucb")
        fixed, axes = settings_of(table)
        if _size(axes) > MOST_CHOICES:
            raise InvalidValue(
                f"{name} varies in {_size(axes):,} ways, more than {MOST_CHOICES:,}; vary less, or in fewer steps."
            )
        family, _ = _with_parameters(name, fixed)
        for settings in itertools.product(*(axis.settings() for axis in axes)):
            varied = {key: value for setting in settings for key, value in setting.items()}
            full, spec = _with_parameters(name, {**fixed, **varied})
            named(full)  # an unknown name or parameter is refused here
            yield Choice(spec, full, family, varied)


def _with_parameters(name: str, parameters: Mapping[str, Any]) -> tuple[str, Spec]:
    """A policy with the parameters that stand beside its name: as it is shown, and what it is."""
    spec = Spec.parse(name)
    if not parameters:
        return name, spec
    for key in parameters:
        if key in spec.parameters:
            raise InvalidValue(f"{key} is given twice, in the name {name!r} and beside it; leave one out.")
    spec = Spec(spec.name, {**spec.parameters, **parameters})
    return str(spec), spec


def _different_policies(choices: Sequence[Choice]) -> None:
    """No policy twice, however it is written."""
    names: dict[Spec, str] = {}
    for spec, name in ((choice.spec, choice.name) for choice in choices):
        if spec in names:
            also = "" if names[spec] == name else f", once written {names[spec]}"
            raise InvalidValue(f"{name} is listed twice{also}; list each once.")
        names[spec] = name


def _name(table: Mapping[str, Any], example: str) -> str:
    name = table.get("name")
    if not isinstance(name, str):
        raise InvalidValue(f'name must be a text, e.g. name = "{example}", got {quoted(name)}.')
    return check_text("name", name)


def _text(table: Mapping[str, Any], key: str, default: str) -> str:
    return check_text(key, table.get(key, default))


def _listed(value: Any, key: str) -> list[Any]:
    if not isinstance(value, list) or not value:
        raise InvalidValue(f"{key} must be a list with at least one entry, got {quoted(value)}.")
    if len(value) > MOST_ENTRIES:
        raise InvalidValue(f"{key} must have at most {MOST_ENTRIES:,} entries, got {len(value):,}.")
    return value


def _all_own_policies(table: Mapping[str, Any]) -> bool:
    worlds = table.get("worlds")
    return isinstance(worlds, list) and all(isinstance(w, Mapping) and "policies" in w for w in worlds)


def _size(axes: Sequence[Axis]) -> int:
    size = 1
    for axis in axes:
        size *= len(axis.values)
    return size
