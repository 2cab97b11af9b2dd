"""The one place where Arrow tables become what the chart functions take."""

from __future__ import annotations

from typing import Any

import pyarrow as pa


def chart_table(table: pa.Table) -> Any:
    """A table as the chart functions take it."""
    import pandas as pd

    return pd.DataFrame(table.to_pylist())
