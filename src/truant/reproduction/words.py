"""What figures show, in words and tables, from the numbers of the runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from truant.charts.style import short
from truant.reproduction.claims import STRAIGHT, Verdict
from truant.reproduction.figure import Curve, Figure
from truant.reproduction.results import BOUND_LABELS, Results

ASTRAY = 10  # times the median
MOST_SCENES = 2  # with a sentence each; of more, the first and the last


def findings(figure: Figure, results: Results) -> list[str]:
    """A sentence for each scene: who lost how much, and who has not learned."""
    scenes = list(dict.fromkeys(curve.scene for curve in figure.curves()))
    if len(scenes) > MOST_SCENES:
        scenes = [scenes[0], scenes[-1]]
    found = [
        _finding([curve for curve in figure.curves() if curve.scene == scene], results) for scene in scenes
    ]
    return found + _astray(figure.curves(), results)


def _astray(curves: Sequence[Curve], results: Results) -> list[str]:
    """A sentence if some runs went astray, which a mean does not show."""
    lost = {}
    for curve in curves:
        final = results.final(curve)
        if count := int((final > ASTRAY * np.median(final)).sum()):
            lost[f"{curve.policy} in {curve.scene.world}"] = f"{count} of {len(final)}"
    listed = ", ".join(f"{name} ({runs})" for name, runs in lost.items())
    return [f"Runs that lost more than {ASTRAY} times the median: {listed}."] if lost else []


def _finding(curves: Sequence[Curve], results: Results) -> str:
    by_policy = {curve.policy: curve for curve in curves}
    ranked = sorted(by_policy.values(), key=lambda curve: float(results.final(curve).mean()))
    simulation = results.simulations[ranked[0].scene]
    lost = [f"{curve.policy} {short(results.final(curve).mean())}" for curve in ranked]
    sentence = f"Lost in {ranked[0].scene.world} after {simulation.horizon:,} rounds, least first: {', '.join(lost)}."
    straight = [curve.policy for curve in ranked if results.ratio(curve) > STRAIGHT]
    return f"{sentence} Still losing at nearly the pace of the start: {', '.join(straight) or 'none'}."


def overall(verdicts: Sequence[Verdict], quick: bool) -> str:
    """The whole in one sentence."""
    stated = [verdict for verdict in verdicts if not verdict.ours]
    if not stated:
        return "These figures carry no claim of the paper."
    counts = {
        word: sum(v.word == word for v in stated) for word in ("survives", "does not survive", "depends")
    }
    claims = "claim" if len(stated) == 1 else "claims"
    text = (
        f"Of {len(stated)} {claims} of the paper, {counts['survives']} survive{_s(counts['survives'])}, "
        f"{counts['does not survive']} do{'es' if counts['does not survive'] == 1 else ''} not, "
        f"and {counts['depends']} depend{_s(counts['depends'])} on the instance or on what the text leaves open."
    )
    return (
        f"{text} This is a quick run, shorter than the paper's: the full one may differ." if quick else text
    )


def _s(count: int) -> str:
    return "s" if count == 1 else ""


def size(figure: Figure, results: Results) -> str:
    """Rounds and runs; all scenes of a figure have the same."""
    simulation = results.simulations[figure.curves()[0].scene]
    return f"{simulation.horizon:,} rounds, {simulation.runs:,} run{'s' if simulation.runs > 1 else ''}"


def bound_note(figure: Figure) -> str:
    """What the dotted line is, where there is one."""
    kinds = {curve.scene.bound for curve in figure.curves()} - {None}
    if not kinds:
        return "No lower bound is known for this setting."
    words = {"mcar": "n arms, γ the share seen", "mar": "n arms, H the harmonic mean of the arms' Σ p/γ"}
    kind = kinds.pop()
    return (
        f"Dotted: {BOUND_LABELS[kind]}, the rate of the lower bound without its constant ({words[kind]}). It is about "  # type: ignore[index]
        "the worst case; one instance need not exceed it."
    )


def table_cells(row: dict[str, Any]) -> list[str]:
    """A row of the table of final regrets."""
    sd, ratio, bound = row["regret_sd"], row["second_half_ratio"], row["lower_bound"]
    return [
        row["policy"],
        world_words(row),
        f"{row['horizon']:,}",
        f"{row['runs']:,}",
        short(row["regret_mean"]),
        short(row["regret_median"]),
        "–" if sd is None else short(sd),
        "–" if ratio is None else f"{ratio:.2f}",
        "–" if bound is None else short(bound),
    ]


COLUMNS = [
    "policy",
    "world",
    "rounds",
    "runs",
    "regret",
    "median",
    "sd",
    "2nd / 1st half",
    "lower-bound rate",
]


def world_words(row: dict[str, Any]) -> str:
    """A world with its parameters."""
    settings = ",".join(f"{key}={value}" for key, value in row["parameters"].items())
    return f"{row['world']}:{settings}" if settings else str(row["world"])
