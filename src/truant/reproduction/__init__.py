"""The paper's figures again: what they show, what they claim, and what becomes of the claims."""
