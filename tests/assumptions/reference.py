"""The curve of mcar, mar, mar-known and mediator-mar once more, in numpy, for all arms and cells at once.

Written from the formulas in the docstrings of `robust` and `borrowing`, to compare the compiled code with.
Arrays have shape (arms,) or (arms, cells); sums are about the centre.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats
from scipy.special import logsumexp

from truant.setting import Setting

FloatArray = npt.NDArray[np.float64]
TAUS = np.array([0.001, 0.05, 0.1, 0.2, 0.4, 0.8])


def over(a: npt.ArrayLike, b: npt.ArrayLike) -> FloatArray:
    """a/b, 0 where b is 0."""
    top, bottom = np.broadcast_arrays(np.asarray(a, float), np.asarray(b, float))
    return np.divide(top, bottom, out=np.zeros_like(top), where=bottom != 0)


def rarity(z: float) -> float:
    """-log P(|Z| > |z|)."""
    return float(-np.log(2) - stats.norm.logsf(abs(z)))


def width(z: float, v: FloatArray, phi: FloatArray, j: FloatArray) -> FloatArray:
    """at(z) - mean."""
    tilt = j * rarity(z)
    return tilt + np.sign(z) * np.sqrt(tilt**2 + v * phi * np.expm1(z**2 / phi))


def to_lend(logs: FloatArray, sampling: FloatArray, otherwise: float) -> float:
    """Degrees of freedom: 2 over the variance of the log variances beyond sampling error, from 3 to 1000."""
    if len(logs) < 2:
        return otherwise
    excess = logs.var(ddof=1) - sampling.mean()
    return float(np.clip(2 / max(excess, 1e-3), 3, 1000))


def too_large(squares: FloatArray, df: FloatArray, usual: FloatArray | float, worth: float) -> FloatArray:
    """Whether SS/df is three standard errors above the usual variance."""
    return (df > 0) & (over(squares, df) > usual * (1 + 3 * np.sqrt(over(2, worth * df))))


@dataclass
class Cells:
    """One array per statistic, over arms and cells."""

    pulls: FloatArray
    n: FloatArray
    S: FloatArray
    Q: FloatArray
    C: FloatArray

    @classmethod
    def of(cls, table: FloatArray) -> Cells:
        return cls(*np.moveaxis(table, -1, 0))

    @property
    def means(self) -> FloatArray:
        return over(self.S, self.n)

    @property
    def squares(self) -> FloatArray:
        """SS of each cell with more than one outcome; 0 where only rounding is left of the sum of squares."""
        within = self.Q - self.S * self.means
        return np.where((self.n > 1) & (within >= 1e-12 * self.Q), within, 0)

    @property
    def cubes(self) -> FloatArray:
        """Third moment about the cell's mean, likewise."""
        third = self.C - 3 * self.means * self.Q + 2 * self.n * self.means**3
        return np.where(self.n > 1, third, 0)

    @property
    def df(self) -> FloatArray:
        return np.maximum(self.n - 1, 0)

    def between(self, order: int) -> FloatArray:
        """Central moment of the cell means, weighted by the pulls of cells with an outcome."""
        weight = np.where(self.n > 0, self.pulls, 0)
        share = over(weight, weight.sum(axis=1, keepdims=True))
        middle = (share * self.means).sum(axis=1, keepdims=True)
        return (share * (self.means - middle) ** order).sum(axis=1)


