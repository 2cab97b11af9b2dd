"""The first paragraphs of the page; apart from the package, whose own code every section reaches."""


def opening() -> list[str]:
    """The first paragraphs of the page."""
    return [
        "# Speed",
        "This page has the speed and memory use of simulations, decisions, live experiments and analyses of "
        "logs, with a target for most figures; [the end](#missed-targets) explains the targets that were "
        "missed. It is for readers who plan large studies or live experiments, and for contributors who "
        "change the compiled code.",
        "There are n = 10 arms, K = 5 mediator levels and L = 5 outcome levels unless stated otherwise, and "
        "one core is used. `python -m research speed` (or `make bench`) writes the page; `python -m "
        "research speed policies` measures one section again. A comment before each section says when it "
        "was made, and from what code. *ns* are nanoseconds.",
    ]
