"""Validation at full size: regret, coverage, errors and growth beside what theory and others say."""
