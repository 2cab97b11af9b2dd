"""What every world has: true means, a draw for the compiled loop, and a twin in which nothing is missing."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from truant import registry
from truant.compile import entry, hot, link
from truant.errors import InvalidValue, counted, label, visible
from truant.setting import FloatArray, IntArray, Setting, whole_number
from truant.spec import Spec

EQUAL = 1e-12  # arms that are equal by construction may differ in the last digit


def losses(means: FloatArray, minimize: bool) -> FloatArray:
    """Loss per pull of each arm (last axis): its distance to the highest mean, to the lowest where less is better."""
    values = -means if minimize else means
    distance: FloatArray = values.max(axis=-1, keepdims=True) - values
    return distance


class World(ABC):
    """A generative model of pulls.

    `draw(rng, arm, tables)` is compiled and gives one pull: the mediator (K if missing) and the outcome
    (real: NaN if missing; discrete: the level's number, L if missing).

    `draw_missing(rng, arm, mediator, missing_tables)`, if a world has it, gives the outcome that a follow-up finds: one
    draw from the outcomes that are missing at this arm and mediator (K if that is missing, too). The loop draws it when
    it is asked for, which comes to the same as keeping it from the start.
    """

    name: str  # as shown in tables
    setting: Setting  # what a policy may know beforehand
    means: FloatArray  # (arms,) true E[Y|a]
    draw: Callable[..., tuple[int, Any]]  # one pull, see above
    tables: tuple[Any, ...]  # what `draw` reads
    draw_missing: Callable[..., Any] | None = None  # the outcome that a follow-up finds, see above
    arm_names: tuple[Any, ...] = ()  # what they are called in the table that they come from, if any
    mediator_names: tuple[str, ...] = ()  # likewise

    @abstractmethod
    def revealed(self) -> World:
        """The same world with every mediator and outcome seen, and the same direction."""

    @property
    def missing_tables(self) -> tuple[Any, ...]:
        """What `draw_missing` reads."""
        return ()

    @property
    def observed_shares(self) -> FloatArray | None:
        """P(O=1|a), how often an outcome is observed, shape (arms,); None if the world does not say."""
        return None

    def __repr__(self) -> str:
        setting, shares = self.setting, self.observed_shares
        outcomes = "real outcomes" if setting.levels is None else counted(setting.outcomes, "outcome level")
        parts = [counted(setting.arms, "arm"), counted(setting.mediators, "mediator level"), outcomes]
        if shares is not None:
            least, most = (f"{100 * share:.3g}" for share in (shares.min(), shares.max()))
            parts.append(
                f"{least}% of outcomes observed" if least == most else f"{least} to {most}% observed"
            )
        return f"<{type(self).__name__} {visible(self.name)!r}: {', '.join(parts)}; {self._best_words()}>"

    def _best_words(self) -> str:
        """Which arm is best, and its mean."""
        best = np.flatnonzero(self.best)
        mean = f"{self.means[best[0]]:.4g}"
        if len(best) == len(self.means):
            return f"all means {mean}"
        if len(best) > 1:
            return f"{len(best)} best arms, mean {mean}"
        named = label(self.arm_names[best[0]]) if self.arm_names else str(best[0])
        return f"best arm {named}, mean {mean}" + (" (lower is better)" if self.setting.minimize else "")

    @property
    def gaps(self) -> FloatArray:
        """Loss per pull of each arm: the distance of its mean to the best one, highest or lowest (`minimize`)."""
        return losses(self.means, self.setting.minimize)

    @property
    def best(self) -> npt.NDArray[np.bool_]:
        """Which arms are best, shape (arms,)."""
        return np.asarray(self.gaps <= EQUAL)

    def minimizing(self) -> World:
        """A copy of this world in which less is better; it shares no arrays with this one."""
        same = {id(code): code for code in (self.draw, self.draw_missing)}  # compiled code is not copied
        turned = copy.deepcopy(self, same)
        turned.setting = replace(turned.setting, minimize=True)
        return turned

    def pulls(self, arms: npt.ArrayLike, seed: int | np.random.Generator = 0) -> tuple[IntArray, FloatArray]:
        """Pull these arms in turn: mediators (-1: missing) and outcomes (NaN: missing)."""
        chosen = self._chosen(arms)
        rng = seed if isinstance(seed, np.random.Generator) else _generator(seed)
        mediators = np.empty(len(chosen), dtype=np.int64)
        outcomes = np.empty(len(chosen))
        link(_draw_all, draw=self.draw)(rng, chosen, self.tables, mediators, outcomes)
        mediators[mediators == self.setting.mediators] = -1
        if self.setting.levels is not None:
            outcomes = np.append(self.setting.levels, np.nan)[outcomes.astype(np.int64)]
        return mediators, outcomes

    def _chosen(self, arms: npt.ArrayLike) -> IntArray:
        """The arms to pull, checked: compiled code would read beyond its tables without a word."""
        try:
            chosen = np.asarray(arms)
        except ValueError:  # of rows of different lengths
            chosen = np.empty((0, 0))
        count = self.setting.arms
        if chosen.ndim != 1 or (chosen.size and not np.issubdtype(chosen.dtype, np.integer)):
            raise InvalidValue("arms must be a list of whole numbers, one per pull.")
        if chosen.size and not 0 <= chosen.min() <= chosen.max() < count:
            raise InvalidValue(f"arms must be from 0 to {count - 1}, got {chosen.min()} to {chosen.max()}.")
        return np.ascontiguousarray(chosen, np.int64)


def _generator(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.SFC64(whole_number("seed", seed, at_least=0)))


def draw(rng: np.random.Generator, arm: int, tables: Any) -> tuple[int, float]:
    """Stands for a world's draw in templates."""
    raise AssertionError("bound by link")


def _draw_all(
    rng: np.random.Generator, arms: IntArray, tables: Any, mediators: IntArray, outcomes: FloatArray
) -> None:
    for i in range(len(arms)):
        mediators[i], outcomes[i] = draw(rng, arms[i], tables)


def make(name: str, seed: int = 0, **parameters: Any) -> World:
    """One instance of a named world, e.g. `world("mar", seed=1, gamma=(0.5, 1.0))` or `world("mar:gamma=0.5,1.0")`."""
    spec = Spec.parse(name, **parameters)
    return instance(spec, np.random.default_rng(whole_number("seed", seed, at_least=0)))


def instance(spec: Spec, rng: np.random.Generator) -> World:
    """One instance of a named world, drawn with a given generator."""
    world: World = registry.find("world", spec.name).build(rng, **spec.parameters)
    world.name = spec.name
    return world


@entry
def alias_tables(
    probabilities: FloatArray, chances: FloatArray, aliases: IntArray, small: IntArray, large: IntArray
) -> None:
    """Vose's tables, a row per arm: a cell is drawn with one uniform number, whatever the number of cells."""
    rows, cells = probabilities.shape
    for a in range(rows):
        few = many = likeliest = 0
        total = 0.0
        for i in range(cells):
            total += probabilities[a, i]
            if probabilities[a, i] > probabilities[a, likeliest]:
                likeliest = i
        scale = cells / total
        for i in range(cells):
            chances[a, i] = probabilities[a, i] * scale
            aliases[a, i] = i
            if chances[a, i] < 1.0:
                small[few] = i
                few += 1
            else:
                large[many] = i
                many += 1
        while few > 0 and many > 0:
            few -= 1
            i, j = small[few], large[many - 1]
            aliases[a, i] = j
            chances[a, j] -= 1.0 - chances[a, i]
            if chances[a, j] < 1.0:
                many -= 1
                small[few] = j
                few += 1
        # what is left misses 1 by rounding only; a cell of probability 0 must stay impossible
        for k in range(many):
            chances[a, large[k]] = 1.0
        for k in range(few):
            if probabilities[a, small[k]] > 0.0:
                chances[a, small[k]] = 1.0
            else:
                aliases[a, small[k]] = likeliest


@hot
def draw_cell(rng: np.random.Generator, arm: int, chances: FloatArray, aliases: IntArray) -> int:
    """The number of a cell, from an arm's alias table."""
    place = rng.random() * chances.shape[1]
    cell = int(place)
    alias = aliases[arm, cell]  # read in any case: a branch would be mispredicted half the time
    return cell if place - cell < chances[arm, cell] else alias


def shares_of(weights: FloatArray) -> FloatArray:
    """Weights as probabilities along the last axis; equal ones where nothing has a weight."""
    total = weights.sum(axis=-1, keepdims=True)
    return np.where(total > 0, weights / np.where(total > 0, total, 1.0), 1.0 / weights.shape[-1])


def cell_tables(probabilities: FloatArray) -> tuple[FloatArray, IntArray]:
    """Alias tables of (arms, cells) probabilities."""
    chances = np.empty_like(probabilities)
    aliases = np.empty(probabilities.shape, np.int64)
    scratch = np.empty((2, probabilities.shape[1]), np.int64)
    alias_tables(np.ascontiguousarray(probabilities), chances, aliases, scratch[0], scratch[1])
    return chances, aliases
