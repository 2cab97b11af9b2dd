"""The figures by name: those of the paper's experiments first, then those of the settings that it does not try.

Sizes are those of the paper's text. Where the text leaves room, `choices` says what was chosen.
"""

from __future__ import annotations

from research.reproduction.figure import Claim, Figure, Growth, Line, Panel, Rising, Scene, panel

COMMON = (
    "α = 2 (the exploration constant) for all of the paper's policies; the text states it for MCAR only.",
    "A new instance of the world in every run, the same for all policies; the text does not say whether the "
    "instance is fixed. The best arm is at a random position; no policy here depends on the order of the arms.",
)

# ---- missing completely at random

GAMMAS = (0.5, 0.7, 0.9, 1)
_mcar = {gamma: Scene(f"mcar:gamma={gamma}", 10_000, 20, "mcar") for gamma in GAMMAS}
_mcar_lines = tuple(Line(scene, "paper-mcar", f"γ = {gamma}") for gamma, scene in _mcar.items())

mcar_gamma = Figure(
    "mcar-gamma",
    "Missing completely at random: fewer outcomes, more regret",
    "Ten arms with means from U[0, 1] and outcomes N(μ, 1), each outcome observed with probability γ.",
    paper=(Panel("Algorithm 1 for four γ", _mcar_lines),),
    truant=tuple(
        panel(f"γ = {gamma}", scene, "naive-ucb", "mcar-ucb", "mcar-thompson", "oracle-ucb")
        for gamma, scene in _mcar.items()
    ),
    choices=(
        "γ = 0.5, 0.7, 0.9 and 1: the text says that γ is drawn from U[0.5, 1] and that the figure has several values, "
        "but not which.",
    ),
    claims=(
        Claim("The fewer outcomes are observed, the faster regret grows.", (Rising(_mcar_lines[::-1]),)),
    ),
    note="naive-ucb is the same as Algorithm 1 here: dropping the missing rows is right if they are missing by chance.",
)

# ---- missing at random given the mediator

_mar = Scene("mar", bound="mar")
_uniform, _peaked = Scene("mar-uniform", bound="mar"), Scene("mar-peaked", bound="mar")
_confounded = Scene("confounded", bound="mar")
_OURS = ("naive-ucb", "mar-ucb", "mar-thompson", "oracle-ucb")

mar_known_p = Figure(
    "mar-known-p",
    "Missing at random: mediator probabilities known or estimated",
    "Ten arms, five mediator levels, E[Y|m,a] from U[0, 0.4] and 0.6 more on the best arm; γ, the probability that an "
    "outcome is observed, from U[0.8, 1] for each arm and level. P(m|a) is the probability of level m under arm a.",
    paper=(panel("Algorithms 2 and 3", _mar, "paper-mar-known", "paper-mar"),),
    truant=(panel("World mar", _mar, *_OURS, "mar-known-ucb"),),
    choices=(
        "Known P(m|a) is Algorithm 2, unknown P(m|a) Algorithm 3. The text names Algorithm 3 and, apparently by "
        "mistake, the MNAR algorithm, which cannot run on normal outcomes.",
        "Algorithm 2 is given the true P(m|a) of the instance.",
        "A mediator level that was never observed with its outcome has an infinite index, as printed; with known "
        "P(m|a) a few runs lose far more than the others because of this.",
    ),
    claims=(
        Claim(
            "Knowing P(m|a) in advance lowers regret.",
            (Rising((Line(_mar, "paper-mar-known"), Line(_mar, "paper-mar"))),),
        ),
    ),
    note="Since Algorithm 3 estimates P(m|a), its confidence width has a factor of 8, whose proof has a gap (erratum "
    "6). The factor is not needed: in the second version mar-known-ucb knows P(m|a), and mar-ucb and mar-thompson "
    "estimate it.",
    log=("truant",),
)

mar_peaked = Figure(
    "mar-peaked",
    "Missing at random: uniform and peaked mediator probabilities",
    "The world of mar-known-p with P(m|a) uniform, or with one likely level per arm.",
    paper=(
        Panel(
            "Algorithm 3",
            (Line(_uniform, "paper-mar", "uniform"), Line(_peaked, "paper-mar", "peaked")),
        ),
    ),
    truant=(panel("Uniform", _uniform, *_OURS), panel("Peaked", _peaked, *_OURS)),
    choices=(
        "Peaked: Dirichlet with weight 5 on one level per arm, drawn at random, and 1 on the others; the text states "
        "only the 5.",
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
    note="The paper's explanation, that S is largest when the probability is on the largest γ, is reversed: S is the "
    "mean of Σ p/γ over the arms, and is largest when the probability is on the smallest γ (erratum 9).",
    log=("truant",),
)

_POINT = ("paper-mar", "paper-mar-known", "naive-ucb")
mar_against_ucb = Figure(
    "mar-against-ucb",
    "Missing at random: with and without the mediator",
    "Algorithms that use the mediator beside UCB, which drops the missing rows. World mar is the paper's; world "
    "confounded is our addition: the instance of the paper's own theorem on policies that ignore the mediator.",
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
        Claim("UCB's regret grows almost linearly.", (Growth(Line(_mar, "naive-ucb"), linear=True),)),
        Claim(
            "In world confounded, UCB loses more than the MAR algorithm, and its regret grows almost linearly.",
            (
                *(Rising((Line(_confounded, p), Line(_confounded, "naive-ucb"))) for p in _POINT[:2]),
                Growth(Line(_confounded, "naive-ucb"), linear=True),
            ),
            ours=True,
        ),
    ),
    log=("paper", "truant"),
    note="With γ from U[0.8, 1] and a best arm that is better by 0.6, dropping the missing rows does not change "
    "the order of the arms: in the world of the text, no bias misleads UCB.",
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
    "Ten arms, five mediator levels, five outcomes; whether an outcome is observed depends on the outcome, with γ from "
    "U[0.5, 1].",
    paper=(panel("Algorithm 4", _mnar, "paper-mnar"),),
    truant=(panel("World mnar", _mnar, *_SHADOW),),
    choices=_MNAR_CHOICES,
    claims=(
        Claim(
            "The MNAR algorithm adapts and keeps regret low.",
            (Growth(Line(_mnar, "paper-mnar"), linear=False),),
        ),
    ),
    note="Algorithm 4's bonus stays far above the differences between arms at any horizon that can be run (erratum 2), "
    "so it never stops exploring.",
)

