"""From counts to what each arm is worth under each assumption: estimates, bounds, differences, ranking."""
