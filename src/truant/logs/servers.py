"""Database servers, by URL: connections that only read where the server can promise it, and what errors may say."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote

from truant.errors import InvalidValue, MissingExtra
from truant.extras import require

# the statement after which a session can change nothing, where there is one
READ_ONLY = {
    "postgres": "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY",
    "postgresql": "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY",
    "mysql": "SET SESSION TRANSACTION READ ONLY",
}
NO_ANSWER = (
    "refused",
    "timed out",
    "timeout",
    "could not translate",
    "name or service not known",
    "no route",
)
REFUSED = (
    "authentication failed",
    "access denied",
    "permission denied",
    "no password",
    "role ",
    "login failed",
)


def connect_server(kind: str, url: str) -> Any:
    """The Ibis backend of a server's URL, in a session that only reads; or raises InvalidValue or MissingExtra."""
    require("logs", "Tables in databases", "pandas")  # which Ibis imports there
    import ibis

    _check_user_info(url)
    try:
        backend = ibis.connect(url)
    except ImportError:
        extra = "truant[postgres]" if kind.startswith("postgres") else f"ibis-framework[{kind}]"
        raise MissingExtra(f'Reading {kind} needs another package: pip install "{extra}".') from None
    except Exception as error:  # each driver has its own; what it says may hold the password, so no chain
        raise InvalidValue(_not_connected(url, error)) from None
    try:
        read_only(kind, backend)
    except BaseException:
        backend.disconnect()
        raise
    return backend


def read_only(kind: str, backend: Any) -> None:
    """Let the session of a connection change nothing, where the server knows how."""
    if kind not in READ_ONLY:
        return
    connection = backend.con
    with connection.cursor() as cursor:
        cursor.execute(READ_ONLY[kind])
    if kind.startswith("postgres"):
        connection.read_only = True  # also of each transaction, whatever a function sets for the session


def without_password(url: str) -> str:
    """The URL as it may be shown."""
    kind, colon, rest = url.partition(":")
    slashes = rest[: len(rest) - len(rest.lstrip("/"))]
    return f"{kind}{colon}{slashes}{rest.lstrip('/').rpartition('@')[2].partition('?')[0]}"


def _check_user_info(url: str) -> None:
    """Signs that end the user's name or password too early."""
    text = url.partition("://")[2]
    place = re.match(r"[^/?#]*", text)
    authority = place[0] if place else ""
    rest = text[len(authority) :]
    path = rest.partition("?")[0] if rest.startswith("/") else rest
    port = authority.rpartition("@")[2].rpartition("]")[2].partition(":")[2]
    if (authority and "@" in path) or (port and not port.isdigit()):
        raise InvalidValue(
            f"The URL of {without_password(url)} cannot be read: write signs other than letters and digits in its "
            "user name and password percent-encoded, such as %23 for #, %3F for ?, %2F for /, %3A for :, %40 for @."
        )


def _not_connected(url: str, error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = lines[0].rstrip(".:;") if lines else type(error).__name__
    secret = url.partition("://")[2].rpartition("@")[0]
    for piece in sorted(
        {*re.findall(r"\w+", secret), *re.findall(r"\w+", unquote(secret))}, key=len, reverse=True
    ):
        said = re.sub(rf"(?<!\w){re.escape(piece)}(?!\w)", "***", said)
    text = str(error).lower()
    if any(sign in text for sign in REFUSED):
        advice = "check the user, the password and what the user may read"
    elif any(sign in text for sign in NO_ANSWER):
        advice = "check the host and the port, and that the server runs and can be reached"
    else:
        advice = "check the URL, and that the server runs and can be reached"
    return f"Cannot connect to {without_password(url)}: {said}; {advice}."
