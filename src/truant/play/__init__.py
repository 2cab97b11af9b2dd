"""One run of one policy in one world: the compiled loop and what it needs."""
