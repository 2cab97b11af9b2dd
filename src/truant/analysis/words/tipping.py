"""What would change the winner, in sentences."""

from __future__ import annotations

from truant.analysis.sensitivity import Tipping
from truant.analysis.words.figures import Figures
from truant.text import named


def tipping_sentence(tip: Tipping, figures: Figures) -> str:
    """How wrong an assumption must be about missing outcomes for another arm to be best."""
    winner, runner_up = named(tip.winner), named(tip.runner_up)
    if tip.gap == 0:
        return f"{winner} and {runner_up} are equal under {tip.assumption}."
    down = _shift(tip.shift, tip.shift_in_sd, f"worse than {tip.assumption} says", figures)
    up = _shift(tip.runner_up_shift, tip.runner_up_shift_in_sd, "better", figures)
    theirs = f"missing outcomes of the runner-up {runner_up}"
    if tip.shift is None and tip.runner_up_shift is None:
        return f"No outcome of {winner} or of the runner-up {runner_up} is missing, so this cannot change the winner."
    if tip.shift is None:
        first = f"No outcome of {winner} is missing"
    elif tip.possible is False:
        first = f"{winner} stays ahead whatever its missing outcomes were: on average {down} is impossible"
    else:
        first = f"{winner} stays ahead unless its missing outcomes were on average {down}"
    if tip.runner_up_shift is None:
        return f"{first}. No outcome of the runner-up {runner_up} is missing."
    if tip.runner_up_possible is False:
        return f"{first}. The {theirs} cannot have been on average {up}."
    if tip.shift is None or tip.possible is False:
        return f"{first}. It stays ahead unless the {theirs} were on average {up} than {tip.assumption} says."
    return f"{first}, or those of the runner-up {runner_up} {up}."


def _shift(shift: float | None, in_sd: float | None, direction: str, figures: Figures) -> str:
    if shift is None:
        return ""
    return f"{figures.number(shift)} {direction}" + (f" ({in_sd:.2f} sd)" if in_sd is not None else "")
