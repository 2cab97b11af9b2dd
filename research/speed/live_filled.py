"""Fills a store with past decisions in one statement, as if they had been asked, told and settled."""

from __future__ import annotations

from truant.live.experiment import Experiment
from truant.live.times import DAY, SECOND

PENDING = 0.02  # of the decisions

# a second between two decisions; 60% of outcomes are there, two thirds of the decisions have keys
FILL = """
WITH RECURSIVE past (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM past WHERE i + 1 < ?)
INSERT INTO decisions (tag, experiment, arm, probability, allocation, key, holdout, asked, deadline, due, state, reason,
                       mediator, mediator_at, outcome, outcome_at, settled)
SELECT random(), ?, i % 3, 1.0 / 3, 1, CASE WHEN i % 3 < 2 THEN lower(hex(randomblob(32))) END, 0,
       asked, asked + ?, asked + ?,
       CASE WHEN open THEN 'pending' WHEN told THEN 'observed' ELSE 'missing' END,
       CASE WHEN open OR told THEN NULL ELSE 'expired' END,
       i % 2, asked + 1000, CASE WHEN told THEN i % 200 END, CASE WHEN told THEN asked + 2000 END,
       CASE WHEN open THEN NULL ELSE 1 END
FROM (SELECT i, i >= ? AS open, i % 5 < 3 AS told, ? + i * 1000000 + (i >= ?) * ? AS asked FROM past)
"""


def filled(live: Experiment, decisions: int) -> None:
    """Put past decisions into the SQLite store of an experiment that has none: most are settled, the last pending."""
    window = live.state.configuration.window
    settled = int((1 - PENDING) * decisions)
    first = live.now() - window - settled * SECOND  # the last of the settled ones has just closed
    values = [decisions, live.number, window, window, settled, first, settled, DAY]
    live.store.write(lambda transaction: transaction.run(FILL, values))
