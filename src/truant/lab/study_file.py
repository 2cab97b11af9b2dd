"""Reads a study from a TOML file, data only; whatever is wrong with it is said with file, place and remedy."""

from __future__ import annotations

import itertools
import math
import os
import tomllib
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from truant import registry
from truant.errors import HORIZON, InvalidValue, label, quoted, unknown, visible
from truant.lab.study import RUNS, Axis, Choice, Study, WorldEntry, at, shown, tasks_of_a_point
from truant.play.run import rounds_late
from truant.policies import named
from truant.setting import LARGEST, number, switch, whole_number
from truant.spec import Spec

STUDY_KEYS = ("title", "description", "seed", "runs", "horizon", "delay", "minimize", "policies", "worlds")
WORLD_KEYS = ("name", "title", "set", "vary", "horizon", "delay", "policies")
POLICY_KEYS = ("name", "set", "vary")
MOST_TASKS = 1_000_000  # they are listed before they are handed out, some hundred bytes each
MOST_CHOICES = 1_000  # worlds, or policies of a world


def read_study(path: str | os.PathLike[str]) -> Study:
    """Read a study file; whatever is wrong with it is said with file, place and remedy."""
    name = os.fspath(path)
    try:
        source = Path(name).read_text(encoding="utf-8-sig")  # some editors put a mark before the first letter
        table = tomllib.loads(source)
    except (OSError, ValueError, RecursionError) as error:  # errors of TOML and UTF-8 are ValueErrors
        reason = error.strerror if isinstance(error, OSError) else str(error).partition(";")[0]
        raise InvalidValue(f"{name}: cannot be read as a TOML file: {reason}.") from None
    return study_of(table, file=name, source=source)


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
            title=check_text("title", table.get("title", visible(Path(file).stem))),
            description=check_text("description", table.get("description", "")),
            seed=whole_number("seed", table.get("seed", 0), at_least=0),
            runs=whole_number("runs", table.get("runs", 100), at_least=1),
            blocks=blocks,
            file=file,
            source=source,
            minimize=switch("minimize", table.get("minimize", False)),
        )
        points = sum(
            len(block.horizons) * len(block.delays) * math.prod(len(axis.values) for axis in block.axes)
            for block in blocks
        )
        if points * tasks_of_a_point(study.runs) > MOST_TASKS:
            raise InvalidValue(
                f"The study has {points:,} points with {study.runs:,} runs each, more than {MOST_TASKS:,} tasks of "
                f"{RUNS} runs; vary fewer things, in fewer steps, or with fewer runs."
            )
    return study


def _block(number: int, entry: Any, study: Mapping[str, Any]) -> WorldEntry:
    with at(f"world {number + 1}"):
        table = _named_table(entry, "a world", WORLD_KEYS, "mar")
        name = table["name"]
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
            check_different([choice.spec for choice in choices])
        title = check_text("title", table.get("title", name))
        return WorldEntry(number, name, title, fixed, axes, rounds, choices, delays, minimize)


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
        table = _named_table(entry, "a policy", POLICY_KEYS, "mar-ucb")
        name = table["name"]
        fixed, axes = settings_of(table)
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


def _named_table(entry: Any, of: str, keys: Sequence[str], example: str) -> Mapping[str, Any]:
    """An entry of a list: a table with a name and these keys; a name alone is a table, too."""
    table = {"name": entry} if isinstance(entry, str) else entry
    if not isinstance(table, Mapping):
        raise InvalidValue(f"{of} must be a name or a table with a name, got {quoted(entry)}.")
    check_keys(table, keys, of)
    if not isinstance(table.get("name"), str):
        raise InvalidValue(f'name must be a text, e.g. name = "{example}", got {quoted(table.get("name"))}.')
    check_text("name", table["name"])
    return table


def _listed(value: Any, key: str) -> list[Any]:
    if not isinstance(value, list) or not value:
        raise InvalidValue(f"{key} must be a list with at least one entry, got {quoted(value)}.")
    if len(value) > MOST_CHOICES:
        raise InvalidValue(f"{key} must have at most {MOST_CHOICES:,} entries, got {len(value):,}.")
    return value


def _all_own_policies(table: Mapping[str, Any]) -> bool:
    worlds = table.get("worlds")
    return isinstance(worlds, list) and all(isinstance(w, Mapping) and "policies" in w for w in worlds)


SPAN_KEYS = ("from", "to", "steps", "scale")
MOST_VALUES = 10_000  # of one thing that varies


