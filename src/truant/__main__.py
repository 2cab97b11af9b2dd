"""`python -m truant` is the command `truant`."""

from truant.cli import main

main()
