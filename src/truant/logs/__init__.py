"""The logs door: a table with holes, wherever it lives, reduced to counts."""