def settings_of(table: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[Axis, ...]]:
    """What is set, and what varies."""
    fixed, vary = table.get("set", {}), table.get("vary", {})
    for key, value in (("set", fixed), ("vary", vary)):
        if not isinstance(value, Mapping):
            raise InvalidValue(f"{key} must be a table, e.g. {key} = {{ gamma = 0.5 }}, got {quoted(value)}.")
        for name in value:
            check_text(f"a name in {key}", name)
    fixed = {key: _checked_value(f"set.{label(key)}", value) for key, value in fixed.items()}
    axes = []
    for key, value in vary.items():
        with at(f"vary.{label(key)}"):
            names = [name.strip() for name in key.split(",")]
            if "" in names:
                raise InvalidValue(
                    'a name is empty; write the parameters with a comma between two, as in "K,L".'
                )
            axes.append(Axis(",".join(names), values_of(value)))
            check_different(axes[-1].values)
    names = [*fixed, *(name for axis in axes for name in axis.name.split(","))]
    if (twice := _first_twice(names)) is not None:
        raise InvalidValue(f"{label(twice)} is given twice; a parameter is either set or varied, once.")
    return fixed, tuple(axes)


def values_of(value: Any) -> tuple[Any, ...]:
    """A list of values, or a span {from, to, steps, scale}."""
    if isinstance(value, Mapping):
        return _span(value)
    if not isinstance(value, list) or not value:
        raise InvalidValue(
            f"must be a list of values, or {{ from = 0.1, to = 1.0, steps = 10 }}, got {quoted(value)}."
        )
    _check_number("values", len(value))
    return tuple(_checked_value("a value", item) for item in value)


def _span(table: Mapping[str, Any]) -> tuple[float, ...]:
    check_keys(table, SPAN_KEYS, "a span")
    for key in ("from", "to", "steps"):
        if key not in table:
            raise InvalidValue(f"a span needs {key}, e.g. {{ from = 0.1, to = 1.0, steps = 10 }}.")
    low, high = (number(end, table[end]) for end in ("from", "to"))
    steps = whole_number("steps", table["steps"], at_least=2)
    scale = table.get("scale", "linear")
    if not isinstance(scale, str) or scale not in ("linear", "log"):
        raise InvalidValue(f"scale must be 'linear' or 'log', got {quoted(scale)}.")
    if scale == "log" and min(low, high) <= 0:
        raise InvalidValue(f"a logarithmic span must be above 0, got {low:g} to {high:g}.")
    if not math.isfinite(high - low):
        raise InvalidValue(f"a span must have a finite width, got {low:g} to {high:g}.")
    _check_number("steps", steps)
    numbers = np.geomspace(low, high, steps) if scale == "log" else np.linspace(low, high, steps)
    rounded = [float(f"{value:.12g}") for value in numbers]  # .3 and not .30000000000000004
    # beyond LARGEST a whole number would not fit into a table
    return tuple(int(value) if value.is_integer() and abs(value) <= LARGEST else value for value in rounded)


def _check_number(what: str, count: int) -> None:
    if count > MOST_VALUES:
        raise InvalidValue(f"{what} must be at most {MOST_VALUES:,}, got {count:,}; vary it in fewer steps.")


def _checked_value(name: str, value: Any) -> Any:
    """A number, a text, true or false, or a list of them, as a tuple."""
    if isinstance(value, list):
        return tuple(_checked_value(name, item) for item in value)
    if isinstance(value, str):
        return check_text(name, value)
    if isinstance(value, int) and abs(value) > LARGEST:
        raise InvalidValue(f"{name} must be at most {LARGEST:,} as a whole number; write it as 1e30, or so.")
    if not isinstance(value, bool | int | float):
        raise InvalidValue(
            f"{name} must be a number, a text, true, false or a list of these, got {quoted(value)}."
        )
    return value


def check_text(name: str, value: Any) -> str:
    """The value, if it is a text that can be written to a file; or raises InvalidValue."""
    if not isinstance(value, str):
        raise InvalidValue(f"{name} must be a text, got {quoted(value)}.")
    try:
        value.encode()
    except UnicodeEncodeError:  # Python's texts may hold halves of characters
        raise InvalidValue(f"{name} must be a text that UTF-8 can write, got {quoted(value)}.") from None
    return value


def check_different(values: Sequence[Any]) -> None:
    """No value twice."""
    if (twice := _first_twice(values)) is not None:
        raise InvalidValue(f"{label(shown(twice))} is listed twice; list each once.")


def _first_twice(values: Iterable[Hashable]) -> Any:
    """The first value that was there before; None if all differ."""
    seen = set()
    for value in values:
        if value in seen:
            return value
        seen.add(value)
    return None


def check_keys(table: Mapping[str, Any], keys: Sequence[str], of: str) -> None:
    """No key that means nothing."""
    for key in table:
        if key not in keys:
            raise unknown(f"key of {of}:", key, keys)
