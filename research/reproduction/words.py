"""What figures show, in words, from the numbers of the runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from research.reproduction.claims import STRAIGHT, Verdict
from research.reproduction.figure import READINGS, Figure, Line
from research.reproduction.results import BOUND_LABELS, Results
from truant.charts.style import short

PAPER = (
    "I. Mahrooghi, M. Moradi, S. Akbari, N. Kiyavash, “Multi-armed Bandits with Missing Outcome”, arXiv:2411.05661 "
    "(2024), also at UAI 2025"
)
VERSIONS = {
    "paper": "The paper's policies",
    "truant": "truant's policies, naive and oracle",
    "published": "As published: the instance and the rules of the authors' notebook",
}
READING_WORDS = {"text": "in the world of the text", "published": "in what was run for the paper"}
BOUNDED = "truant"  # the version with the lower bound
ASTRAY = 10  # times the median
MOST_SCENES = 2  # with a sentence each; of more, the first and the last


def findings(figure: Figure, results: Results) -> list[str]:
    """A sentence for each scene: the regret of each policy, and whose regret still grows linearly."""
    scenes = list(dict.fromkeys(line.scene for line in figure.lines()))
    if len(scenes) > MOST_SCENES:
        scenes = [scenes[0], scenes[-1]]
    found = [_finding([line for line in figure.lines() if line.scene == scene], results) for scene in scenes]
    return found + _astray(figure.lines(), results)


def _astray(lines: Sequence[Line], results: Results) -> list[str]:
    """A sentence if some runs went astray, which a mean does not show."""
    lost = {}
    for line in lines:
        final = results.final(line)
        if count := int((final > ASTRAY * np.median(final)).sum()):
            lost[f"{line.policy} in {line.scene.world}"] = f"{count} of {len(final)}"
    listed = ", ".join(f"{name} ({runs})" for name, runs in lost.items())
    return [f"Runs that lost more than {ASTRAY} times the median: {listed}."] if lost else []


def _finding(lines: Sequence[Line], results: Results) -> str:
    by_policy = {line.policy: line for line in lines}
    ranked = sorted(by_policy.values(), key=lambda line: float(results.final(line).mean()))
    simulation = results.simulations[ranked[0].scene]
    lost = [f"{line.policy} {short(results.final(line).mean())}" for line in ranked]
    sentence = (
        f"Mean regret in {ranked[0].scene.world} after {simulation.horizon:,} rounds: {', '.join(lost)}."
    )
    straight = [line.policy for line in ranked if results.ratio(line) > STRAIGHT]
    return f"{sentence} Regret still grows almost linearly: {', '.join(straight) or 'none'}."


def overall(verdicts: Sequence[Verdict], quick: bool) -> str:
    """The whole in one sentence."""
    stated = [verdict for verdict in verdicts if not verdict.ours]
    if not stated:
        return "The paper makes no claim about these figures."
    parts = [
        f"{READING_WORDS[reading]}, {_counted([v for v in stated if v.reading == reading])}"
        for reading in READINGS
        if any(v.reading == reading for v in stated)
    ]
    text = f"{'; '.join(parts)}."
    text = text[0].upper() + text[1:]
    return f"{text} This was a quick run, shorter than the paper's: a full run may differ." if quick else text


def _counted(stated: Sequence[Verdict]) -> str:
    counts = {
        word: sum(v.word == word for v in stated) for word in ("survives", "does not survive", "depends")
    }
    claims = "claim" if len(stated) == 1 else "claims"
    return (
        f"of {len(stated)} {claims} of the paper, {counts['survives']} survive{_s(counts['survives'])}, "
        f"{counts['does not survive']} do{'es' if counts['does not survive'] == 1 else ''} not, "
        f"and {counts['depends']} depend{_s(counts['depends'])} on the instance or the policy"
    )


def _s(count: int) -> str:
    return "s" if count == 1 else ""


def stored_line(plot: Mapping[str, Any]) -> str:
    """A line's value in the stored plot, and ours."""
    source = plot["note"] or "in the notebook's stored plot"
    sentence = (
        f"{plot['line']}: {short(plot['plot_mean'])} ± {short(plot['plot_sd'])} {source}, "
        f"here {short(plot['regret_mean'])} ± {short(plot['regret_sd'])}"
    )
    return f"{sentence} ({'agrees' if plot['agrees'] else 'does not agree'} within the spread)"


def duration(seconds: float) -> str:
    """38 s, 2 min 5 s."""
    whole = round(seconds)
    return f"{whole} s" if whole < 60 else f"{whole // 60} min {whole % 60} s"


def size(figure: Figure, results: Results, version: str | None = None) -> str:
    """Rounds and runs; all scenes of a version have the same."""
    panels = figure.versions[version or next(iter(figure.versions))]
    simulation = results.simulations[panels[0].lines[0].scene]
    return f"{simulation.horizon:,} rounds, {simulation.runs:,} run{'s' if simulation.runs > 1 else ''}"


def bound_note(figure: Figure) -> str:
    """What the dotted line is, where there is one."""
    kinds = {line.scene.bound for line in figure.lines()} - {None}
    if not kinds:
        return "No lower bound is known for this setting."
    words = {
        "mcar": "n arms, T rounds, γ the probability of being observed",
        "mar": "n arms, T rounds, H the harmonic mean of the arms' Σ p/γ",
    }
    kind = kinds.pop()
    return (
        f"Dotted: {BOUND_LABELS[kind]}, the rate of the lower bound without its constant ({words[kind]}). It "  # type: ignore[index]
        "concerns the worst case; the regret of one instance can be below it."
    )


def picture_lines(figure: Figure, version: str, results: Results) -> list[str]:
    """What stands below the title of a picture: the version, its size, and what the dotted line is."""
    lines = [f"{VERSIONS[version]}; {size(figure, results, version)}; mean ± 1 sd"]
    if version == BOUNDED and any(panel.lines[0].scene.bound for panel in figure.versions[version]):
        lines.append("Dotted: the rate of the lower bound (worst case, constant unknown)")
    return lines
