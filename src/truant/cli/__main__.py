"""`python -m truant.cli`."""

from truant.cli import main

main()
