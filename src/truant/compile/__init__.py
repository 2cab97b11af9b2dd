"""Compiles the core: pure functions on float64 arrays become machine code, kept on disk between processes.

`hot`, `lean`, `jit` and `heavy` mark functions of the core; `link` compiles a template with such functions bound to
its global names (and to those of its own functions that `step` marks), and `entry` a function that Python calls.
"""

from truant.compile.linking import entry, link, step
from truant.compile.marks import hot, jit, lean
from truant.compile.separate import heavy

__all__ = ["entry", "heavy", "hot", "jit", "lean", "link", "step"]
