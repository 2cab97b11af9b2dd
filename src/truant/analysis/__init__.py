"""From counts to what each arm is worth under each assumption, what contradicts what, and what would change it."""

from truant.analysis.analysis import Analysis
from truant.analysis.making import AnalysisOptions, CountedRows, analyze_counts
from truant.estimates.beliefs import Labels

__all__ = ["Analysis", "AnalysisOptions", "CountedRows", "Labels", "analyze_counts"]
