"""Pages and fragments of analyses, for those who look at them."""

from truant.documents.analysis import analysis_document
from truant.documents.blocks import Chart
from truant.documents.page import fragment, page, write_page


def analysis_page(analysis, title="x", about=()):
    return page(analysis_document(analysis, title, about))


def analysis_html(analysis):
    return fragment(analysis_document(analysis, "x"))


def save_page(analysis, path, title="x"):
    return write_page(analysis_document(analysis, title), path)


def charts_of(blocks):
    """Every chart among these blocks and inside them, by name."""
    found = {}
    for block in blocks:
        if isinstance(block, Chart):
            found[block.name] = block.maker()
        found |= charts_of(getattr(block, "blocks", ()))
    return found
