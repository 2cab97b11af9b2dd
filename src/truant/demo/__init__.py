"""The demo: three mails whose outcomes are often missing, in a table, in simulations and in a live experiment."""
