"""Every page: charts, tables and words as one self-contained HTML file; fragments of it for notebooks."""

from truant.extras import require

require("charts", "Charts and pages")  # first: the imports below would fail with less to say

from truant.report.analysis import analysis_html, analysis_page, save_page

__all__ = ["analysis_html", "analysis_page", "save_page"]
