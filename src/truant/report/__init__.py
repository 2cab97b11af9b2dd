"""Charts, tables and words as one self-contained HTML page; an analysis also as a fragment for notebooks."""

from truant.report.page import analysis_html, analysis_page, save_page

__all__ = ["analysis_html", "analysis_page", "save_page"]
