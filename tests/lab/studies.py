"""Studies that several tests run."""

SIZE = 10  # runs of a task, instead of a hundred: the same ways in a tenth of the time

RUNS = 21

TEXT = f"""
title = "A small one"
runs = {RUNS}
seed = 5
horizon = 400
policies = ["naive-ucb", "mar-ucb", "oracle-ucb"]

[[worlds]]
name = "mar"
set = {{ arms = 3 }}
vary = {{ gamma = [0.2, [0.5, 1.0]], K = [2, 3] }}

[[worlds]]
name = "mcar"
policies = ["naive-ucb", {{ name = "mcar-ucb", vary = {{ level = [0.5, 1] }} }}]
horizon = [200, 300]
"""

PAIRS = 4 * 3 + 2 * 3  # of a point and a policy

MANY_TASKS = """
runs = 5
horizon = 50
policies = ["naive-ucb"]
worlds = [{ name = "mcar", vary = { gamma = { from = 0.025, to = 1.0, steps = 40 } } }]
"""