_ALG_4 = ("paper-mnar", "naive-ucb")
mnar_against_ucb = Figure(
    "mnar-against-ucb",
    "Missing not at random: with and without the mediator",
    "Algorithm 4 beside UCB, on a logarithmic axis. World mnar is the paper's. In world mnar-hidden, our "
    "addition, high outcomes of the best arm and low outcomes of the others are often missing, so that dropping the "
    "missing rows misleads.",
    paper=(panel("World mnar", _mnar, *_ALG_4), panel("World mnar-hidden", _hidden, *_ALG_4)),
    truant=(panel("World mnar", _mnar, *_SHADOW), panel("World mnar-hidden", _hidden, *_SHADOW)),
    choices=(*_MNAR_CHOICES, "UCB is naive-ucb, α = 2, as under mar-against-ucb."),
    claims=(
        Claim(
            "UCB loses more than the MNAR algorithm.",
            (Rising(tuple(Line(_mnar, policy) for policy in _ALG_4)),),
        ),
        Claim(
            "UCB loses more than the MNAR algorithm in world mnar-hidden, too.",
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
    "mediator: dead at the end or not. Nothing is missing in these data; missingness is simulated.",
    paper=(panel("γ misleads", _misled, *_POINT), panel("γ = 0.8 everywhere", _harmless, *_POINT)),
    truant=(panel("γ misleads", _misled, *_OURS), panel("γ = 0.8 everywhere", _harmless, *_OURS)),
    choices=(
        "The text states neither γ nor T nor the number of runs. γ: once 0.5 for survivors and 0.95 for the dead under "
        "D-penicillamine and the reverse under placebo, chosen so that dropping the missing rows prefers the wrong "
        "arm; once 0.8 for everyone.",
        "T = 1,000,000 and 10 runs: the arms differ by 0.004 (no real effect), so many rounds are needed to see it.",
        "The 312 randomised patients of 418, with their own shares of dead and their own outcomes. Death is determined "
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
    note="Whether the claim holds depends on the synthetic γ, which the text does not state.",
)

# ---- settings that the paper treats and does not try

_UNTRIED = (
    "The paper has the algorithm but no experiment; sizes, α and runs are those of its MAR and MNAR experiments.",
)
_mediator_mar, _mediator_mnar, _both = Scene("mediator-mar"), Scene("mediator-mnar"), Scene("both-mnar")

mediator_mar = Figure(
    "mediator-mar",
    "Mediators missing too, by chance",
    "World mar with γ from U[0.5, 1], and the mediator observed with a probability that depends on the arm, from "
    "U[0.5, 1].",
    paper=(panel("World mediator-mar", _mediator_mar, "paper-mediator-mar", "naive-ucb"),),
    truant=(
        panel(
            "World mediator-mar",
            _mediator_mar,
            *("naive-ucb", "mediator-mar-ucb", "mediator-mar-thompson", "oracle-ucb"),
        ),
    ),
    choices=(*_UNTRIED, "Mediator shares are taken among the pulls whose mediator is observed (erratum 4)."),
    log=("paper",),
)

mediator_mnar = Figure(
    "mediator-mnar",
    "Mediators missing too, depending on themselves",
    "Ten arms, five mediator levels, five outcomes; outcome and mediator are each observed with a probability "
    "that depends on the mediator level, from U[0.5, 1].",
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
        "The system that it solves is Θᵀx = b, and its bonus has the factor K that is missing in print (erratum 3).",
    ),
    log=("paper",),
)

both_mnar = Figure(
    "both-mnar",
    "Outcome and mediator both missing not at random",
    "World mnar with the mediator missing too, depending on its own level, with probabilities from U[0.5, 1].",
    paper=(panel("World both-mnar", _both, "paper-mnar", "paper-mediator-mnar", "naive-ucb"),),
    truant=(
        panel("World both-mnar", _both, *("naive-ucb", "both-mnar-ucb", "both-mnar-thompson", "oracle-ucb")),
    ),
    choices=(
        "The paper announces this case but has no algorithm for it (erratum 11): the first version shows its two "
        "closest algorithms, whose assumptions are false here.",
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
