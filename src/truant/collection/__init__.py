"""How rows were collected: intervals that allow for a policy, known, logged or unknown."""