class Reference:
    """All arms' curves; `at(z)` and `known` have one number per arm."""

    def __init__(
        self,
        name: str,
        table: FloatArray,
        setting: Setting,
        kappa: float = 1.0,
        floor: float = 0.8,
        shares: FloatArray | None = None,
    ):
        self.floor, self.kappa = floor, kappa
        self.centre, self.h2, self.s0 = setting.centre, setting.half_range**2, setting.outcome_scale**2
        self.R = setting.high - setting.low
        if name == "mcar":
            table = table.sum(axis=1, keepdims=True)
        self.everything = Cells.of(table)
        self.cells = Cells.of(table[:, :-1] if name == "mediator-mar" else table)
        self.shares = None if shares is None else np.column_stack([shares, np.zeros(len(shares))])
        self.several = shares is None and setting.mediators > 1
        self.pool_arms(one_cell=name == "mcar")
        if name == "mcar":
            self.one_cell()
        else:
            self.pool_cells()
            self.plain()
            self.borrow()

    def pool_arms(self, one_cell: bool) -> None:
        cells = self.cells
        SS, df, k3 = (part.sum(axis=1) for part in (cells.squares, cells.df, cells.cubes))
        capped = np.minimum(1, over(20, df)) + (df == 0)
        w0 = 2 * ((capped * df).sum() + 1) / (df.sum() + 1)
        squares = (capped * SS).sum() + w0 * self.s0
        self.s_all = squares / ((capped * df).sum() + w0)
        J = max((capped * k3).sum() + w0 * self.R * self.s0, 0) / squares
        self.worth = 1 / (1 + J**2 / self.s_all / 2)
        often = np.minimum(cells.pulls.sum(axis=1), 20)
        D2, D3 = ((often * cells.between(order)).sum() for order in (2, 3))
        self.J_between = min(self.R, max(D3 + 2 * self.R * self.s0, 0) / (D2 + 2 * self.s0))
        e = df >= 4
        logs = np.log((SS[e] + self.s0) / (df[e] + 1))
        sampling = 2 / df[e] / self.worth
        # a cell mean too far beyond the range of the means is one more squared deviation
        beyond = np.maximum(np.abs(cells.means) - np.sqrt(self.h2), 0)
        stray = cells.n * beyond**2
        self.strays = stray > 4 * self.s_all
        SS, df = SS + (stray * self.strays).sum(axis=1), df + self.strays.sum(axis=1)
        nu = np.minimum(to_lend(logs, sampling, 3.0), 3 + 2 * self.worth * df)
        self.noisy_arm = too_large(SS, df, self.s_all, self.worth)
        nu = np.where(self.noisy_arm, 3, nu)
        self.phi = self.worth * df + nu
        self.s2 = (self.worth * SS + nu * self.s_all) / self.phi
        self.J = np.maximum(k3 + 8 * self.s_all * J, 0) / (SS + 8 * self.s_all)
        self.ordinary = np.minimum(1, self.s_all / self.s2)

    def pseudo(self, variance: FloatArray) -> FloatArray:
        return self.kappa * np.minimum(1, variance / self.h2)

    def one_cell(self) -> None:
        n = self.cells.n[:, 0]
        thick = n + self.pseudo(self.s2)
        self.mean, self.v = self.cells.S[:, 0] / thick, self.s2 / thick
        self.known, self.j = self.ordinary * thick, self.J / (n + 1) / 2
        self.spreads = None

    def pool_cells(self) -> None:
        cells = self.cells
        SS, df = cells.squares.sum(axis=1), cells.df.sum(axis=1)
        tells = (SS > 0) & (df >= 2)
        relative = over(cells.squares, (SS / np.maximum(df, 1))[:, None]) * tells[:, None]
        cell_df = cells.df * tells[:, None]
        capped = np.minimum(1, over(20, cell_df))
        by_row = ((capped * relative).sum(axis=0) + 20) / ((capped * cell_df).sum(axis=0) + 20)
        e = cell_df >= 4
        logs = np.log((relative[e] + 1) / (cell_df[e] + 1))
        nu = to_lend(logs, 2 / cell_df[e] / self.worth, 10.0)
        usual = self.s2[:, None] * by_row
        self.noisy_cell = too_large(cells.squares, cells.df, usual, self.worth)
        lent = np.where(self.noisy_cell, 3, nu)
        self.cell_phi = self.worth * cells.df + lent
        self.cell_s2 = (self.worth * cells.squares + lent * usual) / self.cell_phi

    def plain(self) -> None:
        cells, s2 = self.cells, self.cell_s2
        N = cells.pulls.sum(axis=1)
        self.N = np.maximum(N, 1)
        self.p = cells.pulls / self.N[:, None] if self.shares is None else self.shares
        p, thick = self.p, cells.n + self.pseudo(s2)
        r = cells.S / thick
        self.mean = (p * r).sum(axis=1)
        parts = p**2 * s2 / thick
        v, single, thinnest = parts.sum(axis=1), (p * s2).sum(axis=1), (p / (cells.n + 1)).max(axis=1)
        if self.shares is None:
            nothing = N == 0
            v = np.where(nothing, self.s2 / self.pseudo(self.s2), v)
            single, thinnest = np.where(nothing, self.s2, single), np.where(nothing, 1, thinnest)
            blur = (p * (1 - p) * s2 * cells.n / thick**2).sum(axis=1)
            spread = np.maximum((p * r**2).sum(axis=1) - self.mean**2 - blur, 0)
            v = v + (N * spread + self.s2 / 2) / (N + 2) / self.N
        self.v, self.known = v, single * self.ordinary / v
        self.phi = 1 / (1 / self.phi + (parts**2 / self.cell_phi).sum(axis=1) / v**2)
        waiting = self.J * thinnest
        if self.several:
            waiting = np.maximum(waiting, self.J_between / self.N)
        self.j = waiting / 2

    def borrow(self) -> None:
        """Log weight, mean and variance for each tau (first axis)."""
        every, s0 = self.everything, self.s0
        extra = every.n.shape[1] - self.cells.n.shape[1]
        s2 = np.hstack([self.cell_s2, np.repeat(self.s2[:, None], extra, axis=1)])
        seen, tau = every.n > 0, (TAUS**2 * s0)[:, None, None]
        d = tau + over(s2, every.n)
        w = seen / d
        W = 1 / s0 + w.sum(axis=2)
        middle = (w * every.means).sum(axis=2) / W
        misfit = (w * every.means**2).sum(axis=2) - W * middle**2
        logs = -(np.log(d) * seen).sum(axis=2) / 2 - np.log(W * s0) / 2 - misfit / 2
        own = (tau * w)[..., : self.cells.n.shape[1]]
        r = middle[..., None] + own * (self.cells.means - middle[..., None])
        p, N = self.p, self.N
        mean, loose = (p * r).sum(axis=2), tau * (1 - own)
        v = (p**2 * loose).sum(axis=2) + (p * (1 - own)).sum(axis=2) ** 2 / W
        if self.shares is None:
            spread = np.maximum((p * r**2).sum(axis=2) - mean**2, 0) + (p * (1 - p) * loose).sum(axis=2)
            v = v + (N * spread + 2 * tau[..., 0]) / (N + 2) / N
        self.spreads = (logs - logsumexp(logs, axis=0), mean, v)

    def left(self, z: float) -> FloatArray:
        """Share of the plain width that borrowing leaves on the side of z, weighed at |z| = 3."""
        if self.spreads is None:
            return np.ones(len(self.v))
        logs, mean, v = self.spreads
        room = 4.5 + logs
        far = np.sign(z) * (mean - self.mean) + np.sqrt(2 * v * np.maximum(room, 0))
        ratio = np.where(room >= 0, far, -np.inf).max(axis=0) / (3 * np.sqrt(self.v))
        self.inside = (ratio > np.sqrt(self.floor)) & (ratio < 1)
        return np.clip(ratio, np.sqrt(self.floor), 1)

    def at(self, z: float) -> FloatArray:
        return self.centre + self.mean + width(z, self.v * self.left(z) ** 2, self.phi, self.j)
