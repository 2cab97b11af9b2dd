"""The paper's figures, reproduced, and its claims, checked on the numbers."""

from research.reproduction.run import Reproduction, reproduce

__all__ = ["Reproduction", "reproduce"]
