"""How many missing outcomes to follow up, and of which arms and levels."""
