"""The figures by name: those of the paper's experiments first, then those of the settings that it does not try.

Sizes are those of the paper's text. Where the text leaves room, `choices` says what was chosen.
"""

from __future__ import annotations

from truant.reproduction.figure import Claim, Figure, Growth, Line, Panel, Rising, Scene, panel

COMMON = (
    "α = 2 for all of the paper's policies; the text states it for MCAR alone.",
    "A new instance of the world in every run, the same for all policies; the text does not say which. The best arm "
    "may be at any place: no policy here looks at the order of the arms.",
)

# ---- missing completely at random

GAMMAS = (0.5, 0.7, 0.9, 1)
_mcar = {gamma: Scene(f"mcar:gamma={gamma}", 10_000, 20, "mcar") for gamma in GAMMAS}
_mcar_lines = tuple(Line(scene, "paper-mcar", f"γ = {gamma}") for gamma, scene in _mcar.items())

mcar_gamma = Figure(
    "mcar-gamma",
    "Missing completely at random: fewer outcomes, more regret",
    "Ten arms with means from U[0, 1] and outcomes N(μ, 1), each outcome seen with probability γ.",
    paper=(Panel("Algorithm 1 for four γ", _mcar_lines),),
    truant=tuple(
        panel(f"γ = {gamma}", scene, "naive-ucb", "mcar-ucb", "mcar-thompson", "oracle-ucb")
        for gamma, scene in _mcar.items()
    ),
    choices=(
        "γ = 0.5, 0.7, 0.9 and 1: the text says that γ is drawn from U[0.5, 1] and that the figure has several, and "
        "not which.",
    ),
    claims=(Claim("The fewer outcomes are seen, the faster regret grows.", (Rising(_mcar_lines[::-1]),)),),
    note="naive-ucb is Algorithm 1 here: to drop the missing rows is right when they are missing by chance.",
)

# ---- missing at random given the mediator

_mar = Scene("mar", bound="mar")
_uniform, _peaked = Scene("mar-uniform", bound="mar"), Scene("mar-peaked", bound="mar")
_confounded = Scene("confounded", bound="mar")
_OURS = ("naive-ucb", "mar-ucb", "mar-thompson", "oracle-ucb")

mar_known_p = Figure(
    "mar-known-p",
    "Missing at random: the mediator's law known or estimated",
    "Ten arms, five mediator levels, E[Y|m,a] from U[0, 0.4] and 0.6 more on the best arm, γ from U[0.8, 1].",
    paper=(panel("Algorithms 2 and 3", _mar, "paper-mar-known", "paper-mar"),),
    truant=(panel("World mar", _mar, *_OURS, "mar-known-ucb"),),
    choices=(
        "Known p is Algorithm 2, unknown p Algorithm 3. The text names Algorithm 3 and, it seems by a slip, the MNAR "
        "algorithm, which cannot run on normal outcomes.",
        "Algorithm 2 is given the true P(m|a) of the instance.",
        "A mediator level that was never seen with its outcome has an infinite index, as printed; with known p this "
        "makes a few runs lose far more than the others.",
    ),
    claims=(
        Claim(
            "To know P(m|a) in advance lowers regret.",
            (Rising((Line(_mar, "paper-mar-known"), Line(_mar, "paper-mar"))),),
        ),
    ),
    note="Algorithm 3 pays for not knowing P(m|a) with a factor of 8 in its width, on shaky grounds (erratum 6). "
    "Nothing forces that: in the second version mar-known-ucb knows P(m|a), and mar-ucb and mar-thompson estimate it.",
    log=("truant",),
)

mar_peaked = Figure(
    "mar-peaked",
    "Missing at random: uniform against peaked mediators",
    "The world of the last figure with P(m|a) uniform, or with one likely level per arm.",
    paper=(
        Panel(
            "Algorithm 3",
            (Line(_uniform, "paper-mar", "uniform"), Line(_peaked, "paper-mar", "peaked")),
        ),
    ),
    truant=(panel("Uniform", _uniform, *_OURS), panel("Peaked", _peaked, *_OURS)),
    choices=(
        "Peaked: Dirichlet with weight 5 on one level per arm, drawn at random, and 1 on the others; the text gives "
        "the 5 and not the others.",
        "Algorithm 3. Both worlds have the same means and γ in the same run, so that runs are paired.",
    ),
    claims=(
        Claim(
            "A peaked mediator costs more regret than a uniform one.",
            tuple(
                Rising((Line(_uniform, policy, "uniform"), Line(_peaked, policy, "peaked")))
                for policy in ("paper-mar", "mar-ucb")
            ),
        ),
    ),
    note="The reason that the paper gives, that S is largest when the mass sits on the largest γ, is the wrong way "
    "round: S is the mean of Σ p/γ, and largest on the smallest γ (erratum 9).",
    log=("truant",),
)

