"""The first paragraphs of the page; apart from the package, whose own code every section reaches."""

from research import SEED


def opening() -> list[str]:
    """The first paragraphs of the page."""
    return [
        "# Validation",
        "This page compares truant with known answers: the regret of its policies, the coverage of its "
        "intervals, the sizes of its tests, and what is stored when a process is killed. It is for readers "
        "who must decide whether to trust a result. Each section states a criterion and says which rows do "
        "not meet it.",
        "Symbols: T is the number of rounds, K the number of mediator levels, L the number of outcome "
        "levels, gamma the probability that an outcome is observed, z a number of standard deviations, and "
        "the gap of an arm the best mean minus its mean. Worlds and policies are described in [the "
        "lab](lab.md), assumptions in [Which assumption?](assumptions.md). Policies named `paper-*` are the "
        'algorithms of the paper (Mahrooghi et al., ["Multi-armed Bandits with Missing '
        'Outcome"](https://arxiv.org/abs/2411.05661), 2024).',
        f"`python -m research validation` (part of `make study`) writes the page, with seed {SEED}; `python "
        "-m research validation coverage` repeats one section, and `--quick` tries it at a small size. A "
        "comment before each section says when it was made, and from what code.",
    ]
