"""Every result in the terminal (rich), from plain data."""
