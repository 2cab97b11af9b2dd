"""Commands and functions with tables, names, options and study files that are drawn at random.

There are three ends: the right answer, a refusal in one sentence that leaves everything as it was, or a bug.
"""
