"""Charts take tables of every library, and draw the same."""

import re

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tests.charts.tables import CELLS, CURVE, CURVES, ESTIMATES, LINES
from truant.charts import estimates_chart, missing_heatmap, regret_chart, regret_range, tipping_chart
from truant.charts.analysis import TippingPoint
from truant.charts.regret import RegretPanel, panel_chart
from truant.charts.sweep import parameter_chart, regret_span
from truant.errors import InvalidValue


def with_reference(curves, reference):
    panel = RegretPanel("", curves, reference=reference)
    return panel_chart(panel, regret_range(curves, log=False), width=300, height=200)


CHARTS = {
    "regret": (regret_chart, CURVES, {}),
    "reference": (with_reference, CURVES, {"reference": CURVES[:3].assign(policy="bound")}),
    "estimates": (
        estimates_chart,
        ESTIMATES,
        {"bounds": pd.DataFrame({"arm": ["a"], "low": [0.1], "high": [0.8]})},
    ),
    "missing": (missing_heatmap, CELLS, {}),
    "tipping": (tipping_chart, CURVE, {"point": TippingPoint("a", "b", shift=0.5)}),
    "parameter": (parameter_chart, LINES, {"parameter": "K"}),
}
LIBRARIES = {
    "polars": lambda frame: pl.from_pandas(frame),
    "lazy polars": lambda frame: pl.from_pandas(frame).lazy(),
    "Arrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
    "dict": lambda frame: {name: frame[name].tolist() for name in frame},
}


def drawn(function, table, options, convert):
    options = {
        key: convert(value) if isinstance(value, pd.DataFrame) else value for key, value in options.items()
    }
    spec = function(convert(table), **options).to_json()
    return re.sub(r"near\d+|view_[0-9a-f]+_", "", spec)  # names that are counted, not drawn


@pytest.mark.parametrize("chart", CHARTS)
@pytest.mark.parametrize("library", LIBRARIES)
def test_every_library_gives_the_same_chart(chart, library):
    function, table, options = CHARTS[chart]
    expected = drawn(function, table, options, lambda frame: frame)
    assert drawn(function, table, options, LIBRARIES[library]) == expected


@pytest.mark.parametrize("library", LIBRARIES)
def test_ranges_too(library):
    convert = LIBRARIES[library]
    assert regret_range(convert(CURVES), log=True) == regret_range(CURVES, log=True)
    assert regret_span(convert(LINES)) == regret_span(LINES)


@pytest.mark.parametrize("chart", CHARTS)
def test_tables_without_what_is_needed_are_refused(chart):
    function, table, options = CHARTS[chart]
    with pytest.raises(InvalidValue, match=r"must have the columns .*; .* is missing"):
        function(table.iloc[:, 1:], **options)
    with pytest.raises(InvalidValue, match=r"A chart needs at least one row of .*, got none"):
        function(table[:0], **options)
    with pytest.raises(InvalidValue, match=r"A table must be .* got int"):
        function(5, **options)
