"""Speed: nanoseconds per round, memory, decisions, start-up; each beside a target."""
