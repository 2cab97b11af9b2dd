"""A real browser, for pages that must draw themselves without a network."""

import os
import shutil
import subprocess

import pytest

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

needs_browser = pytest.mark.skipif(
    BROWSER is None and not os.environ.get("CI"),
    reason="no chromium or chrome here; where CI is set it must be there",
)


def drawn_page(path, folder, scheme="light", width=1280):
    """The document after its scripts have run; whatever they complain of fails the test."""
    assert BROWSER, "no chromium or chrome was found, and none could be installed"
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
    command += [f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=10000", "--dump-dom"]
    command += [
        "--enable-logging=stderr",
        "--proxy-server=127.0.0.1:9",
        "--host-resolver-rules=MAP * ~NOTFOUND",
        f"--window-size={width},900",
    ]
    command += [f"--blink-settings=preferredColorScheme={int(scheme == 'light')}", path.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert [line for line in done.stderr.splitlines() if "CONSOLE" in line] == []
    assert 'data-drawn="yes"' in done.stdout
    return done.stdout
