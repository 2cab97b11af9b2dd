"""docs/python.md: every public name, from signatures and docstrings."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterable, Iterator
from typing import Any

import truant
from research.figures import table
from research.reference.anchors import anchors, made_by
from research.reference.docstrings import entries, paragraphs, parameters, sections, summary
from research.reference.members import attributes, methods
from research.reference.signatures import call, shown, type_of, wrapped

GROUPS: dict[str, tuple[str, ...]] = {
    "Analyse a table": ("analyze", "Analysis", "AnalysisBy", "plan", "Plan"),
    "Run an experiment": (
        *("Experiment", "experiments", "Decision", "Status", "rehearse", "Rehearsal", "ManualClock"),
    ),
    "Simulate": ("simulate", "Simulation", "sweep", "SweepResult"),
    "Worlds, policies and counts": ("world", "policy", "Setting", "Counts", "Policy", "Decider"),
    "Modules": ("worlds", "theory", "datasets", "checks"),
    "Errors": ("TruantError",),
}
INNER = {  # what results are made of, by the module that it can be imported from
    "truant.analysis.verdict": ("Verdict", "Answer"),
    "truant.analysis.analysis": ("Arm", "ArmEstimate", "Interval", "MissingCell"),
    "truant.evidence.sensitivity": ("ShiftedMean",),
    "truant.live.decision": ("Told",),
    "truant.live.status": ("ArmStatus", "Holdout", "Stopping"),
    "truant.live.follow_up": ("FollowUpList", "FollowUp"),
    "truant.live.doctor": ("Diagnosis",),
    "truant.documents.rehearsal": ("RehearsalRow",),
}
LIKE_WORLD = ("DiscreteWorld", "RealWorld", "SkewedWorld")
MADE = (
    "Setting",
    "Counts",
    "Decider",
    "Policy",
    "ManualClock",
    *LIKE_WORLD,
)  # classes that users call themselves
OPENING = """# Python

{made_by}

`import truant` has all names below; each is loaded when it is first used. `help(truant.analyze)` says the same.

```python
import truant

result = truant.simulate("mar", ["naive-ucb", "mar-ucb"], horizon=500, runs=2, seed=1)
print(result.policies, result.horizon)
```

```text
['naive-ucb', 'mar-ucb'] 500
```

Results print themselves, in notebooks as HTML. `summary()` gives the [JSON document](json.md) of a result, `table()` an
Arrow table, `save(path)` writes a file and `report(path)` a page."""


def page() -> str:
    """The whole page."""
    parts = [OPENING.format(made_by=made_by("signatures and docstrings"))]
    links = anchors(_heading(name) for names in grouped().values() for name in names)
    for heading, names in grouped().items():
        rows = [
            [f"[`truant.{name}`](#{links[_heading(name)]})", summary(getattr(truant, name))] for name in names
        ]
        parts += [f"**{heading}**", table(["name", "what it is"], rows)]
    for heading, names in grouped().items():
        parts.append(f"## {heading}")
        for name in names:
            parts += _section(_heading(name), getattr(truant, name))
    parts += ["## What results are made of", "These come with results; nobody has to make them."]
    for name, found in inner_classes():
        parts += _section(name, found)
    return "\n\n".join(part for part in parts if part) + "\n"


def grouped() -> dict[str, list[str]]:
    """The public names by heading; those that have no place yet come last."""
    placed = {name for names in GROUPS.values() for name in names}
    others = [name for name in truant.__all__ if name not in placed]
    return {heading: list(names) for heading, names in GROUPS.items()} | ({"More": others} if others else {})


def inner_classes() -> Iterator[tuple[str, Any]]:
    """Classes that are not exported, by their full names."""
    for module, names in INNER.items():
        for name in names:
            yield f"{module}.{name}", getattr(importlib.import_module(module), name)


def public_names(module: Any) -> list[str]:
    """The names that a module has for its users."""
    if hasattr(module, "__all__"):
        return list(module.__all__)
    own = (one for one in vars(module).values() if getattr(one, "__module__", None) == module.__name__)
    return [one.__name__ for one in own if inspect.isfunction(one) and not one.__name__.startswith("_")]


def _heading(name: str) -> str:
    return f"truant.{name}"


def _section(name: str, found: Any) -> list[str]:
    if inspect.ismodule(found):
        return _module(name, found)
    if inspect.isclass(found) and issubclass(found, Exception):
        return [f"### {name}", *paragraphs(found), _errors(found)]
    if inspect.isclass(found):
        return _class(name, found)
    return [
        f"### {name}",
        _code(wrapped(call(name, found))),
        *paragraphs(found),
        _parameters(found),
        _returns(found),
    ]


def _class(name: str, cls: type) -> list[str]:
    parts = [f"### {name}", *paragraphs(cls)]
    fields, found = attributes(cls), methods(cls)
    if cls.__name__ in MADE:
        parts.insert(1, _code(wrapped(call(name, cls))))
        if not {one.name for one in fields} >= set(parameters(cls)):
            parts.append(_parameters(cls))
    if cls.__name__ in LIKE_WORLD:
        return [*parts, "Attributes and methods are those of `World`."]
    rows = [[f"`{one.name}`", f"`{one.type}`" if one.type else "", one.words] for one in fields]
    parts += ["Attributes:", table(["name", "type", "meaning"], rows)] if rows else []
    rows = [[f"`{one.call}`", summary(one.function)] for one in found]
    parts += ["Methods:", table(["method", "what it does"], rows)] if rows else []
    for one in found:
        if known := _parameters(one.function):
            parts += [f"Parameters of `{cls.__name__}.{one.function.__name__}`:", known]
    return parts


def _module(name: str, module: Any) -> list[str]:
    rows = []
    for one in public_names(module):
        found = getattr(module, one)
        shown_name = one if inspect.isclass(found) else call(one, found)
        rows.append([f"`{shown_name}`", summary(found)])
    parts = [f"### {name}", *paragraphs(module), table(["name", "what it is"], rows)]
    for one in public_names(module):
        found = getattr(module, one)
        if inspect.isclass(found) and not issubclass(found, Exception):
            parts += _class(f"{name}.{one}", found)
    return parts


def _errors(base: type) -> str:
    rows = [[f"`{one.__module__}.{one.__name__}`", summary(one)] for one in _subclasses(base)]
    return table(["kind of error", "when it is raised"], rows)


def _subclasses(base: type) -> Iterator[type]:
    for one in base.__subclasses__():
        if one.__module__ == base.__module__:
            yield one
            yield from _subclasses(one)


def _parameters(function: Any) -> str:
    signature = inspect.signature(function).parameters
    rows = []
    for names, words in entries(function):
        found = [signature[name] for name in names if name in signature]
        types = [type_of(one.annotation) for one in found]
        defaults = [shown(one.default) for one in found if one.default is not one.empty]
        rows.append([_each(names), _each(types), _each(defaults), words])
    return table(["parameter", "type", "default", "meaning"], rows) if rows else ""


def _each(texts: Iterable[str]) -> str:
    """Different texts, each as code."""
    return ", ".join(f"`{text}`" for text in dict.fromkeys(texts) if text)


def _returns(function: Any) -> str:
    words = " ".join(sections(function).get("Returns", "").split())
    kind = type_of(inspect.signature(function).return_annotation)
    return f"Returns `{kind}`{': ' + words[0].lower() + words[1:] if words else '.'}" if kind else ""


def _code(text: str) -> str:
    return f"```\n{text}\n```"
