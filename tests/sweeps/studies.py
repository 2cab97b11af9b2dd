"""Studies that several tests run."""

TEXT = """
title = "A small one"
runs = 210
seed = 5
horizon = 400
policies = ["naive-ucb", "mar-ucb", "oracle-ucb"]

[[worlds]]
name = "mar"
set = { arms = 3 }
vary = { gamma = [0.2, [0.5, 1.0]], K = [2, 3] }

[[worlds]]
name = "mcar"
policies = ["naive-ucb", { name = "mcar-ucb", vary = { level = [0.5, 1] } }]
horizon = [200, 300]
"""

PAIRS = 4 * 3 + 2 * 3  # of a point and a policy

PARTS = 2 * PAIRS

MANY_TASKS = """
runs = 100
horizon = 50
policies = ["naive-ucb"]
worlds = [{ name = "mcar", vary = { gamma = { from = 0.025, to = 1.0, steps = 40 } } }]
"""

# a sweep that takes its time over each file, so that a kill finds it in the middle
SLOW = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background shell has it ignored
from truant.sweeps import kept_runs, sweep
write = kept_runs.KeptRuns.write
def slowly(self, *arguments):
    print("at work", flush=True)
    time.sleep(0.1)
    write(self, *arguments)
kept_runs.KeptRuns.write = slowly
sweep.sweep(sys.argv[1], workers=2)
"""
