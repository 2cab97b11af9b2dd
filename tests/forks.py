"""Processes that start in milliseconds: forks of one that has imported what they need and done nothing else.

Each has its own arguments, environment, folder, files, signals and end, as a process of its own has. Python starts
anew where its start or the imports are what a test is about.
"""

import contextlib
import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
LIMIT = 600  # seconds without a word of a process that should say something, or end
# its last line is that of each fork: a program runs, and ends, as that of `python -c` does
SERVER = """
{imports}
from tests.forks import next_program
exec(compile(next_program({handle}), "<string>", "exec"))
"""


class Forks:
    """A process with imports behind it, which forks for each program."""

    def __init__(self, imports):
        self._connection, theirs = socket.socketpair()
        self._forks = []
        code = SERVER.format(imports=imports, handle=theirs.fileno())
        paths = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
        self._server = subprocess.Popen(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONPATH": paths},
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
        )
        theirs.close()

    def start(self, program, *arguments, folder=None, stdout=None, own_session=False, **environment):
        """A process that runs the program; its standard output goes to a file descriptor, or can be read."""
        said = {
            "program": program,
            "arguments": ["-c", *map(str, arguments)],
            "folder": str(folder or os.getcwd()),
            "environment": os.environ | {name: str(value) for name, value in environment.items()},
            "own_session": own_session,
        }
        shown, writing = os.pipe() if stdout is None else (None, stdout)
        status, reporting = os.pipe()
        errors = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115 - closed by `finished`
        # a socket may not take all of it at once
        with tempfile.TemporaryFile("w+", encoding="utf-8") as message:
            json.dump(said, message)
            message.flush()
            handles = [message.fileno(), writing, errors.fileno(), reporting]
            socket.send_fds(self._connection, [b"."], handles)
        os.close(reporting)
        if stdout is None:
            os.close(writing)
        self._forks.append(Fork(status, shown, errors))
        return self._forks[-1]

    def run(self, program, *arguments, **options):
        """The same to its end."""
        return self.start(program, *arguments, **options).finished()

    def close(self):
        """End the process that forks, and what a failed test has left at work."""
        for fork in self._forks:
            if not fork.ended:
                fork.kill()
                fork.finished()
        self._connection.close()
        self._server.wait()


class Fork:
    """A process that was started."""

    def __init__(self, status, shown, errors):
        self._status, self._shown, self._errors = status, shown, errors
        self.pid = int(self._line(status))
        self.ended = False

    def line(self):
        """The next line of its standard output."""
        return self._line(self._shown).decode()

    def kill(self, sign=signal.SIGKILL):
        """Send it a signal."""
        os.kill(self.pid, sign)

    def finished(self):
        """Wait for its end, and for that of all that has inherited its standard output: exit code and texts."""
        said = b""
        if self._shown is not None:
            while more := self._read(self._shown, 2**16):
                said += more
            os.close(self._shown)
        ended = int(self._line(self._status))
        os.close(self._status)
        self.ended = True
        with self._errors:
            self._errors.seek(0)
            return subprocess.CompletedProcess(self.pid, ended, said.decode(), self._errors.read())

    def _line(self, handle):
        line = b""
        while not line.endswith(b"\n") and (letter := self._read(handle, 1)):
            line += letter
        return line

    def _read(self, handle, count):
        if select.select([handle], [], [], LIMIT)[0]:
            return os.read(handle, count)
        self.kill()
        raise TimeoutError(f"Nothing came in {LIMIT} seconds.")


def next_program(handle):
    """Fork whenever asked to; gives each fork, and no other process, the program that it is to run."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background shell has it ignored
    connection, watchers = socket.socket(fileno=handle), set()
    gc.collect()
    gc.freeze()  # what is here is shared, and not copied when a fork collects garbage
    while True:
        asked, handles, _, _ = socket.recv_fds(connection, 1, 4)
        watchers -= {watcher for watcher in watchers if os.waitpid(watcher, os.WNOHANG)[0]}
        if not asked:
            for watcher in watchers:
                os.waitpid(watcher, 0)
            os._exit(0)
        watcher = os.fork()
        if watcher:
            watchers.add(watcher)
            for each in handles:
                os.close(each)
            continue
        connection.close()
        message, *streams, status = handles
        fork = os.fork()
        if fork:
            for each in (message, *streams):
                os.close(each)
            _report(fork, status)
        os.close(status)
        return _begun(message, streams)


def _report(fork, status):
    """Say which process it is, and how it ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.write(status, f"{fork}\n".encode())
    ended = os.waitstatus_to_exitcode(os.waitpid(fork, 0)[1])
    with contextlib.suppress(BrokenPipeError):  # nobody waits for it
        os.write(status, f"{ended}\n".encode())
    os._exit(0)


def _begun(message, streams):
    """Become what was asked for; its program."""
    with open(message, encoding="utf-8") as file:
        file.seek(0)
        said = json.load(file)
    if said["own_session"]:
        os.setsid()
    for each, number in zip(streams, (1, 2), strict=True):
        os.dup2(each, number)
        os.close(each)
    os.environ.clear()
    os.environ.update(said["environment"])
    os.chdir(said["folder"])
    sys.argv = said["arguments"]
    sys.dont_write_bytecode = bool(os.environ.get("PYTHONDONTWRITEBYTECODE"))
    return said["program"]
