"""The clock of an experiment: that of its store, unless another one is given; refused where something contradicts it.

A wrong clock on a machine that was idle cannot be seen; what it did can be undone by `clock_repair`.
"""

from __future__ import annotations

from truant.errors import InvalidValue, Unavailable, named, quoted
from truant.live.store import Transaction, statements
from truant.live.times import DAY, SECOND, Clock, ManualClock, host_clock, moment, passed, shown

JUMP = 3600 * SECOND  # by which a clock may move while a process runs, beyond the time that has passed
ACCEPTED = "clock_accepted"


class ExperimentClock:
    """The clock that an experiment goes by in this process.

    Parameters
    ----------
    given : the clock of the caller; None: that of the store, which is the same for all processes.
    """

    def __init__(self, given: Clock | None = None) -> None:
        self._given = given
        self._opened = self._since = 0  # what the clocks said when the experiment was opened
        self._event = -1  # the last one of then; -1: not opened yet

    @property
    def is_given(self) -> bool:
        """Whether it is a clock of the caller."""
        return self._given is not None

    def start(self, transaction: Transaction, experiment: int) -> None:
        """Believe the clock of the store as it is now; later it is compared with the time that has passed."""
        self._opened, self._since = transaction.now(), passed()
        self._event = statements.last_event(transaction, experiment)

    def now(self, transaction: Transaction, experiment: int) -> int:
        """The time; or raises Unavailable or InvalidValue if something contradicts it."""
        if self._given is not None:
            return self._checked(self._given)
        if self._event < 0:
            self.start(transaction, experiment)
        now, expected = transaction.now(), self._opened + passed() - self._since
        if abs(now - expected) > JUMP and not self._is_accepted(transaction, experiment, now, expected):
            name = statements.head_of(transaction, experiment).name
            raise Unavailable(
                f"The clock of the store says {shown(now)}, and by the time that has passed since this process opened "
                f"experiment {named(name)} it is {shown(expected)}. Correct the clock; if it is right now, say so with "
                "truant clock accept (in Python: accept_clock)."
            )
        return now

    def rough(self) -> int:
        """The time without asking the store, for what needs no exact one."""
        return host_clock() if self._given is None else self._given()

    def _checked(self, clock: Clock) -> int:
        now = clock()
        host = host_clock()
        if not isinstance(clock, ManualClock) and abs(now - host) > DAY:
            raise InvalidValue(
                "A function given as clock must give microseconds since 1970, and truant.ManualClock is for trials: "
                f"got {quoted(now)}, more than a day from {host}, the time of this machine."
            )
        return now

    def _is_accepted(self, transaction: Transaction, experiment: int, now: int, expected: int) -> bool:
        """Whether somebody has accepted this clock since the experiment was opened; it is believed from now on."""
        longest = expected - self._opened  # that the acceptance can be ago
        for event in statements.events_of_kind(transaction, experiment, ACCEPTED):
            accepted = moment("clock", event["body"]["clock"])
            if event["number"] > self._event and accepted - JUMP <= now <= accepted + longest + JUMP:
                self.start(transaction, experiment)
                return True
        return False
