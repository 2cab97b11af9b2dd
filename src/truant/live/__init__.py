"""Live experiments: ask which arm to use, tell what came of it; outcomes may come late or never."""
