"""Rehearsals: a simulated world drives a real experiment many times, before anybody is asked."""
