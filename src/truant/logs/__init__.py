"""The logs door: a table with missing outcomes, wherever it is stored, reduced to counts."""
