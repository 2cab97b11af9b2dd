"""Which charts a sweep has: one map of all worlds, or for each world its lines, its winners and its heat maps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from truant.charts.lines import policy_looks
from truant.charts.style import Look
from truant.charts.sweep_lines import lines_along_policies, lines_along_world
from truant.charts.sweep_maps import has_contest, overview_map, policies_map, regret_maps, winner_maps
from truant.charts.swept import NamedChart, SweptBlock, one_point_each, thinned


def sweep_charts(blocks: Sequence[SweptBlock]) -> list[list[NamedChart]]:
    """The charts of each section: one section for all blocks if each is a single point, else one for each block."""
    if one_point_each(blocks):
        return [[overview_map(blocks)]]
    names = [name for block in blocks for row in block.rows for name in (row["family"], row["policy"])]
    looks = policy_looks(list(dict.fromkeys(names)))
    return [_block_charts(block, looks) for block in blocks]


def _block_charts(block: SweptBlock, looks: Mapping[str, Look]) -> list[NamedChart]:
    """Along what has the most values, with what is left out said in each sentence."""
    longest_first = sorted(block.varied, key=lambda varied: -len(varied.values))
    block, left_out = thinned(replace(block, varied=longest_first))
    if not block.varied and not block.varied_in_policies:
        return [policies_map(block)]
    lines = lines_along_policies if block.varied_in_policies else lines_along_world
    charts = [lines(block, looks)]
    if block.varied and has_contest(block):
        charts.append(winner_maps(block, looks))
    if len(block.varied) > 1:
        charts.append(regret_maps(block))
    return [replace(chart, sentence=chart.sentence + left_out) for chart in charts]