_POINT = ("paper-mar", "paper-mar-known", "naive-ucb")
mar_against_ucb = Figure(
    "mar-against-ucb",
    "Missing at random: with the mediator or without",
    "Algorithms that use the mediator beside UCB, which drops the missing rows. World mar is the paper's; confounded "
    "is ours: the instance of the paper's own theorem on policies that ignore the mediator.",
    paper=(panel("World mar", _mar, *_POINT), panel("World confounded", _confounded, *_POINT)),
    truant=(panel("World mar", _mar, *_OURS), panel("World confounded", _confounded, *_OURS)),
    choices=(
        "“MAR algorithm” may be Algorithm 2 or 3: both are drawn.",
        "UCB is the mean of the observed outcomes with width √(α log T/(2n)), α = 2: naive-ucb.",
        "World confounded has K = 5 and ε = 0.1, its arms in either order.",
    ),
    claims=(
        Claim(
            "UCB loses more than the MAR algorithm.",
            tuple(Rising((Line(_mar, policy), Line(_mar, "naive-ucb"))) for policy in _POINT[:2]),
        ),
        Claim(
            "UCB's regret grows in nearly a straight line.", (Growth(Line(_mar, "naive-ucb"), linear=True),)
        ),
        Claim(
            "In world confounded, UCB loses more than the MAR algorithm, in nearly a straight line.",
            (
                *(Rising((Line(_confounded, p), Line(_confounded, "naive-ucb"))) for p in _POINT[:2]),
                Growth(Line(_confounded, "naive-ucb"), linear=True),
            ),
            ours=True,
        ),
    ),
    log=("paper", "truant"),
    note="With γ from U[0.8, 1] and a best arm that is better by 0.6, dropping the missing rows keeps the arms in "
    "their order: there is no bias that could mislead UCB in the world of the text.",
)

# ---- missing not at random

_mnar, _hidden = Scene("mnar"), Scene("mnar-hidden")
_SHADOW = ("naive-ucb", "mnar-ucb", "mnar-ucb:level=cautious", "mnar-thompson", "oracle-ucb")

_MNAR_CHOICES = (
    "The five outcomes are 0, 0.25, …, 1; the text does not state them.",
    "The biased Dirichlet has weight 5 on the top outcome and 1 on the others; the text does not state it.",
    "Algorithm 4 with the joint frequencies that it needs (erratum 1), and with the true condition number of each arm.",
)
mnar = Figure(
    "mnar",
    "Missing not at random: does the algorithm learn?",
    "Ten arms, five mediator levels, five outcomes; whether an outcome is seen depends on the outcome, with γ from "
    "U[0.5, 1].",
    paper=(panel("Algorithm 4", _mnar, "paper-mnar"),),
    truant=(panel("World mnar", _mnar, *_SHADOW),),
    choices=_MNAR_CHOICES,
    claims=(
        Claim(
            "The MNAR algorithm adapts, and keeps regret low.",
            (Growth(Line(_mnar, "paper-mnar"), linear=False),),
        ),
    ),
    note="Algorithm 4's bonus stays far above the differences between arms at any horizon that can be run (erratum 2), "
    "so it goes on exploring.",
)

_ALG_4 = ("paper-mnar", "naive-ucb")
mnar_against_ucb = Figure(
    "mnar-against-ucb",
    "Missing not at random: with the mediator or without",
    "Algorithm 4 beside UCB, on a logarithmic axis. World mnar is the paper's; in mnar-hidden, which is ours, the good "
    "arm hides its high outcomes and the others their low ones, so that dropping the missing rows misleads.",
    paper=(panel("World mnar", _mnar, *_ALG_4), panel("World mnar-hidden", _hidden, *_ALG_4)),
    truant=(panel("World mnar", _mnar, *_SHADOW), panel("World mnar-hidden", _hidden, *_SHADOW)),
    choices=(*_MNAR_CHOICES, "UCB is naive-ucb, α = 2, as under mar-against-ucb."),
    claims=(
        Claim(
            "UCB loses more than the MNAR algorithm.",
            (Rising(tuple(Line(_mnar, policy) for policy in _ALG_4)),),
        ),
        Claim(
            "In world mnar-hidden, too, UCB loses more than the MNAR algorithm.",
            (Rising(tuple(Line(_hidden, policy) for policy in _ALG_4)),),
            ours=True,
        ),
    ),
    log=("paper", "truant"),
)

