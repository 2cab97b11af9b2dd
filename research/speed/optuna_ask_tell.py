"""Seconds for an ask and a tell of Optuna on SQLite, as it is and without waiting for the disk; in its environment."""

import json
import sys
import time

import optuna
from sqlalchemy import event

PATH, TRIALS = sys.argv[1], int(sys.argv[2])
ARMS = ["old", "new", "bold"]
optuna.logging.set_verbosity(optuna.logging.ERROR)


def cost(name, pragmas=()):
    storage = optuna.storages.RDBStorage(f"sqlite:///{PATH}-{name}.db")
    if pragmas:

        @event.listens_for(storage.engine, "connect")
        def set_pragmas(connection, _):
            for pragma in pragmas:
                connection.execute(f"PRAGMA {pragma}")

        storage.engine.dispose()  # so that every connection has them
    study = optuna.create_study(storage=storage, sampler=optuna.samplers.RandomSampler(seed=1))
    for i in range(TRIALS + 1):
        if i == 1:
            start = time.perf_counter()
        trial = study.ask()
        trial.suggest_categorical("arm", ARMS)
        study.tell(trial, 1.0)
    return (time.perf_counter() - start) / TRIALS


print(
    json.dumps({"usual": cost("usual"), "normal": cost("normal", ("journal_mode=WAL", "synchronous=NORMAL"))})
)
