"""What supports or contradicts the assumptions, and what to know before relying on a figure."""