# ---- real outcomes

_misled, _harmless = Scene("pbc", 1_000_000, bound="mar"), Scene("pbc:gamma=0.8", 1_000_000, bound="mar")
pbc = Figure(
    "pbc",
    "Real outcomes: the PBC trial",
    "Two arms, D-penicillamine and placebo; outcome: days of follow-up of a random patient, divided by 4,556; "
    "mediator: dead at the end or not. Nothing is missing in these data: what is missing here is synthetic.",
    paper=(panel("γ misleads", _misled, *_POINT), panel("γ = 0.8 everywhere", _harmless, *_POINT)),
    truant=(panel("γ misleads", _misled, *_OURS), panel("γ = 0.8 everywhere", _harmless, *_OURS)),
    choices=(
        "The text states neither γ nor T nor the number of runs. γ: once 0.5 for survivors and 0.95 for the dead under "
        "D-penicillamine and the reverse under placebo, chosen so that dropping the missing rows prefers the wrong "
        "arm; once 0.8 for everyone.",
        "T = 1,000,000 and 10 runs: the arms differ by 0.004 (no real effect), which takes long to see.",
        "The 312 randomised patients of 418, with their own shares of dead and their own outcomes. Death is settled "
        "jointly with follow-up, so it is an auxiliary variable rather than a true mediator (erratum 10).",
        "“MAR algorithm” may be Algorithm 2 or 3: both are drawn.",
    ),
    claims=(
        Claim(
            "As with synthetic data, the MAR algorithm loses less than UCB.",
            tuple(
                Rising((Line(scene, "paper-mar"), Line(scene, "naive-ucb"))) for scene in (_misled, _harmless)
            ),
        ),
    ),
    log=("paper", "truant"),
    note="Whether it holds is a matter of the synthetic γ, which the text does not give.",
)

# ---- settings that the paper treats and does not try

_UNTRIED = (
    "The paper has the algorithm and no experiment; sizes, α and runs are those of its MAR and MNAR experiments.",
)
_mediator_mar, _mediator_mnar, _both = Scene("mediator-mar"), Scene("mediator-mnar"), Scene("both-mnar")

mediator_mar = Figure(
    "mediator-mar",
    "Mediators missing too, by chance",
    "World mar with γ from U[0.5, 1], and the mediator seen with a probability of the arm's own, from U[0.5, 1].",
    paper=(panel("World mediator-mar", _mediator_mar, "paper-mediator-mar", "naive-ucb"),),
    truant=(
        panel(
            "World mediator-mar",
            _mediator_mar,
            *("naive-ucb", "mediator-mar-ucb", "mediator-mar-thompson", "oracle-ucb"),
        ),
    ),
    choices=(*_UNTRIED, "Shares of the mediator divide by the pulls that show it (erratum 4)."),
    log=("paper",),
)

mediator_mnar = Figure(
    "mediator-mnar",
    "Mediators missing too, depending on themselves",
    "Ten arms, five mediator levels, five outcomes; outcome and mediator are each seen with a probability of the "
    "mediator's level, from U[0.5, 1].",
    paper=(panel("World mediator-mnar", _mediator_mnar, "paper-mediator-mnar", "naive-ucb"),),
    truant=(
        panel(
            "World mediator-mnar",
            _mediator_mnar,
            *("naive-ucb", "mediator-mnar-ucb", "mediator-mnar-thompson", "oracle-ucb"),
        ),
    ),
    choices=(
        *_UNTRIED,
        "The system that it solves is Θᵀx = b, and its bonus has the K that print lost (erratum 3).",
    ),
    log=("paper",),
)

both_mnar = Figure(
    "both-mnar",
    "Outcome and mediator both hide themselves",
    "World mnar with the mediator missing too, depending on its own level, with probabilities from U[0.5, 1].",
    paper=(panel("World both-mnar", _both, "paper-mnar", "paper-mediator-mnar", "naive-ucb"),),
    truant=(
        panel("World both-mnar", _both, *("naive-ucb", "both-mnar-ucb", "both-mnar-thompson", "oracle-ucb")),
    ),
    choices=(
        "The paper promises this case and has no algorithm for it (erratum 11): the first version shows its two "
        "nearest, whose assumptions are false here.",
        "Sizes, α and runs are those of its MNAR experiment.",
    ),
    log=("paper",),
)

FIGURES = {
    figure.name: figure
    for figure in (
        *(mcar_gamma, mar_known_p, mar_peaked, mar_against_ucb, mnar, mnar_against_ucb, pbc),
        *(mediator_mar, mediator_mnar, both_mnar),
    )
}
