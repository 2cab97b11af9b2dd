"""Which column of a table plays which part, and what its values are called: for logs and for worlds alike."""
