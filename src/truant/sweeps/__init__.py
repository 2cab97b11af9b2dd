"""Sweeps: whole studies from one file, wherever they run."""
