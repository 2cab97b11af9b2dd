"""The paper's figures again: what they show, what they claim, and what becomes of the claims."""

from truant.lab.reproduction.run import Reproduction, reproduce

__all__ = ["Reproduction", "reproduce"]
