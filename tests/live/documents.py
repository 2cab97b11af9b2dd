"""The JSON documents of the commands of live experiments, and the commands that print and write them.

They run in a folder with the experiment `mail` of tests.live.commands, whose decision ID is told an outcome; past.csv
and outcomes.csv are files for `import` and `tell --csv`, and copy.db is a backup.
"""

SETTINGS = ["--arms", "old,new", "--levels", "0,1", "--assume", "mcar", "--window", "7d"]
COMMANDS = {  # each schema, and all commands that print it
    "truant/experiments/1": [["list"]],
    "truant/experiment/1": [
        ["create", "other", *SETTINGS],
        ["change", "mail", "--level", "0.9"],
        ["pause", "mail"],
        ["resume", "mail"],
        ["end", "mail"],
        ["arm", "add", "mail", "bold"],
        ["arm", "retire", "mail", "old"],
    ],
    "truant/asked/1": [["ask", "mail"], ["lookup", "mail", "--key", "k"]],
    "truant/told/1": [["tell", "mail", "ID", "--outcome", "1"]],
    "truant/told-file/1": [["tell", "mail", "--csv", "outcomes.csv"]],
    "truant/decision-change/1": [
        ["correct", "mail", "ID", "--outcome", "0"],
        ["withdraw", "mail", "ID"],
        ["forget", "mail", "--key", "k"],
    ],
    "truant/status/1": [["status", "mail", "--no-calibrate"], ["watch", "mail"]],
    "truant/events/1": [["events", "mail"]],
    "truant/closed-windows/1": [["close-windows", "mail"]],
    "truant/settled/1": [["settle"], ["settle", "mail"]],
    "truant/clock/1": [["clock", "accept", "mail"], ["clock", "back", "mail", "2026-01-01"]],
    "truant/doctor/1": [["doctor"]],
    "truant/follow-ups/1": [["follow-up", "mail", "--n", "3"]],
    "truant/transfer/1": [
        ["export", "mail", "--out", "rows.csv"],
        ["import", "mail", "past.csv", "--source", "shop", "--identified-by", "n"],
        ["backup", "--out", "again.db"],
        ["restore", "copy.db", "--store", "new.db"],
    ],
}
FILES = {  # schema, file, and the command that writes it
    "truant/decisions/1": ("rows.parquet", ["export", "mail", "--out", "rows.parquet"]),
    "truant/follow-up-rows/1": ("list.parquet", ["follow-up", "mail", "--n", "3", "--out", "list.parquet"]),
}
METHODS = {"truant/diagnosis/1"}  # what only Python gives; `doctor` prints several of them
